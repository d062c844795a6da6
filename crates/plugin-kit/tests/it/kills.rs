//! A command that is killed while it writes leaves each file as it was or as it is to be, never in between.
//!
//! The system kills a process that writes beyond its limit of a file's size, so every command is run with every
//! limit, from the first byte on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::{DONE, MORE, Project, plan_template};

/// Bytes between two limits; coprime to block sizes and to the lengths of the files.
const STEP: usize = 61;
/// Contents by path.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// The files below a directory, without those that only grow, line by line, and without temporary ones.
fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            found.extend(tree(&path));
        } else if !["log", "jsonl", "part", "lock"].iter().any(|ending| name.ends_with(ending)) {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    found
}

fn restore(root: &Path, to: &Tree) {
    std::fs::remove_dir_all(root).unwrap();
    for (path, bytes) in to {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// The content without what differs from run to run: times, ids and hashes keep their length.
fn shape(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if byte.is_ascii_hexdigit() { b'0' } else { *byte }).collect()
}

/// Runs a command that may write at most so many bytes into one file.
fn run_limited(project: &Project, bytes: usize, args: &[&str], input: &str) -> bool {
    let limit = format!("--fsize={bytes}:{bytes}");
    let mut child = project
        .command_behind(&["prlimit", "--core=0", &limit], args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A command that was killed before it has read its input is none of this test's faults.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    child.wait().unwrap().success()
}

/// Runs the command with every limit on the same files; how many of the runs were killed.
fn kill_at_every_byte(project: &Project, args: &[&str], input: &str) -> usize {
    let root = project.root.join(".loopgate");
    let before = tree(&root);
    assert_eq!(project.loopgate_with_input(args, input).code, 0, "{args:?}");
    let after = tree(&root);
    let longest = after.values().map(Vec::len).max().unwrap();
    let mut killed = 0;
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
    restore(&root, &before);
    assert_eq!(project.loopgate_with_input(args, input).code, 0, "{args:?}");
    killed
}

#[test]
fn files_of_set_up_and_plan_are_whole_after_a_kill_at_any_byte() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    let plan = project.workdir.join("plan.json").display().to_string();
    std::fs::write(project.workdir.join("plan.md"), plan_template()).unwrap();
    std::fs::write(project.workdir.join("prd.md"), "Greet.\n").unwrap();
    let commands: [(&[&str], &str); 8] = [
        (&["plan", "build", &work], ""),
        (&["loop", "setup", &work], ""),
        (&["plan", "set-state", "Phase 1: Planning", "IN_PROGRESS", "--workdir", &work], ""),
        (&["plan", "round", "validation", "--max", "99", &work], ""),
        (&["plan", "report", "T-1.1", &work], "BLOCKED: T-1.1\nthe key is missing"),
        (&["plan", "tick", "T-1.1", &work], ""),
        (&["plan", "extract-md", &plan], ""),
        (&["plan", "evaluate", &work], ""),
    ];
    for (args, input) in commands {
        let killed = kill_at_every_byte(&project, args, input);
        assert!(killed > 0, "{args:?} writes nothing that could be cut off");
    }
}

/// The driver writes its files more than once, so what counts is that the next driver goes on from them.
#[test]
fn driver_that_was_killed_at_any_byte_goes_on() {
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
        killed += usize::from(!run_limited(&project, limit, &["loop", "run", &work], ""));
        assert_eq!(project.read("plan.json"), plan, "killed at byte {limit}");
        let has_state = project.state_file().exists();
        resumed += usize::from(has_state);
        let again: &[&str] = if has_state { &["loop", "run"] } else { &["loop", "run", &work] };
        let ended = project.loopgate(again);
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
