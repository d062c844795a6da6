//! How a run went.

use std::fmt;

use serde_json::Value;

/// What a run came to.
#[derive(Debug)]
pub struct FaultReport {
    /// Whether the fault struck before the loop was over.
    pub hit: bool,
    /// Answer to the request for the loop.
    pub answer: LaunchResult,
    /// The loop's last event.
    pub last: Option<Value>,
}

/// Answer to a request for a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaunchResult {
    Started,
    /// Started by the process that died before it could answer.
    StartedBefore,
    Refused(u16, String),
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if self.hit { "hit" } else { "after the end" };
        match (&self.last, &self.answer) {
            (None, LaunchResult::Refused(status, text)) => write!(f, "{when}, refused with {status} {text}"),
            (None, _) => write!(f, "{when}, no event"),
            (Some(last), _) if last["type"] == "completed" => {
                let results = last["results"].as_array().into_iter().flatten();
                let each: Vec<&str> = results.filter_map(|entry| entry["status"].as_str()).collect();
                write!(f, "{when}, completed [{}] {}", each.join(" "), last["warnings"])
            }
            (Some(last), _) => write!(f, "{when}, {} {}", last["code"], last["message"]),
        }
    }
}
