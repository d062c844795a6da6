//! Posting comments on a pull request: in the conversation, as a reply, as a review that requests changes, on
//! a line.
//!
//! Texts are passed on standard input, because other users of the machine can list the arguments of a
//! process.

use std::path::Path;
use std::sync::LazyLock;

use loopgate_api::ids::RepoFullName;
use loopgate_api::markdown::code_span;
use regex::Regex;
use serde::Serialize;
use serde_json::{Value, json};

use super::{CodeHost, CodeHostError, PullNumber, explain};

/// A comment to post in the conversation of a pull request, or as a reply.
#[derive(Debug, Clone)]
pub struct PullRequestReply {
    pub number: PullNumber,
    /// Text of the comment in Markdown.
    pub body: String,
    /// Id of the line comment to reply to.
    pub reply_to: Option<u64>,
    /// Whether to post a review that requests changes.
    pub request_changes: bool,
}

/// How a comment was posted, with the output of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentResult {
    /// As a review that requests changes.
    ChangesRequested(String),
    /// As a reply to a line comment.
    Replied(String),
    Commented(String),
}

/// A comment to post on a line or file.
#[derive(Debug, Clone)]
pub struct InlineComment {
    pub number: PullNumber,
    /// Text of the comment in Markdown.
    pub body: String,
    /// Path of the file in the repository.
    pub path: Option<String>,
    /// Number of the line in the newer version.
    pub line: Option<u64>,
    /// The reviewed commit, to which the line number refers.
    pub commit: Option<String>,
}

/// Where an inline comment was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CommentTarget {
    Line,
    File,
    Conversation,
}

/// An inline comment that was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedComment {
    /// Where the comment was posted.
    pub placement: CommentTarget,
    /// Output of the program.
    pub output: String,
}

impl CodeHost {
    /// Posts a comment on a pull request.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], for example when the code host rejects the comment.
    pub async fn reply(
        &self,
        directory: &Path,
        repository: Option<&RepoFullName>,
        reply: PullRequestReply,
    ) -> Result<CommentResult, CodeHostError> {
        if reply.request_changes {
            let args = ["pr", "review"];
            let output = self.comment_with(
                directory,
                args,
                &reply.number,
                &["--request-changes"],
                repository,
                reply.body,
            );
            return Ok(CommentResult::ChangesRequested(output.await?));
        }
        if let (Some(comment), Some(repository)) = (reply.reply_to, repository) {
            let path = format!("repos/{repository}/pulls/{}/comments/{comment}/replies", reply.number);
            let output = self.post(directory, &path, &json!({"body": reply.body})).await?;
            return Ok(CommentResult::Replied(output));
        }
        let output =
            self.comment_with(directory, ["pr", "comment"], &reply.number, &[], repository, reply.body);
        Ok(CommentResult::Commented(output.await?))
    }

    /// Posts a comment on a line; if the code host rejects that, on the file; and else in the conversation.
    /// Runs to completion even when the future is dropped.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], for example when the code host cannot be reached.
    pub async fn comment_inline(
        &self,
        directory: &Path,
        repository: &RepoFullName,
        comment: InlineComment,
    ) -> Result<PostedComment, CodeHostError> {
        let (host, directory, repository) = (self.clone(), directory.to_owned(), repository.clone());
        let work = tokio::spawn(async move { host.post_inline(&directory, &repository, comment).await });
        work.await.unwrap_or(Err(CodeHostError::Unreadable))
    }

    async fn post_inline(
        &self,
        directory: &Path,
        repository: &RepoFullName,
        comment: InlineComment,
    ) -> Result<PostedComment, CodeHostError> {
        let path = format!("repos/{repository}/pulls/{}/comments", comment.number);
        for (placement, body) in targets(&comment) {
            match self.post(directory, &path, &body).await {
                Ok(output) => return Ok(PostedComment { placement, output }),
                Err(error) if rejects_target(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let text = text_with_location(&comment);
        let output =
            self.comment_with(directory, ["pr", "comment"], &comment.number, &[], Some(repository), text);
        Ok(PostedComment { placement: CommentTarget::Conversation, output: output.await? })
    }

    async fn comment_with(
        &self,
        directory: &Path,
        verb: [&str; 2],
        number: &PullNumber,
        flags: &[&str],
        repository: Option<&RepoFullName>,
        body: String,
    ) -> Result<String, CodeHostError> {
        let number = number.to_string();
        let mut args = vec![verb[0], verb[1], &number];
        args.extend(flags);
        args.extend(repository.iter().flat_map(|name| ["-R", name.as_str()]));
        args.extend(["--body-file", "-"]);
        self.run_with_input(directory, &args, body.into_bytes()).await
    }

    pub(super) async fn post(
        &self,
        directory: &Path,
        path: &str,
        body: &Value,
    ) -> Result<String, CodeHostError> {
        let args = ["api", path, "--method", "POST", "--input", "-"];
        let output = self.run_with_input(directory, &args, body.to_string().into_bytes()).await?;
        // After a redirect, the HTTP client repeats a POST as a GET, whose response is the existing list of
        // comments.
        if output.starts_with('[') {
            return Err(CodeHostError::Failed { code: 1, printed: "HTTP 301: moved permanently".to_owned() });
        }
        Ok(output)
    }
}

/// Returns the targets to try, most precise first, with their request bodies.
fn targets(comment: &InlineComment) -> Vec<(CommentTarget, Value)> {
    let (Some(path), Some(commit)) = (&comment.path, &comment.commit) else { return Vec::new() };
    let body = &comment.body;
    let on_line = comment.line.map(|line| {
        let body = json!({"body": body, "path": path, "line": line, "commit_id": commit, "side": "RIGHT"});
        (CommentTarget::Line, body)
    });
    let on_file = json!({"body": body, "path": path, "commit_id": commit, "subject_type": "file"});
    on_line.into_iter().chain([(CommentTarget::File, on_file)]).collect()
}

/// Returns the text for an inline comment that is posted in the conversation.
fn text_with_location(comment: &InlineComment) -> String {
    match (&comment.path, comment.line) {
        (Some(path), Some(line)) => format!("On {}, line {line}:\n\n{}", code_span(path), comment.body),
        (Some(path), None) => format!("On {}:\n\n{}", code_span(path), comment.body),
        (None, _) => comment.body.clone(),
    }
}

static TARGET_REJECTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b(?:422|404)\b").ok());

/// Returns whether the code host rejected the target of a comment. After any other failure, the comment may
/// already be posted, or another target would fail as well.
pub(super) fn rejects_target(error: &CodeHostError) -> bool {
    let CodeHostError::Failed { printed, .. } = error else { return false };
    let sentence = explain(printed);
    let is_permanent = ["GitHub", "Permission", "Network"].iter().any(|begin| sentence.starts_with(begin));
    !is_permanent && TARGET_REJECTED.as_ref().is_some_and(|pattern| pattern.is_match(printed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inline_comment(path: Option<&str>, line: Option<u64>, commit: Option<&str>) -> InlineComment {
        InlineComment {
            number: PullNumber::new(7).unwrap(),
            body: "Hm".to_owned(),
            path: path.map(Into::into),
            line,
            commit: commit.map(Into::into),
        }
    }

    #[test]
    fn targets_are_tried_from_the_most_precise() {
        let target_kinds = |comment: &InlineComment| -> Vec<_> {
            targets(comment).into_iter().map(|(placement, _)| placement).collect()
        };
        let whole = inline_comment(Some("a.rs"), Some(3), Some("abc"));
        assert_eq!(target_kinds(&whole), [CommentTarget::Line, CommentTarget::File]);
        assert_eq!(targets(&whole)[0].1["line"], 3);
        assert_eq!(targets(&whole)[1].1["subject_type"], "file");
        assert_eq!(target_kinds(&inline_comment(Some("a.rs"), None, Some("abc"))), [CommentTarget::File]);
        assert!(target_kinds(&inline_comment(Some("a.rs"), Some(3), None)).is_empty());
        assert_eq!(text_with_location(&whole), "On `a.rs`, line 3:\n\nHm");
        assert_eq!(text_with_location(&inline_comment(None, Some(3), None)), "Hm");
    }

    #[test]
    fn next_target_is_tried_only_after_a_rejection() {
        let failed = |printed: &str| CodeHostError::Failed { code: 1, printed: printed.to_owned() };
        assert!(rejects_target(&failed("gh: Validation Failed (HTTP 422)")));
        assert!(rejects_target(&failed("gh: Not Found (HTTP 404)")));
        for printed in [
            "gh: Bad credentials (HTTP 401)",
            "gh: API rate limit exceeded (HTTP 403)",
            "gh: was submitted too quickly (HTTP 422)",
            "error connecting to api.github.com",
            "exit status 14220",
            "boom",
        ] {
            assert!(!rejects_target(&failed(printed)), "{printed}");
        }
        assert!(!rejects_target(&CodeHostError::TimedOut));
    }
}
