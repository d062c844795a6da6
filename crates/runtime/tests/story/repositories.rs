//! Loops in repositories with special configuration or content: options of the user, conflicts, and submodules.

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_runtime::jobs::Job;
use serde_json::{Value, json};

use crate::support::{Desktop, IMPLEMENTS, new_id, request, start};

/// Runs a loop with the driver's script; returns its record and its last event.
async fn run(desktop: &Desktop, command: &str, driver: &str) -> (Job, Value) {
    desktop.driver(driver);
    let (runtime, id) = (desktop.open().await, new_id());
    start(&runtime, &request(id, command)).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    let last = desktop.cloud.events(id, "completed").pop().unwrap();
    (job, last)
}

/// Adds a submodule with a file `l` to the clone of `acme/api` and to its remote.
async fn add_submodule(desktop: &Desktop) {
    let (bare, clone) = (desktop.at("remote/acme/lib.git"), desktop.at("box/api"));
    let library = desktop.at("library");
    std::fs::create_dir_all(&bare).unwrap();
    desktop.git(&bare, &["init", "-q", "--bare", "-b", "main", "."]).await;
    desktop.git(&desktop.at(""), &["clone", "-q", &bare.to_string_lossy(), "library"]).await;
    std::fs::write(library.join("l"), "library\n").unwrap();
    desktop.git(&library, &["add", "l"]).await;
    desktop.git(&library, &["commit", "-q", "-m", "Library"]).await;
    desktop.git(&library, &["push", "-q", "origin", "HEAD:refs/heads/main"]).await;
    let url = bare.to_string_lossy().into_owned();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "lib"];
    desktop.git(&clone, &add).await;
    desktop.git(&clone, &["commit", "-q", "-m", "Add the library"]).await;
    desktop.git(&clone, &["push", "-q", "origin", "main"]).await;
    desktop.trust().await;
}

fn output(desktop: &Desktop, id: LoopId) -> String {
    desktop.cloud.output(id).join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn new_files_are_delivered_and_saved_whatever_git_displays() {
    let desktop = Desktop::new().await;
    let clone = desktop.at("box/api");
    desktop.git(&clone, &["config", "status.showUntrackedFiles", "no"]).await;
    let (job, _) = run(&desktop, "EXECUTE", IMPLEMENTS).await;
    assert_eq!((job.status(), job.warnings()), (JobStatus::Completed, Vec::new()));
    assert_eq!(desktop.pushed("orchestrator/plan-5").await.len(), 1);

    std::fs::write(desktop.at("box/api-loop-plan-5/notes.txt"), "mine").unwrap();
    let (job, _) = run(&desktop, "PLAN", "echo '# Plan' > \"$W/plan.md\"").await;
    let text = output(&desktop, job.id);
    assert!(text.contains("Earlier unpushed work was saved"), "{text}");
    let saved = desktop.git(&clone, &["for-each-ref", "--format=%(refname)", "refs/loopgate/saved"]).await;
    assert_eq!(desktop.git(&clone, &["show", &format!("{saved}:notes.txt")]).await, "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_rebase_is_not_delivered() {
    let desktop = Desktop::new().await;
    let driver = format!(
        "{IMPLEMENTS}\ngit config user.name a; git config user.email a@b\n\
         git checkout -q -b side; echo theirs > README.md; git commit -qam Theirs\n\
         git checkout -q orchestrator/plan-5; echo ours > README.md; git commit -qam Ours\n\
         git rebase -q side 2> /dev/null || true"
    );
    let (job, last) = run(&desktop, "EXECUTE", &driver).await;
    assert_eq!(job.warnings(), ["GIT_PUSH_FAILED"]);
    let result = &last["results"][0];
    assert_eq!(result["status"], "failed", "{last}");
    let error = result["error"].as_str().unwrap();
    assert!(
        error.starts_with("conflicts in README.md: a rebase in the worktree has not finished"),
        "{error}"
    );
    let worktree = desktop.at("box/api-loop-plan-5");
    let unmerged = desktop.git(&worktree, &["diff", "--name-only", "--diff-filter=U"]).await;
    assert_eq!(unmerged, "README.md", "the conflict is still there");
    assert!(worktree.join("feature.txt").is_file());
    let branches =
        desktop.git(&desktop.at("remote/acme/api.git"), &["branch", "--list", "orchestrator/*"]).await;
    assert_eq!(branches, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn submodule_is_checked_out_and_its_unpublished_commit_is_not_delivered() {
    let desktop = Desktop::new().await;
    add_submodule(&desktop).await;
    let driver = format!(
        "{IMPLEMENTS}\ncp lib/l feature.txt\n\
         cd lib; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m Work; cd .."
    );
    let (job, last) = run(&desktop, "EXECUTE", &driver).await;
    assert_eq!(job.warnings(), ["GIT_PUSH_FAILED", "WORK_NOT_DELIVERED"], "{last}");
    let (worktree, result) = (desktop.at("box/api-loop-plan-5"), &last["results"][0]);
    assert_eq!(std::fs::read_to_string(worktree.join("feature.txt")).unwrap(), "library\n");
    let error = result["error"].as_str().unwrap();
    assert!(error.starts_with("submodule lib points to commit "), "{error}");

    desktop.git(&worktree.join("lib"), &["push", "-q", "origin", "HEAD:refs/heads/work"]).await;
    std::fs::write(worktree.join("lib/forgotten"), "1").unwrap();
    let (job, last) = run(&desktop, "EXECUTE", "say '{\"type\":\"result\",\"subtype\":\"success\"}'").await;
    assert_eq!(last["results"][0]["status"], "success", "{last}");
    assert_eq!(job.warnings(), ["WORK_NOT_DELIVERED"], "{last}");
    let undelivered = &last["results"][0]["undelivered"];
    assert_eq!(
        *undelivered,
        json!([{"name": "lib", "place": "submodule", "detail": "1 changed file"}]),
        "{last}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_submodule_is_named_to_the_user_and_the_assistant() {
    let desktop = Desktop::new().await;
    add_submodule(&desktop).await;
    desktop.git(&desktop.at("box/api"), &["submodule", "--quiet", "deinit", "--force", "lib"]).await;
    let (job, last) = run(&desktop, "EXECUTE", IMPLEMENTS).await;
    assert_eq!(last["results"][0]["status"], "success", "{last}");
    assert_eq!(job.warnings(), ["WORKTREE_INCOMPLETE"]);
    let text = output(&desktop, job.id);
    let gap = "Submodule lib is not checked out in the worktree: it is not initialized in your clone";
    assert!(text.contains(gap), "{text}");
    let file = desktop.at("box/api-loop-plan-5/.loopgate/work/worktree.md");
    assert!(std::fs::read_to_string(file).unwrap().contains(gap));
}
