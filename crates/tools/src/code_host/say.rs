//! Saying something about a pull request: a comment, an answer, a demand, a remark on a line.
//!
//! What is said goes through standard input, never through arguments that others can see.

use std::path::Path;
use std::sync::LazyLock;

use loopgate_api::ids::RepoFullName;
use regex::Regex;
use serde::Serialize;
use serde_json::{Value, json};

use super::{CodeHost, CodeHostError, PullNumber, explain};

/// Something to say in the conversation.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Where.
    pub number: PullNumber,
    /// Markdown.
    pub body: String,
    /// The comment on a line that it answers.
    pub answers: Option<u64>,
    /// Whether it is a demand for changes.
    pub request_changes: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Changes are demanded.
    Demanded(String),
    /// A comment was answered.
    Answered(String),
    /// It stands in the conversation.
    Commented(String),
}

/// A remark on a file.
#[derive(Debug, Clone)]
pub struct InlineComment {
    /// Where.
    pub number: PullNumber,
    /// Markdown.
    pub body: String,
    /// File in the repository.
    pub path: Option<String>,
    /// Line in the newer version.
    pub line: Option<u64>,
    /// The commit that was looked at.
    pub commit: Option<String>,
}

/// Where a remark found its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// On its line.
    Line,
    /// On its file.
    File,
    /// In the conversation.
    Conversation,
}

/// A remark that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Where.
    pub placement: Placement,
    /// What the program printed.
    pub output: String,
}

impl CodeHost {
    /// Says something about a pull request of the clone's origin.
    ///
    /// # Errors
    /// [`CodeHostError`]
    pub async fn reply(
        &self,
        directory: &Path,
        repository: Option<&RepoFullName>,
        reply: Reply,
    ) -> Result<Said, CodeHostError> {
        if reply.request_changes {
            let args = ["pr", "review"];
            let output =
                self.say_on(directory, args, &reply.number, &["--request-changes"], repository, reply.body);
            return Ok(Said::Demanded(output.await?));
        }
        if let (Some(comment), Some(repository)) = (reply.answers, repository) {
            let path = format!("repos/{repository}/pulls/{}/comments/{comment}/replies", reply.number);
            let output = self.post(directory, &path, &json!({"body": reply.body})).await?;
            return Ok(Said::Answered(output));
        }
        let output = self.say_on(directory, ["pr", "comment"], &reply.number, &[], repository, reply.body);
        Ok(Said::Commented(output.await?))
    }

    /// Makes a remark on a line; where the host refuses the place, on the file, and else in the
    /// conversation. Runs to its end even when the caller goes away.
    ///
    /// # Errors
    /// [`CodeHostError`]
    pub async fn comment_inline(
        &self,
        directory: &Path,
        repository: &RepoFullName,
        comment: InlineComment,
    ) -> Result<Placed, CodeHostError> {
        let (host, directory, repository) = (self.clone(), directory.to_owned(), repository.clone());
        let work = tokio::spawn(async move { host.place(&directory, &repository, comment).await });
        work.await.unwrap_or(Err(CodeHostError::Unreadable))
    }

    async fn place(
        &self,
        directory: &Path,
        repository: &RepoFullName,
        comment: InlineComment,
    ) -> Result<Placed, CodeHostError> {
        let path = format!("repos/{repository}/pulls/{}/comments", comment.number);
        for (placement, body) in attempts(&comment) {
            match self.post(directory, &path, &body).await {
                Ok(output) => return Ok(Placed { placement, output }),
                Err(error) if refuses_place(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let text = with_place(&comment);
        let output = self.say_on(directory, ["pr", "comment"], &comment.number, &[], Some(repository), text);
        Ok(Placed { placement: Placement::Conversation, output: output.await? })
    }

    async fn say_on(
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
        self.say(directory, &args, body.into_bytes()).await
    }

    async fn post(&self, directory: &Path, path: &str, body: &Value) -> Result<String, CodeHostError> {
        let args = ["api", path, "--method", "POST", "--input", "-"];
        let output = self.say(directory, &args, body.to_string().into_bytes()).await?;
        // A redirect turns a POST into a GET, which answers the list that nothing was added to.
        if output.starts_with('[') {
            return Err(CodeHostError::Failed { code: 1, printed: "HTTP 301: moved permanently".to_owned() });
        }
        Ok(output)
    }
}

/// The places to try, best first.
fn attempts(comment: &InlineComment) -> Vec<(Placement, Value)> {
    let (Some(path), Some(commit)) = (&comment.path, &comment.commit) else { return Vec::new() };
    let body = &comment.body;
    let on_line = comment.line.map(|line| {
        let body = json!({"body": body, "path": path, "line": line, "commit_id": commit, "side": "RIGHT"});
        (Placement::Line, body)
    });
    let on_file = json!({"body": body, "path": path, "commit_id": commit, "subject_type": "file"});
    on_line.into_iter().chain([(Placement::File, on_file)]).collect()
}

/// The text of a remark that stands away from its place.
fn with_place(comment: &InlineComment) -> String {
    match (&comment.path, comment.line) {
        (Some(path), Some(line)) => format!("On `{path}`, line {line}:\n\n{}", comment.body),
        (Some(path), None) => format!("On `{path}`:\n\n{}", comment.body),
        (None, _) => comment.body.clone(),
    }
}

static REFUSED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b(?:422|404)\b").ok());

/// Whether the host got the remark and found no such place. After anything else it may have been
/// made already, or the next try would fare no better.
fn refuses_place(error: &CodeHostError) -> bool {
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
    fn places_are_tried_from_the_nearest() {
        let places = |comment: &InlineComment| -> Vec<_> {
            attempts(comment).into_iter().map(|(placement, _)| placement).collect()
        };
        let whole = remark(Some("a.rs"), Some(3), Some("abc"));
        assert_eq!(places(&whole), [Placement::Line, Placement::File]);
        assert_eq!(attempts(&whole)[0].1["line"], 3);
        assert_eq!(attempts(&whole)[1].1["subject_type"], "file");
        assert_eq!(places(&remark(Some("a.rs"), None, Some("abc"))), [Placement::File]);
        assert!(places(&remark(Some("a.rs"), Some(3), None)).is_empty());
        assert_eq!(with_place(&whole), "On `a.rs`, line 3:\n\nHm");
        assert_eq!(with_place(&remark(None, Some(3), None)), "Hm");
    }

    #[test]
    fn only_a_refused_place_leads_on() {
        let failed = |printed: &str| CodeHostError::Failed { code: 1, printed: printed.to_owned() };
        assert!(refuses_place(&failed("gh: Validation Failed (HTTP 422)")));
        assert!(refuses_place(&failed("gh: Not Found (HTTP 404)")));
        for printed in [
            "gh: Bad credentials (HTTP 401)",
            "gh: API rate limit exceeded (HTTP 403)",
            "gh: was submitted too quickly (HTTP 422)",
            "error connecting to api.github.com",
            "exit status 14220",
            "boom",
        ] {
            assert!(!refuses_place(&failed(printed)), "{printed}");
        }
        assert!(!refuses_place(&CodeHostError::TimedOut));
    }
}
