//! Output of a loop for a user, on a terminal and in a log file.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use regex::Regex;
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use crate::support::{DONE, MORE, Project, VERIFIED};

const WIDTH: u16 = 100;

/// Script that does the only task of a plan, and writes the plan and the state that `loopgate plan` would
/// write. It waits until the driver has processed its output, and in the middle of the task while the file
/// `hold` exists.
const WORKING: &str = r##"mkdir -p .loopgate/work
cat > .loopgate/work/plan.json <<'EOF'
{"content": "# Plan\n", "acceptanceCriteria": [], "completedTasks": [], "openQuestions": [], "answeredQuestions": [], "gaps": [],
 "pendingTasks": [{"id": "T-1.1", "description": "Add a greeting", "acceptanceCriteria": []}]}
EOF
echo '{"phase": "Phase 3: Implementation", "status": "IN_PROGRESS",
  "task": {"id": "T-1.1", "description": "Add a greeting", "current": 1, "total": 1}}' > .loopgate/work/state.json
echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t-0","content":"ok"}]}}'
until grep -q t-0 .loopgate/work/assistant-output.jsonl; do sleep 0.01; done
echo '{"type":"assistant","message":{"id":"m-1","content":[{"type":"tool_use","id":"t-1","name":"Agent","input":{"subagent_type":"code:implementation-subagent","description":"implement T-1.1"}}]}}'
echo '{"type":"assistant","parent_tool_use_id":"t-1","message":{"id":"m-2","content":[{"type":"tool_use","id":"t-2","name":"Bash","input":{"command":"make \u001b[31mtest"}}]}}'
until grep -q t-2 .loopgate/work/assistant-output.jsonl; do sleep 0.01; done
while [ -e "$OUT/hold" ]; do sleep 0.01; done
echo hello > greeting.txt
mkdir -p .loopgate/work/.loopgate/agent-answers
echo '{"agentType": "code:task-reviewer", "agentId": "a", "at": "", "number": 1, "text": "VERIFIED: T-1.1", "reportedFor": "T-1.1"}' \
  > .loopgate/work/.loopgate/agent-answers/000001.json
sed -i 's/"completedTasks": \[\]/"completedTasks": [{"id": "T-1.1"}]/; s/"pendingTasks": .*/"pendingTasks": []}/' .loopgate/work/plan.json
echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t-1","content":"done"}]}}'
"##;

/// Masks durations, which differ between runs.
fn stable(text: &str) -> String {
    Regex::new(r"\d+ s, ").unwrap().replace_all(text, "0 s, ").into_owned()
}

#[test]
fn plain_output_lists_progress_summary_and_next_steps() {
    let project = Project::new();
    std::fs::write(project.workdir.join("prd.md"), "Greet.\n").unwrap();
    project.assistant(&format!(
        "if [ $LOOPGATE_ITERATION = 1 ]; then\n{MORE}\nexit 0; fi\n{WORKING}{VERIFIED}\n{DONE}"
    ));
    let ended =
        project.run(&["--progress", "plain", "--prd", ".loopgate/work/prd.md", "--max-spend-usd", "5"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let root = project.root.display();
    let expected = format!(
        "Loop in {root}, branch main\n  Work dir   .loopgate/work\n  Request    .loopgate/work/prd.md\n  \
         Limits     5 iterations, $5.00\n\nIteration 1 of 5\n\nIteration 2 of 5\n  Phase 3: Implementation\n    \
         Task 1 of 1, T-1.1: Add a greeting\n    implementation-subagent: implement T-1.1\n    T-1.1 is done\n  \
         Completed in iteration 2\n  Post-loop review skipped: the number of review cycles is 0\n\nDone: every task is implemented.\n\n  \
         Tasks      1 of 1 done\n  Plan       .loopgate/work/plan.md\n  \
         Changes    1 file, on branch main, not committed by the loop\n  Work dir   .loopgate/work\n  \
         Used       2 iterations, 0 s, $0.00 of $5.00\n\nWhat to do next:\n  \
         - Look at the changes with git diff and git status, and commit them.\n"
    );
    assert_eq!(stable(&ended.stdout), expected);
}

#[test]
fn summary_contains_the_command_that_continues_the_loop() {
    let asks = r#"echo '{"phase":"Phase 1","status":"AWAITING_USER","userAction":{"description":"Which words?"}}' > .loopgate/work/state.json
echo '{"content":"x","pendingTasks":[{"id":"T-1.1"}],"completedTasks":[],"openQuestions":[{"id":"Q-001"}]}' > .loopgate/work/plan.json"#;
    let table = [
        (format!("{asks}\n{DONE}"), 0, "The loop waits for you: Which words?", "answer its 1 open question."),
        (
            MORE.to_owned(),
            1,
            "Not finished: The loop reached its limit of 1",
            "run .loopgate/work --max-iterations 2",
        ),
        (
            "echo '{\"type\":\"result\",\"result\":\"x\",\"total_cost_usd\":9}'".to_owned(),
            1,
            "Not finished: The loop reached its spending limit of $4.00",
            "run .loopgate/work --max-spend-usd 4.00",
        ),
        (
            "echo 'Please run /login' >&2; exit 1".to_owned(),
            1,
            "Not finished: The assistant cannot use its account",
            "run again: ",
        ),
    ];
    for (number, (script, code, heading, next)) in table.into_iter().enumerate() {
        let project = Project::new();
        project.assistant(&script);
        let iterations = if number == 2 { "9" } else { "1" };
        let ended =
            project.run(&["--progress", "plain", "--max-iterations", iterations, "--max-spend-usd", "4"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (code, ""), "{heading}");
        let (_, end) = ended.stdout.split_once(heading).unwrap_or_else(|| panic!("{}", ended.stdout));
        assert!(end.contains(next) && end.contains("What to do next:"), "{}", ended.stdout);
    }
}

/// Runs the driver on a pseudo-terminal and returns its output. `look` is called with the output so far.
fn on_terminal(project: &Project, args: &[&str], look: impl Fn(&str)) -> String {
    let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let size = Winsize { ws_row: 40, ws_col: WIDTH, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&master, size).unwrap();
    let name = rustix::pty::ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = OwnedFd::from(File::options().read(true).write(true).open(name).unwrap());
    let mut driver = project.start_with_stdout(args, Stdio::from(terminal));
    let mut shown = Vec::new();
    let mut master = File::from(master);
    let mut piece = [0; 4096];
    // Linux reports EIO on the master instead of an end of file when the last process has closed the
    // terminal.
    while let Ok(count @ 1..) = master.read(&mut piece) {
        shown.extend_from_slice(&piece[..count]);
        look(&String::from_utf8_lossy(&shown));
    }
    assert_eq!(driver.wait().unwrap().code(), Some(0));
    String::from_utf8(shown).unwrap()
}

#[test]
fn terminal_shows_a_status_line_and_permanent_lines() {
    let project = Project::new();
    project.assistant(&format!("{WORKING}{VERIFIED}\n{DONE}"));
    std::fs::write(project.path("hold"), "").unwrap();
    let workdir = project.workdir.display().to_string();
    let status = "$0.00 · iteration 1/5 · Implementation · task 1/1 · implementation-subagent: Bash make";
    let shown = on_terminal(&project, &["loop", "run", &workdir], |shown| {
        if shown.contains(status) {
            let _ = std::fs::remove_file(project.path("hold"));
        }
    });
    assert!(!shown.contains("\u{1b}[31m"), "control characters of other programs are escaped");
    let control = Regex::new(r"\x1b\[[0-9;?]*[A-Za-z]").unwrap();
    let plain = control.replace_all(&shown, "");
    let lines: Vec<&str> = plain.split(['\r', '\n']).map(str::trim_end).collect();
    assert!(lines.iter().any(|line| line.contains(status)), "{plain}");
    for permanent in [
        "Done: every task is implemented.",
        "  - Look at the changes with git diff and git status, and commit them.",
    ] {
        assert!(lines.contains(&permanent), "{permanent}: {plain}");
    }
    for permanent in ["    Task 1 of 1, T-1.1: Add a greeting", "    T-1.1 is done"] {
        assert!(plain.contains(permanent), "{permanent}: {plain}");
    }
    assert!(!shown.contains("All done."), "the assistant's text is in the output file");
}
