//! GraphQL queries to the code host, with limited concurrency and a pause after a rate limit.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use loopgate_api::ids::RepoFullName;
use loopgate_home::Program;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;
use tokio::sync::Semaphore;

use super::error::{
    FORBIDDEN_SIGNS, LOGIN_SIGNS, NOT_AUTHENTICATED, NOT_FOUND, NOT_PERMITTED, RATE_LIMITED,
    SECONDARY_LIMIT_SIGNS, SECONDARY_LIMITED,
};
use super::{CodeHost, PullNumber, limits, time};
use crate::process::{Output, ProcessStatus};

/// Maximum number of concurrent queries. The host's secondary rate limit penalizes concurrency.
const MAX_CONCURRENT: usize = 3;
/// How long no query is sent after the host rate-limited one.
const PAUSE: Duration = Duration::from_secs(60);
/// Maximum number of programs with a recorded pause. There is more than one only if the user changes the
/// path.
const MAX_PAUSES: usize = 50;

/// An error of a GraphQL query. The texts contain no program output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GraphQlError {
    /// The user has to sign in.
    #[error("{}", NOT_AUTHENTICATED)]
    NotLoggedIn,
    /// The hourly rate limit was exceeded.
    #[error("{}", RATE_LIMITED)]
    RateLimited,
    /// Too many requests were sent at a time.
    #[error("{}", SECONDARY_LIMITED)]
    SecondaryLimited,
    /// The query exceeded its time limit.
    #[error("GitHub request timed out. Try again.")]
    TimedOut,
    /// The response could not be parsed.
    #[error("GitHub returned an invalid response.")]
    Unreadable,
    /// The user or the user's token lacks a permission.
    #[error("{}", NOT_PERMITTED)]
    Forbidden,
    /// The repository or pull request does not exist, or is not visible to the user.
    #[error("{}", NOT_FOUND)]
    NotFound,
    /// The program is missing, or failed for another reason.
    #[error("GitHub CLI unavailable. Ensure gh is installed and authenticated.")]
    Unavailable,
}

/// The value of a GraphQL variable.
#[derive(Debug, Clone)]
pub(super) enum Variable<'a> {
    /// Sent as a string, even if it looks like a number.
    Text(&'a str),
    Number(u32),
}

/// A query about one pull request.
pub(super) struct PullQuery {
    /// Operation name of the query, which appears in the host's logs.
    pub(super) name: &'static str,
    /// Declarations of further variables.
    pub(super) variables: &'static str,
    /// The selected fields of the pull request.
    pub(super) fields: &'static str,
}

#[derive(Deserialize)]
struct PullAnswer<T> {
    repository: Option<PullOfRepository<T>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullOfRepository<T> {
    pull_request: Option<T>,
}

/// Limits concurrent queries, and blocks queries after a rate limit.
#[derive(Debug)]
pub(super) struct QueryLimiter {
    /// A fair semaphore: queries run in the order of their requests.
    slots: Semaphore,
    pauses: Mutex<RateLimitPauses>,
}

impl Default for QueryLimiter {
    fn default() -> Self {
        Self { slots: Semaphore::new(MAX_CONCURRENT), pauses: Mutex::default() }
    }
}

/// Programs with the end of their pause, oldest first. Keyed by program, because another one may have another
/// account.
#[derive(Debug, Default)]
struct RateLimitPauses(Vec<(PathBuf, Instant)>);

impl RateLimitPauses {
    fn pause(&mut self, program: &Path, now: Instant) {
        self.0.retain(|(paused, until)| paused != program && *until > now);
        if self.0.len() >= MAX_PAUSES {
            self.0.remove(0);
        }
        self.0.push((program.to_owned(), now + PAUSE));
    }

    fn is_active(&self, program: &Path, now: Instant) -> bool {
        self.0.iter().any(|(paused, until)| paused == program && *until > now)
    }
}

impl CodeHost {
    /// Sends a query about a pull request. Dropping the future kills the program.
    pub(super) async fn query_pull_request<'a, T: DeserializeOwned>(
        &self,
        repository: &'a RepoFullName,
        number: PullNumber,
        query: &PullQuery,
        more: impl IntoIterator<Item = (&'static str, Variable<'a>)>,
    ) -> Result<T, GraphQlError> {
        let PullQuery { name, variables, fields } = query;
        let text = format!(
            "query {name}($owner: String!, $name: String!, $number: Int!{variables}) {{ \
             repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{ {fields} }} }} }}"
        );
        let mut all_variables = vec![
            ("owner", Variable::Text(repository.org())),
            ("name", Variable::Text(repository.name())),
            ("number", Variable::Number(number.get())),
        ];
        all_variables.extend(more);
        let answer: PullAnswer<T> = self.graph(&text, &all_variables).await?;
        answer.repository.and_then(|repository| repository.pull_request).ok_or(GraphQlError::NotFound)
    }

    /// Sends a query. Dropping the future kills the program.
    async fn graph<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: &[(&str, Variable<'_>)],
    ) -> Result<T, GraphQlError> {
        let _permit = self.limiter.slots.acquire().await.map_err(|_| GraphQlError::Unavailable)?;
        let program = self.programs.resolve(Program::CodeHost).await.path;
        let pauses = || self.limiter.pauses.lock().unwrap_or_else(PoisonError::into_inner);
        // Checked after the wait for a slot: the query before this one may have been rate-limited.
        if pauses().is_active(&program, Instant::now()) {
            return Err(GraphQlError::RateLimited);
        }
        let answer = self.run_query(query, variables).await;
        if let Err(GraphQlError::RateLimited | GraphQlError::SecondaryLimited) = answer {
            pauses().pause(&program, Instant::now());
        }
        serde_json::from_value(unwrap_data(answer?)).map_err(|error| {
            tracing::debug!(%error, "code host returned an unexpected response");
            GraphQlError::Unreadable
        })
    }

    async fn run_query(
        &self,
        query: &str,
        variables: &[(&str, Variable<'_>)],
    ) -> Result<Value, GraphQlError> {
        let mut command = self.command().await.args(["api", "graphql", "-f", &format!("query={query}")]);
        for (name, value) in variables {
            // `-F` reads a value that starts with `@` from a file, so it is used for numbers only.
            command = match value {
                Variable::Text(text) => command.args(["-f", &format!("{name}={text}")]),
                Variable::Number(number) => command.args(["-F", &format!("{name}={number}")]),
            };
        }
        let output = command.run(limits(time::READ)).await.map_err(|error| {
            tracing::debug!(%error, "code host program did not start");
            GraphQlError::Unavailable
        })?;
        read(&output)
    }
}

/// Parses the output of the program.
fn read(output: &Output) -> Result<Value, GraphQlError> {
    match output.status {
        ProcessStatus::TimedOut => return Err(GraphQlError::TimedOut),
        ProcessStatus::OutputTooLarge => return Err(GraphQlError::Unreadable),
        ProcessStatus::Exited(0) => {}
        ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) => {
            let texts = [output.stderr_text(), output.stdout_text()];
            let message = texts.iter().map(|text| text.trim()).find(|text| !text.is_empty());
            return Err(classify(message.unwrap_or_default()));
        }
    }
    serde_json::from_slice(&output.stdout).map_err(|_| GraphQlError::Unreadable)
}

/// Returns the member `data` of a response, or the whole response when it has no such member.
fn unwrap_data(answer: Value) -> Value {
    match answer {
        Value::Object(mut members) if members.contains_key("data") => {
            members.remove("data").unwrap_or_default()
        }
        bare => bare,
    }
}

/// Classifies the output of a failed program.
fn classify(message: &str) -> GraphQlError {
    let message = message.to_lowercase();
    let has = |signs: &[&str]| signs.iter().any(|sign| message.contains(sign));
    // First, because this message repeats the requested name, which may contain any of the texts below.
    if has(&["could not resolve to a"]) {
        GraphQlError::NotFound
    } else if has(&["timed out", "timeout"]) {
        GraphQlError::TimedOut
    } else if has(&SECONDARY_LIMIT_SIGNS) {
        GraphQlError::SecondaryLimited
    } else if has(&["rate limit"]) {
        GraphQlError::RateLimited
    } else if has(&LOGIN_SIGNS) {
        GraphQlError::NotLoggedIn
    } else if has(&["json"]) {
        GraphQlError::Unreadable
    } else if has(&FORBIDDEN_SIGNS) {
        GraphQlError::Forbidden
    } else {
        GraphQlError::Unavailable
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn printed(code: i32, stdout: &str, stderr: &str) -> Output {
        Output {
            status: ProcessStatus::Exited(code),
            stdout: stdout.into(),
            stderr: stderr.into(),
            last_program: None,
        }
    }

    #[test]
    fn program_errors_are_classified() {
        for (message, expected) in [
            ("gh auth login required", GraphQlError::NotLoggedIn),
            ("gh: Bad credentials (HTTP 401)", GraphQlError::NotLoggedIn),
            ("API rate limit exceeded", GraphQlError::RateLimited),
            ("You have exceeded a secondary rate limit", GraphQlError::SecondaryLimited),
            ("request timed out", GraphQlError::TimedOut),
            ("net/http: TLS handshake timeout", GraphQlError::TimedOut),
            ("invalid character 'b' in JSON", GraphQlError::Unreadable),
            ("gh: Could not resolve to a Repository with the name 'acme/json'.", GraphQlError::NotFound),
            ("gh: Could not resolve to a PullRequest with the number of 42.", GraphQlError::NotFound),
            ("gh: Resource not accessible by personal access token", GraphQlError::Forbidden),
            ("boom", GraphQlError::Unavailable),
            ("", GraphQlError::Unavailable),
        ] {
            assert_eq!(classify(message), expected, "{message}");
        }
    }

    #[test]
    fn response_is_parsed_with_and_without_data_member() {
        let answer = json!({"repository": {"pullRequest": null}});
        for text in [answer.to_string(), json!({"data": answer}).to_string()] {
            assert_eq!(unwrap_data(read(&printed(0, &text, "")).unwrap()), answer);
        }
        assert_eq!(read(&printed(0, "{bad", "")), Err(GraphQlError::Unreadable));
        assert_eq!(
            read(&printed(1, "{\"data\":{}}", "API rate limit exceeded")),
            Err(GraphQlError::RateLimited)
        );
        let hanging = Output {
            status: ProcessStatus::TimedOut,
            stdout: Vec::new(),
            stderr: Vec::new(),
            last_program: None,
        };
        assert_eq!(read(&hanging), Err(GraphQlError::TimedOut));
    }

    #[test]
    fn rate_limit_pauses_expire_and_are_bounded() {
        let (mut pauses, start) = (RateLimitPauses::default(), Instant::now());
        let path = |n: usize| PathBuf::from(format!("/bin/gh-{n}"));
        for n in 0..=MAX_PAUSES {
            pauses.pause(&path(n), start);
        }
        assert!(!pauses.is_active(&path(0), start), "the oldest pause is evicted");
        assert!(pauses.is_active(&path(1), start) && pauses.is_active(&path(MAX_PAUSES), start));
        assert!(!pauses.is_active(&path(1), start + PAUSE));
        pauses.pause(&path(7), start + PAUSE);
        assert_eq!(pauses.0.len(), 1, "expired pauses are removed");
    }

    proptest! {
        #[test]
        fn arbitrary_output_does_not_panic(code in -1i32..3, stdout in ".{0,60}", stderr in ".{0,60}") {
            let _ = read(&printed(code, &stdout, &stderr)).map(unwrap_data);
        }
    }
}
