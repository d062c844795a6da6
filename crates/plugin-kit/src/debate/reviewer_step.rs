//! One review of a plan by the reviewer.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use loopgate_api::agent_failure::final_errors;
use loopgate_api::redact;
use loopgate_tools::process::{Command, Limits, StartError, Stdin};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::options::ReviewOptions;
use crate::clock::now;
use crate::console::print_line;
use crate::variables as var;

/// Makes the reviewer read no `AGENTS.md`, in a checkout whose instructions lead out of it.
const NO_INSTRUCTIONS: &str = "project_doc_max_bytes=0";
/// Executable of the reviewer.
pub const PROGRAM: &str = "codex";
/// Time limit of a review.
const REVIEW_LIMIT: Duration = Duration::from_mins(30);
/// Upper bound of a review's output in bytes.
const OUTPUT_CAP: usize = 64 * 1024 * 1024;
/// Characters shown of the standard error of a failed review.
const REASON_CHARS: usize = 200;

/// Result of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewVerdict {
    /// The reviewer approves the plan.
    Approved,
    /// The reviewer has findings.
    NeedsChanges,
    /// The reviewer returned no text, or neither a verdict nor a finding.
    Empty,
    /// The reviewer could not be run; contains the reason.
    Failed(String),
}

#[derive(Debug)]
pub struct Review {
    pub verdict: ReviewVerdict,
    /// Session of the reviewer, to be resumed in the next round.
    pub session: Option<String>,
    /// Id of the conversation's log; `None` when it could not be written.
    pub log_id: Option<String>,
}

/// Runs a review, and prints the three lines that prompts parse.
///
/// # Errors
/// Returns the line to print when a file cannot be written.
pub async fn print(options: ReviewOptions) -> Result<ExitCode, String> {
    let review = review(&options, &CancellationToken::new()).await?;
    let verdict = match &review.verdict {
        ReviewVerdict::Approved => "VERDICT:APPROVED".to_owned(),
        ReviewVerdict::NeedsChanges => "VERDICT:NEEDS_CHANGES".to_owned(),
        ReviewVerdict::Empty => "REVIEWER_EMPTY".to_owned(),
        ReviewVerdict::Failed(reason) => format!("REVIEWER_FAILED:{reason}"),
    };
    let or_none = |id: &Option<String>| id.clone().unwrap_or_else(|| "none".to_owned());
    print_line(format!(
        "{verdict}\nREVIEWER_SESSION:{}\nLOG_ID:{}",
        or_none(&review.session),
        or_none(&review.log_id)
    ));
    Ok(ExitCode::SUCCESS)
}

/// Runs a review, and writes the findings into the feedback file. When the reviewer no longer has the
/// session, a new one is started.
///
/// # Errors
/// Returns the line to print when a file cannot be written.
pub async fn review(options: &ReviewOptions, stop: &CancellationToken) -> Result<Review, String> {
    let prompt = prompt(options);
    let mut answer = run(options, options.session.as_deref(), &prompt, stop).await;
    // A failure without any text is the reviewer's answer to a session it no longer has.
    if options.session.is_some()
        && answer.as_ref().is_ok_and(|answer| !answer.success && answer.feedback.is_empty())
    {
        answer = run(options, None, &prompt, stop).await;
    }
    let log_id = options.log_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string());
    let answer = match answer {
        Ok(answer) => answer,
        Err(reason) => {
            return Ok(Review {
                verdict: ReviewVerdict::Failed(reason),
                session: options.session.clone(),
                log_id: Some(log_id),
            });
        }
    };
    let log_id = append_log(&log_id, options.round, &answer.output).then_some(log_id);
    std::fs::write(&options.feedback_file, &answer.feedback)
        .map_err(|error| format!("Error: cannot write {}: {error}", options.feedback_file.display()))?;
    let session = answer.session.clone().or_else(|| options.session.clone());
    Ok(Review { verdict: answer.verdict(), session, log_id })
}

/// Output of one run of the reviewer.
#[derive(Debug, Default)]
struct Answer {
    success: bool,
    output: Vec<u8>,
    stderr: String,
    session: Option<String>,
    feedback: String,
}

impl Answer {
    fn parse(output: Vec<u8>) -> Self {
        let mut answer = Self::default();
        let mut texts = Vec::new();
        for line in String::from_utf8_lossy(&output).lines() {
            let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
            match record["type"].as_str() {
                // Only the first thread identifies the conversation.
                Some("thread.started") if answer.session.is_none() => {
                    answer.session = record["thread_id"].as_str().map(str::to_owned);
                }
                Some("item.completed") if record["item"]["type"] == "agent_message" => {
                    texts.extend(record["item"]["text"].as_str().map(str::to_owned));
                }
                _ => {}
            }
        }
        Self { feedback: texts.join("\n"), output, ..answer }
    }

    fn verdict(&self) -> ReviewVerdict {
        let text = self.feedback.trim();
        if text.is_empty() && !self.success {
            let errors = final_errors(&self.stderr);
            let reason = errors.split_whitespace().collect::<Vec<_>>().join(" ");
            let reason = redact::shorten(&redact::credentials(&reason), REASON_CHARS);
            return ReviewVerdict::Failed(if reason.is_empty() { "no output".to_owned() } else { reason });
        }
        let last = text.lines().rev().map(|line| line.trim().trim_matches('*')).find(|line| !line.is_empty());
        match last {
            Some("VERDICT: APPROVED") => ReviewVerdict::Approved,
            Some("VERDICT: NEEDS_CHANGES") => ReviewVerdict::NeedsChanges,
            // A reviewer that lists findings but forgets the verdict has not approved.
            _ if text.contains("### Finding") => ReviewVerdict::NeedsChanges,
            _ => ReviewVerdict::Empty,
        }
    }
}

async fn run(
    options: &ReviewOptions,
    session: Option<&str>,
    prompt: &str,
    stop: &CancellationToken,
) -> Result<Answer, String> {
    let mut args: Vec<OsString> = vec!["exec".into()];
    if let Some(session) = session {
        args.extend(["resume".into(), session.into()]);
    }
    args.extend(["--json", "--skip-git-repo-check", "-m", &options.model].map(OsString::from));
    args.extend(
        ["-c", "sandbox_mode=\"read-only\"", "-c", "model_reasoning_effort=high"].map(OsString::from),
    );
    if std::env::var_os(var::EXCLUDED_INSTRUCTIONS).is_some() {
        args.extend(["-c", NO_INSTRUCTIONS].map(OsString::from));
    }
    args.push("-".into());
    let command = Command::new(PROGRAM).args(&args).stdin(Stdin::Bytes(prompt.as_bytes().to_vec()));
    let limits = Limits::time(REVIEW_LIMIT).output(OUTPUT_CAP);
    let Some(output) = stop.run_until_cancelled(command.run(limits)).await else {
        return Err("interrupted".to_owned());
    };
    let output = output.map_err(|error| match error {
        StartError::NotFound(_) => format!("{PROGRAM} command not found"),
        other => other.to_string(),
    })?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Answer { success: output.status.success(), stderr, ..Answer::parse(output.stdout) })
}

fn prompt(options: &ReviewOptions) -> String {
    let scope = match options.round {
        1 => {
            "Review the plan as a whole: is it right, complete, as small as it can be, and true to the code?"
        }
        2..=4 => "Review how your earlier findings were taken. Raise nothing new that is not serious.",
        _ => "Only what makes the plan fail counts now. Everything else is settled.",
    };
    let mut text = format!(
        "You review a plan; you change nothing. The plan is in {}. Read the code that it concerns. {scope}\n",
        options.plan_file.display()
    );
    if let Some(path) = options.request_file.as_deref().filter(|path| has_text(path)) {
        let is_synthesized =
            std::fs::read_to_string(path).is_ok_and(|request| request.starts_with("[synthesized]"));
        text.push_str(&format!("The request is in {}.", path.display()));
        text.push_str(if is_synthesized { " It was derived from the plan: weak evidence.\n" } else { "\n" });
    }
    if let Some(path) = options.revisions_file.as_deref().filter(|path| options.round > 1 && has_text(path)) {
        text.push_str(&format!("The author's responses to your findings are in {}.\n", path.display()));
    }
    text.push_str(
        "\nHead each finding `### Finding N: <title>`, with what is wrong, why it matters and what would be right. End with \
         one line, either `VERDICT: APPROVED` or `VERDICT: NEEDS_CHANGES`.\n",
    );
    text
}

fn has_text(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
}

/// Appends the reviewer's output to its log in the home directory. Returns whether that succeeded.
fn append_log(id: &str, round: u32, output: &[u8]) -> bool {
    let Some(path) = log_path(id) else { return false };
    let header = serde_json::json!({"round": round, "at": now()});
    let result = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path)?;
        file.write_all(format!("{header}\n").as_bytes())?;
        file.write_all(output)
    });
    result.is_ok()
}

/// Returns the path of a conversation's log. `None` for an id that is not a plain name, which could point
/// elsewhere.
fn log_path(id: &str) -> Option<PathBuf> {
    let plain = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let home = std::env::home_dir()?;
    (plain && !id.is_empty()).then(|| home.join(".loopgate/plan-with-reviewer").join(format!("{id}.jsonl")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, success: bool) -> Answer {
        let record =
            serde_json::json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}});
        Answer {
            success,
            ..Answer::parse(
                format!("{{\"type\":\"thread.started\",\"thread_id\":\"t\"}}\n{record}\n").into_bytes(),
            )
        }
    }

    #[test]
    fn verdict_is_the_last_line_and_a_finding_without_one_needs_changes() {
        assert_eq!(answer("fine\n\nVERDICT: APPROVED", true).verdict(), ReviewVerdict::Approved);
        assert_eq!(
            answer("### Finding 1: x\nVERDICT: APPROVED maybe", true).verdict(),
            ReviewVerdict::NeedsChanges
        );
        assert_eq!(
            answer("VERDICT: APPROVED\n\n**VERDICT: NEEDS_CHANGES**", true).verdict(),
            ReviewVerdict::NeedsChanges
        );
        assert_eq!(answer("I have nothing to say", true).verdict(), ReviewVerdict::Empty);
        assert_eq!(Answer { success: true, ..Answer::default() }.verdict(), ReviewVerdict::Empty);
        assert!(matches!(Answer::default().verdict(), ReviewVerdict::Failed(_)));
        assert_eq!(answer("x", true).session.as_deref(), Some("t"));
    }

    #[test]
    fn scope_of_the_review_narrows_in_later_rounds() {
        let mut options = ReviewOptions::of("plan.md".into(), "f".into(), "m");
        assert!(prompt(&options).contains("as a whole"));
        options.round = 3;
        assert!(prompt(&options).contains("earlier findings"));
        options.round = 5;
        assert!(prompt(&options).contains("makes the plan fail"));
    }
}
