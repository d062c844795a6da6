//! A command that is killed while writing leaves each file in its old or its new state, never in between.
//!
//! The kernel kills a process that exceeds its file size limit (SIGXFSZ). Every command is run with limits
//! from the first byte on, so that it is killed at many positions of each write.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::{DONE, MORE, Project, plan_template};

/// Distance of two limits in bytes. A prime, so that the limits do not coincide with block or line
/// boundaries.
const STEP: usize = 61;
/// File contents by path.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// Reads the files below a directory, except append-only ones, temporary ones and locks.
fn tree(root: &Path) -> Tree {
    let mut files = Tree::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            files.extend(tree(&path));
        } else if !["log", "jsonl", "part", "lock"].iter().any(|ending| name.ends_with(ending)) {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    files
}

fn restore(root: &Path, to: &Tree) {
    std::fs::remove_dir_all(root).unwrap();
    for (path, bytes) in to {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Masks what differs between two runs: timestamps, ids and hashes have a constant length.
fn shape(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if byte.is_ascii_hexdigit() { b'0' } else { *byte }).collect()
}

/// Runs a command with a limit of bytes per file, and returns whether it succeeded.
fn run_limited(project: &Project, bytes: usize, args: &[&str], input: &str) -> bool {
    let limit = format!("--fsize={bytes}:{bytes}");
    let mut child = project
        .command_behind(&["prlimit", "--core=0", &limit], args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The command may be killed before it has read its input; then the write fails with EPIPE.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    child.wait().unwrap().success()
}

/// Runs the command on the same files with each limit, and returns the number of killed runs.
fn kill_at_every_byte(project: &Project, args: &[&str], input: &str) -> usize {
    let root = project.root.join(".loopgate");
    let before = tree(&root);
    assert_eq!(project.loopgate_with_input(args, input).code, 0, "{args:?}");
    let after = tree(&root);
    let longest = after.values().map(Vec::len).max().unwrap();
    let mut killed = 0;
    // The first and the last byte are the positions at which off-by-one errors show.
    for limit in (0..longest).step_by(STEP).chain([1, longest - 1]) {
        restore(&root, &before);
        killed += usize::from(!run_limited(project, limit, args, input));
        for (path, bytes) in tree(&root) {
            let is_old = before.get(&path) == Some(&bytes);
            let is_new = after.get(&path).is_some_and(|new| shape(new) == shape(&bytes));
            assert!(
                is_old || is_new,
                "{args:?} killed at byte {limit} left in {}: {}",
                path.display(),
                String::from_utf8_lossy(&bytes)
            );
        }
    }
    // After all kills, the command must still succeed on the original files.
    restore(&root, &before);
    assert_eq!(project.loopgate_with_input(args, input).code, 0, "{args:?}");
    killed
}

#[test]
fn files_of_setup_and_plan_are_complete_after_a_kill_at_any_byte() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    let plan = project.workdir.join("plan.json").display().to_string();
    std::fs::write(project.workdir.join("plan.md"), plan_template()).unwrap();
    std::fs::write(project.workdir.join("prd.md"), "Greet.\n").unwrap();
    project.store_answer("code:task-reviewer", "BLOCKED: T-1.1\nthe key is missing");
    let commands: [(&[&str], &str); 8] = [
        (&["plan", "build", &work], ""),
        (&["loop", "setup", &work], ""),
        (&["plan", "set-state", "Phase 1: Planning", "IN_PROGRESS", "--workdir", &work], ""),
        (&["plan", "round", "validation", "--max", "99", &work], ""),
        (&["plan", "report", "T-1.1", &work], ""),
        (&["plan", "tick", "T-1.1", &work], ""),
        (&["plan", "extract-md", &plan], ""),
        (&["plan", "evaluate", &work], ""),
    ];
    for (args, input) in commands {
        let killed = kill_at_every_byte(&project, args, input);
        assert!(killed > 0, "{args:?} writes no file that a limit could interrupt");
    }
}

/// The driver writes its files several times per run, so the test only requires that the next driver resumes
/// from them.
#[test]
fn loop_is_resumed_after_the_driver_was_killed_at_any_byte() {
    let project = Project::new();
    project.assistant(&format!("{MORE}\n[ $LOOPGATE_ITERATION = 1 ] || {{ {DONE} }}"));
    let work = project.workdir.display().to_string();
    std::fs::write(project.workdir.join("plan.md"), plan_template()).unwrap();
    assert_eq!(project.loopgate(&["plan", "build", &work]).code, 0);
    let root = project.root.join(".loopgate");
    let (before, plan) = (tree(&root), project.read("plan.json"));
    let (mut killed, mut resumed) = (0, 0);
    for limit in (0..1200).step_by(STEP) {
        restore(&root, &before);
        // The driver never writes the plan, so a kill must not change it.
        killed += usize::from(!run_limited(&project, limit, &["loop", "run", &work], ""));
        assert_eq!(project.read("plan.json"), plan, "killed at byte {limit}");
        // A driver killed before its first save leaves no state file; then the loop must start from the
        // beginning.
        let has_state = project.state_file().exists();
        resumed += usize::from(has_state);
        let args: &[&str] = if has_state { &["loop", "run"] } else { &["loop", "run", &work] };
        let ended = project.loopgate(args);
        assert_eq!(ended.code, 1, "the plan has an open task: {}", ended.stderr);
        assert!(
            ended.stderr.contains("LOOPGATE_FATAL[PENDING_TASKS_"),
            "killed at byte {limit}: {}",
            ended.stderr
        );
        assert!(project.is_clean());
    }
    assert!(killed > 0 && resumed > 0, "{killed} killed, {resumed} resumed");
}
