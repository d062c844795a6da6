//! What the worktree of a ticket, and the record of its loop, say about the work on it.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::job::JobStatus;
use crate::plan::TaskProgress;
use crate::spend::Spend;

/// Whether work goes on in a directory. Members of the state are copied as they are.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryStatus {
    /// Whether the state is not one of the last ones.
    pub is_running: bool,
    /// Why nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Phase of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub phase: Option<Value>,
    /// Status of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub status: Option<Value>,
    /// Iteration of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub iteration: Option<Value>,
    /// Timestamp of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub last_update: Option<Value>,
    /// The loop that works there, or did last.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub latest_loop: Option<LoopSummary>,
}

/// How a ticket stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum TicketStatus {
    /// A worktree with a state.
    Full(Box<FullStatus>),
    /// A worktree without a state.
    Starting(StartingStatus),
    /// No worktree.
    NotFound(MissingWorktree),
}

impl TicketStatus {
    /// No worktree.
    pub const NOT_FOUND: Self = Self::NotFound(MissingWorktree {
        exists: false,
        phase: (),
        status: (),
        message: "Worktree not found",
    });

    /// Adds what the loop's record says.
    #[must_use]
    pub fn with_loop(mut self, latest_loop: Option<LoopSummary>) -> Self {
        match &mut self {
            Self::Full(status) => status.latest_loop = latest_loop,
            Self::Starting(status) => status.latest_loop = latest_loop,
            Self::NotFound(_) => {}
        }
        self
    }
}

/// No worktree; closed, because another answer holds its members and more.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NotFound)]
pub struct MissingWorktree {
    /// Always false.
    pub exists: bool,
    /// Always null.
    #[schema(value_type = Option<String>, required)]
    pub phase: (),
    /// Always null.
    #[schema(value_type = Option<String>, required)]
    pub status: (),
    /// What is missing, for a person.
    pub message: &'static str,
}

/// A worktree without a state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Starting)]
pub struct StartingStatus {
    /// Always true.
    pub exists: bool,
    /// Always false.
    pub state_exists: bool,
    /// Always `Initializing`.
    pub phase: &'static str,
    /// Always `STARTING`.
    pub status: &'static str,
    /// What is going on, for a person.
    pub message: &'static str,
    /// The loop that works on it, or did last.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub latest_loop: Option<LoopSummary>,
}

/// A worktree with a state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FullStatus {
    /// Always true.
    pub exists: bool,
    /// Always true.
    pub state_exists: bool,
    /// Phase, corrected by what the process and its output show.
    pub phase: String,
    /// Status, corrected likewise.
    pub status: String,
    /// Timestamp of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub timestamp: Option<Value>,
    /// The state as it was written.
    #[schema(value_type = Object)]
    pub raw: Map<String, Value>,
    /// Absolute.
    pub worktree_dir: String,
    /// Whether the status was found in the output, because the state did not tell.
    pub fallback_detected: bool,
    /// Whether there is a plan.
    pub plan_exists: bool,
    /// How far the tasks of the plan are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_progress: Option<TaskProgress>,
    /// The task that is worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_task_id: Option<String>,
    /// The assistant's helpers that are at work.
    pub active_agents: Vec<ActiveAgent>,
    /// The recorded process.
    #[schema(required)]
    pub pid: Option<u32>,
    /// Whether it lives.
    pub process_running: bool,
    /// The loop that works on it, or did last.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub latest_loop: Option<LoopSummary>,
}

/// A helper at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveAgent {
    /// Id that the assistant gave it.
    pub agent_id: String,
    /// Its type.
    pub agent_type: String,
    /// Its name.
    pub agent_name: String,
    /// ISO 8601, or empty.
    pub started_at: String,
}

/// The loop that works, or worked last.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LoopFacts)]
pub struct LoopSummary {
    /// Id of the loop.
    pub loop_id: String,
    /// Its command.
    pub command: &'static str,
    /// Where it is at this moment.
    pub status: JobStatus,
    /// Its place among the loops that wait, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_place: Option<usize>,
    /// What it does while it runs: `working`, `waiting-for-model`, `waiting-for-limit` or `stuck`, since when, and
    /// for which program or until when it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub stillness: Option<Value>,
    /// Tokens and money so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spend: Option<Box<Spend>>,
}

/// A plan as pages show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanAnswer)]
pub struct TicketPlan {
    /// Always true.
    pub exists: bool,
    /// Always true.
    pub plan_exists: bool,
    /// Markdown.
    pub content: String,
    /// The plan as it was written.
    #[schema(value_type = Object)]
    pub raw: Value,
    /// Absolute.
    pub worktree_dir: String,
}

/// What the judges said, or that they have not spoken yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Judgement)]
pub enum JudgesReport {
    /// Their report.
    #[serde(rename_all = "camelCase")]
    Present {
        /// Always true.
        exists: bool,
        /// Always false: nothing here is made up.
        is_mock: bool,
        /// As it was written, whatever its shape.
        #[schema(value_type = Object)]
        data: Value,
        /// Absolute.
        worktree_dir: String,
    },
    /// None yet.
    #[serde(rename_all = "camelCase")]
    Pending {
        /// Always false.
        exists: bool,
        /// Always false.
        is_mock: bool,
        /// What is awaited, for a person.
        #[schema(example = "Awaiting LLM judges feedback")]
        message: &'static str,
        /// Absolute.
        worktree_dir: String,
    },
}

/// The end of a log, in one of its formats.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum LogTail {
    /// Raw records of the assistant.
    #[serde(rename_all = "camelCase")]
    Records {
        /// Always true.
        exists: bool,
        /// Always `jsonl`.
        #[schema(example = "jsonl")]
        format: &'static str,
        /// The last records.
        lines: Vec<String>,
        /// Lines of the log.
        total_lines: usize,
        /// Lines of this answer.
        returned_lines: usize,
    },
    /// Text of the launched script.
    #[serde(rename_all = "camelCase")]
    Text {
        /// Always true.
        exists: bool,
        /// Always `text`.
        #[schema(example = "text")]
        format: &'static str,
        /// The last lines.
        content: String,
        /// Lines of the log.
        total_lines: usize,
        /// Lines of this answer.
        returned_lines: usize,
    },
    /// There is none.
    Nothing {
        /// Always false.
        exists: bool,
        /// Always `text`.
        #[schema(example = "text")]
        format: &'static str,
        /// Empty.
        content: &'static str,
        /// Always 0.
        lines: usize,
    },
}

impl LogTail {
    /// No log.
    pub const NOTHING: Self = Self::Nothing { exists: false, format: "text", content: "", lines: 0 };
}
