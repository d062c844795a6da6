//! A single request to the assistant that is answered with a JSON object.

use std::time::Duration;

use loopgate_tools::process::{Command, Limits, Stdin};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout_at};

/// Sends a prompt to the assistant and parses its response; an invalid response is retried once with the
/// error.
///
/// `read` validates the parsed object. `time` is the timeout for both attempts together.
///
/// # Errors
/// Returns an error message for the user when the assistant fails, times out, or both responses are invalid.
pub(crate) async fn request<A: DeserializeOwned, T>(
    assistant: &Command,
    mut prompt: String,
    time: Duration,
    read: impl Fn(A) -> Result<T, String>,
) -> Result<T, String> {
    let deadline = Instant::now() + time;
    let mut reason = String::new();
    for _ in 0..2 {
        // A new session has no controlling terminal, so a prompt on /dev/tty fails instead of blocking.
        let command = assistant.clone().stdin(Stdin::Bytes(prompt.clone().into_bytes())).session();
        let run = timeout_at(deadline, command.run(Limits::time(time))).await;
        let output = run.map_err(|_| "The assistant timed out".to_owned())?;
        let output = output.map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err("The assistant failed".to_owned());
        }
        match object(&output.stdout_text()).and_then(&read) {
            Ok(response) => return Ok(response),
            Err(error) => reason = error,
        }
        prompt
            .push_str(&format!("\n\nThe previous answer did not match the schema ({reason}). Answer again."));
    }
    Err(format!("The assistant's response does not match the schema: {reason}"))
}

/// Parses the JSON object in a response, ignoring text around it.
pub(crate) fn object<A: DeserializeOwned>(text: &str) -> Result<A, String> {
    // Models enclose the object in prose or a Markdown code block, even when instructed not to.
    let (begin, end) = (text.find('{'), text.rfind('}'));
    let (Some(begin), Some(end)) = (begin, end) else { return Err("no JSON object".to_owned()) };
    let object = text.get(begin..=end).ok_or("no JSON object")?;
    serde_json::from_str(object).map_err(|error| error.to_string())
}
