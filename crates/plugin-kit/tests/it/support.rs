//! A project with a git repository, a test double of the assistant, and the driver as a process.
//!
//! The test double is a shell script, because the real assistant cannot be made to show most faults.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Output of a run with the completion promise and a result.
pub const DONE: &str = r#"echo '{"type":"assistant","session_id":"s-1","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":"All done.\n<promise>COMPLETE</promise>"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s-1"}'
"#;
/// Output of a task reviewer that accepts the task T-1.1.
pub const VERIFIED: &str = r#"echo '{"type":"system","subtype":"task_started","task_id":"r-1","tool_use_id":"t-9","subagent_type":"code:task-reviewer"}'
echo '{"type":"system","subtype":"task_notification","task_id":"r-1"}'
echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t-9","content":"VERIFIED: T-1.1"}]}}'
"#;
/// Output of a run without the promise.
pub const MORE: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"more to do","session_id":"s-1"}'
"#;

/// Timeout of [`wait_until`]; generous, because the test machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// A project on disk, with the environment of its commands.
pub struct Project {
    home: tempfile::TempDir,
    /// Root directory of the repository.
    pub root: PathBuf,
    /// Work directory of the loop.
    pub workdir: PathBuf,
    env: Vec<(String, String)>,
}

/// Result of a finished command.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Project {
    /// Creates a project with one commit and an empty work directory.
    pub fn new() -> Self {
        Self::with_workdir(".loopgate/work")
    }

    /// Creates a project with the work directory at a path relative to the root.
    pub fn with_workdir(path: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(home.path()).unwrap().join("project");
        let workdir = root.join(path);
        std::fs::create_dir_all(&workdir).unwrap();
        std::fs::write(root.join("README.md"), "# Sample\n").unwrap();
        std::fs::write(root.join(".gitignore"), ".loopgate/\n").unwrap();
        let project = Self { home, root, workdir, env: Vec::new() };
        project.git(&["init", "-q", "-b", "main"]);
        project.git(&["add", "."]);
        project.git(&["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "first"]);
        project
    }

    /// Sets an environment variable for the commands.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Installs the test double of the assistant: a shell script, which writes notes to `$OUT`.
    pub fn assistant(&self, script: &str) -> &Self {
        let path = self.path("assistant");
        let out = self.root.parent().unwrap().display();
        std::fs::write(&path, format!("#!/bin/bash\nOUT='{out}'\n{script}\n")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        self
    }

    /// Lets the loop review its changes, which other tests do not expect.
    pub fn with_reviews(self) -> Self {
        self.env("POST_LOOP_REVIEW_CYCLES", "2")
    }

    /// Returns how often the loop reviews its changes.
    pub fn review_cycles(&self) -> &str {
        let set = self.env.iter().find(|(name, _)| name == "POST_LOOP_REVIEW_CYCLES");
        set.map_or("0", |(_, value)| value)
    }

    /// Returns a path next to the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.parent().unwrap().join(name)
    }

    /// Reads a note of the test double.
    pub fn note(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Reads a file of the work directory.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.workdir.join(name)).unwrap_or_default()
    }

    /// Returns whether neither lock nor state file of a loop exists.
    pub fn is_clean(&self) -> bool {
        !self.workdir.join(".learnings/.lock").exists() && !self.state_file().exists()
    }

    /// Returns the path of the loop's state file.
    pub fn state_file(&self) -> PathBuf {
        self.root.join(".loopgate/loopgate-loop.local.md")
    }

    /// Returns the statuses of `runs.log`, in order.
    pub fn statuses(&self) -> Vec<String> {
        self.read("runs.log").lines().map(|line| line.split('|').nth(4).unwrap().to_owned()).collect()
    }

    /// Returns the timing events of one kind.
    pub fn events(&self, kind: &str) -> Vec<Value> {
        let lines = self.read("perf.jsonl");
        let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.filter(|event| event["event"] == kind).collect()
    }

    /// Runs a new loop on the work directory to its end.
    pub fn run(&self, args: &[&str]) -> Ended {
        let workdir = self.workdir.display().to_string();
        self.loopgate(&[&["loop", "run", &workdir], args].concat())
    }

    /// Runs a sub-command to its end.
    pub fn loopgate(&self, args: &[&str]) -> Ended {
        Ended::from(self.command(args).output().unwrap())
    }

    /// Runs a sub-command with a text on standard input.
    pub fn loopgate_with_input(&self, args: &[&str], input: &str) -> Ended {
        let mut command = self.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        Ended::from(child.wait_with_output().unwrap())
    }

    /// Stores the answer of an agent about a task, as the hook does when the agent stops.
    pub fn store_answer(&self, agent_type: &str, text: &str) {
        let dir = self.workdir.join(".loopgate/agent-answers");
        std::fs::create_dir_all(&dir).unwrap();
        let number = std::fs::read_dir(&dir).unwrap().count() + 1;
        let answer = serde_json::json!({"agentType": agent_type, "agentId": "a", "at": "2030-01-01T00:00:00Z",
            "number": number, "text": text});
        std::fs::write(dir.join(format!("{number:06}.json")), answer.to_string()).unwrap();
    }

    /// Starts a sub-command with a file on standard input.
    pub fn start_with_file(&self, args: &[&str], input: &Path) -> Child {
        let input = std::fs::File::open(input).unwrap();
        let mut command = self.command(args);
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs a shell command in the project.
    pub fn shell(&self, text: &str) -> Ended {
        let mut command = program(Path::new("sh"));
        command.args(["-c", text]).current_dir(&self.root).stdin(Stdio::null());
        for (name, value) in &self.env {
            command.env(name, value);
        }
        Ended::from(command.output().unwrap())
    }

    /// Starts a sub-command with the given standard output.
    pub fn start_with_stdout(&self, args: &[&str], stdout: Stdio) -> Child {
        self.command(args).stdout(stdout).stderr(Stdio::null()).spawn().unwrap()
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Builds a sub-command that another program starts, for example with resource limits.
    pub fn command_behind(&self, starter: &[&str], args: &[&str]) -> Command {
        let mut command = program(Path::new(starter[0]));
        command.args(&starter[1..]).arg(example());
        self.prepare(command, args)
    }

    fn command(&self, args: &[&str]) -> Command {
        self.prepare(program(&example()), args)
    }

    fn prepare(&self, mut command: Command, args: &[&str]) -> Command {
        command
            .args(args)
            .current_dir(&self.root)
            .env("LOOPGATE_ASSISTANT_BIN", self.path("assistant"))
            .env("LOOPGATE_ITERATION_PAUSE_MS", "1")
            .env("POST_LOOP_REVIEW_CYCLES", self.review_cycles())
            .env("HOME", self.home.path())
            .env_remove("CLAUDE_CODE_SESSION_ID")
            .stdin(Stdio::null());
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command
    }

    /// Runs git in the project and returns its output.
    pub fn git(&self, args: &[&str]) -> String {
        let output = program(Path::new("git")).args(args).current_dir(&self.root).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Splits a command line into words with a shell.
pub fn shell_words(line: &str) -> Vec<String> {
    let output = program(Path::new("bash")).args(["-c", &format!("printf '%s\\n' {line}")]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Sends a signal to a process.
pub fn signal(pid: u32, name: &str) {
    assert!(
        program(Path::new("kill")).args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success()
    );
}

/// Returns whether a process exists and is not a zombie.
pub fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Polls until a condition holds, and panics after the timeout.
pub fn wait_until(condition: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "timed out: {condition}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Returns the directory of one of our plugins.
pub fn plugin(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(name).canonicalize().unwrap()
}

/// Returns the template of a plan from the plugin's documentation.
pub fn plan_template() -> String {
    let skill = std::fs::read_to_string(plugin("code").join("skills/plan-structure/SKILL.md")).unwrap();
    skill.split("```").nth(1).unwrap().to_owned()
}

/// Returns the path of the program under test.
pub fn example() -> PathBuf {
    let test_binary = std::env::current_exe().unwrap();
    let path = test_binary.parent().unwrap().parent().unwrap().join("examples/loopgate");
    assert!(path.exists(), "build the examples: cargo build -p loopgate-plugin-kit --examples");
    path
}

#[expect(clippy::disallowed_methods, reason = "the tests start the programs under test")]
fn program(path: &Path) -> Command {
    Command::new(path)
}
