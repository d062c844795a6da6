//! A project with a git repository, a stand-in for the assistant, and the driver as a process.
//!
//! The stand-in is a shell script: it shows faults that the real assistant cannot be made to show.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The promise as the assistant makes it, then its result.
pub const DONE: &str = r#"echo '{"type":"assistant","session_id":"s-1","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":"All done.\n<promise>COMPLETE</promise>"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s-1"}'
"#;
/// An answer without the promise.
pub const MORE: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"more to do","session_id":"s-1"}'
"#;

/// Longest wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A project on disk, and what is started in it.
pub struct Project {
    home: tempfile::TempDir,
    /// Root of the repository.
    pub root: PathBuf,
    /// Work directory.
    pub workdir: PathBuf,
    env: Vec<(String, String)>,
}

/// A driver that ended.
pub struct Ended {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Project {
    /// With one commit and an empty work directory.
    pub fn new() -> Self {
        Self::with_workdir(".loopgate/work")
    }

    /// With a work directory at a path below the root.
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

    /// Sets a variable of the driver.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Places the assistant's stand-in: a shell script that finds `$OUT` for its notes.
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

    /// Makes the plugin for reviews look present.
    pub fn with_review_plugin(self) -> Self {
        for plugin in ["code", "code-review"] {
            let dir = self.path(&format!("plugins/{plugin}/.claude-plugin"));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("plugin.json"), "{}").unwrap();
        }
        let code = self.path("plugins/code").display().to_string();
        self.env("LOOPGATE_PLUGIN_DIR", &code)
    }

    /// A path beside the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.parent().unwrap().join(name)
    }

    /// A note that the stand-in left.
    pub fn note(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A file of the work directory.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.workdir.join(name)).unwrap_or_default()
    }

    /// Whether the loop has left neither lock nor state.
    pub fn is_clean(&self) -> bool {
        !self.workdir.join(".learnings/.lock").exists() && !self.state_file().exists()
    }

    /// State file of the loop.
    pub fn state_file(&self) -> PathBuf {
        self.root.join(".loopgate/loopgate-loop.local.md")
    }

    /// Statuses of `runs.log`, in order.
    pub fn statuses(&self) -> Vec<String> {
        self.read("runs.log").lines().map(|line| line.split('|').nth(4).unwrap().to_owned()).collect()
    }

    /// Timing events of one kind.
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

    /// Runs a sub-command with a text on its standard input.
    pub fn loopgate_with_input(&self, args: &[&str], input: &str) -> Ended {
        let mut command = self.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        Ended::from(child.wait_with_output().unwrap())
    }

    /// Starts a sub-command that reads a file.
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

    /// Starts a sub-command with its standard output going elsewhere.
    pub fn start_with_stdout(&self, args: &[&str], stdout: Stdio) -> Child {
        self.command(args).stdout(stdout).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Starts a sub-command.
    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A sub-command that another program starts, for example with limits.
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
            .env("HOME", self.home.path())
            .env_remove("CLAUDE_CODE_SESSION_ID")
            .stdin(Stdio::null());
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command
    }

    /// Runs git in the project.
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

/// Words of a command line as a shell reads them.
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

/// Whether a process is there and not a zombie.
pub fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Waits until something holds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Folder of one of our plugins.
pub fn plugin(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(name).canonicalize().unwrap()
}

/// The plan that the plugin shows as a template.
pub fn plan_template() -> String {
    let skill = std::fs::read_to_string(plugin("code").join("skills/plan-structure/SKILL.md")).unwrap();
    skill.split("```").nth(1).unwrap().to_owned()
}

/// The program that the tests run.
pub fn example() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().unwrap().parent().unwrap().join("examples/loopgate");
    assert!(path.exists(), "build the examples: cargo build -p loopgate-plugin-kit --examples");
    path
}

#[expect(clippy::disallowed_methods, reason = "the tests start the programs whose behaviour they judge")]
fn program(path: &Path) -> Command {
    Command::new(path)
}
