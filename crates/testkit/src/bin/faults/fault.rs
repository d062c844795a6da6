//! What may go wrong, when, and for how long: all of it drawn from one number.

use std::fmt;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// Approximate number of requests to the model in a run of each command.
const PLAN_REQUESTS: usize = 5;
const EXECUTE_REQUESTS: usize = 11;
/// Most changes of files after such a request before the fault strikes.
const MAX_CHANGES: usize = 24;
/// Longest outage, in milliseconds.
const MAX_OUTAGE_MS: u64 = 1500;
/// Most answers that are lost in a row.
const MAX_LOST: u32 = 4;

/// The processes that a fault hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Loopgate,
    Shim,
    Driver,
    Assistant,
    Git,
    /// All of them in one moment, as when the machine dies.
    Everything,
}

/// A connection that can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkToCut {
    ControlPlane,
    Model,
    CodeHost,
    Remote,
}

/// What the assistant does besides its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misbehavior {
    /// Asks the user a question, and ends its run.
    Question,
    /// Detaches HEAD of its worktree.
    DetachedHead,
    /// Detaches HEAD, and commits what is there.
    DetachedCommit,
    /// Deletes its worktree.
    DeletedWorktree,
}

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// SIGKILL.
    Kill(Target),
    /// SIGSTOP, and SIGCONT after a while.
    Stop(Target),
    /// The address space can grow no more.
    Memory(Target),
    /// The disk is full for a while.
    Disk,
    /// Connections are refused for a while.
    Cut(LinkToCut),
    /// The assistant does something else than its work.
    Assistant(Misbehavior),
    /// The remote is unreachable from the first push on, for a while.
    Push,
    /// The control plane asks for a new token, and its first answers to the refresh are lost.
    Refresh,
    /// The machine sleeps for a day: everything stands still, the clock goes on, the token expires, and the
    /// control plane gives the loop up.
    Sleep,
}

const FAULTS: [Fault; 28] = [
    Fault::Kill(Target::Loopgate),
    Fault::Kill(Target::Loopgate),
    Fault::Kill(Target::Shim),
    Fault::Kill(Target::Driver),
    Fault::Kill(Target::Assistant),
    Fault::Kill(Target::Git),
    Fault::Kill(Target::Everything),
    Fault::Kill(Target::Everything),
    Fault::Stop(Target::Loopgate),
    Fault::Stop(Target::Shim),
    Fault::Stop(Target::Assistant),
    Fault::Memory(Target::Loopgate),
    Fault::Memory(Target::Assistant),
    Fault::Disk,
    Fault::Cut(LinkToCut::ControlPlane),
    Fault::Cut(LinkToCut::Model),
    Fault::Cut(LinkToCut::CodeHost),
    Fault::Cut(LinkToCut::Remote),
    Fault::Assistant(Misbehavior::Question),
    Fault::Assistant(Misbehavior::DetachedHead),
    Fault::Assistant(Misbehavior::DetachedCommit),
    Fault::Assistant(Misbehavior::DeletedWorktree),
    Fault::Push,
    Fault::Push,
    Fault::Refresh,
    Fault::Refresh,
    Fault::Sleep,
    Fault::Sleep,
];

/// How a loop has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedLoopEnd {
    /// Anyhow, so long as nothing is lost.
    Any,
    /// Completed, with everything delivered.
    Completed,
    /// With an error of this code, whose message holds this text, and nothing delivered.
    Error(&'static str, &'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, what) = match self {
            Self::Kill(target) => ("kill", format!("{target:?}")),
            Self::Stop(target) => ("stop", format!("{target:?}")),
            Self::Memory(target) => ("memory", format!("{target:?}")),
            Self::Cut(connection) => ("cut", format!("{connection:?}")),
            Self::Assistant(misbehavior) => ("assistant", format!("{misbehavior:?}")),
            Self::Disk => return f.write_str("disk"),
            Self::Push => return f.write_str("push"),
            Self::Refresh => return f.write_str("refresh"),
            Self::Sleep => return f.write_str("sleep"),
        };
        write!(f, "{kind}-{}", what.to_lowercase())
    }
}

impl Fault {
    /// How a loop has to end that the fault hits.
    pub const fn expected(self) -> ExpectedLoopEnd {
        match self {
            Self::Kill(Target::Loopgate)
            | Self::Stop(_)
            | Self::Cut(LinkToCut::ControlPlane)
            | Self::Assistant(Misbehavior::DetachedHead | Misbehavior::DetachedCommit)
            | Self::Push
            | Self::Refresh
            | Self::Sleep => ExpectedLoopEnd::Completed,
            Self::Assistant(Misbehavior::Question) => ExpectedLoopEnd::Error("AWAITING_USER", QUESTION),
            Self::Assistant(Misbehavior::DeletedWorktree) => {
                ExpectedLoopEnd::Error("PROCESS_FAILED", "was deleted while the loop ran")
            }
            Self::Kill(_) | Self::Memory(_) | Self::Disk | Self::Cut(_) => ExpectedLoopEnd::Any,
        }
    }

    /// Whether it can only happen when a plan is carried out.
    const fn needs_execution(self) -> bool {
        matches!(self, Self::Assistant(_) | Self::Push)
    }
}

/// What the assistant asks.
pub const QUESTION: &str = "Which currency?";

/// Everything that is drawn for one run.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub seed: u64,
    pub executes: bool,
    pub fault: Fault,
    /// The fault strikes after so many requests to the model,
    pub requests: usize,
    /// and so many changes of files.
    pub changes: usize,
    /// After how many of its steps the assistant misbehaves.
    pub steps: usize,
    /// How many answers are lost.
    pub lost: u32,
    /// How long what can come back is away.
    pub outage: Duration,
}

impl Scenario {
    /// Draws a run; `steps` is how many the assistant takes.
    pub fn draw(seed: u64, steps: usize) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let fault = FAULTS[random.random_range(0..FAULTS.len())];
        let executes = random.random_range(0..4) > 0 || fault.needs_execution();
        let requests = if executes { EXECUTE_REQUESTS } else { PLAN_REQUESTS };
        Self {
            seed,
            executes,
            fault,
            requests: random.random_range(0..=requests),
            changes: random.random_range(0..=MAX_CHANGES),
            steps: random.random_range(0..=steps),
            lost: random.random_range(1..=MAX_LOST),
            outage: Duration::from_millis(random.random_range(0..=MAX_OUTAGE_MS)),
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = if self.executes { "EXECUTE" } else { "PLAN" };
        let Self { seed, fault, requests, changes, steps, lost, outage, .. } = self;
        write!(f, "seed {seed} {command} {fault} ")?;
        match fault {
            Fault::Assistant(_) => write!(f, "after {steps} steps"),
            Fault::Push => write!(f, "at the first push, {outage:?}"),
            Fault::Refresh => write!(f, "after {requests} requests and {changes} changes, {lost} lost"),
            _ => write!(f, "after {requests} requests and {changes} changes, {outage:?}"),
        }
    }
}
