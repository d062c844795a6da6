//! Comments of a person on changes, which a loop receives in one file, and the answers that it writes to another one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::review::LineAnchor;

/// Longest note or reason of an answer, in characters. Longer ones are shortened.
const ANSWER_CHARS: usize = 2_000;

/// Side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommentSide {
    /// Before the change.
    Old,
    /// After the change.
    New,
}

/// The lines that a comment is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommentLines {
    /// Side of the comparison that the numbers refer to.
    pub side: CommentSide,
    /// Number of the first line, from 1.
    pub from: u64,
    /// Number of the last line.
    pub to: u64,
    /// Content around the last line when the comment was written, by which it is located after the code moved; absent
    /// when the line could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<LineAnchor>,
}

/// What a comment is about: lines of a file, or the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommentPlace {
    /// Name of the repository, as the list of the changes has it.
    pub repository: String,
    /// Path of the file in the repository.
    pub path: String,
    /// The lines; absent for a comment on the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<CommentLines>,
}

/// A comment of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewComment {
    /// Number of the comment in its review, from 1, by which it is answered.
    pub number: u32,
    /// What it is about.
    #[serde(flatten)]
    pub place: CommentPlace,
    /// Text of the comment.
    pub body: String,
}

/// All comments of a review. Content of `review-comments.json` in the work directory of the loop that answers them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewComments {
    /// What the person says about the change as a whole; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The comments in the order of their numbers.
    pub comments: Vec<ReviewComment>,
}

impl ReviewComments {
    /// Returns the numbers of the comments, which the loop has to answer.
    #[must_use]
    pub fn numbers(&self) -> Vec<u32> {
        self.comments.iter().map(|comment| comment.number).collect()
    }
}

/// How a loop answered a comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum CommentAnswer {
    /// The change was made.
    Done {
        /// What was changed; absent without an explanation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Commit that contains the change, set by the runtime; absent when the work was not committed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// The change was not made.
    Declined {
        /// Why not.
        reason: String,
    },
}

/// The answer to one comment of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NumberedAnswer {
    /// Number of the comment.
    pub number: u32,
    /// The answer to it.
    #[serde(flatten)]
    pub answer: CommentAnswer,
}

/// Content of `review-answers.json` in the work directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewAnswers {
    /// The answers in the order of the comments.
    pub answers: Vec<NumberedAnswer>,
}

impl ReviewAnswers {
    /// Reads the answers to these comments. A loop may write anything into the file: what is no answer to one of the
    /// comments is skipped, and of several answers to a comment the last one counts. Only the runtime knows which commit
    /// contains the changes, and replaces the one of the file.
    #[must_use]
    pub fn read(document: &Value, numbers: &[u32]) -> Self {
        let listed = document.get("answers").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let valid = listed.iter().filter_map(|entry| Self::entry(entry, numbers));
        let by_number: BTreeMap<u32, CommentAnswer> = valid.collect();
        let answers = by_number.into_iter().map(|(number, answer)| NumberedAnswer { number, answer });
        Self { answers: answers.collect() }
    }

    fn entry(entry: &Value, numbers: &[u32]) -> Option<(u32, CommentAnswer)> {
        let NumberedAnswer { number, answer } = serde_json::from_value(entry.clone()).ok()?;
        let answer = match answer {
            CommentAnswer::Done { note, commit } => CommentAnswer::Done {
                note: note.as_deref().and_then(shortened),
                commit: commit.filter(|commit| is_hash(commit)),
            },
            CommentAnswer::Declined { reason } => CommentAnswer::Declined { reason: shortened(&reason)? },
        };
        numbers.contains(&number).then_some((number, answer))
    }

    /// Returns the comments without an answer.
    #[must_use]
    pub fn missing(&self, numbers: &[u32]) -> Vec<u32> {
        let is_answered = |number: &u32| self.answers.iter().any(|entry| entry.number == *number);
        numbers.iter().copied().filter(|number| !is_answered(number)).collect()
    }
}

fn is_hash(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns a text within the limit, without white space around it; `None` for a blank one.
fn shortened(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(ANSWER_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn done(note: Option<&str>) -> CommentAnswer {
        CommentAnswer::Done { note: note.map(str::to_owned), commit: None }
    }

    #[test]
    fn answers_are_read_by_number_and_the_rest_is_missing() {
        let document = json!({"answers": [
            {"number": 2, "status": "declined", "reason": " Used by the export. "},
            {"number": 1, "status": "declined", "reason": "no"},
            {"number": 1, "status": "done", "note": "Renamed.", "commit": "forged"},
        ]});
        let read = ReviewAnswers::read(&document, &[1, 2, 3]);
        assert_eq!(read.answers[0], NumberedAnswer { number: 1, answer: done(Some("Renamed.")) });
        let declined = CommentAnswer::Declined { reason: "Used by the export.".to_owned() };
        assert_eq!(read.answers[1], NumberedAnswer { number: 2, answer: declined });
        assert_eq!((read.answers.len(), read.missing(&[1, 2, 3])), (2, vec![3]));
    }

    #[test]
    fn entries_that_answer_no_comment_are_skipped() {
        for entry in [
            json!({"number": 9, "status": "done"}),
            json!({"number": 1, "status": "declined", "reason": " "}),
            json!({"number": 1, "status": "declined"}),
            json!({"number": 1, "status": "later"}),
            json!({"number": "1", "status": "done"}),
            json!({"status": "done"}),
            json!(null),
        ] {
            let read = ReviewAnswers::read(&json!({"answers": [entry]}), &[1]);
            assert_eq!(read, ReviewAnswers::default(), "{entry}");
        }
        assert_eq!(ReviewAnswers::read(&json!([1]), &[1]).missing(&[1]), [1]);
        assert_eq!(ReviewAnswers::read(&json!({"answers": "all done"}), &[1]).missing(&[1]), [1]);
    }

    #[test]
    fn file_comment_has_no_lines_on_the_wire() {
        let place = CommentPlace { repository: "acme/shop".into(), path: "a.rs".into(), lines: None };
        let comment = ReviewComment { number: 1, place, body: "Why?".into() };
        let wire = json!({"number": 1, "repository": "acme/shop", "path": "a.rs", "body": "Why?"});
        assert_eq!(serde_json::to_value(&comment).unwrap(), wire);
        assert_eq!(serde_json::from_value::<ReviewComment>(wire).unwrap(), comment);
    }

    proptest! {
        #[test]
        fn every_comment_is_answered_or_missing(
            entries in proptest::collection::vec((0..6_u32, any::<bool>(), "[a ]{0,3}"), 0..12),
            numbers in proptest::collection::btree_set(0..6_u32, 0..6),
        ) {
            let entry = |(number, is_done, text): &(u32, bool, String)| match is_done {
                true => json!({"number": number, "status": "done", "note": text}),
                false => json!({"number": number, "status": "declined", "reason": text}),
            };
            let document = json!({"answers": entries.iter().map(entry).collect::<Vec<_>>()});
            let numbers: Vec<u32> = numbers.into_iter().collect();
            let read = ReviewAnswers::read(&document, &numbers);
            let mut all: Vec<u32> = read.answers.iter().map(|entry| entry.number).collect();
            all.extend(read.missing(&numbers));
            all.sort_unstable();
            prop_assert_eq!(all, numbers);
            // Written and read again, the answers are the same.
            let written = serde_json::to_value(&read).unwrap();
            let known: Vec<u32> = read.answers.iter().map(|entry| entry.number).collect();
            prop_assert_eq!(ReviewAnswers::read(&written, &known), read);
        }
    }
}
