//! What may go wrong, when, and for how long: all of it drawn from one number.

use std::fmt;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// Requests that the model gets in a run of each command, about.
const PLAN_REQUESTS: usize = 5;
const EXECUTE_REQUESTS: usize = 11;
/// Changes of files after such a request, up to which a fault waits.
const SIGNS: usize = 24;
/// Longest time for which something is away.
const AWAY_MS: u64 = 1500;

/// A process of the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Loopgate,
    Shim,
    Driver,
    Assistant,
    Git,
    /// All of them in one moment, as when the machine dies.
    Everything,
}

/// A line that can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    ControlPlane,
    Model,
    CodeHost,
    Remote,
}

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// SIGKILL.
    Kill(Who),
    /// SIGSTOP, and SIGCONT after a while.
    Stop(Who),
    /// No memory any more.
    Memory(Who),
    /// The disk takes nothing for a while.
    Disk,
    /// Nobody answers for a while.
    Cut(Line),
}

const FAULTS: [Fault; 18] = [
    Fault::Kill(Who::Loopgate),
    Fault::Kill(Who::Loopgate),
    Fault::Kill(Who::Shim),
    Fault::Kill(Who::Driver),
    Fault::Kill(Who::Assistant),
    Fault::Kill(Who::Git),
    Fault::Kill(Who::Everything),
    Fault::Kill(Who::Everything),
    Fault::Stop(Who::Loopgate),
    Fault::Stop(Who::Shim),
    Fault::Stop(Who::Assistant),
    Fault::Memory(Who::Loopgate),
    Fault::Memory(Who::Assistant),
    Fault::Disk,
    Fault::Cut(Line::ControlPlane),
    Fault::Cut(Line::Model),
    Fault::Cut(Line::CodeHost),
    Fault::Cut(Line::Remote),
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, which) = match self {
            Self::Kill(who) => ("kill", format!("{who:?}")),
            Self::Stop(who) => ("stop", format!("{who:?}")),
            Self::Memory(who) => ("memory", format!("{who:?}")),
            Self::Disk => return f.write_str("disk"),
            Self::Cut(line) => ("cut", format!("{line:?}")),
        };
        write!(f, "{what}-{}", which.to_lowercase())
    }
}

impl Fault {
    /// Whether the loop itself must come to a good end all the same.
    pub const fn is_harmless(self) -> bool {
        matches!(self, Self::Kill(Who::Loopgate) | Self::Stop(_) | Self::Cut(Line::ControlPlane))
    }
}

/// Everything that is drawn for one run.
#[derive(Debug, Clone)]
pub struct Drawn {
    pub seed: u64,
    pub executes: bool,
    pub fault: Fault,
    /// After so many requests to the model,
    pub asked: usize,
    /// and so many changes of files.
    pub signs: usize,
    /// For how long what can come back is away.
    pub away: Duration,
}

impl Drawn {
    pub fn of(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let executes = random.random_range(0..4) > 0;
        let requests = if executes { EXECUTE_REQUESTS } else { PLAN_REQUESTS };
        Self {
            seed,
            executes,
            fault: FAULTS[random.random_range(0..FAULTS.len())],
            asked: random.random_range(0..=requests),
            signs: random.random_range(0..=SIGNS),
            away: Duration::from_millis(random.random_range(0..=AWAY_MS)),
        }
    }
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = if self.executes { "EXECUTE" } else { "PLAN" };
        let Self { seed, fault, asked, signs, away, .. } = self;
        write!(f, "seed {seed} {command} {fault} after {asked} requests and {signs} changes, {away:?}")
    }
}
