//! Code reviews as commands: in a session of the real assistant, and of pull requests.

use std::os::unix::fs::PermissionsExt as _;

use loopgate_testkit::git::git;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, Script};
use serde_json::json;

use crate::support::{Ended, Project, example, plugin};

/// Prints the record of a review without findings.
const NO_FINDING: &str = r#"cat > "$OUT/request"; printf '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0,"result":"{\\"findings\\": []}"}\n'"#;

#[tokio::test]
async fn session_reviews_without_a_permission_prompt() {
    let reviewer =
        Conversation { toolless: true, ..Conversation::when("review", "You are reviewer fast\\.") };
    let session = Conversation::when("session", "Review a change with one command")
        .runs("loopgate code-review run --base 'main'")
        .says("Reviewed.");
    let script = Script::new([reviewer.says(&json!({"findings": []}).to_string()), session]);
    let model = ModelServer::start(script).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    home.link("loopgate", &example()).unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("a.py"), "print(1)\n").unwrap();
    for args in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "first"]] {
        git(&project, args).unwrap();
    }
    std::fs::write(project.join("b.py"), "print(2)\n").unwrap();
    let mut command = home.command("claude");
    command.current_dir(&project).args(["--plugin-dir", &plugin("code-review").display().to_string()]);
    command.args(["-p", "/code-review:start --base main"]);
    let ended = Ended::from(command.output().await.unwrap());
    assert_eq!(ended.stdout.trim(), "Reviewed.", "{}", ended.stderr);
    let results = model.requests_of("session").last().unwrap().tool_results();
    assert!(results.contains(r#"<pr_verdict>{"verdict":"approve","reason":""}</pr_verdict>"#), "{results}");
    assert!(model.requests_of("review")[0].system().contains("print(2)"));
}

/// Installs a test double of the code host, which prints a text and exits with a code.
fn code_host(project: Project, answer: &str, code: u8) -> Project {
    let directory = project.path("bin");
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("gh");
    std::fs::write(
        &path,
        format!("#!/bin/sh\ncat <<'END'\n{answer}\nEND\necho 'no such pull request' >&2\nexit {code}\n"),
    )
    .unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    project.env("PATH", &path)
}

#[test]
fn pull_request_that_cannot_be_looked_up_is_not_reviewed() {
    let project = code_host(Project::new(), "", 1);
    project.assistant(NO_FINDING);
    std::fs::write(project.root.join("new.py"), "print(1)\n").unwrap();
    let ended = project.loopgate(&["code-review", "run", "17"]);
    assert_eq!(ended.code, 1);
    assert!(
        ended.stderr.contains("pull request 17 cannot be looked up: no such pull request"),
        "{}",
        ended.stderr
    );
    assert!(project.note("request").is_empty());
    // Without a number, the branch is reviewed.
    let ended = project.loopgate(&["code-review", "run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("main against main"), "{}", ended.stdout);
}

#[test]
fn commits_of_a_pull_request_are_reviewed_and_not_the_working_tree() {
    let project = Project::new();
    let bare = project.path("origin.git").display().to_string();
    project.git(&["init", "-q", "--bare", &bare]);
    project.git(&["remote", "add", "origin", &bare]);
    project.git(&["push", "-q", "origin", "main"]);
    project.git(&["checkout", "-q", "-b", "topic"]);
    std::fs::write(project.root.join("topic.py"), "print('topic')\n").unwrap();
    project.git(&["add", "."]);
    project.git(&["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "Add topic"]);
    let head = project.git(&["rev-parse", "HEAD"]);
    project.git(&["push", "-q", "origin", "HEAD:refs/pull/17/head"]);
    project.git(&["checkout", "-q", "main"]);
    std::fs::write(project.root.join("local.py"), "print('local')\n").unwrap();
    let view = json!({"number": 17, "baseRefName": "main", "headRefName": "topic", "headRefOid": head.trim(), "title": "Topic", "body": ""});
    let project = code_host(project, &view.to_string(), 0);
    project.assistant(&format!(
        "cp \"$(printf '%s\\n' \"$@\" | grep -A1 system-prompt-file | tail -1)\" $OUT/shared\n{NO_FINDING}"
    ));
    let ended = project.loopgate(&["code-review", "run", "17"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let shared = project.note("shared");
    assert!(shared.contains("print('topic')") && !shared.contains("print('local')"), "{shared}");
    assert!(ended.stdout.contains("Pull request 17"), "{}", ended.stdout);
    let ended = project.loopgate(&["code-review", "run", "staged", "--base", "main"]);
    assert!(ended.stderr.contains("--base cannot be used with staged"), "{}", ended.stderr);
}

#[test]
fn usage_limit_is_waited_out_where_the_caller_wants_it() {
    let project = Project::new();
    std::fs::write(project.root.join("new.py"), "print(1)\n").unwrap();
    let limited = r#"echo '{"type":"result","is_error":true,"api_error_status":429,"result":"Usage limit reached"}'; exit 1"#;
    // The limit is over when the assistant is asked again.
    project.assistant(&format!(
        "if [ ! -e $OUT/limited ]; then touch $OUT/limited; {limited}; fi\n{NO_FINDING}"
    ));
    let ended = project.loopgate(&["code-review", "run", "--base", "main"]);
    assert!(ended.code == 1 && ended.stderr.contains("rate limit is reached"), "{}", ended.stderr);
    let ended = project.loopgate(&["code-review", "run", "--base", "main"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

// PR-22, PR-23
#[test]
fn second_review_reads_what_has_changed_since_the_first() {
    let project = Project::new();
    // The first lines of the question are the name of the reviewer.
    project.assistant(&format!("head -1 >> \"$OUT/asked\"; {NO_FINDING}"));
    let commit = |name: &str, lines: usize| {
        let text: String = (0..lines).map(|line| format!("print({line})\n")).collect();
        std::fs::write(project.root.join(name), text).unwrap();
        project.git(&["add", "."]);
        project.git(&["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "Add files"]);
    };
    project.git(&["checkout", "-q", "-b", "topic"]);
    commit("one.py", 150);
    commit("two.py", 150);
    let review = |args: &[&str]| {
        let _ = std::fs::remove_file(project.path("asked"));
        let ended = project.loopgate(&[&["code-review", "run", "--base", "main"], args].concat());
        let mut asked: Vec<String> = project.note("asked").lines().map(str::to_owned).collect();
        asked.sort();
        (
            ended,
            asked
                .iter()
                .map(|line| line.trim_start_matches("You are reviewer ").to_owned())
                .collect::<Vec<_>>(),
        )
    };
    let (ended, asked) = review(&["--since-last-review"]);
    assert!(ended.code == 1 && ended.stderr.contains("there is no previous review"), "{}", ended.stderr);
    assert_eq!(asked, [""; 0]);
    let (ended, asked) = review(&[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("Review mode: full (no previous review)"), "{}", ended.stdout);
    assert_eq!(asked, ["auditor.", "bha_p0.", "bhb.", "premise."]);
    let (ended, asked) = review(&[]);
    assert!(ended.stdout.contains("Cache: 2 of 2 files"), "{}", ended.stdout);
    assert_eq!(asked, ["auditor.", "bhb.", "premise."]);

    commit("three.py", 10);
    let (ended, asked) = review(&["--full-review"]);
    assert!(ended.stdout.contains("Review mode: full (requested)"), "{}", ended.stdout);
    assert_eq!(asked, ["auditor.", "bha_p0.", "bhb.", "premise."]);
    commit("four.py", 10);
    let (ended, asked) = review(&[]);
    assert!(ended.stdout.contains("Review mode: incremental (since "), "{}", ended.stdout);
    assert!(ended.stdout.contains("1 files, 10 changed lines"), "{}", ended.stdout);
    assert_eq!(asked, ["fast."]);
    // Loops review the whole change.
    commit("five.py", 10);
    let (ended, _) = review(&["--stream"]);
    assert!(ended.stdout.contains("Review mode: full (reviews of loops)"), "{}", ended.stdout);
    commit("six.py", 10);
    let project = project.env("CR_AUTO_INCREMENTAL", "0");
    let ended = project.loopgate(&["code-review", "run", "--base", "main"]);
    assert!(ended.stdout.contains("Review mode: full (CR_AUTO_INCREMENTAL is 0)"), "{}", ended.stdout);
    // Nothing of it is in the repository.
    let cache = project.path(".loopgate/cache/code-review/.local");
    assert_eq!(std::fs::read_dir(cache).unwrap().count(), 1);
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    for scope in ["staged", "one.py"] {
        let ended = project.loopgate(&["code-review", "run", scope, "--since-last-review"]);
        assert!(
            ended.code == 1 && ended.stderr.contains("--since-last-review is not possible with "),
            "{}",
            ended.stderr
        );
    }
    let ended = project.loopgate(&["code-review", "run", "--since-last-review", "--full-review"]);
    assert_eq!(ended.code, 2);
}
