//! The clone or pull request of a request, and the mapping of code-host errors.

use std::path::PathBuf;

use loopgate_api::ids::RepoFullName;
use loopgate_tools::code_host::{CodeHostError, PullNumber, origin_at_code_host};

use crate::app::App;
use crate::error::HttpError;
use crate::extract::QueryMembers;
use crate::routes::directory::existing_directory;

/// A clone in a request.
pub(super) struct LocalClone {
    pub(super) directory: PathBuf,
    /// Base repository at the code host; `None` when its remote is elsewhere or missing.
    pub(super) origin: Option<RepoFullName>,
}

impl LocalClone {
    /// Resolves the directory and reads the URL of the base repository.
    ///
    /// # Errors
    /// 403 when it is outside the sandbox; 404 when it does not exist.
    pub(super) async fn open(app: &App, path: &str) -> Result<Self, HttpError> {
        let missing = |_| HttpError::not_found("repository not found");
        let directory = existing_directory(app, path, missing).await?.canonical().to_owned();
        let origin = match app.git.remote_url(&directory).await {
            Ok(url) => url.as_deref().and_then(origin_at_code_host),
            // Not fatal: routes that need the code host report the missing origin themselves.
            Err(error) => {
                tracing::debug!(%error, "failed to read the origin of a clone");
                None
            }
        };
        Ok(Self { directory, origin })
    }

    /// Returns the repository at the code host.
    ///
    /// # Errors
    /// 500 with the text `otherwise` when there is none.
    pub(super) fn repository(&self, otherwise: &str) -> Result<RepoFullName, HttpError> {
        self.origin.clone().ok_or_else(|| HttpError::failed(otherwise))
    }
}

/// Maps to one of a fixed set of sentences: the program's output can contain tokens and local paths, so it is
/// only logged.
impl From<CodeHostError> for HttpError {
    fn from(error: CodeHostError) -> Self {
        tracing::warn!(%error, "code host request failed");
        Self::failed(error.user_message())
    }
}

/// Like the conversion above, with the fixed sentence of a route.
pub(super) fn with_sentence(sentence: &'static str) -> impl FnOnce(CodeHostError) -> HttpError {
    move |error| {
        tracing::warn!(%error, "{sentence}");
        HttpError::failed(sentence)
    }
}

/// Parses owner, name and number from the query; `None` when one is missing.
pub(super) fn pull_in_query(query: &QueryMembers) -> Option<Result<(RepoFullName, PullNumber), HttpError>> {
    let member = |name| query.get(name).filter(|value| !value.is_empty());
    let (owner, name, number) = (member("owner")?, member("repo")?, member("number")?);
    let pull = parse_pull(owner, name, number);
    Some(pull.ok_or_else(|| HttpError::bad_request("Invalid owner, repo, or number")))
}

fn parse_pull(owner: &str, name: &str, number: &str) -> Option<(RepoFullName, PullNumber)> {
    // With a slash in either part, the two together would name a different repository.
    if owner.contains('/') || name.contains('/') {
        return None;
    }
    Some((format!("{owner}/{name}").parse().ok()?, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::extract::FromRequestParts as _;

    async fn read(query: &str) -> Option<Result<(RepoFullName, PullNumber), HttpError>> {
        let (mut parts, ()) =
            http::Request::builder().uri(format!("/?{query}")).body(()).unwrap().into_parts();
        pull_in_query(&QueryMembers::from_request_parts(&mut parts, &()).await.unwrap())
    }

    #[tokio::test]
    async fn repository_and_number_are_validated() {
        let (repository, number) = read("owner=acme&repo=widget.js&number=42").await.unwrap().unwrap();
        assert_eq!((repository.as_str(), number.get()), ("acme/widget.js", 42));
        assert!(read("owner=acme&repo=widget").await.is_none());
        assert!(read("owner=&repo=widget&number=1").await.is_none());
        // Options, path traversal, encoded separators, numbers out of range, and a NUL byte.
        for query in [
            "owner=@x&repo=widget&number=1",
            "owner=..&repo=widget&number=1",
            "owner=acme&repo=widget/../..&number=1",
            "owner=acme%2Fwidget&repo=x&number=1",
            "owner=acme&repo=widget&number=4;x",
            "owner=acme&repo=widget&number=1/files",
            "owner=acme&repo=widget&number=0",
            "owner=acme&repo=widget&number=9999999999",
            "owner=ac%00me&repo=widget&number=1",
        ] {
            let error = read(query).await.unwrap().unwrap_err();
            assert_eq!(error.body.error, "Invalid owner, repo, or number", "{query}");
        }
    }
}
