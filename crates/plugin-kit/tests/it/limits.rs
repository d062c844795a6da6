//! Usage limits of the assistant's account: all loops of the account wait for their end.

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use loopgate_home::AssistantLimits;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, Failure, ModelServer, ModelStep, Script};
use serde_json::Value;

use crate::support::{DONE, Ended, Project, example, plugin, signal, wait_until};

/// Timeout of a scripted loop.
const PATIENCE: Duration = Duration::from_secs(90);
/// Seconds from a refusal to the end of the limit.
const LIMIT_SECONDS: i64 = 4;

/// Script of an assistant that meets a limit in the session `s-1`; the limit ends after some seconds.
fn limited(seconds: u32) -> String {
    format!(
        "UNTIL=$(( $(date +%s) + {seconds} ))\n\
         echo '{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}}'\n\
         echo \"{{\\\"type\\\":\\\"rate_limit_event\\\",\\\"rate_limit_info\\\":{{\\\"status\\\":\\\"rejected\\\",\
         \\\"resetsAt\\\":$UNTIL}},\\\"session_id\\\":\\\"s-1\\\"}}\"\n\
         echo '{{\"type\":\"result\",\"is_error\":true,\"api_error_status\":429,\"result\":\"limit\",\"session_id\":\"s-1\"}}'\n\
         exit 1\n"
    )
}

/// Creates a project whose loops share account and data directory with those of other projects.
fn project(data_dir: &Path) -> Project {
    Project::new()
        .env("ANTHROPIC_API_KEY", "key")
        .env("LOOPGATE_HOME", &data_dir.display().to_string())
        .env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key")
}

fn waiting_until(project: &Project) -> Option<jiff::Timestamp> {
    let state: Value = serde_json::from_str(&project.read("state.json")).ok()?;
    assert_eq!(state["status"], "IN_PROGRESS");
    state["waitingUntil"].as_str()?.parse().ok()
}

/// Builds a driver with the real assistant, signed in with a subscription.
fn driver(home: &UserHome, project: &Project) -> tokio::process::Command {
    let mut driver = home.command(&example().display().to_string());
    driver
        .args(["loop", "run", &project.workdir.display().to_string(), "--max-iterations", "1"])
        .current_dir(&project.root)
        .env_remove("IS_SANDBOX")
        .env_remove("ANTHROPIC_API_KEY")
        .env("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-scripted")
        .env("LOOPGATE_ASSISTANT_BIN", home.path().join("bin/claude"))
        .env("LOOPGATE_COMMAND", "PLAN")
        .env("LOOPGATE_HOME", home.path().join("data"))
        .env("LOOPGATE_ITERATION_PAUSE_MS", "1")
        .env("LOOPGATE_PLUGIN_DIR", plugin("code"))
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    driver
}

/// Runs a driver to its end.
async fn drive(home: &UserHome, project: &Project) -> Output {
    tokio::time::timeout(PATIENCE, driver(home, project).output()).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_loop_probes_after_the_limit_and_all_resume_their_sessions() {
    let continued = Conversation::when("continued", "A usage limit interrupted you")
        .turn([ModelStep::hold("probe"), ModelStep::text("<promise>COMPLETE</promise>")]);
    let refused = Conversation::when("refused", "# Coding loop")
        .turn([ModelStep::hold("refusal"), ModelStep::Error(Failure::usage_limit(LIMIT_SECONDS))]);
    let model = ModelServer::start(Script::new([continued, refused])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    let projects = [Project::new(), Project::new(), Project::new()];

    let test = async {
        model.held_times("refusal", 3).await.unwrap();
        model.release("refusal");
        model.held("probe").await.unwrap();
        let data_dir = home.path().join("data");
        let text = std::fs::read_to_string(data_dir.join("assistant-limits.json")).unwrap();
        let stored: Value = serde_json::from_str(&text).unwrap();
        let accounts: Vec<&String> = stored["limits"].as_object().unwrap().keys().collect();
        assert_eq!(accounts.len(), 1, "{text}");
        assert!(AssistantLimits::in_data_dir(&data_dir).try_probe(accounts[0]).unwrap().is_none());
        assert_eq!(model.requests_of("continued").len(), 1, "the others wait for the probe");
        model.release("probe");
    };
    let [first, second, third] = &projects;
    let (first, second, third, ()) =
        tokio::join!(drive(&home, first), drive(&home, second), drive(&home, third), test);

    for (output, project) in [first, second, third].iter().zip(&projects) {
        let output_text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{output_text}");
        assert_eq!(project.statuses(), ["completed"], "the wait uses up no iteration: {output_text}");
        assert!(
            output_text.contains("The loop waits until")
                && output_text.contains("The limit has ended; the loop resumes"),
            "{output_text}"
        );
        assert_eq!(waiting_until(project), None, "the wait is cleared");
        assert!(project.is_clean());
    }
    assert_eq!((model.requests_of("refused").len(), model.requests_of("continued").len()), (3, 3));
    assert!(
        model.requests_of("continued").iter().all(|request| request.user_text().contains("# Coding loop"))
    );
}

#[test]
fn limit_ends_the_loop_when_waiting_is_disabled() {
    for (settings, variable) in [("", "false"), ("wait_for_limits = false\n", "")] {
        let data_dir = tempfile::tempdir().unwrap();
        std::fs::write(data_dir.path().join("settings.toml"), settings).unwrap();
        let project = project(data_dir.path()).env("LOOPGATE_WAIT_FOR_LIMITS", variable);
        project.assistant(&limited(600));
        let ended = project.run(&[]);
        assert_eq!((ended.code, project.statuses()), (1, vec!["assistant_rate_limit".to_owned()]));
        assert!(project.read("loop-error.json").contains("ASSISTANT_RATE_LIMIT"));
        assert!(!data_dir.path().join("assistant-limits.json").exists() && project.is_clean());
    }
}

#[test]
fn wait_ends_at_once_when_the_loop_is_cancelled() {
    let data_dir = tempfile::tempdir().unwrap();
    let project = project(data_dir.path());
    project.assistant(&limited(6000));
    let mut driver = project.start(&["loop", "run", &project.workdir.display().to_string()]);
    wait_until("it waits", || waiting_until(&project).is_some());
    let shown = || project.read("assistant-output.jsonl").contains("waiting_for_limit");
    wait_until("its output says so", shown);
    signal(driver.id(), "TERM");
    assert_eq!(driver.wait().unwrap().code(), Some(130));
    assert!(std::fs::read_to_string(project.state_file()).unwrap().contains("\nsession: \"s-1\"\n"));
    let mut driver = project.start(&["loop", "run"]);
    // Removal of the state file ends the wait like a signal does.
    let log = project.root.join(".loopgate/loopgate-progress.log");
    let waits = || std::fs::read_to_string(&log).unwrap_or_default().matches("The loop waits until").count();
    wait_until("it waits again, before anything else", || waits() == 2);
    std::fs::remove_file(project.state_file()).unwrap();
    assert_eq!(driver.wait().unwrap().code(), Some(130));
}

#[test]
fn limit_persists_after_the_driver_and_applies_to_other_loops() {
    let data_dir = tempfile::tempdir().unwrap();
    let killed = project(data_dir.path());
    killed.assistant(&limited(4));
    let mut driver = killed.start(&["loop", "run", &killed.workdir.display().to_string()]);
    wait_until("it waits", || waiting_until(&killed).is_some());
    let until = waiting_until(&killed).unwrap();
    signal(driver.id(), "KILL");
    driver.wait().unwrap();

    let other = project(data_dir.path());
    other.assistant(&format!("date +%s > $OUT/began\n{DONE}"));
    let ended = other.run(&[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(other.note("began").trim().parse::<i64>().unwrap() >= until.as_second());

    killed.assistant(&format!("echo \"$@\" > $OUT/arguments\n{DONE}"));
    let ended = killed.loopgate(&["loop", "run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let arguments = killed.note("arguments");
    assert!(
        arguments.contains("--resume s-1 ") && arguments.contains("A usage limit interrupted you"),
        "{arguments}"
    );
    assert_eq!(killed.statuses(), ["completed"]);
    assert!(killed.is_clean());
}

/// A loop without iterations: a prompt on standard input and one run.
#[test]
fn prompt_waits_and_resumes_its_session() {
    let data_dir = tempfile::tempdir().unwrap();
    let project = project(data_dir.path());
    let project = {
        let workdir = project.workdir.display().to_string();
        project.env("LOOPGATE_WORKDIR", &workdir)
    };
    let limited = limited(4);
    project.assistant(&format!(
        "case \"$*\" in *--resume*) echo \"$*\" > $OUT/arguments; cat > $OUT/rest\n{DONE}exit 3;; esac\n\
         cat > $OUT/prompt\n{limited}"
    ));
    let prompt = project.path("prompt.txt");
    std::fs::write(&prompt, "Judge it.").unwrap();
    let child = project.start_with_file(&["loop", "assistant", "--", "-p", "--verbose"], &prompt);
    wait_until("it waits", || waiting_until(&project).is_some());
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 3, "the exit code of the assistant: {}", ended.stderr);
    assert_eq!((project.note("prompt").as_str(), project.note("rest").as_str()), ("Judge it.", ""));
    let arguments = project.note("arguments");
    assert!(
        arguments.starts_with("-p --verbose --resume s-1 -p A usage limit interrupted you"),
        "{arguments}"
    );
    let records: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = records.iter().filter_map(|record| record["subtype"].as_str()).collect();
    assert_eq!(kinds, ["init", "waiting_for_limit", "success"], "{}", ended.stdout);
    assert!(!project.workdir.join("state.json").exists(), "the wait is cleared");
    let limits = std::fs::read_to_string(data_dir.path().join("assistant-limits.json")).unwrap();
    let limits: Value = serde_json::from_str(&limits).unwrap();
    assert_eq!(limits["limits"], serde_json::json!({}), "the first answer of the model clears the limit");
}

/// The limit is met before the session starts, so the prompt must be sent again.
#[test]
fn prompt_is_sent_again_when_no_session_was_started() {
    let data_dir = tempfile::tempdir().unwrap();
    let project = project(data_dir.path());
    let refused =
        limited(2).replace(",\\\"session_id\\\":\\\"s-1\\\"", "").replace(",\"session_id\":\"s-1\"", "");
    project.assistant(&format!(
        "[ -e $OUT/first ] && {{ cat > $OUT/second\n{DONE}exit 0; }}\ncat > $OUT/first\n{refused}"
    ));
    let prompt = project.path("prompt.txt");
    std::fs::write(&prompt, "Judge it.").unwrap();
    let child = project.start_with_file(&["loop", "assistant", "--", "-p"], &prompt);
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert_eq!((project.note("first"), project.note("second")), ("Judge it.".into(), "Judge it.".into()));
}

#[test]
fn prompt_ends_at_a_limit_when_waiting_is_disabled() {
    let data_dir = tempfile::tempdir().unwrap();
    let project = project(data_dir.path()).env("LOOPGATE_WAIT_FOR_LIMITS", "false");
    project.assistant(&limited(600));
    let ended = project.loopgate(&["loop", "assistant", "--", "-p"]);
    assert_eq!(ended.code, 1);
    assert!(!ended.stdout.contains("waiting_for_limit"), "{}", ended.stdout);
    assert!(!data_dir.path().join("assistant-limits.json").exists());
}

#[test]
fn waiting_prompt_ends_at_once_when_stopped() {
    let data_dir = tempfile::tempdir().unwrap();
    let project = project(data_dir.path());
    project.assistant(&limited(6000));
    let prompt = project.path("prompt.txt");
    std::fs::write(&prompt, "Judge it.").unwrap();
    let mut child = project.start_with_file(&["loop", "assistant", "--", "-p"], &prompt);
    let stored = || data_dir.path().join("assistant-limits.json").exists();
    wait_until("the limit is stored", stored);
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// The loop that probes the account is killed before the model answers.
#[tokio::test(flavor = "multi_thread")]
async fn probe_of_a_killed_loop_is_acquired_by_another() {
    let [first, second] = [Project::new(), Project::new()];
    let root_of = |project: &Project| project.root.display().to_string();
    let continued = Conversation::when("probe", "A usage limit interrupted you")
        .turn([ModelStep::hold("probe"), ModelStep::text("<promise>COMPLETE</promise>")]);
    let refused = Conversation::when("refused", "# Coding loop")
        .and(&root_of(&first))
        .turn([ModelStep::Error(Failure::usage_limit(LIMIT_SECONDS))]);
    let other = Conversation::when("other", "# Coding loop").says("<promise>COMPLETE</promise>");
    let model = ModelServer::start(Script::new([continued, refused, other])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();

    let mut probing = driver(&home, &first).spawn().unwrap();
    model.held("probe").await.unwrap();
    let waiting = tokio::spawn(driver(&home, &second).output());
    // The killed process held the probe's lock; the operating system releases it, so the other loop acquires
    // it.
    let log = second.root.join(".loopgate/loopgate-progress.log");
    wait_until("the other waits for the probe", || {
        std::fs::read_to_string(&log).unwrap_or_default().contains("The loop waits until")
    });
    assert!(model.requests_of("other").is_empty(), "it waits for the probe");
    probing.kill().await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap();
    let output_text = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{output_text}");
    assert_eq!((second.statuses(), model.requests_of("other").len()), (vec!["completed".to_owned()], 1));
}
