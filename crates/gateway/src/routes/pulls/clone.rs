//! The clone and the pull request that a request names, and what the code host refuses.

use std::path::PathBuf;

use loopgate_api::ids::RepoFullName;
use loopgate_tools::code_host::{CodeHostError, PullNumber, origin_at_code_host};

use crate::app::App;
use crate::error::HttpError;
use crate::extract::QueryMembers;
use crate::routes::directory::existing_directory;

/// A clone that a caller names.
pub(super) struct NamedClone {
    pub(super) directory: PathBuf,
    /// The repository at the code host that it comes from, when it comes from there.
    pub(super) origin: Option<RepoFullName>,
}

impl NamedClone {
    /// Looks at the place, and asks git where it comes from.
    pub(super) async fn at(app: &App, named: &str) -> Result<Self, HttpError> {
        let missing = |_| HttpError::not_found("repository not found");
        let directory = existing_directory(app, named, missing).await?.canonical().to_owned();
        let origin = match app.git.remote_url(&directory).await {
            Ok(url) => url.as_deref().and_then(origin_at_code_host),
            Err(error) => {
                tracing::debug!(%error, "a clone does not tell its origin");
                None
            }
        };
        Ok(Self { directory, origin })
    }

    /// The repository at the code host; the route's text as 500 when there is none.
    pub(super) fn repository(&self, otherwise: &str) -> Result<RepoFullName, HttpError> {
        self.origin.clone().ok_or_else(|| HttpError::failed(otherwise))
    }
}

/// What the code host refuses becomes one of a few known sentences; what was printed is logged alone.
impl From<CodeHostError> for HttpError {
    fn from(error: CodeHostError) -> Self {
        tracing::warn!(%error, "the code host refused a request");
        Self::failed(error.sentence())
    }
}

/// The same in the one sentence that a route has for it.
pub(super) fn with_sentence(sentence: &'static str) -> impl FnOnce(CodeHostError) -> HttpError {
    move |error| {
        tracing::warn!(%error, "{sentence}");
        HttpError::failed(sentence)
    }
}

/// Owner, name and number as the query names them; `None` when one is missing.
pub(super) fn named_pull(query: &QueryMembers) -> Option<Result<(RepoFullName, PullNumber), HttpError>> {
    let member = |name| query.get(name).filter(|value| !value.is_empty());
    let (owner, name, number) = (member("owner")?, member("repo")?, member("number")?);
    let pull = read_pull(owner, name, number);
    Some(pull.ok_or_else(|| HttpError::bad_request("Invalid owner, repo, or number")))
}

fn read_pull(owner: &str, name: &str, number: &str) -> Option<(RepoFullName, PullNumber)> {
    // A slash in either would make them name something else together.
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
        named_pull(&QueryMembers::from_request_parts(&mut parts, &()).await.unwrap())
    }

    #[tokio::test]
    async fn repository_and_number_are_validated() {
        let (repository, number) = read("owner=acme&repo=widget.js&number=42").await.unwrap().unwrap();
        assert_eq!((repository.as_str(), number.get()), ("acme/widget.js", 42));
        assert!(read("owner=acme&repo=widget").await.is_none());
        assert!(read("owner=&repo=widget&number=1").await.is_none());
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
            let refused = read(query).await.unwrap().unwrap_err();
            assert_eq!(refused.body.error, "Invalid owner, repo, or number", "{query}");
        }
    }
}
