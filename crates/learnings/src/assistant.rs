//! One question to the assistant, whose answer is a JSON object.

use std::time::Duration;

use loopgate_tools::process::{Command, Limits, Stdin};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout_at};

/// Asks, and sends an answer back once that cannot be read. `read` checks the object of an answer; `time` is for
/// both answers together.
///
/// # Errors
/// Why there is no answer, for a person.
pub(crate) async fn ask<A: DeserializeOwned, T>(
    assistant: &Command,
    mut prompt: String,
    time: Duration,
    read: impl Fn(A) -> Result<T, String>,
) -> Result<T, String> {
    let until = Instant::now() + time;
    let mut reason = String::new();
    for _ in 0..2 {
        let command = assistant.clone().stdin(Stdin::Bytes(prompt.clone().into_bytes())).session();
        let run = timeout_at(until, command.run(Limits::time(time))).await;
        let output = run.map_err(|_| "The assistant took too long".to_owned())?;
        let output = output.map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err("The assistant failed".to_owned());
        }
        match object(&output.stdout_text()).and_then(&read) {
            Ok(answer) => return Ok(answer),
            Err(error) => reason = error,
        }
        prompt.push_str(&format!("\n\nAn earlier answer did not fit the schema ({reason}). Answer again."));
    }
    Err(format!("The assistant's answer does not fit: {reason}"))
}

/// The object in an answer, with what may stand around it.
pub(crate) fn object<A: DeserializeOwned>(text: &str) -> Result<A, String> {
    let (begin, end) = (text.find('{'), text.rfind('}'));
    let (Some(begin), Some(end)) = (begin, end) else { return Err("no JSON object".to_owned()) };
    let object = text.get(begin..=end).ok_or("no JSON object")?;
    serde_json::from_str(object).map_err(|error| error.to_string())
}
