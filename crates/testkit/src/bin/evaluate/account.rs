//! Whether the assistant is there and can use its account.

use std::path::Path;

use anyhow::bail;
use serde_json::Value;

use crate::command::run;

/// The assistant's version, after it has answered one short question.
///
/// # Errors
/// When it is missing or does not answer; the text says what it needs.
pub fn check(assistant: &str) -> anyhow::Result<String> {
    let here = Path::new(".");
    let Ok(version) = run(assistant, &["--version"], here) else {
        bail!(
            "the assistant `{assistant}` was not found. The evaluation needs it, signed in to an account of yours: \
             install it with `npm install -g @anthropic-ai/claude-code`, or name it with --assistant"
        );
    };
    let question = ["-p", "Answer with the one word: ready", "--output-format", "json"];
    let answer = run(assistant, &question, here)?;
    let result: Value =
        answer.text.lines().find_map(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    if answer.is_success && result["is_error"] == false {
        return Ok(version.text.trim().to_owned());
    }
    let said = result["result"].as_str().unwrap_or(answer.text.trim()).to_owned();
    bail!(
        "the assistant cannot use an account ({said}). The evaluation runs on yours and spends of it: start \
         `{assistant}` in a terminal and sign in with /login, or set ANTHROPIC_API_KEY"
    )
}
