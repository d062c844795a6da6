//! Debates with test doubles of both programs, and the reviewer step with the real reviewer.

use std::path::{Path, PathBuf};

use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, Script};
use regex::Regex;

use crate::support::{Ended, Project, example};

/// Installs a shell script under the name of a program, first on the project's `PATH`.
fn with_program(project: Project, name: &str, script: &str) -> Project {
    let dir = project.path("bin");
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join(name);
    let out = project.root.parent().unwrap().display();
    std::fs::write(&path, format!("#!/bin/bash\nOUT='{out}'\n{script}\n")).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let search = format!("{}:{}", dir.display(), std::env::var("PATH").unwrap());
    project.env("PATH", &search)
}

fn reviewer_message(text: &str) -> String {
    let text = text.replace('\n', "\\n");
    format!(
        "echo '{{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}}'\n\
         echo '{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":\"{text}\"}}}}'"
    )
}

fn review(project: &Project, more: &[&str]) -> Ended {
    std::fs::write(project.root.join("plan.md"), "# Plan\n").unwrap();
    project.loopgate(
        &[&["debate", "review", "--plan-file", "plan.md", "--feedback-file", "feedback.md"], more].concat(),
    )
}

// PL-35
#[test]
fn answer_of_the_reviewer_is_printed_as_a_token() {
    let cases = [
        (
            reviewer_message("### Finding 1: too large\nSplit it."),
            "VERDICT:NEEDS_CHANGES\nREVIEWER_SESSION:t-1\n",
        ),
        (reviewer_message("Good.\nVERDICT: APPROVED"), "VERDICT:APPROVED\nREVIEWER_SESSION:t-1\n"),
        ("true".to_owned(), "REVIEWER_EMPTY\nREVIEWER_SESSION:none\n"),
        ("exit 2".to_owned(), "REVIEWER_FAILED:no output\nREVIEWER_SESSION:none\n"),
        ("echo 'no key' >&2; exit 2".to_owned(), "REVIEWER_FAILED:no key\nREVIEWER_SESSION:none\n"),
    ];
    for (script, expected) in cases {
        let project = with_program(Project::new(), "codex", &format!("cat > $OUT/prompt\n{script}"));
        let ended = review(&project, &[]);
        assert_eq!(ended.code, 0);
        assert!(ended.stdout.starts_with(expected), "{script}: {}", ended.stdout);
        assert!(ended.stdout.contains("\nLOG_ID:"));
        assert!(
            project.note("prompt").contains("VERDICT: NEEDS_CHANGES"),
            "the prompt requests the answer's format"
        );
    }
    let missing = Project::new().env("PATH", "/nonexistent");
    assert!(review(&missing, &[]).stdout.starts_with("REVIEWER_FAILED:codex command not found\n"));
}

#[test]
fn lost_reviewer_session_is_replaced_by_a_new_one() {
    let script =
        // The first call resumes the unknown session and fails, the second one starts a new session.
        format!("echo \"$*\" >> $OUT/calls\n[ \"$2\" = resume ] && exit 1\n{}", reviewer_message("VERDICT: APPROVED"));
    let project = with_program(Project::new(), "codex", &script);
    let ended = review(&project, &["--session-id", "old", "--round", "2", "--log-id", "abc"]);
    assert!(
        ended.stdout.starts_with("VERDICT:APPROVED\nREVIEWER_SESSION:t-1\nLOG_ID:abc\n"),
        "{}",
        ended.stdout
    );
    let calls = project.note("calls");
    assert!(calls.starts_with("exec resume old ") && calls.lines().count() == 2, "{calls}");
    let log = std::fs::read_to_string(project.path(".loopgate/plan-with-reviewer/abc.jsonl")).unwrap();
    assert!(log.starts_with("{\"") && log.contains("\"round\":2") && log.contains("thread.started"));
}

/// Creates a project with an assistant that writes and revises, and a reviewer that approves from a given
/// round on.
fn debate_project(approves_from: u32) -> Project {
    let reviewer = format!(
        "n=$(cat $OUT/rounds 2>/dev/null || echo 0); n=$((n+1)); echo $n > $OUT/rounds\n\
         if [ $n -ge {approves_from} ]; then\n{}\nelse\n{}\nfi",
        reviewer_message("VERDICT: APPROVED"),
        reviewer_message("### Finding 1: x\nVERDICT: NEEDS_CHANGES")
    );
    let project = with_program(Project::new(), "codex", &reviewer);
    project.assistant(
        "echo \"$3 $4\" >> $OUT/turns; echo \"$*\" >> $OUT/plugins\n[ -e $OUT/hang ] && { touch $OUT/hanging; sleep 600; }\n\
         if [ \"$3\" = --session-id ]; then echo '# Plan' > debate-plan.md; else echo revised >> debate-plan.md; fi",
    );
    project
}

fn sidecars(project: &Project) -> Vec<PathBuf> {
    [".state", ".feedback"]
        .iter()
        .map(|ending| project.root.join(format!("debate-plan{ending}")))
        .filter(|path| path.exists())
        .collect()
}

#[test]
fn debate_ends_when_the_reviewer_approves() {
    let project = debate_project(3);
    let ended = project.loopgate(&["debate", "run", "greet the user"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        ended.stdout.ends_with("The reviewer approves the plan in round 3: ./debate-plan.md\n"),
        "{}",
        ended.stdout
    );
    assert_eq!(
        std::fs::read_to_string(project.root.join("debate-plan.md")).unwrap(),
        "# Plan\nrevised\nrevised\n"
    );
    let turns = project.note("turns");
    let turns: Vec<(&str, &str)> = turns.lines().filter_map(|turn| turn.split_once(' ')).collect();
    assert_eq!(turns.iter().map(|turn| turn.0).collect::<Vec<_>>(), ["--session-id", "-r", "-r"]);
    assert!(turns.iter().all(|turn| turn.1 == turns[0].1), "one session");
    // The agent that writes the plan is in the plugin of this program.
    let plugin = Regex::new(r"--plugin-dir \S+/plugins/[0-9a-f]{16}/plugins/code ").unwrap();
    assert_eq!(plugin.find_iter(&project.note("plugins")).count(), 3, "{}", project.note("plugins"));
    assert!(sidecars(&project).is_empty());
}

#[test]
fn debate_without_approval_ends_at_the_round_limit() {
    let project = debate_project(99);
    let ended = project.loopgate(&["debate", "run", "--max-rounds", "2", "greet the user"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("has not approved the plan within 2 rounds"), "{}", ended.stdout);
    assert_eq!(project.note("rounds"), "2\n");
}

#[test]
fn interrupted_debate_is_resumed() {
    let project = debate_project(2);
    assert_eq!(project.loopgate(&["debate", "run", "--max-rounds", "1", "greet"]).code, 0);
    // A state file from the middle of a round, as an interrupted debate leaves it.
    std::fs::remove_file(project.path("rounds")).unwrap();
    std::fs::write(
        project.root.join("debate-plan.state"),
        "SESSION_ID=s\nROUND=1\nPHASE=assistant_revision\n",
    )
    .unwrap();
    std::fs::write(project.path("hang"), "").unwrap();
    let mut debate = project.start(&["debate", "run", "greet"]);
    crate::support::wait_until("the assistant revises", || project.path("hanging").exists());
    crate::support::signal(debate.id(), "INT");
    assert_eq!(debate.wait().unwrap().code(), Some(130));
    std::fs::remove_file(project.path("hang")).unwrap();
    let ended = project.loopgate(&["debate", "run", "greet"]);
    assert!(
        ended.stdout.starts_with("The debate resumes in round 1\nRound 1: the assistant revises"),
        "{}",
        ended.stdout
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn real_reviewer_judges_a_plan() {
    let script = Script::new([Conversation::when("reviewer", "You review a plan")
        .says("### Finding 1: too large\nSplit it.\n\nVERDICT: NEEDS_CHANGES")]);
    let model = ModelServer::start(script).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    let project = Project::new();
    std::fs::write(project.root.join("plan.md"), "# Plan\n").unwrap();
    let step = async |session: &str| {
        let output = home
            .command(&example().display().to_string())
            .args(["debate", "review", "--plan-file", "plan.md", "--feedback-file", "feedback.md"])
            .args(["--reviewer-model", "scripted", "--session-id", session])
            .current_dir(&project.root)
            .output()
            .await
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let first = step("none").await;
    assert!(first.starts_with("VERDICT:NEEDS_CHANGES\nREVIEWER_SESSION:"), "{first}");
    let session = first.lines().nth(1).unwrap().trim_start_matches("REVIEWER_SESSION:").to_owned();
    assert!(
        std::fs::read_to_string(Path::new(&project.root).join("feedback.md"))
            .unwrap()
            .contains("### Finding 1: too large")
    );
    let second = step(&session).await;
    assert!(second.contains(&format!("REVIEWER_SESSION:{session}")), "the session is resumed: {second}");
}
