//! Posting a review with comments on lines, in one request.

use std::path::Path;

use loopgate_api::ids::RepoFullName;
use loopgate_api::markdown::code_span;
use loopgate_api::review_comments::CommentSide;
use serde_json::{Value, json};

use super::comment::rejects_target;
use super::{CodeHost, CodeHostError, PullNumber};

/// A review to post. It neither approves nor requests changes.
#[derive(Debug, Clone)]
pub struct NewReview {
    /// The pull request.
    pub number: PullNumber,
    /// The reviewed commit, to which the line numbers refer.
    pub commit: Option<String>,
    /// Text of the review in Markdown; may be empty.
    pub body: String,
    /// Comments on lines and files.
    pub comments: Vec<NewReviewComment>,
}

/// A comment of a review.
#[derive(Debug, Clone)]
pub struct NewReviewComment {
    /// Path of the file in the repository.
    pub path: String,
    /// Side, first and last line; `None` for a comment on the file.
    pub lines: Option<(CommentSide, u64, u64)>,
    /// Text of the comment in Markdown.
    pub body: String,
}

impl CodeHost {
    /// Posts a review. If the code host rejects a line, for example because the diff does not contain it, all comments
    /// become part of the review's text. Returns whether they are on their lines. Runs to completion even when the future
    /// is dropped.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`]; nothing is posted then.
    pub async fn post_review(
        &self,
        directory: &Path,
        repository: &RepoFullName,
        review: NewReview,
    ) -> Result<bool, CodeHostError> {
        let (host, directory) = (self.clone(), directory.to_owned());
        let path = format!("repos/{repository}/pulls/{}/reviews", review.number);
        let work = tokio::spawn(async move {
            match host.post(&directory, &path, &on_lines(&review)).await {
                Err(error) if rejects_target(&error) && !review.comments.is_empty() => {
                    host.post(&directory, &path, &as_text(&review)).await.map(|_| false)
                }
                result => result.map(|_| true),
            }
        });
        work.await.unwrap_or(Err(CodeHostError::Unreadable))
    }
}

/// Returns the request with comments on lines. The API has no comments on whole files in a review, so that these are in the
/// text.
pub(super) fn on_lines(review: &NewReview) -> Value {
    let comment = |comment: &NewReviewComment| {
        let (side, from, to) = comment.lines?;
        let side = match side {
            CommentSide::Old => "LEFT",
            CommentSide::New => "RIGHT",
        };
        let mut request = json!({"path": comment.path, "body": comment.body, "line": to, "side": side});
        if from < to {
            request["start_line"] = from.into();
            request["start_side"] = side.into();
        }
        Some(request)
    };
    let comments: Vec<Value> = review.comments.iter().filter_map(comment).collect();
    let on_files = review.comments.iter().filter(|comment| comment.lines.is_none());
    request(review, text(&review.body, on_files), comments)
}

pub(super) fn as_text(review: &NewReview) -> Value {
    request(review, text(&review.body, &review.comments), Vec::new())
}

fn request(review: &NewReview, body: String, comments: Vec<Value>) -> Value {
    let mut request = json!({"event": "COMMENT", "body": body, "comments": comments});
    if let Some(commit) = &review.commit {
        request["commit_id"] = commit.as_str().into();
    }
    request
}

/// Returns the text of a review followed by comments with their places.
fn text<'a>(body: &str, comments: impl IntoIterator<Item = &'a NewReviewComment>) -> String {
    let place = |comment: &NewReviewComment| match comment.lines {
        None => code_span(&comment.path),
        Some((side, from, to)) => {
            let lines = if from < to { format!("lines {from} to {to}") } else { format!("line {to}") };
            let before = if side == CommentSide::Old { " before the change" } else { "" };
            format!("{}, {lines}{before}", code_span(&comment.path))
        }
    };
    let comments = comments.into_iter().map(|comment| format!("On {}:\n\n{}", place(comment), comment.body));
    let body = Some(body.trim().to_owned()).filter(|body| !body.is_empty());
    body.into_iter().chain(comments).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review() -> NewReview {
        let comment = |path: &str, lines| NewReviewComment { path: path.into(), lines, body: "Hm".into() };
        NewReview {
            number: PullNumber::new(7).unwrap(),
            commit: Some("abc".into()),
            body: "Almost done.".into(),
            comments: vec![
                comment("a.rs", Some((CommentSide::New, 2, 3))),
                comment("b.rs", Some((CommentSide::Old, 9, 9))),
                comment("c.rs", None),
            ],
        }
    }

    #[test]
    fn comments_are_on_their_lines_and_those_on_files_in_the_text() {
        assert_eq!(
            on_lines(&review()),
            json!({"event": "COMMENT", "commit_id": "abc", "body": "Almost done.\n\nOn `c.rs`:\n\nHm", "comments": [
                {"path": "a.rs", "body": "Hm", "line": 3, "side": "RIGHT", "start_line": 2, "start_side": "RIGHT"},
                {"path": "b.rs", "body": "Hm", "line": 9, "side": "LEFT"},
            ]})
        );
    }

    #[test]
    fn rejected_lines_are_named_in_the_text() {
        let request = as_text(&review());
        let text = "Almost done.\n\nOn `a.rs`, lines 2 to 3:\n\nHm\n\nOn `b.rs`, line 9 before the change:\n\nHm\n\nOn `c.rs`:\n\nHm";
        assert_eq!((&request["body"], &request["comments"]), (&json!(text), &json!([])));
    }
}
