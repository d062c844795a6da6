//! Definition of a case: preconditions, the model's responses, an intervention, and the expected end.

use loopgate_testkit::code_host::HostFault;
use loopgate_testkit::model::{Failure, ModelStep, ModelTurn};

/// Repository that the clone was created from, unless the layout of the case changes its remotes.
pub const REPOSITORY: &str = "acme/shop";
/// Repository that [`Precondition::Fork`] creates.
pub const FORK: &str = "octo-dev/shop";
/// Gate at which the model waits for the intervention.
pub const GATE: &str = "now";
/// Final text of an assistant that has completed its work.
pub const PROMISE: &str = "Done.\n\n<promise>COMPLETE</promise>";
/// A plan without tasks, so that completion does not depend on open tasks.
pub const PLAN: &str = r##"{"content": "# Add a file\n", "acceptanceCriteria": [], "pendingTasks": [], "completedTasks": [],
"openQuestions": [], "answeredQuestions": [], "gaps": []}"##;
/// File that an EXECUTE loop adds, and the command that writes it.
pub const WORK: &str = "work.txt";
pub const WRITES: &str = "echo work > work.txt";

/// One case in which a participant misbehaves.
pub struct Case {
    pub name: &'static str,
    /// Command of the loop: `plan`, or `execute` on a valid plan.
    pub command: &'static str,
    /// Loop of the same document that runs before. Without one, EXECUTE follows a valid plan.
    pub previous: Option<Box<Case>>,
    /// Repository that the launch request names.
    pub repository: &'static str,
    /// Default branch of the repository.
    pub default_branch: &'static str,
    /// Branch that the launch request names.
    pub branch: Option<&'static str>,
    /// Connections of the machine to the remote repository.
    pub network: Network,
    /// Environment variables of Loopgate.
    pub environment: Vec<(&'static str, &'static str)>,
    /// Content of the settings file.
    pub settings: &'static str,
    /// Preconditions that hold before Loopgate starts.
    pub layout: Vec<Precondition>,
    /// Responses of the model in the loop.
    pub turns: Vec<ModelTurn>,
    /// Responses in later runs of the assistant in the same loop. Empty: the same as in the first.
    pub later_turns: Vec<ModelTurn>,
    /// Preconditions that hold when the loop starts.
    pub preconditions: Vec<Precondition>,
    pub intervention: Option<Intervention>,
    /// Whether the next loop starts without waiting for the end of this one.
    pub is_not_awaited: bool,
    /// Whether the case takes too long for the test suite.
    pub is_slow: bool,
    pub expected: ExpectedEnd,
}

/// Connections of the machine to the remote repository.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Through an ssh command.
    Ssh,
    /// Through the proxy of the environment, which records its requests.
    Proxy,
    /// Through an ssh command, while the proxy of the environment does not answer.
    DeadProxy,
    /// Over HTTP, with an upload of this many bytes per second.
    SlowUplink(u32),
    /// As [`Self::SlowUplink`], and no connection uploads more than [`STALL_AFTER`] bytes.
    StalledUplink(u32),
}

/// Number of bytes after which an upload stalls: more than git sends before the pack.
pub const STALL_AFTER: usize = 200_000;

/// A deviation from the normal state.
pub enum Precondition {
    /// A further repository at the host, with one file.
    Repository(&'static str, (&'static str, &'static str)),
    /// A fork of the repository at the host.
    Fork,
    /// A shell command in the remote repository.
    InRemote(&'static str),
    /// A hook script in the remote repository.
    RemoteHook(&'static str, &'static str),
    /// A shell command in the clone.
    InClone(&'static str),
    /// A shell command in the plan's worktree, before EXECUTE starts.
    InWorktree(&'static str),
    /// An error of the code host.
    Host(HostFault),
    /// A script that replaces a program on the user's search path.
    Program(&'static str, &'static str),
    /// The user trusts the repository's hooks and settings.
    Trust,
}

/// An action of the user or an event on the machine, while the model waits at the gate.
#[derive(Clone, Copy)]
pub enum Intervention {
    /// The user cancels the loop.
    Cancel,
    /// The user cancels the loop while git creates the worktree.
    CancelInPreparation,
    /// Runs a shell command in the worktree.
    Shell(&'static str),
    /// Kills the loop's processes whose command line contains this.
    Kill(&'static str),
    /// Kills Loopgate only, and restarts it.
    KillLoopgate,
    /// Kills all processes, and restarts Loopgate.
    KillAll,
    /// The remote is unreachable until the loop reports that its delivery is waiting.
    CutRemote,
    /// The code host is unreachable until the loop reports that its delivery is waiting.
    CutCodeHost,
    /// The machine is suspended for a day: processes are stopped and the wall clock advances.
    Sleep,
}

/// Expected state at the end of a loop.
pub struct ExpectedEnd {
    /// Terminal status of the loop.
    pub status: &'static str,
    /// Texts that the loop or its events must contain.
    pub messages: Vec<&'static str>,
    /// Texts that they must not contain.
    pub absent_messages: Vec<&'static str>,
    /// Base repository of the pull requests.
    pub base_repository: &'static str,
    /// Repository with the branches of the pull requests, if it is another one.
    pub head_repository: Option<&'static str>,
    /// Number of open pull requests in the base repository.
    pub pull_requests: usize,
    /// Files that the pull requests must contain.
    pub delivered: Vec<&'static str>,
    /// Files that must not be in any commit of the remote.
    pub withheld: Vec<&'static str>,
    /// Files that must exist in the worktree or in a commit of the clone.
    pub preserved: Vec<&'static str>,
    /// Files below the sandbox, with a text that each must contain.
    pub file_contents: Vec<(&'static str, &'static str)>,
}

impl Default for ExpectedEnd {
    fn default() -> Self {
        Self {
            status: "",
            messages: Vec::new(),
            absent_messages: Vec::new(),
            base_repository: REPOSITORY,
            head_repository: None,
            pull_requests: 0,
            delivered: Vec::new(),
            withheld: Vec::new(),
            preserved: Vec::new(),
            file_contents: Vec::new(),
        }
    }
}

impl Case {
    fn new(name: &'static str, command: &'static str) -> Self {
        Self {
            name,
            command,
            previous: None,
            repository: REPOSITORY,
            default_branch: "main",
            branch: Some("main"),
            network: Network::Ssh,
            environment: Vec::new(),
            settings: "",
            layout: Vec::new(),
            turns: Vec::new(),
            later_turns: Vec::new(),
            preconditions: Vec::new(),
            intervention: None,
            is_not_awaited: false,
            is_slow: false,
            expected: ExpectedEnd::default(),
        }
    }

    /// Creates a case with a PLAN loop.
    pub fn plan(name: &'static str) -> Self {
        Self::new(name, "plan")
    }

    /// Creates a case with an EXECUTE loop.
    pub fn execute(name: &'static str) -> Self {
        Self::new(name, "execute")
    }

    /// Runs another loop of the same document first.
    pub fn after(mut self, previous: Self) -> Self {
        self.previous = Some(Box::new(previous));
        self
    }

    /// Starts the next loop without waiting for the end of this one.
    pub fn without_waiting(mut self) -> Self {
        self.is_not_awaited = true;
        self
    }

    /// Sets the repository's default branch, which launch requests do not name.
    pub fn of_branch(mut self, branch: &'static str) -> Self {
        self.default_branch = branch;
        self.branch = None;
        self
    }

    /// Sets the branch that launch requests name.
    pub fn on_branch(mut self, branch: &'static str) -> Self {
        self.branch = Some(branch);
        self
    }

    /// Lets launch requests name the fork.
    pub fn of_fork(mut self) -> Self {
        self.repository = FORK;
        self
    }

    pub fn behind(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets an environment variable of Loopgate.
    pub fn with_variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }

    pub fn with_settings(mut self, settings: &'static str) -> Self {
        self.settings = settings;
        self
    }

    /// Adds a precondition that holds before Loopgate starts.
    pub fn with_layout(mut self, precondition: Precondition) -> Self {
        self.layout.push(precondition);
        self
    }

    /// Excludes the case from the test suite because of its duration.
    pub fn slow(mut self) -> Self {
        self.is_slow = true;
        self
    }

    /// Lets the assistant run a shell command.
    pub fn runs(mut self, command: &str) -> Self {
        self.turns.push(ModelTurn(vec![ModelStep::bash(command)]));
        self
    }

    /// Lets the assistant end its run with this text.
    pub fn says(mut self, text: &str) -> Self {
        self.turns.push(ModelTurn(vec![ModelStep::text(text)]));
        self
    }

    /// Lets the assistant report completion when the loop runs it again.
    pub fn done_later(mut self) -> Self {
        self.later_turns.push(ModelTurn(vec![ModelStep::text(PROMISE)]));
        self
    }

    /// Lets the assistant report completion.
    pub fn done(self) -> Self {
        self.says(PROMISE)
    }

    /// Lets the model's API fail this many times, or always.
    pub fn fails(mut self, status: u16, kind: &str, times: Option<u32>) -> Self {
        let failure = Failure { times, ..Failure::new(status, kind, &format!("{kind} of the service")) };
        self.turns.push(ModelTurn(vec![ModelStep::Error(failure), ModelStep::bash("true")]));
        self
    }

    /// Lets the model's API abort the connection this many times.
    pub fn drops(mut self, times: u32) -> Self {
        self.turns.push(ModelTurn(vec![ModelStep::Drop { times: Some(times) }, ModelStep::bash("true")]));
        self
    }

    /// Executes the intervention while the assistant works.
    pub fn intervene_during_work(mut self, intervention: Intervention) -> Self {
        self.turns.push(ModelTurn(vec![ModelStep::hold(GATE), ModelStep::bash("true")]));
        self.intervention = Some(intervention);
        self
    }

    /// Executes the intervention right after the launch request.
    pub fn intervene_at_start(mut self, intervention: Intervention) -> Self {
        self.intervention = Some(intervention);
        self
    }

    /// Adds a precondition that holds from the start of the loop.
    pub fn with_precondition(mut self, precondition: Precondition) -> Self {
        self.preconditions.push(precondition);
        self
    }

    /// Lets the code host return an error.
    pub fn host(self, on: &str, status: u16, times: Option<u32>) -> Self {
        let fault =
            HostFault { on: on.to_owned(), status, message: format!("rejected with {status}"), times };
        self.with_precondition(Precondition::Host(fault))
    }

    pub fn ends_with(mut self, status: &'static str) -> Self {
        self.expected.status = status;
        self
    }

    pub fn reports(mut self, text: &'static str) -> Self {
        self.expected.messages.push(text);
        self
    }

    pub fn does_not_report(mut self, text: &'static str) -> Self {
        self.expected.absent_messages.push(text);
        self
    }

    /// Expects completion, and one pull request with the default file.
    pub fn delivers(self) -> Self {
        self.delivers_files(&[WORK])
    }

    pub fn delivers_files(mut self, files: &[&'static str]) -> Self {
        self.expected.pull_requests = 1;
        self.expected.delivered.extend(files);
        self.ends_with("COMPLETED")
    }

    /// Expects the pull request in the repository `base`, with a branch of the repository `head`.
    pub fn proposes(mut self, head: &'static str, base: &'static str) -> Self {
        self.expected.base_repository = base;
        self.expected.head_repository = (head != base).then_some(head);
        self
    }

    /// Expects this many open pull requests, regardless of the status.
    pub fn with_pull_requests(mut self, count: usize) -> Self {
        self.expected.pull_requests = count;
        self
    }

    pub fn withholds(mut self, file: &'static str) -> Self {
        self.expected.withheld.push(file);
        self
    }

    /// Expects a file below the sandbox to contain a text.
    pub fn file_contains(mut self, path: &'static str, text: &'static str) -> Self {
        self.expected.file_contents.push((path, text));
        self
    }

    pub fn preserves(mut self, file: &'static str) -> Self {
        self.expected.preserved.push(file);
        self
    }
}
