//! Status of the work on a ticket, derived from its worktree and its loop's record.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::job::JobStatus;
use crate::plan::TaskProgress;
use crate::spend::Spend;

/// Status of a work directory. Members of `state.json` are copied unchanged.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryStatus {
    /// Whether the status in `state.json` is not terminal.
    pub is_running: bool,
    /// Reason why the status is unknown; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// `phase` of `state.json`; absent when missing there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub phase: Option<Value>,
    /// `status` of `state.json`; absent when missing there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub status: Option<Value>,
    /// `iteration` of `state.json`; absent when missing there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub iteration: Option<Value>,
    /// `timestamp` of `state.json`; absent when missing there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub last_update: Option<Value>,
    /// The directory's current or most recent loop.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub latest_loop: Option<LoopSummary>,
}

/// Status of the work on a ticket.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum TicketStatus {
    /// The worktree has a `state.json`.
    Full(Box<FullStatus>),
    /// The worktree has no `state.json` yet.
    Starting(StartingStatus),
    /// The ticket has no worktree.
    NotFound(MissingWorktree),
}

impl TicketStatus {
    /// Response for a ticket without a worktree.
    pub const NOT_FOUND: Self = Self::NotFound(MissingWorktree {
        exists: false,
        phase: (),
        status: (),
        message: "Worktree not found",
    });

    /// Adds the summary of the ticket's loop. A loop whose assistant has ended is in progress until its work is
    /// delivered.
    #[must_use]
    pub fn with_loop(mut self, latest_loop: Option<LoopSummary>) -> Self {
        match &mut self {
            Self::Full(status) => {
                let is_running =
                    latest_loop.as_ref().is_some_and(|summary| summary.status == JobStatus::Running);
                if is_running && status.status == "COMPLETED" {
                    status.status = "IN_PROGRESS".to_owned();
                    status.phase = "Delivery".to_owned();
                    status.process_running = true;
                }
                status.latest_loop = latest_loop;
            }
            Self::Starting(status) => status.latest_loop = latest_loop,
            Self::NotFound(_) => {}
        }
        self
    }
}

/// Response for a ticket without a worktree. Closed: the other variants have all its members and more.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NotFound)]
pub struct MissingWorktree {
    /// Always false: the worktree does not exist.
    pub exists: bool,
    /// Always null without a worktree.
    #[schema(value_type = Option<String>, required)]
    pub phase: (),
    /// Always null without a worktree.
    #[schema(value_type = Option<String>, required)]
    pub status: (),
    /// Explanation for the user.
    pub message: &'static str,
}

/// Response for a worktree without a `state.json`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Starting)]
pub struct StartingStatus {
    /// Always true: the worktree exists.
    pub exists: bool,
    /// Always false: there is no `state.json`.
    pub state_exists: bool,
    /// Always `Initializing` in this response.
    pub phase: &'static str,
    /// Always `STARTING` in this response.
    pub status: &'static str,
    /// Explanation for the user.
    pub message: &'static str,
    /// The ticket's current or most recent loop.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub latest_loop: Option<LoopSummary>,
}

/// Response for a worktree with a `state.json`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FullStatus {
    /// Always true: the worktree exists.
    pub exists: bool,
    /// Always true: `state.json` exists.
    pub state_exists: bool,
    /// Phase of `state.json`, corrected by the state of the process and its output.
    pub phase: String,
    /// Status of `state.json`, corrected by the state of the process and its output.
    pub status: String,
    /// `timestamp` of `state.json`; absent when missing there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub timestamp: Option<Value>,
    /// Content of `state.json`, unchanged.
    #[schema(value_type = Object)]
    pub raw: Map<String, Value>,
    /// Absolute path of the worktree.
    pub worktree_dir: String,
    /// Whether the status was derived from the output because `state.json` does not determine it.
    pub fallback_detected: bool,
    /// Whether the worktree has a plan.
    pub plan_exists: bool,
    /// Task counts of the plan; absent without a valid plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_progress: Option<TaskProgress>,
    /// Id of the first pending task; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_task_id: Option<String>,
    /// Running subagents of the assistant.
    pub active_agents: Vec<ActiveAgent>,
    /// Recorded process id; null without one.
    #[schema(required)]
    pub pid: Option<u32>,
    /// Whether the recorded process is running, or the work of its loop is being delivered.
    pub process_running: bool,
    /// The ticket's current or most recent loop.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub latest_loop: Option<LoopSummary>,
}

/// A running subagent of the assistant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveAgent {
    /// Id assigned by the assistant.
    pub agent_id: String,
    /// Type of the subagent, as defined in the assistant.
    pub agent_type: String,
    /// Display name of the subagent.
    pub agent_name: String,
    /// Start time, ISO 8601; empty when unknown.
    pub started_at: String,
}

/// Current or most recent loop of a ticket or directory.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LoopFacts)]
pub struct LoopSummary {
    /// UUID of the loop.
    pub loop_id: String,
    /// Name of the loop command, for example `PLAN`.
    pub command: &'static str,
    /// Current status of the desktop's job.
    pub status: JobStatus,
    /// Position in the queue of waiting loops, from 1; absent when not queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_place: Option<usize>,
    /// Activity of a running loop: `working`, `waiting-for-model`, `waiting-for-limit` or `stuck`, with its
    /// start time and the program or the time that the loop waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub stall: Option<Value>,
    /// Tokens and cost so far; absent before the first use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spend: Option<Box<Spend>>,
}

/// Plan of a ticket, for display.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanAnswer)]
pub struct TicketPlan {
    /// Always true: the worktree exists.
    pub exists: bool,
    /// Always true: the plan exists.
    pub plan_exists: bool,
    /// Text of the plan, as Markdown.
    pub content: String,
    /// Content of `plan.json`, unchanged.
    #[schema(value_type = Object)]
    pub raw: Value,
    /// Absolute path of the worktree.
    pub worktree_dir: String,
}

/// Report of the judges, or a placeholder until it is available.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Judgement)]
pub enum JudgesReport {
    /// The judges have written their report.
    #[serde(rename_all = "camelCase")]
    Present {
        /// Always true: the report exists.
        exists: bool,
        /// Always false: the data is real.
        is_mock: bool,
        /// Content of the report, unchanged; its structure is not validated.
        #[schema(value_type = Object)]
        data: Value,
        /// Absolute path of the worktree.
        worktree_dir: String,
    },
    /// The report is not available yet.
    #[serde(rename_all = "camelCase")]
    Pending {
        /// Always false: there is no report.
        exists: bool,
        /// Always false: there is no sample data.
        is_mock: bool,
        /// Explanation for the user.
        #[schema(example = "Awaiting LLM judges feedback")]
        message: &'static str,
        /// Absolute path of the worktree.
        worktree_dir: String,
    },
}

/// Last lines of a log, in the log's format.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum LogTail {
    /// Raw JSON records of the assistant.
    #[serde(rename_all = "camelCase")]
    Records {
        /// Always true: the log exists.
        exists: bool,
        /// Always `jsonl` for this variant.
        #[schema(example = "jsonl")]
        format: &'static str,
        /// Last records, one JSON object each, oldest first.
        lines: Vec<String>,
        /// Number of lines in the log.
        total_lines: usize,
        /// Number of lines in this response.
        returned_lines: usize,
    },
    /// Text output of the launched script.
    #[serde(rename_all = "camelCase")]
    Text {
        /// Always true: the log exists.
        exists: bool,
        /// Always `text` for this variant.
        #[schema(example = "text")]
        format: &'static str,
        /// Last lines of the log.
        content: String,
        /// Number of lines in the log.
        total_lines: usize,
        /// Number of lines in this response.
        returned_lines: usize,
    },
    /// The ticket has no log.
    Nothing {
        /// Always false: there is no log.
        exists: bool,
        /// Always `text` for this variant.
        #[schema(example = "text")]
        format: &'static str,
        /// Always the empty string.
        content: &'static str,
        /// Always 0 for this variant.
        lines: usize,
    },
}

impl LogTail {
    /// Response for a ticket without a log.
    pub const NOTHING: Self = Self::Nothing { exists: false, format: "text", content: "", lines: 0 };
}
