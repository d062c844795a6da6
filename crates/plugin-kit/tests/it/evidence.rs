//! Evidence by a program: proofs of tasks, recorded runs, baseline and validation, with real test runners.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::Value;

use crate::real_assistant::PLAN_MD;
use crate::support::{Project, runs, signal, wait_until};

const PAGE: &str = "exports.greet = () => 'hello';\n";
const TEST: &str = "const { greet } = require('../page.js');\n\
    require('node:test')('greets', () => require('node:assert').strictEqual(greet(), 'hello'));\n";

const PACKAGE: &str = r#"{"scripts": {"test": "node --test"}}"#;

/// Creates a project whose tests run with Node, and a plan with the task T-1.1, which has been started.
fn started_task() -> (Project, String) {
    started_task_in(&[])
}

/// As [`started_task`], with these files in the project.
fn started_task_in(files: &[(&str, &str)]) -> (Project, String) {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    write(&project, "package.json", PACKAGE);
    write(&project, "test/old.test.js", "require('node:test')('old', () => {});\n");
    for (path, text) in files {
        write(&project, path, text);
    }
    start(&project, &work);
    (project, work)
}

fn start(project: &Project, work: &str) {
    std::fs::write(project.workdir.join("plan.md"), PLAN_MD).unwrap();
    assert_eq!(project.loopgate(&["plan", "build", work]).code, 0);
    let start = ["plan", "set-state", "Phase 3", "IN_PROGRESS", "--workdir", work, "--task", "T-1.1"];
    assert_eq!(project.loopgate(&start).code, 0);
}

fn write(project: &Project, path: &str, text: &str) {
    let path = project.root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn proof(project: &Project, work: &str) -> String {
    let proof = project.loopgate(&["plan", "prove", "T-1.1", work]);
    assert_eq!(proof.code, 0, "{}", proof.stderr);
    proof.stdout
}

#[test]
fn tests_of_a_task_must_fail_without_it_and_pass_with_it() {
    let (project, work) = started_task();
    write(&project, "page.js", PAGE);
    assert!(proof(&project, &work).starts_with("PROOF: UNPROVEN: `npm test` has the same result"));
    write(&project, "test/page.test.js", TEST);
    let proven = proof(&project, &work);
    assert!(proven.starts_with("PROOF: PROVEN: fails without the change and passes with it: "), "{proven}");
    assert!(project.read("evidence/T-1.1-before.log").contains("Cannot find module '../page.js'"));
    let brief = project.loopgate(&["plan", "brief", "T-1.1", &work]).stdout;
    assert!(std::fs::read_to_string(brief.trim()).unwrap().contains("PROVEN: fails without the change"));
    write(&project, "page.js", "exports.greet = () => 'bye';\n");
    assert!(proof(&project, &work).starts_with("PROOF: FAILING: `npm test` fails: "));
    assert_eq!(project.git(&["status", "--porcelain"]).lines().count(), 3, "the project is not changed");
}

#[test]
fn copy_has_the_repository_and_the_ignored_files() {
    let modules = ["node_modules/a/index.js", "packages/shop/node_modules/b/index.js"];
    let (project, work) = started_task_in(&[
        (".gitignore", ".loopgate/\nnode_modules/\n.env\nbuild/\n"),
        (".env", "secret"),
        ("build/deep/out.js", "module.exports = 'built';\n"),
        (modules[0], "module.exports = 'a';\n"),
        (modules[1], "module.exports = 'b';\n"),
    ]);
    project.git(&["tag", "v1"]);
    std::os::unix::fs::symlink(project.root.join("node_modules/a"), project.root.join("node_modules/link"))
        .unwrap();
    let refs = project.git(&["for-each-ref"]);
    write(&project, "page.js", PAGE);
    // The test needs everything, and damages it.
    let test = "const fs = require('fs'), git = (args) => require('child_process').execSync(`git ${args}`, \
        {encoding: 'utf8'}).trim();\n\
        require('node:test')('all', () => {\n\
        const found = [fs.readFileSync('.env', 'utf8'), require('../build/deep/out.js'), require('a'), \
        require('../packages/shop/node_modules/b'), git('tag'), git('branch --show-current'), git('log --format=%s')];\n\
        require('assert').deepStrictEqual(found, ['secret', 'built', 'a', 'b', 'v1', 'main', 'first']);\n\
        fs.writeFileSync('node_modules/link/index.js', \"module.exports = 'a'; // changed\");\n\
        fs.appendFileSync('packages/shop/node_modules/b/index.js', '// changed');\n\
        git('update-ref refs/heads/mine HEAD');\n});\n";
    write(&project, "test/all.test.js", test);
    let verdict = proof(&project, &work);
    assert!(verdict.starts_with("PROOF: UNPROVEN: `npm test` has the same result"), "{verdict}");
    write(&project, "test/page.test.js", TEST);
    let verdict = proof(&project, &work);
    assert!(verdict.starts_with("PROOF: PROVEN: fails without the change and passes with it: "), "{verdict}");
    for module in modules {
        assert!(!std::fs::read_to_string(project.root.join(module)).unwrap().contains("changed"), "{module}");
    }
    assert_eq!(
        (project.git(&["for-each-ref"]), project.git(&["worktree", "list"]).lines().count()),
        (refs, 1)
    );
    let left = std::fs::read_dir(project.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("proof")), "the copy is removed");
}

#[test]
fn command_runs_from_any_directory_of_the_project() {
    let (project, work) = started_task_in(&[("web/README.md", "")]);
    let args = ["plan", "run", "T-1.1", "--workdir", &work, "--", "test -f package.json"];
    let shell = ["sh", "-c", "cd web; exec \"$@\"", "sh"];
    let output = project.command_behind(&shell, &args).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.starts_with("EXIT: 0\n"), "{output:?}");
}

#[test]
fn failure_that_only_the_copy_has_proves_nothing() {
    let (project, work) = started_task_in(&[(".gitignore", ".loopgate/\ndata/\n"), ("data/large", "")]);
    // More than is copied; the file occupies no blocks.
    let large = std::fs::File::options().write(true).open(project.root.join("data/large")).unwrap();
    large.set_len(3 << 30).unwrap();
    let run = || project.loopgate(&["plan", "run", "T-1.1", "--workdir", &work, "--", "npm test"]).stdout;
    let data = "require('node:test')('data', () => require('fs').statSync('data/large'));\n";
    write(&project, "page.js", PAGE);
    write(&project, "test/page.test.js", &format!("{TEST}{data}"));
    assert!(run().starts_with("EXIT: 0\n"));
    let verdict = proof(&project, &work);
    let expected = "PROOF: UNPROVEN: `npm test` cannot be compared: it fails in a copy of the current files without data: ";
    assert!(verdict.starts_with(expected), "{verdict}");
    // A recorded failure without the change is a proof nevertheless.
    std::fs::remove_file(project.root.join("page.js")).unwrap();
    assert!(run().starts_with("EXIT: 1\n"));
    write(&project, "page.js", PAGE);
    let verdict = proof(&project, &work);
    assert!(verdict.starts_with("PROOF: PROVEN: `npm test` failed at "), "{verdict}");
}

#[test]
fn tests_of_a_directory_run_in_that_directory_of_the_copy() {
    let (project, work) = started_task_in(&[("shop/package.json", PACKAGE)]);
    write(&project, "shop/page.js", PAGE);
    write(&project, "shop/test/page.test.js", TEST);
    let command = "cd shop && npm test";
    project.loopgate(&["plan", "run", "T-1.1", "--workdir", &work, "--", command]);
    let verdict = proof(&project, &work);
    assert!(verdict.starts_with("PROOF: PROVEN: fails without the change"), "{verdict}");
}

#[test]
fn recorded_failure_proves_tests_inside_of_source_files() {
    let page = |text: &str, test: &str| format!("exports.greet = () => '{text}';\n{test}");
    let (project, work) = started_task_in(&[("page.js", &page("", ""))]);
    let test =
        "require('node:test')('greets', () => require('assert').strictEqual(exports.greet(), 'hello'));\n";
    let run =
        |command: &str| project.loopgate(&["plan", "run", "T-1.1", "--workdir", &work, "--", command]).stdout;
    let command = "node --test page.js";
    // The file contains its own test, so the files at the start cannot be tested with it.
    write(&project, "page.js", &page("", test));
    assert!(run(command).starts_with("EXIT: 1\n"));
    assert!(proof(&project, &work).starts_with("PROOF: FAILING"), "it fails before and after");
    write(&project, "page.js", &page("hello", test));
    assert!(run(command).starts_with("EXIT: 0\n"));
    assert!(run("echo checked").starts_with("EXIT: 0\n"), "the last run of tests counts");
    let proven = proof(&project, &work);
    assert!(proven.starts_with("PROOF: PROVEN: `node --test page.js` failed at "), "{proven}");
}

#[test]
fn failure_that_is_not_of_the_missing_change_proves_nothing() {
    let (project, work) = started_task_in(&[("page.js", PAGE)]);
    let run =
        |command: &str| project.loopgate(&["plan", "run", "T-1.1", "--workdir", &work, "--", command]).stdout;
    assert!(run("false").starts_with("EXIT: 1\n"));
    assert!(proof(&project, &work).starts_with("PROOF: FAILING: `false` fails; "));
    // Fails once, on the same files.
    assert!(run("npm test && mkdir ../once").starts_with("EXIT: 0\n"));
    assert!(run("npm test && mkdir ../once").starts_with("EXIT: 1\n"));
    std::fs::remove_dir(project.path("once")).unwrap();
    let nothing = "` cannot be compared: the task changed no files other than tests";
    let verdict = proof(&project, &work);
    assert!(
        verdict.starts_with("PROOF: UNPROVEN: `npm test && mkdir") && verdict.contains(nothing),
        "{verdict}"
    );
    // Fails because of the test, which is corrected.
    write(&project, "test/page.test.js", &TEST.replace("'hello'", "'typo'"));
    assert!(run("npm test").starts_with("EXIT: 1\n"));
    write(&project, "test/page.test.js", TEST);
    let verdict = proof(&project, &work);
    assert!(verdict.starts_with("PROOF: UNPROVEN: `npm test") && verdict.contains(nothing), "{verdict}");
}

#[test]
fn check_without_tests_proves_nothing() {
    let (project, work) = started_task();
    let command = ["plan", "run", "T-1.1", "--workdir", &work, "--", "test -f page.js"];
    assert!(project.loopgate(&command).stdout.starts_with("EXIT: 1\n"));
    write(&project, "page.js", PAGE);
    let verdict = proof(&project, &work);
    assert!(
        verdict.starts_with("PROOF: UNPROVEN: nothing shows that `test -f page.js` runs tests"),
        "{verdict}"
    );
}

#[test]
fn task_of_a_further_repository_is_proven_there() {
    let (project, peer) = (Project::new(), Project::new());
    let work = project.workdir.display().to_string();
    for (project, test) in [(&project, "exit 1"), (&peer, "node --test")] {
        write(project, "package.json", &serde_json::json!({"scripts": {"test": test}}).to_string());
    }
    let add_dir = ["loop", "setup", &work, "--add-dir", peer.root.to_str().unwrap()];
    assert_eq!(project.loopgate(&add_dir).code, 0);
    start(&project, &work);
    // A file of the project changes too.
    write(&project, "CHANGES.md", "Greets.\n");
    write(&peer, "page.js", PAGE);
    write(&peer, "test/page.test.js", TEST);
    let verdict = proof(&project, &work);
    assert!(verdict.starts_with("PROOF: PROVEN: fails without the change"), "{verdict}");
    write(&peer, "page.js", "exports.greet = () => 'bye';\n");
    let verdict = proof(&project, &work);
    assert!(verdict.starts_with("PROOF: FAILING: `npm test` fails: "), "{verdict}");
    assert_eq!(peer.git(&["status", "--porcelain"]).lines().count(), 3, "the repository is not changed");
}

#[test]
fn no_process_outlives_the_command_that_started_it() {
    let (project, work) = started_task();
    let command = "sleep 300 & echo $! > one; setsid sleep 300 & echo $! > two; echo done";
    let ended = project.loopgate(&["plan", "run", "T-1.1", "--workdir", &work, "--", command]);
    assert!(ended.stdout.starts_with("EXIT: 0\n") && ended.stdout.ends_with("done\n"), "{}", ended.stdout);
    for name in ["one", "two"] {
        assert!(!runs(&std::fs::read_to_string(project.root.join(name)).unwrap()), "{name}");
    }
}

#[test]
fn command_ends_with_its_caller() {
    let (project, work) = started_task();
    let command = "echo $$ > new; mv new pid; sleep 300";
    let args = ["plan", "run", "T-1.1", "--workdir", &work, "--", command];
    let pid_file = project.root.join("pid");
    let pid = || std::fs::read_to_string(&pid_file).unwrap_or_default();
    for name in ["TERM", "INT"] {
        let running = project.start(&args);
        wait_until("the command runs", || !pid().is_empty());
        let command = pid();
        std::fs::remove_file(&pid_file).unwrap();
        signal(running.id(), name);
        let ended = running.wait_with_output().unwrap();
        assert!(!runs(&command), "{name}");
        assert!(String::from_utf8_lossy(&ended.stderr).ends_with("was stopped\n"), "{name}");
        assert_eq!(ended.status.code(), Some(1), "{name}");
    }
    // The shell waits for the program, so that it is its parent. Its output ends when the program has ended too.
    let mut caller = project.command_behind(&["sh", "-c", "\"$@\"; exit", "sh"], &args);
    let mut caller = caller.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the command runs", || !pid().is_empty());
    caller.kill().unwrap();
    caller.wait().unwrap();
    caller.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    assert!(!runs(&pid()), "the command ends with the shell");
    assert!(!project.read(".loopgate/task-evidence.json").contains("sleep"), "a stopped run is not recorded");
}

#[test]
fn command_that_the_loop_must_not_run_is_refused() {
    let (project, work) = started_task();
    for command in ["git stash", "sh -c 'git reset --hard'"] {
        let refused = project.loopgate(&["plan", "run", "T-1.1", "--workdir", &work, "--", command]);
        assert_eq!(refused.code, 1, "{command}");
        assert!(refused.stderr.starts_with("Error: Blocked: "), "{}", refused.stderr);
    }
    assert!(project.root.join("package.json").exists());
}

#[test]
fn validation_fails_only_for_what_the_baseline_does_not_contain() {
    let (project, work) = started_task();
    let plan = |command: &str| project.loopgate(&["plan", command, &work]).stdout;
    write(
        &project,
        "test/broken.test.js",
        "require('node:test')('broken', () => { throw new Error('x'); });\n",
    );
    assert_eq!(plan("baseline"), "BASELINE_RECORDED\nnpm test: failed\n");
    assert_eq!(plan("baseline"), "BASELINE_RECORDED: by an earlier iteration\n");
    write(&project, "test/page.test.js", TEST);
    let failed = plan("test");
    assert!(failed.starts_with("VALIDATION_FAILED\nnpm test: failed\n- "), "{failed}");
    assert!(failed.ends_with("ROUND 1 of 20\n"), "{failed}");
    write(&project, "page.js", PAGE);
    assert_eq!(plan("test"), "VALIDATION_PASSED\nnpm test: failed before\n");
    assert_eq!(plan("test"), "VALIDATION_PASSED: nothing has changed since the last validation\n");
    let result: Value = serde_json::from_str(&project.read(".learnings/build-result.json")).unwrap();
    assert_eq!(result["status"], "passed");
}

#[test]
fn project_without_tests_has_no_validation() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    for command in ["baseline", "test"] {
        let ended = project.loopgate(&["plan", command, &work]);
        assert_eq!(ended.stdout, "NO_VALIDATION: no test command was detected\n", "{}", ended.stderr);
    }
}
