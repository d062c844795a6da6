//! Faults, with their time and duration. All of it is derived from one seed.

use std::fmt;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// Approximate number of model requests in a PLAN and in an EXECUTE loop.
const PLAN_REQUESTS: usize = 5;
const EXECUTE_REQUESTS: usize = 11;
/// Maximum number of file changes between that request and the fault.
const MAX_CHANGES: usize = 24;
/// Maximum duration of an outage, in milliseconds.
const MAX_OUTAGE_MS: u64 = 1500;
/// Maximum number of consecutive lost responses.
const MAX_LOST: u32 = 4;

/// Processes that a fault affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultTarget {
    Loopgate,
    Shim,
    Driver,
    Assistant,
    Git,
    /// All processes at once, as in a power failure.
    Everything,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkToCut {
    ControlPlane,
    Model,
    CodeHost,
    Remote,
}

/// Unwanted behavior of the assistant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misbehavior {
    /// Asks the user a question and ends its run.
    Question,
    /// Detaches the worktree's HEAD.
    DetachedHead,
    /// Detaches HEAD and commits its work.
    DetachedCommit,
    DeletedWorktree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Kill(FaultTarget),
    /// Sends SIGSTOP, and SIGCONT at the end of the outage.
    Stop(FaultTarget),
    /// Limits the address space, so that further allocations fail.
    Memory(FaultTarget),
    /// Fills the disk for the duration of the outage.
    Disk,
    /// Refuses connections for the duration of the outage.
    Cut(LinkToCut),
    /// Makes the assistant misbehave.
    Assistant(Misbehavior),
    /// Makes the remote unreachable from the first push until the end of the outage.
    Push,
    /// Lets the control plane reject the runner token, and drops the first responses to the refresh.
    Refresh,
    /// Suspends the machine for a day: processes are stopped, the clock advances, the token expires, and the
    /// control plane times the loop out.
    Sleep,
}

const FAULTS: [Fault; 28] = [
    Fault::Kill(FaultTarget::Loopgate),
    Fault::Kill(FaultTarget::Loopgate),
    Fault::Kill(FaultTarget::Shim),
    Fault::Kill(FaultTarget::Driver),
    Fault::Kill(FaultTarget::Assistant),
    Fault::Kill(FaultTarget::Git),
    Fault::Kill(FaultTarget::Everything),
    Fault::Kill(FaultTarget::Everything),
    Fault::Stop(FaultTarget::Loopgate),
    Fault::Stop(FaultTarget::Shim),
    Fault::Stop(FaultTarget::Assistant),
    Fault::Memory(FaultTarget::Loopgate),
    Fault::Memory(FaultTarget::Assistant),
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

/// Required end of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedLoopEnd {
    /// No particular one, as long as no work is lost.
    Any,
    /// Completed, with all work delivered.
    Completed,
    /// Failed with this error code and a message that contains this text, with nothing delivered.
    Error(&'static str, &'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, detail) = match self {
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
        write!(f, "{kind}-{}", detail.to_lowercase())
    }
}

impl Fault {
    /// Returns how a loop must end when the fault hits it.
    pub const fn expected(self) -> ExpectedLoopEnd {
        match self {
            Self::Kill(FaultTarget::Loopgate)
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

    /// Returns whether the fault can only occur in an EXECUTE loop.
    const fn needs_execution(self) -> bool {
        matches!(self, Self::Assistant(_) | Self::Push)
    }
}

/// Question asked by the assistant.
pub const QUESTION: &str = "Which currency?";

/// Random parameters of one run.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub seed: u64,
    pub executes: bool,
    pub fault: Fault,
    /// Number of model requests before the fault.
    pub requests: usize,
    /// Number of file changes after the last of these requests.
    pub changes: usize,
    /// Number of steps before the assistant misbehaves.
    pub steps: usize,
    /// Number of dropped responses.
    pub lost_responses: u32,
    /// Duration of faults that end by themselves.
    pub outage: Duration,
}

impl Scenario {
    /// Derives a scenario from a seed. `steps` is the number of the assistant's steps.
    pub fn draw(seed: u64, steps: usize) -> Self {
        // The order of the draws determines what a seed means: a change of it makes reported seeds useless.
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
            lost_responses: random.random_range(1..=MAX_LOST),
            outage: Duration::from_millis(random.random_range(0..=MAX_OUTAGE_MS)),
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = if self.executes { "EXECUTE" } else { "PLAN" };
        let Self { seed, fault, requests, changes, steps, lost_responses, outage, .. } = self;
        write!(f, "seed {seed} {command} {fault} ")?;
        match fault {
            Fault::Assistant(_) => write!(f, "after {steps} steps"),
            Fault::Push => write!(f, "at the first push, {outage:?}"),
            Fault::Refresh => {
                write!(f, "after {requests} requests and {changes} changes, {lost_responses} responses lost")
            }
            _ => write!(f, "after {requests} requests and {changes} changes, {outage:?}"),
        }
    }
}
