//! Result of a run.

use std::fmt;

use serde_json::Value;

/// Result of one run.
#[derive(Debug)]
pub struct FaultReport {
    /// Whether the fault was injected before the loop finished.
    pub hit: bool,
    /// Response to the launch request.
    pub answer: LaunchResult,
    /// Terminal event of the loop, if any.
    pub last: Option<Value>,
}

/// Response to a launch request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaunchResult {
    Started,
    /// Started by a process that was killed before it could respond.
    StartedBefore,
    Rejected(u16, String),
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if self.hit { "hit" } else { "missed: the loop had finished" };
        match (&self.last, &self.answer) {
            (None, LaunchResult::Rejected(status, text)) => {
                write!(f, "{when}, rejected with {status} {text}")
            }
            (None, _) => write!(f, "{when}, no event"),
            (Some(last), _) if last["type"] == "completed" => {
                let results = last["results"].as_array().into_iter().flatten();
                let statuses: Vec<&str> = results.filter_map(|entry| entry["status"].as_str()).collect();
                write!(f, "{when}, completed [{}] {}", statuses.join(" "), last["warnings"])
            }
            (Some(last), _) => write!(f, "{when}, {} {}", last["code"], last["message"]),
        }
    }
}
