//! Messages of the user to a running loop: the hooks, the driver, and the real assistant with a scripted model.

use std::path::{Path, PathBuf};

use loopgate_testkit::model::{ModelServer, ModelStep, Script};
use serde_json::{Value, json};

use crate::real_assistant::{orchestrator, run};
use crate::support::{DONE, Project, example, plugin};

const ID: &str = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718";

/// Returns the path of a file of the messages below the work directory.
fn directory(workdir: &Path, name: &str) -> PathBuf {
    workdir.join(".loopgate").join(name)
}

/// Writes a message as the runtime does.
fn send(workdir: &Path, text: &str) {
    let directory = directory(workdir, "messages");
    std::fs::create_dir_all(&directory).unwrap();
    let message = json!({"text": text, "receivedAt": "2031-04-02T10:00:00.000Z"});
    std::fs::write(directory.join(format!("{ID}.json")), message.to_string()).unwrap();
}

fn is_delivered(workdir: &Path) -> bool {
    let stored = std::fs::read_to_string(directory(workdir, "messages-delivered").join(format!("{ID}.json")));
    let stored: Value = serde_json::from_str(&stored.unwrap_or_default()).unwrap_or_default();
    stored["deliveredAt"].is_string() && !directory(workdir, "messages").exists()
}

/// Runs a hook as the assistant does, in an iteration of the driver.
fn hook(project: &Project, name: &str, program: &str, input: &Value) -> String {
    let variables = format!(
        "LOOPGATE_RUN_ID=run LOOPGATE_BIN='{program}' LOOPGATE_MESSAGES='{}'",
        directory(&project.workdir, "messages").display()
    );
    let script = plugin("code").join("hooks/run.sh");
    let ended =
        project.shell(&format!("printf '%s' '{input}' | {variables} sh '{}' {name}", script.display()));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{name}");
    ended.stdout
}

#[test]
fn hooks_pass_each_message_to_the_main_session_once() {
    let project = Project::new();
    let program = example().display().to_string();
    let main = json!({"session_id": "s", "cwd": project.root});
    for (name, event) in [("post-tool-use", "PostToolUse"), ("session-start", "SessionStart")] {
        send(&project.workdir, "Use tabs.");
        let agent = json!({"session_id": "s", "cwd": project.root, "agent_id": "a1"});
        assert_eq!(hook(&project, name, &program, &agent), "", "an agent would end with the message");
        let answer: Value = serde_json::from_str(&hook(&project, name, &program, &main)).unwrap();
        let output = &answer["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], event);
        assert!(output["additionalContext"].as_str().unwrap().contains("\nUse tabs.\n"), "{output}");
        assert!(is_delivered(&project.workdir));
    }
    send(&project.workdir, "Use spaces.");
    let answer: Value = serde_json::from_str(&hook(&project, "stop", &program, &main)).unwrap();
    assert_eq!(answer["decision"], "block");
    assert!(answer["reason"].as_str().unwrap().contains("\nUse spaces.\n"), "{answer}");
    // Without a message no program is started: this one does not exist.
    for name in ["post-tool-use", "stop"] {
        assert_eq!(hook(&project, name, "/nonexistent/loopgate", &main), "", "{name}");
    }
    // A new session does not know what earlier ones have received, a resumed one does.
    let start = json!({"session_id": "t", "cwd": project.root, "source": "startup"});
    assert!(hook(&project, "session-start", &program, &start).contains("Use spaces."));
    let resumed = json!({"session_id": "s", "cwd": project.root, "source": "resume"});
    assert_eq!(hook(&project, "session-start", &program, &resumed), "");
}

/// An assistant that reports completion, and whose loop receives a message at that moment. It notes its arguments.
const ENDS_WITH_A_MESSAGE: &str = r#"echo "$*" >> $OUT/args
if [ ! -e $OUT/sent ]; then
  touch $OUT/sent
  mkdir -p "$LOOPGATE_MESSAGES"
  printf '{"text":"Use tabs.","receivedAt":"t"}' > "$LOOPGATE_MESSAGES/0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718.json"
fi
"#;

#[test]
fn message_that_arrives_at_the_end_continues_the_last_session() {
    let project = Project::new();
    project.assistant(&format!("{ENDS_WITH_A_MESSAGE}{DONE}"));
    let ended = project.run(&[]);
    assert_eq!(ended.code, 0, "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(project.statuses(), ["in_progress", "completed"]);
    let args = project.note("args");
    assert!(args.contains("--resume s-1") && args.contains("Use tabs."), "{args}");
    assert!(is_delivered(&project.workdir));
}

#[test]
fn message_that_arrives_at_the_last_iteration_stays_undelivered() {
    let project = Project::new();
    project.assistant(&format!("{ENDS_WITH_A_MESSAGE}{DONE}"));
    let ended = project.run(&["--max-iterations", "1"]);
    assert_eq!((ended.code, project.statuses()), (0, vec!["completed".to_owned()]), "{}", ended.stderr);
    assert!(directory(&project.workdir, "messages").exists() && !is_delivered(&project.workdir));
}

#[tokio::test(flavor = "multi_thread")]
async fn real_assistant_receives_messages_while_it_works_and_before_it_ends() {
    let project = Project::new();
    let script = orchestrator("PLAN")
        .turn([ModelStep::hold("working"), ModelStep::bash("echo step")])
        .turn([ModelStep::hold("ending"), ModelStep::text("Done.\n\n<promise>COMPLETE</promise>")])
        .says("Done as requested.\n\n<promise>COMPLETE</promise>");
    let model = ModelServer::start(Script::new([script])).await.unwrap();
    let messages = async {
        model.held("working").await.unwrap();
        send(&project.workdir, "First message");
        model.release("working");
        model.held("ending").await.unwrap();
        assert!(is_delivered(&project.workdir), "after the tool");
        send(&project.workdir, "Second message");
        model.release("ending");
    };
    let (ended, ()) = tokio::join!(run(&project, &model, "PLAN"), messages);
    assert_eq!(ended.code, 0, "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(project.statuses(), ["completed"], "one session has received both");
    assert!(is_delivered(&project.workdir), "when the session was about to end");
    let requests = model.requests_of("orchestrator");
    let texts: Vec<String> = requests.iter().map(|request| format!("{request:?}")).collect();
    assert!(texts[1].contains("First message") && !texts[1].contains("Second message"), "{}", texts[1]);
    assert!(texts[2].contains("Second message"), "{}", texts[2]);
}
