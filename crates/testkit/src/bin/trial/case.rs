//! One case in which somebody misbehaves: its preconditions, what the model says, what a person does, and
//! how the loop has to end.

use loopgate_testkit::code_host::HostFault;
use loopgate_testkit::model::{Failure, Step, Turn};

/// Where the model waits until the person has acted.
pub const GATE: &str = "now";
/// The last words of an assistant that is done.
pub const PROMISE: &str = "Done.\n\n<promise>COMPLETE</promise>";
/// A plan without tasks, so that a promise is against nothing.
pub const PLAN: &str = r##"{"content": "# Add a file\n", "acceptanceCriteria": [], "pendingTasks": [], "completedTasks": [],
"openQuestions": [], "answeredQuestions": [], "gaps": []}"##;
/// The file that an execution adds, and the command that writes it.
pub const WORK: &str = "work.txt";
pub const WRITES: &str = "echo work > work.txt";

/// What is tried.
pub struct Case {
    pub name: &'static str,
    /// `plan`, or `execute` on a plan that was made well.
    pub command: &'static str,
    /// The loop of the same document that runs before; with none, an execution has a good plan before it.
    pub before: Option<Box<Case>>,
    /// The repository's default branch; the request for the loop names a branch only when it is `main`.
    pub branch: &'static str,
    /// What the model says in the loop.
    pub turns: Vec<Turn>,
    /// What it says in every further run of the assistant; without it, the same.
    pub later: Vec<Turn>,
    /// What it says when it is asked to commit; with nothing it declines, and git alone delivers.
    pub commit: Vec<Turn>,
    pub preconditions: Vec<Precondition>,
    pub act: Option<Intervention>,
    /// Whether the next loop is started without waiting for the end of this one.
    pub is_left: bool,
    /// Whether it takes longer than a test may.
    pub is_slow: bool,
    pub expected: ExpectedEnd,
}

/// What is not as usual when the loop begins.
pub enum Precondition {
    /// A hook of the remote repository.
    RemoteHook(&'static str, &'static str),
    /// A shell command in the clone, of which the execution knows nothing.
    InClone(&'static str),
    /// A shell command in the worktree of the plan, before the execution.
    InWorktree(&'static str),
    /// Answers of the code host.
    Host(HostFault),
    /// A script in place of a program of the person.
    Program(&'static str, &'static str),
    /// The person trusts what the clone brings along.
    Trust,
}

/// What a person does, or what happens, while the model waits.
#[derive(Clone, Copy)]
pub enum Intervention {
    /// Presses Stop.
    Stop,
    /// Presses Stop when git prepares the worktree.
    StopInPreparation,
    /// A shell command in the worktree.
    Shell(&'static str),
    /// Ends processes of the loop whose command line holds this.
    Kill(&'static str),
    /// Ends Loopgate alone, and starts it again.
    KillLoopgate,
    /// Ends everything, and starts Loopgate again.
    KillAll,
    /// The network to the remote repository is gone until the loop says that it waits for it.
    CutRemote,
    /// The code host is gone until the loop says that it waits for it.
    CutCodeHost,
    /// The machine sleeps for a day: every process stands still, and the clock on the wall goes on.
    Sleep,
}

/// How the loop has to end.
#[derive(Default)]
pub struct ExpectedEnd {
    /// State of the loop.
    pub status: &'static str,
    /// Found in the loop or in what it said.
    pub says: Vec<&'static str>,
    /// Open pull requests of the repository.
    pub pull_requests: usize,
    /// Files that the pull request adds or changes.
    pub delivered: Vec<&'static str>,
    /// Files that no branch of the remote repository holds.
    pub held_back: Vec<&'static str>,
    /// Files that are in the worktree, or in a commit that a ref of the clone holds.
    pub kept: Vec<&'static str>,
    /// Files below the directory of the repositories, and a text that each holds.
    pub holds: Vec<(&'static str, &'static str)>,
}

impl Case {
    fn new(name: &'static str, command: &'static str) -> Self {
        Self {
            name,
            command,
            before: None,
            branch: "main",
            turns: Vec::new(),
            later: Vec::new(),
            commit: Vec::new(),
            preconditions: Vec::new(),
            act: None,
            is_left: false,
            is_slow: false,
            expected: ExpectedEnd::default(),
        }
    }

    /// A case in which a plan is made.
    pub fn plan(name: &'static str) -> Self {
        Self::new(name, "plan")
    }

    /// A case in which a plan is carried out.
    pub fn execute(name: &'static str) -> Self {
        Self::new(name, "execute")
    }

    /// Another loop of the same document runs before.
    pub fn after(mut self, before: Self) -> Self {
        self.before = Some(Box::new(before));
        self
    }

    /// The next loop is started without waiting for the end of this one.
    pub fn left(mut self) -> Self {
        self.is_left = true;
        self
    }

    /// The repository's default branch, which no request names.
    pub fn of_branch(mut self, branch: &'static str) -> Self {
        self.branch = branch;
        self
    }

    /// It takes longer than a test may.
    pub fn slow(mut self) -> Self {
        self.is_slow = true;
        self
    }

    /// The assistant runs a shell command.
    pub fn runs(mut self, command: &str) -> Self {
        self.turns.push(Turn(vec![Step::bash(command)]));
        self
    }

    /// The assistant ends its run with these words.
    pub fn says(mut self, text: &str) -> Self {
        self.turns.push(Turn(vec![Step::text(text)]));
        self
    }

    /// The assistant promises to be done, when the loop runs it again.
    pub fn done_later(mut self) -> Self {
        self.later.push(Turn(vec![Step::text(PROMISE)]));
        self
    }

    /// The assistant promises to be done.
    pub fn done(self) -> Self {
        self.says(PROMISE)
    }

    /// The model's service fails so often, or always.
    pub fn fails(mut self, status: u16, kind: &str, times: Option<u32>) -> Self {
        let failure = Failure { times, ..Failure::new(status, kind, &format!("{kind} of the service")) };
        self.turns.push(Turn(vec![Step::Error(failure), Step::bash("true")]));
        self
    }

    /// The model's service drops the connection so often.
    pub fn drops(mut self, times: u32) -> Self {
        self.turns.push(Turn(vec![Step::Drop { times: Some(times) }, Step::bash("true")]));
        self
    }

    /// Something happens now, while the assistant works.
    pub fn meanwhile(mut self, act: Intervention) -> Self {
        self.turns.push(Turn(vec![Step::hold(GATE), Step::bash("true")]));
        self.act = Some(act);
        self
    }

    /// Something happens now, as soon as the loop was asked for.
    pub fn at_once(mut self, act: Intervention) -> Self {
        self.act = Some(act);
        self
    }

    /// Something happens now, while the assistant commits.
    pub fn commits_meanwhile(mut self, act: Intervention) -> Self {
        self.commit.push(Turn(vec![Step::hold(GATE), Step::bash("true")]));
        self.act = Some(act);
        self
    }

    /// The assistant runs a shell command when it is asked to commit.
    pub fn commits_with(mut self, command: &str) -> Self {
        self.commit.push(Turn(vec![Step::bash(command)]));
        self
    }

    /// Something that is not as usual when the loop begins.
    pub fn given(mut self, precondition: Precondition) -> Self {
        self.preconditions.push(precondition);
        self
    }

    /// The code host answers with an error.
    pub fn host(self, on: &str, status: u16, times: Option<u32>) -> Self {
        let fault = HostFault { on: on.to_owned(), status, message: format!("refused with {status}"), times };
        self.given(Precondition::Host(fault))
    }

    pub fn ends(mut self, status: &'static str) -> Self {
        self.expected.status = status;
        self
    }

    pub fn because(mut self, text: &'static str) -> Self {
        self.expected.says.push(text);
        self
    }

    /// It ends well, with one pull request that brings the usual file.
    pub fn delivers(self) -> Self {
        self.delivers_files(&[WORK])
    }

    pub fn delivers_files(mut self, files: &[&'static str]) -> Self {
        self.expected.pull_requests = 1;
        self.expected.delivered.extend(files);
        self.ends("COMPLETED")
    }

    /// Open pull requests at its end, however it ends.
    pub fn with_pull_requests(mut self, count: usize) -> Self {
        self.expected.pull_requests = count;
        self
    }

    pub fn holds_back(mut self, file: &'static str) -> Self {
        self.expected.held_back.push(file);
        self
    }

    /// A file below the directory of the repositories holds a text in the end.
    pub fn holds(mut self, path: &'static str, text: &'static str) -> Self {
        self.expected.holds.push((path, text));
        self
    }

    pub fn keeps(mut self, file: &'static str) -> Self {
        self.expected.kept.push(file);
        self
    }
}
