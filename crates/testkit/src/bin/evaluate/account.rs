//! Checks that the assistant is installed and signed in.

use std::path::Path;

use anyhow::bail;
use loopgate_api::assistant_record::{AssistantRecord, RecordKind, ResultRecord};

use crate::command::run;

/// Returns the assistant's version after a short test prompt. Fails when the assistant is missing or not
/// signed in; the message says how to fix this.
pub fn check(assistant: &str) -> anyhow::Result<String> {
    let here = Path::new(".");
    let Ok(version) = run(assistant, &["--version"], here) else {
        bail!(
            "the assistant `{assistant}` was not found. The evaluation needs it, signed in to your account: \
             install it with `npm install -g @anthropic-ai/claude-code`, or set its path with --assistant"
        );
    };
    let arguments = ["-p", "Answer with the one word: ready", "--output-format", "json"];
    let output = run(assistant, &arguments, here)?;
    let result =
        output.text.lines().find_map(|line| match serde_json::from_str::<AssistantRecord>(line).ok()?.kind {
            RecordKind::Result(result) => Some(result),
            _ => None,
        });
    if output.is_success && result.as_ref().is_some_and(ResultRecord::is_success) {
        return Ok(version.text.trim().to_owned());
    }
    let reason = result.as_ref().and_then(ResultRecord::reason);
    let message = reason.unwrap_or(output.text.trim());
    bail!(
        "the assistant cannot use an account ({message}). The evaluation runs on your account and at your expense: start \
         `{assistant}` in a terminal and sign in with /login, or set ANTHROPIC_API_KEY"
    )
}
