//! The debate about a plan, with stand-ins for both programs, and the reviewer step with the real reviewer.

use std::path::{Path, PathBuf};

use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, Script};

use crate::support::{Ended, Project, example};

/// Places a program of that name, a shell script, first on the project's search path.
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

fn said(text: &str) -> String {
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
fn reviewers_answer_becomes_a_word_for_the_prompt() {
    let cases = [
        (said("### Finding 1: too large\nSplit it."), "VERDICT:NEEDS_CHANGES\nREVIEWER_SESSION:t-1\n"),
        (said("Good.\nVERDICT: APPROVED"), "VERDICT:APPROVED\nREVIEWER_SESSION:t-1\n"),
        ("true".to_owned(), "REVIEWER_EMPTY\nREVIEWER_SESSION:none\n"),
        ("exit 2".to_owned(), "REVIEWER_FAILED:it said nothing\nREVIEWER_SESSION:none\n"),
        ("echo 'no key' >&2; exit 2".to_owned(), "REVIEWER_FAILED:no key\nREVIEWER_SESSION:none\n"),
    ];
    for (script, expected) in cases {
        let project = with_program(Project::new(), "codex", &format!("cat > $OUT/asked\n{script}"));
        let ended = review(&project, &[]);
        assert_eq!(ended.code, 0);
        assert!(ended.stdout.starts_with(expected), "{script}: {}", ended.stdout);
        assert!(ended.stdout.contains("\nLOG_ID:"));
        assert!(
            project.note("asked").contains("VERDICT: NEEDS_CHANGES"),
            "the form of the answer is asked for"
        );
    }
    let missing = Project::new().env("PATH", "/nonexistent");
    assert!(review(&missing, &[]).stdout.starts_with("REVIEWER_FAILED:codex command not found\n"));
}

#[test]
fn session_that_the_reviewer_has_lost_is_begun_anew() {
    let script =
        format!("echo \"$*\" >> $OUT/calls\n[ \"$2\" = resume ] && exit 1\n{}", said("VERDICT: APPROVED"));
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

/// An assistant that writes and revises, and a reviewer that approves from a round on.
fn debating(approves_from: u32) -> Project {
    let reviewer = format!(
        "n=$(cat $OUT/rounds 2>/dev/null || echo 0); n=$((n+1)); echo $n > $OUT/rounds\n\
         if [ $n -ge {approves_from} ]; then\n{}\nelse\n{}\nfi",
        said("VERDICT: APPROVED"),
        said("### Finding 1: x\nVERDICT: NEEDS_CHANGES")
    );
    let project = with_program(Project::new(), "codex", &reviewer);
    project.assistant(
        "echo \"$3 $4\" >> $OUT/turns\n[ -e $OUT/hang ] && { touch $OUT/hanging; sleep 600; }\n\
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
    let project = debating(3);
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
    assert!(sidecars(&project).is_empty());
}

#[test]
fn debate_without_approval_ends_at_its_limit_and_says_so() {
    let project = debating(99);
    let ended = project.loopgate(&["debate", "run", "--max-rounds", "2", "greet the user"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("has not approved the plan within 2 rounds"), "{}", ended.stdout);
    assert_eq!(project.note("rounds"), "2\n");
}

#[test]
fn interrupted_debate_goes_on_where_it_was() {
    let project = debating(2);
    assert_eq!(project.loopgate(&["debate", "run", "--max-rounds", "1", "greet"]).code, 0);
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
        ended.stdout.starts_with("The debate goes on in round 1\nRound 1: the assistant revises"),
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
    assert!(second.contains(&format!("REVIEWER_SESSION:{session}")), "the same session goes on: {second}");
}
