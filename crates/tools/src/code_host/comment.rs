//! Comments on a pull request: in the conversation, as a reply, as a review that requests changes, on a line.
//!
//! Bodies are passed by standard input, because other users can see arguments.

use std::path::Path;
use std::sync::LazyLock;

use loopgate_api::ids::RepoFullName;
use regex::Regex;
use serde::Serialize;
use serde_json::{Value, json};

use super::{CodeHost, CodeHostError, PullNumber, explain};

/// A comment in the conversation of a pull request.
#[derive(Debug, Clone)]
pub struct PullRequestReply {
    /// The pull request.
    pub number: PullNumber,
    /// Markdown.
    pub body: String,
    /// Id of the line comment that it replies to.
    pub answers: Option<u64>,
    /// Whether it is a review that requests changes.
    pub request_changes: bool,
}

/// How a comment was posted, with the program's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentResult {
    /// As a review that requests changes.
    ChangesRequested(String),
    /// As a reply to a line comment.
    Replied(String),
    /// In the conversation.
    Commented(String),
}

/// A comment on a file or a line of it.
#[derive(Debug, Clone)]
pub struct InlineComment {
    /// The pull request.
    pub number: PullNumber,
    /// Markdown.
    pub body: String,
    /// File in the repository.
    pub path: Option<String>,
    /// Line in the newer version.
    pub line: Option<u64>,
    /// The commit that was reviewed.
    pub commit: Option<String>,
}

/// Where an inline comment was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CommentTarget {
    /// On its line.
    Line,
    /// On its file.
    File,
    /// In the conversation.
    Conversation,
}

/// An inline comment that was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedComment {
    /// Where it was posted.
    pub placement: CommentTarget,
    /// What the program printed.
    pub output: String,
}

impl CodeHost {
    /// Comments on a pull request of the clone's origin.
    ///
    /// # Errors
    /// [`CodeHostError`]
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
        if let (Some(comment), Some(repository)) = (reply.answers, repository) {
            let path = format!("repos/{repository}/pulls/{}/comments/{comment}/replies", reply.number);
            let output = self.post(directory, &path, &json!({"body": reply.body})).await?;
            return Ok(CommentResult::Replied(output));
        }
        let output =
            self.comment_with(directory, ["pr", "comment"], &reply.number, &[], repository, reply.body);
        Ok(CommentResult::Commented(output.await?))
    }

    /// Comments on a line; where the host rejects that, on the file, and else in the conversation. Runs to
    /// its end even when the caller is dropped.
    ///
    /// # Errors
    /// [`CodeHostError`]
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

    async fn post(&self, directory: &Path, path: &str, body: &Value) -> Result<String, CodeHostError> {
        let args = ["api", path, "--method", "POST", "--input", "-"];
        let output = self.run_with_input(directory, &args, body.to_string().into_bytes()).await?;
        // A redirect turns a POST into a GET, which answers the list that nothing was added to.
        if output.starts_with('[') {
            return Err(CodeHostError::Failed { code: 1, printed: "HTTP 301: moved permanently".to_owned() });
        }
        Ok(output)
    }
}

/// The targets to try, best first, with their request bodies.
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

/// The text of an inline comment that is posted in the conversation.
fn text_with_location(comment: &InlineComment) -> String {
    match (&comment.path, comment.line) {
        (Some(path), Some(line)) => format!("On `{path}`, line {line}:\n\n{}", comment.body),
        (Some(path), None) => format!("On `{path}`:\n\n{}", comment.body),
        (None, _) => comment.body.clone(),
    }
}

static REFUSED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b(?:422|404)\b").ok());

/// Whether the host received the comment and found no such target. After any other failure it may have been
/// posted already, or the next try would fail as well.
fn rejects_target(error: &CodeHostError) -> bool {
    let CodeHostError::Failed { printed, .. } = error else { return false };
    let sentence = explain(printed);
    let hopeless = ["GitHub", "Permission", "Network"].iter().any(|begin| sentence.starts_with(begin));
    !hopeless && REFUSED.as_ref().is_some_and(|refused| refused.is_match(printed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(path: Option<&str>, line: Option<u64>, commit: Option<&str>) -> InlineComment {
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
        let places = |comment: &InlineComment| -> Vec<_> {
            targets(comment).into_iter().map(|(placement, _)| placement).collect()
        };
        let whole = remark(Some("a.rs"), Some(3), Some("abc"));
        assert_eq!(places(&whole), [CommentTarget::Line, CommentTarget::File]);
        assert_eq!(targets(&whole)[0].1["line"], 3);
        assert_eq!(targets(&whole)[1].1["subject_type"], "file");
        assert_eq!(places(&remark(Some("a.rs"), None, Some("abc"))), [CommentTarget::File]);
        assert!(places(&remark(Some("a.rs"), Some(3), None)).is_empty());
        assert_eq!(text_with_location(&whole), "On `a.rs`, line 3:\n\nHm");
        assert_eq!(text_with_location(&remark(None, Some(3), None)), "Hm");
    }

    #[test]
    fn only_a_rejected_target_leads_to_the_next() {
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
