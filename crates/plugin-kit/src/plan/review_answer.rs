//! Records the answers of a loop to the comments of a review.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use loopgate_api::names::{REVIEW_ANSWERS, REVIEW_COMMENTS};
use loopgate_api::review_comments::{CommentAnswer, NumberedAnswer, ReviewAnswers, ReviewComments};
use loopgate_home::untrusted;
use serde_json::Value;

use super::document::PlanLock;

/// What was done about a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnswerStatus {
    /// The change was made
    Done,
    /// The change was not made
    Declined,
}

/// Arguments of `plan answer`.
#[derive(Debug, clap::Args)]
pub struct AnswerArgs {
    /// Number of the comment in review-comments.json
    number: u32,
    /// What was done about it
    status: AnswerStatus,
    /// What was changed, or why the change was not made
    text: String,
    /// Work directory of the loop
    #[arg(env = "LOOPGATE_WORKDIR")]
    workdir: PathBuf,
}

impl AnswerArgs {
    /// Stores the answer, and lists the comments without one.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn apply(self) -> Result<String, String> {
        let _lock = PlanLock::take(&self.workdir)?;
        let comments: Option<ReviewComments> = untrusted::read_json(&self.workdir.join(REVIEW_COMMENTS));
        let numbers = comments.ok_or("Error: this loop has no review-comments.json")?.numbers();
        if !numbers.contains(&self.number) {
            return Err(format!("Error: there is no comment {}; the comments are {numbers:?}", self.number));
        }
        let text = self.text.trim().to_owned();
        let answer = match self.status {
            AnswerStatus::Declined if text.is_empty() => {
                return Err("Error: a declined comment needs the reason".to_owned());
            }
            AnswerStatus::Declined => CommentAnswer::Declined { reason: text },
            AnswerStatus::Done => {
                CommentAnswer::Done { note: (!text.is_empty()).then_some(text), commit: None }
            }
        };
        let mut answers = stored(&self.workdir, &numbers);
        answers.answers.retain(|entry| entry.number != self.number);
        answers.answers.push(NumberedAnswer { number: self.number, answer });
        answers.answers.sort_by_key(|entry| entry.number);
        let json = serde_json::to_vec_pretty(&answers).map_err(|error| format!("Error: {error}"))?;
        untrusted::write(&self.workdir.join(REVIEW_ANSWERS), &json)
            .map_err(|error| format!("Error: cannot store the answer: {error}"))?;
        Ok(match answers.missing(&numbers).as_slice() {
            [] => "ANSWERED_ALL".to_owned(),
            missing => format!("ANSWERED {}; without an answer: {missing:?}", self.number),
        })
    }
}

fn stored(workdir: &Path, numbers: &[u32]) -> ReviewAnswers {
    let document: Option<Value> = untrusted::read_json(&workdir.join(REVIEW_ANSWERS));
    document.map(|document| ReviewAnswers::read(&document, numbers)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(
        dir: &tempfile::TempDir,
        number: u32,
        status: AnswerStatus,
        text: &str,
    ) -> Result<String, String> {
        AnswerArgs { number, status, text: text.to_owned(), workdir: dir.path().to_owned() }.apply()
    }

    #[test]
    fn answers_are_stored_until_none_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let none = answer(&dir, 1, AnswerStatus::Done, "x").unwrap_err();
        assert_eq!(none, "Error: this loop has no review-comments.json");
        let comment = |number| json!({"number": number, "repository": "acme/shop", "path": "a", "body": "b"});
        let comments = json!({"comments": [comment(1), comment(2)]});
        std::fs::write(dir.path().join(REVIEW_COMMENTS), comments.to_string()).unwrap();
        std::fs::write(dir.path().join(REVIEW_ANSWERS), "rubbish").unwrap();
        let first = answer(&dir, 2, AnswerStatus::Declined, "Used by the export.").unwrap();
        assert_eq!(first, "ANSWERED 2; without an answer: [1]");
        assert!(answer(&dir, 3, AnswerStatus::Done, "x").unwrap_err().contains("no comment 3"));
        assert!(answer(&dir, 1, AnswerStatus::Declined, " ").unwrap_err().contains("needs the reason"));
        answer(&dir, 1, AnswerStatus::Declined, "no").unwrap();
        assert_eq!(answer(&dir, 1, AnswerStatus::Done, "Named.").unwrap(), "ANSWERED_ALL");
        let stored: Value = untrusted::read_json(&dir.path().join(REVIEW_ANSWERS)).unwrap();
        let expected = json!({"answers": [{"number": 1, "status": "done", "note": "Named."},
            {"number": 2, "status": "declined", "reason": "Used by the export."}]});
        assert_eq!(stored, expected);
    }
}
