//! Reads and writes `plan.json` with its Markdown mirrors.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use loopgate_api::names::{OPEN_QUESTIONS, PLAN_MD, STATE_DIR};
use loopgate_home::untrusted;
use serde_json::{Map, Value};

use super::common_text;
use super::paths::plan_path;

/// Lock that excludes other writers of the plan and the state until it is dropped.
#[derive(Debug)]
pub struct PlanLock {
    _file: File,
}

impl PlanLock {
    /// Waits for the lock of a work directory. Holders only write a few small files, and the operating system
    /// releases the lock of a killed process, so the wait is short; it has an upper bound.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn take(workdir: &Path) -> Result<Self, String> {
        let file = untrusted::lock(&workdir.join(STATE_DIR).join("plan.lock"));
        file.map(|file| Self { _file: file }).map_err(|error| format!("Error: cannot lock the plan: {error}"))
    }
}

/// Reads a plan file.
///
/// # Errors
/// Returns the line to print when the file is unreadable, invalid JSON or not an object.
pub fn read(path: &Path) -> Result<Map<String, Value>, String> {
    let text = untrusted::read_text(path)
        .map_err(|error| format!("Error: cannot read {}: {error}", path.display()))?;
    match loopgate_api::plan::parse(&text) {
        Ok(Value::Object(plan)) => Ok(plan),
        Ok(_) => Err(format!("Error: {} is not a plan: its root must be an object", path.display())),
        Err(error) => Err(format!("Error: {} is not JSON: {error}", path.display())),
    }
}

/// Writes `plan.json`, then its mirrors.
///
/// # Errors
/// Returns the line to print.
pub fn write(workdir: &Path, plan: &Map<String, Value>) -> Result<(), String> {
    let write_error = |error: std::io::Error| format!("Error: cannot write the plan: {error}");
    let text = serde_json::to_string_pretty(plan).map_err(|error| write_error(error.into()))?;
    // plan.json first: after a crash in between, the recorded hash still equals that of plan.md, so that
    // `sync` completes the write.
    untrusted::write(&plan_path(workdir), format!("{text}\n").as_bytes()).map_err(write_error)?;
    write_mirrors(workdir, plan)
}

/// Writes `plan.md`, and `open-questions.md` while the plan has open questions.
///
/// # Errors
/// Returns the line to print.
pub fn write_mirrors(dir: &Path, plan: &Map<String, Value>) -> Result<(), String> {
    let write_error = |error: std::io::Error| format!("Error: cannot write the plan: {error}");
    let Some(content) = plan.get("content").and_then(Value::as_str) else {
        return Err("Error: the plan has no content".to_owned());
    };
    let text = content_text(content);
    untrusted::write(&dir.join(PLAN_MD), text.as_bytes()).map_err(write_error)?;
    common_text::record_common(dir, &text).map_err(write_error)?;
    let path = dir.join(OPEN_QUESTIONS);
    match open_questions(plan) {
        Some(text) => untrusted::write(&path, text.as_bytes()).map_err(write_error),
        // A stale list would show questions that are answered already.
        None if untrusted::kind(&path).is_some() => untrusted::remove(&path).map_err(write_error),
        None => Ok(()),
    }
}

/// Returns a list of the plan; a missing or malformed list counts as empty.
#[must_use]
pub fn tasks<'a>(plan: &'a Map<String, Value>, list: &str) -> &'a [Value] {
    plan.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the content with line breaks restored if a model escaped it twice, which yields one line full of
/// `\n`. Other content is returned unchanged.
pub fn content_text(content: &str) -> String {
    if content.contains('\n') || !content.contains("\\n") {
        return content.to_owned();
    }
    content.replace("\\n", "\n").replace("\\t", "\t")
}

fn open_questions(plan: &Map<String, Value>) -> Option<String> {
    let questions = tasks(plan, "openQuestions");
    if questions.is_empty() {
        return None;
    }
    let mut text = "# Open Questions\n\n".to_owned();
    for question in questions {
        let member = |name: &str| question.get(name).and_then(Value::as_str).unwrap_or_default();
        let _ = write!(text, "- [ ] {}: {}", member("id"), member("question"));
        if !member("recommendedAnswer").is_empty() {
            let _ = write!(text, " **[Recommended: {}]**", member("recommendedAnswer"));
        }
        text.push('\n');
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_unescaped_only_without_line_breaks() {
        assert_eq!(content_text("split at\n`\\n`"), "split at\n`\\n`");
        assert_eq!(content_text("# A\\n\\tb"), "# A\n\tb");
    }
}
