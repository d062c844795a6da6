//! The report of a review, for people and for the log of a loop.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use loopgate_api::terminal_text::escape_control;
use loopgate_api::usd::Usd;
use loopgate_code_review::diff::FileKind;
use loopgate_code_review::finding::{Finding, IssueSeverity};
use loopgate_code_review::findings_cache::CacheResult;
use loopgate_code_review::hygiene::HygieneCheck;
use loopgate_code_review::validation::Validation;
use serde_json::{Value, json};

use super::agents::AgentCost;
use super::preparation::PreparedReview;
use super::reviewers::ChangeReviewer;
use super::run::{EndedReview, ReviewOutcome, sent};
use super::session::{ReviewSession, ReviewSessionId};

/// Discarded findings that are listed; `validate_output.json` contains all of them.
const MAX_DISCARDED: usize = 20;

/// What a report is about.
pub struct ReviewSummary<'a> {
    pub prepared: &'a PreparedReview,
    pub session: &'a ReviewSession,
    pub reviewers: &'a [ChangeReviewer],
    /// `None` if the cache of findings was not used.
    pub cache: Option<&'a CacheResult>,
    pub validation: &'a Validation,
    /// What was not reviewed, with the reasons.
    pub unreviewed: &'a [String],
}

impl ReviewSummary<'_> {
    /// Writes the report.
    pub fn text(&self, footer: &str) -> String {
        let Self { prepared, session, validation, .. } = self;
        let mut text = format!("Session: {}\n", session.directory().display());
        let _ = writeln!(
            text,
            "\n## Scope\n\n{} against {}",
            prepared.scope.review_branch, prepared.scope.base_ref
        );
        if let Some(number) = prepared.scope.pr_number {
            let _ = writeln!(text, "Pull request {number}");
        }
        let _ = writeln!(text, "{}", prepared.extent.review_mode_line);
        self.files(&mut text);
        self.reviewers(&mut text);
        let is_hygiene = |finding: &&Finding| HygieneCheck::of(finding).is_some();
        section(&mut text, "Repo Hygiene", validation.validated.iter().filter(is_hygiene));
        for severity in [IssueSeverity::Blocking, IssueSeverity::High, IssueSeverity::Medium] {
            let findings = validation.validated.iter().filter(|finding| finding.severity == severity);
            section(
                &mut text,
                &String::from(severity.clone()),
                findings.filter(|finding| !is_hygiene(finding)),
            );
        }
        for (title, lines) in [("Not reviewed", self.unreviewed), ("Warnings", &prepared.warnings)] {
            if !lines.is_empty() {
                let _ = writeln!(text, "\n## {title}\n");
                lines.iter().for_each(|line| {
                    let _ = writeln!(text, "- {}", escape_control(line));
                });
            }
        }
        self.discarded(&mut text);
        let _ = write!(text, "\n{footer}");
        text
    }

    /// Returns the last line of the report before the verdict.
    pub fn footer(&self, elapsed: Duration, costs: &BTreeMap<String, AgentCost>) -> String {
        let seconds = elapsed.as_secs();
        let total = costs.values().fold(Usd::default(), |mut total, cost| {
            total += cost.usd;
            total
        });
        let (bytes, calls) = sent(costs);
        let time = match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
            (0, 0, seconds) => format!("{seconds}s"),
            (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
            (hours, minutes, seconds) => format!("{hours}h {minutes}m {seconds}s"),
        };
        let cache = match self.cache {
            Some(CacheResult { stats, .. }) => format!("{} of {} files", stats.cached, stats.total_files),
            None => "not used".to_owned(),
        };
        format!(
            "**Review complete** — {time} | Cache: {cache} | {} | Cost: ${total:.2} in {calls} calls | \
             Prompts: {bytes} bytes of {} agents",
            self.prepared.extent.review_mode_line,
            costs.len()
        )
    }

    fn files(&self, text: &mut String) {
        let data = &self.prepared.data;
        let _ = writeln!(
            text,
            "\n## Files\n\n{} files, {} changed lines",
            data.files_to_review.len(),
            data.total_loc
        );
        if let Some(cache) = self.cache {
            let _ = writeln!(text, "{}", cache.status_message);
        }
        for path in &data.files_to_review {
            let kind = data.kind(path);
            if kind != FileKind::Source {
                let kind = serde_json::to_value(kind).unwrap_or_default();
                let kind = kind.as_str().unwrap_or_default();
                let _ = writeln!(text, "- {} is {kind}: checked without a model only", escape_control(path));
            }
        }
    }

    fn reviewers(&self, text: &mut String) {
        if self.reviewers.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n## Reviewers\n");
        for reviewer in self.reviewers {
            let _ =
                writeln!(text, "- {} ({}): {}", reviewer.id, reviewer.model, escape_control(&reviewer.scope));
        }
    }

    fn discarded(&self, text: &mut String) {
        let discarded = &self.validation.discarded;
        if discarded.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n## Discarded\n");
        for entry in discarded.iter().take(MAX_DISCARDED) {
            let reason = serde_json::to_value(entry.reason).unwrap_or_default();
            let why = entry
                .finding
                .more
                .get(super::challenge::MEMBER)
                .and_then(|result| result.get("reasoning")?.as_str());
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let line = format!(
                "{} {} ({}{why})",
                place(&entry.finding),
                entry.finding.issue,
                reason.as_str().unwrap_or_default()
            );
            let _ = writeln!(text, "- {}", escape_control(&line));
        }
        if discarded.len() > MAX_DISCARDED {
            let _ = writeln!(text, "- and {} more in validate_output.json", discarded.len() - MAX_DISCARDED);
        }
    }
}

fn place(finding: &Finding) -> String {
    finding.line.map_or_else(|| finding.file.clone(), |line| format!("{}:{line}", finding.file))
}

fn section<'a>(text: &mut String, title: &str, findings: impl Iterator<Item = &'a Finding>) {
    let mut is_first = true;
    for finding in findings {
        if std::mem::take(&mut is_first) {
            let _ = writeln!(text, "\n## {title}\n");
        }
        let _ = writeln!(text, "- {} {}", escape_control(&place(finding)), escape_control(&finding.issue));
        for part in [&finding.explanation, &finding.recommendation] {
            if !part.trim().is_empty() {
                let _ = writeln!(text, "  {}", escape_control(part.trim()));
            }
        }
    }
}

/// Returns the end of a review as records of the assistant's stream, which loops read.
pub fn records(session: &ReviewSessionId, ended: &EndedReview) -> Vec<Value> {
    let (is_error, text) = match &ended.outcome {
        ReviewOutcome::Completed(review) => (false, review.text.clone()),
        ReviewOutcome::Interrupted => (true, "The review was interrupted.".to_owned()),
        ReviewOutcome::Failed(message) => (true, message.clone()),
    };
    let content = json!([{"type": "text", "text": text}]);
    let message = json!({"type": "assistant", "session_id": session, "parent_tool_use_id": null, "message": {"role": "assistant", "content": content}});
    let subtype = if is_error { "error_during_execution" } else { "success" };
    let result = json!({"type": "result", "subtype": subtype, "session_id": session, "is_error": is_error, "num_turns": 1, "result": text,
        "total_cost_usd": ended.cost});
    vec![message, result]
}
