//! Definition of a case: preconditions, the model's responses, an intervention, and the expected end.

use loopgate_testkit::code_host::HostFault;
use loopgate_testkit::model::{Failure, ModelStep, ModelTurn};

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
    /// Default branch of the repository. The launch request names a branch only when it is `main`.
    pub branch: &'static str,
    /// Responses of the model in the loop.
    pub turns: Vec<ModelTurn>,
    /// Responses in later runs of the assistant in the same loop. Empty: the same as in the first.
    pub later_turns: Vec<ModelTurn>,
    /// Responses to the commit prompt. Empty: the model declines, and the runtime delivers with git alone.
    pub commit_turns: Vec<ModelTurn>,
    pub preconditions: Vec<Precondition>,
    pub intervention: Option<Intervention>,
    /// Whether the next loop starts without waiting for the end of this one.
    pub is_not_awaited: bool,
    /// Whether the case takes too long for the test suite.
    pub is_slow: bool,
    pub expected: ExpectedEnd,
}

/// A deviation from the normal state when the loop starts.
pub enum Precondition {
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
#[derive(Default)]
pub struct ExpectedEnd {
    /// Terminal status of the loop.
    pub status: &'static str,
    /// Texts that the loop or its events must contain.
    pub messages: Vec<&'static str>,
    /// Number of open pull requests in the repository.
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

impl Case {
    fn new(name: &'static str, command: &'static str) -> Self {
        Self {
            name,
            command,
            previous: None,
            branch: "main",
            turns: Vec::new(),
            later_turns: Vec::new(),
            commit_turns: Vec::new(),
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
        self.branch = branch;
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

    /// Executes the intervention while the assistant commits.
    pub fn intervene_during_commit(mut self, intervention: Intervention) -> Self {
        self.commit_turns.push(ModelTurn(vec![ModelStep::hold(GATE), ModelStep::bash("true")]));
        self.intervention = Some(intervention);
        self
    }

    /// Lets the assistant run a shell command in response to the commit prompt.
    pub fn commits_with(mut self, command: &str) -> Self {
        self.commit_turns.push(ModelTurn(vec![ModelStep::bash(command)]));
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

    /// Expects completion, and one pull request with the default file.
    pub fn delivers(self) -> Self {
        self.delivers_files(&[WORK])
    }

    pub fn delivers_files(mut self, files: &[&'static str]) -> Self {
        self.expected.pull_requests = 1;
        self.expected.delivered.extend(files);
        self.ends_with("COMPLETED")
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
