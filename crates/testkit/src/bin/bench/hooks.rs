//! Measures commands that block the assistant: the loop's set-up, hooks and validators.
//!
//! Baselines are the start of `true` and of `python3`. All commands run in turn, so that a change of the
//! machine's load affects all of them.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::table::Table;

/// Runs of each command, of which the median is reported.
const RUNS: usize = 41;
const LIMIT: Duration = Duration::from_millis(15);
/// Id of the assistant's session in the hook input.
const SESSION: &str = "bench-session";

/// A command line with its standard input and the measured times.
struct MeasuredCommand {
    name: &'static str,
    program: String,
    args: Vec<String>,
    input: String,
    times: Vec<Duration>,
}

impl MeasuredCommand {
    fn new(name: &'static str, program: &str, args: &[&str], input: &Value) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let input = if input.is_null() { String::new() } else { input.to_string() };
        Self { name, program: program.to_owned(), args, input, times: Vec::with_capacity(RUNS) }
    }

    fn run(&mut self, project: &Path) -> anyhow::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "measures the start of programs")]
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(project)
            .env("CLAUDE_CODE_SESSION_ID", SESSION)
            .env("LOOPGATE_RUN_ID", "bench")
            .env("LOOPGATE_HOME", project.join("data"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| format!("start {}", self.program))?;
        // Fails with EPIPE for a program that exits without reading its input.
        let _ = child.stdin.take().context("standard input is not piped")?.write_all(self.input.as_bytes());
        let status = child.wait()?;
        self.times.push(start.elapsed());
        ensure!(status.success(), "{} failed: {status}", self.name);
        Ok(())
    }

    fn median(&mut self) -> Duration {
        self.times.sort();
        self.times.get(self.times.len() / 2).copied().unwrap_or_default()
    }
}

/// Measures all commands in a project with a plan.
pub fn measure(binary: &Path, table: &mut Table) -> anyhow::Result<()> {
    let project = tempfile::tempdir()?;
    let root = project.path().canonicalize()?;
    let work = root.join(".loopgate/work");
    std::fs::create_dir_all(&work)?;
    std::fs::write(work.join("prd.md"), story::REQUEST)?;
    std::fs::write(work.join("plan.md"), story::PLAN_MARKDOWN)?;
    let binary = binary.to_str().context("the binary's path is not valid UTF-8")?;
    let work_path = work.to_str().context("the temporary directory's path is not valid UTF-8")?;
    let prd = work.join("prd.md").display().to_string();

    let input = |extra: Value| {
        let mut input = json!({"session_id": SESSION, "cwd": root, "agent_id": "a-1", "agent_type": "code:task-reviewer"});
        if let (Some(input), Value::Object(extra)) = (input.as_object_mut(), extra) {
            input.extend(extra);
        }
        input
    };
    let tool = |name: &str, arguments: Value| input(json!({"tool_name": name, "tool_input": arguments}));
    let loopgate = |name, args: &[&str], input: &Value| MeasuredCommand::new(name, binary, args, input);
    let none = Value::Null;
    let mut floors = [
        MeasuredCommand::new("true", "true", &[], &none),
        MeasuredCommand::new("python3 -c pass", "python3", &["-c", "pass"], &none),
    ];
    let mut commands = [
        loopgate("plan build", &["plan", "build", work_path], &none),
        loopgate("loop setup", &["loop", "setup", work_path], &none),
        loopgate("plan validate", &["plan", "validate", work_path], &none),
        loopgate("plan check", &["plan", "check", &prd, work_path], &none),
        loopgate("hook subagent-start", &["hook", "subagent-start"], &input(json!({}))),
        loopgate(
            "hook pre-tool-use, Read",
            &["hook", "pre-tool-use"],
            &tool("Read", json!({"file_path": root.join("src/main.rs")})),
        ),
        loopgate(
            "hook pre-tool-use, Bash",
            &["hook", "pre-tool-use"],
            &tool("Bash", json!({"command": "cd web && npm test -- --run | tail -n 20"})),
        ),
        loopgate("hook subagent-stop", &["hook", "subagent-stop"], &input(json!({}))),
        loopgate("hook session-end", &["hook", "session-end"], &input(json!({"reason": "other"}))),
    ];
    for _ in 0..RUNS {
        floors.iter_mut().chain(&mut commands).try_for_each(|command| command.run(&root))?;
    }
    let [true_median, python_median] = floors.each_mut().map(MeasuredCommand::median);
    table.plain("start of `true`", format!("{true_median:.1?}"));
    table.plain("start of `python3 -c pass`", format!("{python_median:.1?}"));
    for command in &mut commands {
        let median = command.median();
        let ratio = |floor: Duration| median.as_secs_f64() / floor.as_secs_f64();
        let name = format!(
            "{} ({:.1} × true, {:.1} × python3)",
            command.name,
            ratio(true_median),
            ratio(python_median)
        );
        table.time(&name, median, LIMIT);
    }
    Ok(())
}
