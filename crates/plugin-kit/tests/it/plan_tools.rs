//! Commands that count and compare for the prompts: changed files, cached results, other repositories.

use serde_json::{Value, json};

use crate::support::Project;

#[test]
fn changed_files_are_listed_per_task() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    let template = crate::support::plan_template();
    let line = template.lines().find(|line| line.contains("T-1.1")).unwrap();
    let second = line.replace("T-1.1", "T-1.3");
    std::fs::write(project.workdir.join("plan.md"), template.replace(line, &format!("{line}\n{second}")))
        .unwrap();
    assert_eq!(project.loopgate(&["plan", "build", &work]).stdout, "PLAN_BUILT: VALID\n");
    let start = |task: &str| {
        let ended = project.loopgate(&[
            "plan",
            "set-state",
            "Phase 3",
            "IN_PROGRESS",
            "--workdir",
            &work,
            "--task",
            task,
        ]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    };
    let changed = |task: &str| project.loopgate(&["plan", "changed", "--since-task", task, &work]).stdout;
    start("T-1.1");
    std::fs::write(project.root.join("one.txt"), "1\n").unwrap();
    // `node_modules` is not in .gitignore: generated directories are excluded in any case.
    std::fs::create_dir(project.root.join("node_modules")).unwrap();
    std::fs::write(project.root.join("node_modules/x.js"), "x").unwrap();
    assert_eq!(changed("T-1.1"), "A\tone.txt\n");
    start("T-1.3");
    assert_eq!(changed("T-1.3"), "NO_CHANGES\n");
    // A second start of the same task, as after a failed review.
    std::fs::write(project.root.join("README.md"), "# Changed\n").unwrap();
    start("T-1.3");
    assert_eq!(changed("T-1.3"), "M\tREADME.md\n", "a restarted task keeps its first record");
    assert_eq!(changed("T-1.1"), "M\tREADME.md\nA\tone.txt\n");
    let patch = project.loopgate(&["plan", "changed", "--since-task", "T-1.3", "--patch", &work]).stdout;
    let (path, list) = patch.split_once('\n').unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("+# Changed") && !text.contains("one.txt"), "{text}");
    assert_eq!(list, "M\tREADME.md\n");
    let since_start = project.loopgate(&["plan", "changed", "--since-start", &work]).stdout;
    assert_eq!(since_start, "M\tREADME.md\nA\tone.txt\n");
    assert_eq!(project.git(&["diff", "--cached", "--name-only"]), "", "nothing is staged");
    let not_started = project.loopgate(&["plan", "changed", "--since-task", "T-9.9", &work]);
    assert!(not_started.code == 1 && not_started.stderr.contains("no start is recorded for T-9.9"));
}

// PL-30
#[test]
fn results_are_reused_until_their_inputs_change() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    let cache = |verb: &str, step: &str| project.loopgate(&["cache", verb, step, &work]).stdout;
    std::fs::write(project.workdir.join("plan.json"), "{}").unwrap();
    std::fs::create_dir_all(project.root.join(".loopgate/settings")).unwrap();
    std::fs::create_dir_all(project.workdir.join("reviews")).unwrap();
    std::fs::write(project.workdir.join("reviews/tests.review.json"), "{}").unwrap();
    assert_eq!(cache("check", "critic"), "CRITIC_CACHE_MISS\nreason: there is no reviews/.plan-hash\n");
    assert_eq!(cache("stamp", "critic"), "CRITIC_CACHE_STAMPED\n");
    assert_eq!(cache("check", "critic"), "CRITIC_CACHE_HIT\n");
    std::fs::write(project.root.join(".loopgate/settings/critic-gates.json"), "{}").unwrap();
    assert_eq!(cache("check", "critic"), "CRITIC_CACHE_MISS\nreason: plan or critic gates have changed\n");

    assert_eq!(cache("stamp", "build"), "BUILD_CACHE_STAMPED\n");
    assert_eq!(cache("check", "build"), "BUILD_CACHE_HIT\n");
    // Untracked files count as well: a build may depend on them.
    std::fs::write(project.root.join("new.txt"), "untracked").unwrap();
    assert_eq!(cache("check", "build"), "BUILD_CACHE_MISS\nreason: the files have changed\n");

    assert_eq!(cache("stamp", "cross-repo"), "CROSS_REPO_CACHE_STAMPED\n");
    assert_eq!(cache("check", "cross-repo"), "CROSS_REPO_CACHE_HIT\nstatus: NO_CROSS_REPO_NEEDED\n");
    let needs = json!({"needs": [{"peerName": "api", "capabilities": [{"type": "route", "description": "list of notes"}]}]});
    std::fs::write(project.workdir.join(".cross-repo-needs.json"), needs.to_string()).unwrap();
    assert!(cache("check", "cross-repo").starts_with("CROSS_REPO_CACHE_MISS\n"));
    cache("stamp", "cross-repo");
    assert_eq!(
        cache("check", "cross-repo"),
        "CROSS_REPO_CACHE_HIT\nstatus: CAPABILITIES_IDENTIFIED\ncapabilities:\n  - api: list of notes\n"
    );
    assert!(cache("check", "eval").starts_with("EVAL_CACHE_MISS\nreason: "));
}

// PL-31
#[test]
fn discovery_method_depends_on_environment_loop_and_siblings() {
    let project = Project::new();
    for (dir, identity) in [
        ("api", r#"{"name": "billing", "type": "backend"}"#),
        ("ui", r#"{"name": "ui \"quoted\"", "type": "frontend"}"#),
        ("hidden", r#"{"discoverable": false}"#),
    ] {
        let dir = project.path(dir).join(".loopgate");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(".repo-identity.json"), identity).unwrap();
    }
    std::fs::create_dir_all(project.path("plain")).unwrap();
    let discover = |project: &Project| -> Value {
        serde_json::from_str(&project.loopgate(&["repos", "discover"]).stdout).unwrap()
    };
    let discovery = discover(&project);
    assert_eq!(
        (&discovery["discoveryMethod"], &discovery["currentRepo"]["name"]),
        (&json!("sibling_scan"), &json!("project"))
    );
    let names = |discovery: &Value| -> Vec<Value> {
        discovery["peers"].as_array().unwrap().iter().map(|peer| peer["name"].clone()).collect()
    };
    assert_eq!(names(&discovery), [json!("billing"), json!("ui \"quoted\"")]);
    let api = project.path("api").display().to_string();
    let project = project.env("LOOPGATE_ADD_DIRS", &api);
    let discovery = discover(&project);
    assert_eq!(
        (&discovery["discoveryMethod"], &discovery["peers"][0]["local"]),
        (&json!("add_dir"), &json!(true))
    );
    // The environment takes precedence over siblings; paths that do not exist are skipped.
    let list = format!("again:{api}, plain:../plain, missing:/nope");
    let project = project.env("LOOPGATE_WORKSPACE_REPOS", &list);
    let discovery = discover(&project);
    assert_eq!(discovery["discoveryMethod"], "env_var");
    assert_eq!(names(&discovery), [json!("billing"), json!("plain")]);
    assert!(discovery["peers"][1].get("local").is_none() && discovery["monorepo"] == false);
}

#[test]
fn phase_and_run_events_belong_to_the_run_of_the_environment() {
    let project = Project::new()
        .env("LOOPGATE_RUN_ID", "run-7")
        .env("LOOPGATE_ITERATION", "3")
        .env("LOOPGATE_COMMAND", "EXECUTE")
        .env("LOOPGATE_PERF_V2", "1");
    let work = project.workdir.display().to_string();
    let without_state = project.loopgate(&["perf", "phase", "--workdir", &work]);
    assert!(without_state.code == 0 && without_state.stderr.starts_with("No phase in "));
    assert!(project.events("phase").is_empty());
    let state = r#"{"phase": "Phase 4", "status": "IN_PROGRESS", "timestamp": "2031-01-02T03:04:05Z", "startSha": "abc"}"#;
    std::fs::write(project.workdir.join("state.json"), state).unwrap();
    assert_eq!(project.loopgate(&["perf", "phase", "--workdir", &work]).code, 0);
    let expected = json!({"event": "phase", "run_id": "run-7", "iteration": 3, "phase": "Phase 4", "status": "IN_PROGRESS",
        "started_at": "2031-01-02T03:04:05Z", "start_sha": "abc", "command": "EXECUTE"});
    assert_eq!(project.events("phase"), [expected]);

    project.git(&["remote", "add", "origin", "https://user:secret@example.org/acme/shop.git"]);
    // The event is recorded once, although each iteration runs the command.
    for _ in 0..2 {
        assert_eq!(project.loopgate(&["perf", "run", "--workdir", &work]).code, 0);
    }
    let runs = project.events("run");
    assert_eq!((runs.len(), &runs[0]["branch"], &runs[0]["run_id"]), (1, &json!("main"), &json!("run-7")));
    let repository = runs[0]["repo"].as_str().unwrap();
    assert!(repository.contains("acme/shop") && !repository.contains("secret"), "{repository}");
}

#[test]
fn files_of_a_task_are_restored_and_the_restoration_is_reverted() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    std::fs::write(project.workdir.join("plan.md"), crate::support::plan_template()).unwrap();
    assert_eq!(project.loopgate(&["plan", "build", &work]).code, 0);
    let read = |name: &str| std::fs::read_to_string(project.root.join(name)).ok();
    std::fs::write(project.root.join("tracked.txt"), "start\n").unwrap();
    project.git(&["add", "tracked.txt"]);
    std::fs::write(project.root.join("untracked.txt"), "start\n").unwrap();
    let start = ["plan", "set-state", "Phase 3", "IN_PROGRESS", "--workdir", &work, "--task", "T-1.1"];
    assert_eq!(project.loopgate(&start).code, 0);
    // Only the reference protects the recorded files from garbage collection.
    project.git(&["gc", "--quiet", "--prune=now"]);
    std::fs::write(project.root.join("tracked.txt"), "changed\n").unwrap();
    std::fs::remove_file(project.root.join("untracked.txt")).unwrap();
    std::fs::write(project.root.join("added.txt"), "added\n").unwrap();

    let restored = project.loopgate(&["plan", "restore", "T-1.1", &work]);
    assert_eq!(restored.code, 0, "{}", restored.stderr);
    assert_eq!(
        (read("tracked.txt").as_deref(), read("untracked.txt").as_deref()),
        (Some("start\n"), Some("start\n"))
    );
    assert_eq!(read("added.txt").as_deref(), Some("added\n"), "files that were added are not removed");
    let reverted = project.loopgate(&["plan", "restore", "before-restore", "--path", "tracked.txt", &work]);
    assert_eq!(reverted.code, 0, "{}", reverted.stderr);
    assert_eq!(read("tracked.txt").as_deref(), Some("changed\n"));
    assert_eq!(project.loopgate(&["plan", "restore", "T-9.9", &work]).code, 1);
}
