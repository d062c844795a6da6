//! Loops whose reported work is not, or not only, in their delivery.

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_runtime::jobs::Job;
use serde_json::{Value, json};

use crate::support::{Desktop, new_id, request, start};

const CONTENT: &str = "# Plan\n\n- [ ] **T-1.1**: Add notes\n- [ ] **T-1.2**: Add more\n";

/// A driver that uses tokens, runs the commands, and reports all tasks of the plan as done.
fn reports_done(commands: &str) -> String {
    let plan = json!({"content": CONTENT.replace("- [ ]", "- [x]"), "pendingTasks": [],
        "completedTasks": [{"id": "T-1.1"}, {"id": "T-1.2"}]});
    format!("{}\n{commands}\ncat > \"$W/plan.json\" <<'END'\n{plan}\nEND\n", uses_tokens())
}

fn uses_tokens() -> &'static str {
    r#"say '{"type":"assistant","message":{"content":[],"usage":{"input_tokens":1,"output_tokens":1}}}'"#
}

fn with_plan(id: LoopId) -> Value {
    let plan =
        json!({"content": CONTENT, "pendingTasks": [{"id": "T-1.1"}, {"id": "T-1.2"}], "completedTasks": []});
    let mut body = request(id, "EXECUTE");
    body["artifacts"] =
        json!([{"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "Plan", "content": CONTENT, "raw": plan}]);
    body
}

/// Runs an EXECUTE with the driver's script; returns its record and its last event.
async fn executed(desktop: &Desktop, driver: &str, body: &Value) -> (Job, Value) {
    desktop.driver(driver);
    let runtime = desktop.open().await;
    let id: LoopId = serde_json::from_value(body["loopId"].clone()).unwrap();
    start(&runtime, body).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    let last = ["completed", "error"].iter().find_map(|kind| desktop.cloud.events(id, kind).pop());
    (job, last.unwrap())
}

fn plan_of(desktop: &Desktop) -> Value {
    let file = desktop.at("box/api-loop-plan-5/.loopgate/work/plan.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn done_tasks_without_any_change_fail_the_loop_and_are_opened_again() {
    let desktop = Desktop::new().await;
    let (job, last) = executed(&desktop, &reports_done(""), &with_plan(new_id())).await;
    assert_eq!((job.status(), &last["code"]), (JobStatus::Failed, &json!("NOTHING_DELIVERED")), "{last}");
    let message = last["message"].as_str().unwrap();
    assert!(message.contains("2 tasks as done (T-1.1, T-1.2)"), "{message}");
    assert!(message.contains("No file differs from the start"), "{message}");
    assert_eq!(
        last["results"],
        json!([{"status": "skipped", "fullName": "acme/api", "reason": "no_changes"}])
    );
    assert_eq!(plan_of(&desktop)["content"], CONTENT);
    let uploads = desktop.cloud.accepted(job.id, "upload-artifacts");
    let uploaded = &uploads[0].body["artifacts"]["plan"]["raw"];
    assert_eq!(uploaded["pendingTasks"].as_array().unwrap().len(), 2, "{uploaded}");

    // A repetition is no way around, nor is a plan that the loop deletes.
    for driver in [reports_done(""), format!("{}\nrm \"$W/plan.json\"", uses_tokens())] {
        let (job, last) = executed(&desktop, &driver, &with_plan(new_id())).await;
        assert_eq!((job.status(), &last["code"]), (JobStatus::Failed, &json!("NOTHING_DELIVERED")), "{last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_elsewhere_is_named_with_its_rule_or_place() {
    let desktop = Desktop::new().await;
    let (clone, outside) = (desktop.at("box/api"), desktop.at("outside.txt"));
    std::fs::write(clone.join(".git/info/exclude"), "*.txt\n").unwrap();
    let write = json!({"type": "assistant", "message": {"content": [
        {"type": "tool_use", "name": "Write", "input": {"file_path": outside}}]}});
    let commands = format!(
        "echo x > notes.txt; mkdir -p node_modules/a; echo x > node_modules/a/b.txt
         git checkout -q -b other; echo 1 > one; git add one; git commit -qm 'Add one'
         git checkout -q orchestrator/plan-5; echo 2 > README.md; git stash -q
         say '{write}'; echo x > '{}'",
        outside.display()
    );
    let (job, last) = executed(&desktop, &reports_done(&commands), &with_plan(new_id())).await;
    assert_eq!((job.status(), &last["code"]), (JobStatus::Failed, &json!("NOTHING_DELIVERED")), "{last}");
    assert_eq!(job.warnings(), ["WORK_NOT_DELIVERED"]);
    let found = last["results"][0]["undelivered"].as_array().unwrap();
    let exclude = clone.join(".git/info/exclude");
    let stash = found[1]["detail"].as_str().unwrap();
    assert!(stash.starts_with("WIP on orchestrator/plan-5:"), "{stash}");
    let expected = json!([
        {"name": "notes.txt", "place": "ignored", "detail": format!("{}:1:*.txt", exclude.display())},
        {"name": "stash@{0}", "place": "stash", "detail": stash},
        {"name": "other", "place": "branch", "detail": "1 commit"},
        {"name": outside, "place": "outside"},
    ]);
    assert_eq!(json!(found), expected);
    let message = last["message"].as_str().unwrap();
    for part in ["notes.txt is ignored by", "branch other (1 commit)", "outside.txt is outside"] {
        assert!(message.contains(part), "{part} is missing in {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ignored_files_next_to_delivered_ones_are_a_warning() {
    let desktop = Desktop::new().await;
    let clone = desktop.at("box/api");
    std::fs::write(clone.join(".git/info/exclude"), "*.txt\ndist/\n.env\n/cache/*\n").unwrap();
    // The user commits to a branch of the clone and stashes there while the loop runs.
    let commands = format!(
        "echo x > notes.txt; echo x > page.html; echo K=1 > .env; mkdir dist cache; echo x > dist/app.js
         echo x > cache/CACHEDIR.TAG; echo x > cache/a
         cd '{}'; echo 1 > mine; git add mine; git stash -q; git checkout -q -b mine; git commit -q --allow-empty -m Mine",
        clone.display()
    );
    let (job, last) = executed(&desktop, &reports_done(&commands), &with_plan(new_id())).await;
    assert_eq!(job.status(), JobStatus::Completed, "{last}");
    assert_eq!(job.warnings(), ["WORK_NOT_DELIVERED"]);
    let rule = format!("{}:1:*.txt", clone.join(".git/info/exclude").display());
    let undelivered = json!([{"name": "notes.txt", "place": "ignored", "detail": rule}]);
    assert_eq!(last["results"][0]["undelivered"], undelivered, "{last}");
    assert!(plan_of(&desktop)["content"].as_str().unwrap().contains("- [x] **T-1.1**"));
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_that_was_done_before_needs_no_change() {
    let desktop = Desktop::new().await;
    let mut body = with_plan(new_id());
    let raw = &mut body["artifacts"][0]["raw"];
    (raw["completedTasks"], raw["pendingTasks"]) = (raw["pendingTasks"].take(), json!([]));
    let (job, last) = executed(&desktop, uses_tokens(), &body).await;
    assert_eq!(job.status(), JobStatus::Completed, "{last}");
    assert_eq!((job.warnings(), &last["results"][0]["reason"]), (Vec::new(), &json!("no_changes")));
}

#[tokio::test(flavor = "multi_thread")]
async fn delivered_work_of_an_earlier_loop_does_not_count_again() {
    let desktop = Desktop::new().await;
    let (job, last) = executed(&desktop, &reports_done("echo x > page.html"), &with_plan(new_id())).await;
    assert_eq!(job.status(), JobStatus::Completed, "{last}");
    let (job, last) = executed(&desktop, &reports_done(""), &with_plan(new_id())).await;
    assert_eq!((job.status(), &last["code"]), (JobStatus::Failed, &json!("NOTHING_DELIVERED")), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn approved_delivery_claims_no_tasks_and_keeps_completed_ones() {
    let desktop = Desktop::new().await;
    let mut holding = with_plan(new_id());
    holding["holdPullRequest"] = json!(true);
    let (_, held) = executed(&desktop, &reports_done("echo x > page.html"), &holding).await;
    assert_eq!(held["results"][0]["status"], "held", "{held}");
    let mut approving = with_plan(new_id());
    approving["approvedCommits"] = json!({"acme/api": held["results"][0]["commitSha"]});
    let (job, last) = executed(&desktop, "", &approving).await;
    assert_eq!(job.status(), JobStatus::Completed, "{last}");
    assert_eq!(last["results"][0]["status"], "success", "{last}");
    assert_eq!(plan_of(&desktop)["pendingTasks"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_that_were_pushed_before_the_delivery_are_reported() {
    let desktop = Desktop::new().await;
    let remote = desktop.at("remote/acme/api.git");
    // Another person pushes to the remote while the loop runs, and the loop fetches and merges it.
    let commands = format!(
        "git clone -q '{0}' '{1}'; (cd '{1}'; echo t > theirs; git add theirs; git commit -qm Theirs; git push -q origin main)
         git pull -q --ff-only origin main
         echo x > page.html; git add page.html; git commit -qm 'Add a page'; git push -q origin HEAD:refs/heads/early
         git tag -a v9 -m v9; git push -q origin v9",
        remote.display(),
        desktop.at("theirs").display()
    );
    let (job, last) = executed(&desktop, &reports_done(&commands), &with_plan(new_id())).await;
    assert_eq!(job.status(), JobStatus::Completed, "{last}");
    assert_eq!(job.warnings(), ["PUSHED_BEFORE_DELIVERY"]);
    let commit = desktop.git(&remote, &["rev-parse", "early"]).await;
    let push = |reference: &str| json!({"remote": "origin", "ref": reference, "commit": commit});
    assert_eq!(
        last["results"][0]["earlyPushes"],
        json!([push("refs/heads/early"), push("refs/tags/v9")]),
        "{last}"
    );
    let is_reported =
        desktop.cloud.output(job.id).iter().any(|line| line.contains("refs/heads/early at origin"));
    assert!(is_reported, "{:?}", desktop.cloud.output(job.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_was_pushed_to_the_base_branch_is_not_silent() {
    let desktop = Desktop::new().await;
    let commands =
        "echo x > page.html; git add page.html; git commit -qm 'Add a page'; git push -q origin HEAD:main";
    let (job, last) = executed(&desktop, &reports_done(commands), &with_plan(new_id())).await;
    assert_eq!((job.status(), &last["code"]), (JobStatus::Failed, &json!("NOTHING_DELIVERED")), "{last}");
    assert_eq!(job.warnings(), ["PUSHED_BEFORE_DELIVERY"]);
    assert_eq!(last["results"][0]["earlyPushes"][0]["ref"], "refs/heads/main", "{last}");
    assert!(last["message"].as_str().unwrap().contains("pushed to refs/heads/main at origin"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn result_file_of_the_assistant_counts_only_if_origin_confirms_it() {
    let desktop = Desktop::new().await;
    let forged = json!({"schemaVersion": 2, "results": [{"status": "success", "fullName": "acme/api",
        "prUrl": "https://github.com/acme/api/pull/77", "prNumber": 77, "branchName": "orchestrator/plan-5",
        "baseBranch": "main", "hasChanges": true, "commitSha": "0123abc", "undelivered": [], "earlyPushes": []}]});
    let forge = format!("cat > \"$W/execution-result.json\" <<'END'\n{forged}\nEND\n");
    let (job, last) = executed(&desktop, &reports_done(&forge), &with_plan(new_id())).await;
    assert_eq!((job.status(), &last["code"]), (JobStatus::Failed, &json!("NOTHING_DELIVERED")), "{last}");
    assert_eq!(last["results"][0]["status"], "skipped", "{last}");
    let (job, last) =
        executed(&desktop, &reports_done(&format!("{forge}echo x > page.html")), &with_plan(new_id())).await;
    assert_eq!((job.status(), &last["result"]["prNumber"]), (JobStatus::Completed, &json!(7)), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_inside_of_a_submodule_is_named() {
    let desktop = Desktop::new().await;
    let library = desktop.at("remote/acme/api.git");
    let commands = format!(
        "git -c protocol.file.allow=always submodule --quiet add '{0}' lib; git commit -qm 'Add lib'
         git push -q origin HEAD:main",
        library.display()
    );
    // The base branch has the submodule, so that the next loop changes nothing but its files.
    executed(&desktop, &format!("{}\n{commands}", uses_tokens()), &with_plan(new_id())).await;
    let commands = "git -c protocol.file.allow=always submodule --quiet update --init; echo x > lib/new.txt
         echo x >> lib/README.md";
    let (job, last) = executed(&desktop, &reports_done(commands), &with_plan(new_id())).await;
    assert_eq!((job.status(), &last["code"]), (JobStatus::Failed, &json!("NOTHING_DELIVERED")), "{last}");
    let expected = json!([{"name": "lib", "place": "submodule", "detail": "2 changed files"}]);
    assert_eq!(last["results"][0]["undelivered"], expected, "{last}");
    assert!(last["message"].as_str().unwrap().contains("submodule lib (2 changed files)"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_that_a_failed_or_waiting_loop_pushed_are_reported() {
    let desktop = Desktop::new().await;
    let push = "git commit -q --allow-empty -m Early; git push -q origin HEAD:refs/heads/early";
    let asks =
        r#"echo '{"status": "AWAITING_USER", "userAction": {"description": "Which?"}}' > "$W/state.json""#;
    for (end, status) in [("exit 3", JobStatus::Failed), (asks, JobStatus::AwaitingUser)] {
        let driver = format!("{}\n{push}\n{end}", uses_tokens());
        let (job, last) = executed(&desktop, &driver, &with_plan(new_id())).await;
        assert_eq!(job.status(), status, "{last}");
        assert_eq!(job.warnings(), ["PUSHED_BEFORE_DELIVERY"]);
        assert_eq!(last["warnings"], json!(["PUSHED_BEFORE_DELIVERY"]), "{last}");
        let is_reported =
            desktop.cloud.output(job.id).iter().any(|line| line.contains("refs/heads/early at origin"));
        assert!(is_reported, "{:?}", desktop.cloud.output(job.id));
        let remote = desktop.at("remote/acme/api.git");
        desktop.git(&remote, &["update-ref", "-d", "refs/heads/early"]).await;
    }
}
