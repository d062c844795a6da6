//! Commands for the code host's program, and the parsing of its output.
//!
//! A script replaces the program where it has to hang, fail half-way or print secrets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod machine;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use loopgate_api::ids::{BranchName, RepoFullName};
use loopgate_testkit::wait;
use loopgate_tools::code_host::{CloneError, CodeHost, CodeHostError, NewPullRequest};
use loopgate_tools::git::Git;
use machine::{Machine, write_script};

/// A machine with this script as `gh`. The script records its arguments, one per line.
struct ScriptedCodeHost {
    machine: Machine,
    host: CodeHost,
}

impl ScriptedCodeHost {
    fn new(script: &str) -> Self {
        let machine = Machine::new(&[]);
        fs::create_dir_all(machine.at("code")).unwrap();
        let recorded_args = machine.at("noted");
        let note =
            format!("printf '%s\\n' \"$@\" \"prompt=$GH_PROMPT_DISABLED\" > '{}'", recorded_args.display());
        write_script(&machine.at("bin/gh"), &format!("{note}\n{script}"));
        let host = CodeHost::new(
            machine.programs.clone(),
            Git::new(machine.programs.clone(), machine.sandbox.clone()),
        );
        Self { machine, host }
    }

    fn recorded_args(&self) -> Vec<String> {
        let text = fs::read_to_string(self.machine.at("noted")).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn code(&self) -> PathBuf {
        self.machine.at("code")
    }

    /// Returns the names of all entries in the directory of clones.
    fn listed(&self) -> Vec<String> {
        let entries = fs::read_dir(self.code()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn widget() -> RepoFullName {
    "acme/widget".parse().unwrap()
}

fn branch(name: &str) -> BranchName {
    name.parse().unwrap()
}

// LR-12
#[tokio::test]
async fn clone_appears_atomically() {
    let fixture = ScriptedCodeHost::new(r#"mkdir "$4"; echo code > "$4/file""#);
    let destination = fixture.code().join("widget");
    fixture.host.clone_repository(&widget(), &destination).await.unwrap();
    assert_eq!(fs::read_to_string(destination.join("file")).unwrap(), "code\n");
    assert_eq!(fixture.listed(), ["widget"]);
    let recorded_args = fixture.recorded_args();
    assert_eq!(recorded_args[..3], ["repo", "clone", "acme/widget"]);
    assert_eq!(recorded_args[4..], ["prompt=1"]);
    // The destination now exists, and is neither replaced nor merged.
    let again = fixture.host.clone_repository(&widget(), &destination).await;
    assert!(matches!(again, Err(CloneError::Exists)), "{again:?}");
    let nowhere = fixture.host.clone_repository(&widget(), &fixture.code().join("no/widget")).await;
    assert!(matches!(nowhere, Err(CloneError::NoParent)), "{nowhere:?}");
}

#[tokio::test]
async fn failed_clone_is_removed_and_its_error_is_redacted() {
    let fixture = ScriptedCodeHost::new(
        r#"mkdir "$4"; echo half > "$4/file"; echo "fatal: https://ada:hunter2@host/acme/widget denied" >&2; exit 1"#,
    );
    let error = fixture.host.clone_repository(&widget(), &fixture.code().join("widget")).await.unwrap_err();
    assert_eq!(error.to_string(), "fatal: https://***@host/acme/widget denied");
    assert_eq!(fixture.listed(), [""; 0]);
}

#[tokio::test]
async fn directory_created_during_the_clone_is_kept() {
    // The script itself creates the destination, as a concurrent clone could.
    let fixture = ScriptedCodeHost::new(r#"mkdir "$4" widget; echo other > widget/file"#);
    let taken = fixture.host.clone_repository(&widget(), &fixture.code().join("widget")).await;
    assert!(matches!(taken, Err(CloneError::Exists)), "{taken:?}");
    assert_eq!(fixture.listed(), ["widget"]);
    assert_eq!(fs::read_to_string(fixture.code().join("widget/file")).unwrap(), "other\n");
}

#[tokio::test]
async fn clone_completes_and_cleans_up_after_its_caller_is_dropped() {
    let fixture = ScriptedCodeHost::new(r#"mkfifo ../go; mkdir "$4"; read word < ../go; exit 1"#);
    let (host, destination) = (fixture.host.clone(), fixture.code().join("widget"));
    // Aborting the caller while the script waits for the pipe must not kill the script or skip the cleanup.
    let caller = tokio::spawn(async move { host.clone_repository(&widget(), &destination).await });
    wait::until(&fixture.code(), async || (!fixture.listed().is_empty()).then_some(())).await.unwrap();
    caller.abort();
    tokio::fs::write(fixture.machine.at("go"), "go\n").await.unwrap();
    wait::until(&fixture.code(), async || fixture.listed().is_empty().then_some(())).await.unwrap();
}

// LR-16, LR-61
#[tokio::test]
async fn hanging_clone_is_killed_with_its_descendants() {
    let fixture = ScriptedCodeHost::new(r#"mkdir "$4"; sleep 600 & echo $! > ../child; wait"#);
    let (host, destination) = (fixture.host.clone(), fixture.code().join("widget"));
    let caller = tokio::spawn(async move { host.clone_repository(&widget(), &destination).await });
    let child = wait::lines_of(&fixture.machine.at("child")).await.unwrap();
    // The clone's timeout of two minutes is skipped with tokio's paused clock.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(119)).await;
    assert!(!caller.is_finished());
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
    let ended = caller.await.unwrap();
    assert!(matches!(ended, Err(CloneError::CodeHost(CodeHostError::TimedOut))), "{ended:?}");
    assert_eq!(fixture.listed(), [""; 0]);
    wait::until_exited(child.parse().unwrap()).await.unwrap();
}

#[tokio::test]
async fn only_pull_request_of_the_own_branch_is_returned() {
    let fixture = ScriptedCodeHost::new(
        r#"echo '[{"number":5,"url":"https://github.com/acme/widget/pull/5","isCrossRepository":true,"headRepositoryOwner":null},
            {"number":7,"url":"https://github.com/acme/widget/pull/7","isCrossRepository":false,"headRepositoryOwner":null}]'"#,
    );
    let pull = fixture.host.pr_view(&fixture.code(), &branch("x")).await.unwrap().unwrap();
    assert_eq!((pull.number, pull.url.as_str()), (7, "https://github.com/acme/widget/pull/7"));
    assert_eq!(fixture.recorded_args()[..4], ["pr", "list", "--state", "open"]);

    let none = ScriptedCodeHost::new("echo '[]'");
    assert_eq!(none.host.pr_view(&none.code(), &branch("x")).await.unwrap(), None);
    let refused = ScriptedCodeHost::new("echo 'HTTP 403: denied' >&2; exit 1");
    let error = refused.host.pr_view(&refused.code(), &branch("x")).await.unwrap_err();
    assert_eq!(error.user_message(), "Permission denied. Check your GitHub access.");
    let nonsense = ScriptedCodeHost::new("echo hello");
    let error = nonsense.host.pr_view(&nonsense.code(), &branch("x")).await.unwrap_err();
    assert!(matches!(error, CodeHostError::Unreadable));
}

#[tokio::test]
async fn pull_request_is_created_with_literal_arguments() {
    let fixture =
        ScriptedCodeHost::new("echo 'Creating pull request'; echo https://github.com/acme/widget/pull/31");
    let (main, head) = (branch("main"), branch("orchestrator/a"));
    let new =
        NewPullRequest { title: "$(rm -rf) \"it\"", body: "Why", base: &main, head: &head, label: "loop" };
    let created = fixture.host.pr_create(&fixture.code(), &new).await.unwrap();
    assert_eq!(created.number, 31);
    let words = ["pr", "create", "--title", "$(rm -rf) \"it\"", "--body-file", "-"];
    let words = words.into_iter().chain([
        "--base",
        "main",
        "--head",
        "orchestrator/a",
        "--label",
        "loop",
        "prompt=1",
    ]);
    assert!(fixture.recorded_args().iter().map(String::as_str).eq(words));
    fixture.host.pr_add_label(&fixture.code(), 31, "orchestrator").await.unwrap();
    assert_eq!(fixture.recorded_args()[..5], ["pr", "edit", "31", "--add-label", "orchestrator"]);
}

#[tokio::test]
async fn label_that_the_repository_does_not_define_is_left_out() {
    let fixture = ScriptedCodeHost::new(
        "case \"$*\" in *--label*) echo \"could not add label: 'loop' not found\" >&2; exit 1;; esac\n\
         echo https://github.com/acme/widget/pull/31",
    );
    let (main, head) = (branch("main"), branch("orchestrator/a"));
    let new = NewPullRequest { title: "It", body: "Why", base: &main, head: &head, label: "loop" };
    assert_eq!(fixture.host.pr_create(&fixture.code(), &new).await.unwrap().number, 31);
}

#[tokio::test]
async fn body_is_read_and_replaced() {
    let fixture = ScriptedCodeHost::new(r#"printf '%s\n' '{"body":"line\nLoop ID: x"}'"#);
    assert_eq!(fixture.host.pr_body(&fixture.code(), 5).await.unwrap(), "line\nLoop ID: x");
    fixture.host.pr_edit_body(&fixture.code(), 5, "other").await.unwrap();
    assert_eq!(fixture.recorded_args()[..5], ["pr", "edit", "5", "--body-file", "-"]);
}
