//! GraphQL queries to the code host: a few at a time, within limits, and none while it rate-limits us.

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
    FORBIDDEN, NO_LOGIN, NOT_AUTHENTICATED, NOT_FOUND, NOT_PERMITTED, RATE_LIMITED, SECONDARY_LIMIT,
    SECONDARY_LIMITED,
};
use super::{CodeHost, PullNumber, limits, time};
use crate::process::{Output, RunStatus};

/// Queries that may run at once.
const TOGETHER: usize = 3;
/// Pause after the host rate-limited a query.
const PAUSE: Duration = Duration::from_secs(60);
/// Programs that are tracked.
const MAX_PAUSES: usize = 50;

/// Why a GraphQL query failed. The texts contain no program output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GraphQlError {
    /// The user has to log in.
    #[error("{}", NOT_AUTHENTICATED)]
    NotLoggedIn,
    /// Too many requests within the hour.
    #[error("{}", RATE_LIMITED)]
    RateLimited,
    /// Too many requests at once.
    #[error("{}", SECONDARY_LIMITED)]
    SecondaryLimited,
    /// No answer in time.
    #[error("GitHub request timed out. Try again.")]
    TimedOut,
    /// The answer is none.
    #[error("GitHub returned an invalid response.")]
    Unreadable,
    /// The user, or the user's token, may not.
    #[error("{}", NOT_PERMITTED)]
    Forbidden,
    /// No such repository or pull request, as far as the user may see.
    #[error("{}", NOT_FOUND)]
    NotFound,
    /// The program is missing, or failed otherwise.
    #[error("GitHub CLI unavailable. Ensure gh is installed and authenticated.")]
    Unavailable,
}

/// A value that a question refers to.
#[derive(Debug, Clone)]
pub(super) enum Variable<'a> {
    /// Sent as it is, whatever it looks like.
    Text(&'a str),
    /// Sent as an integer.
    Number(u32),
}

/// What is asked about one pull request.
pub(super) struct PullQuestion {
    /// Name of the question, for the host's own records.
    pub(super) name: &'static str,
    /// Further variables that the fields refer to, declared.
    pub(super) variables: &'static str,
    /// The fields of the pull request.
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

/// Limits the queries that run at once, and stops them after the host rate-limited one.
#[derive(Debug)]
pub(super) struct QueryLimiter {
    /// First come, first served.
    slots: Semaphore,
    pauses: Mutex<RateLimitPauses>,
}

impl Default for QueryLimiter {
    fn default() -> Self {
        Self { slots: Semaphore::new(TOGETHER), pauses: Mutex::default() }
    }
}

/// Programs that must not run before an instant, oldest first.
#[derive(Debug, Default)]
struct RateLimitPauses(Vec<(PathBuf, Instant)>);

impl RateLimitPauses {
    fn pause(&mut self, program: &Path, now: Instant) {
        self.0.retain(|(known, until)| known != program && *until > now);
        if self.0.len() >= MAX_PAUSES {
            self.0.remove(0);
        }
        self.0.push((program.to_owned(), now + PAUSE));
    }

    fn lasts(&self, program: &Path, now: Instant) -> bool {
        self.0.iter().any(|(known, until)| known == program && *until > now)
    }
}

impl CodeHost {
    /// Asks the graph about a pull request. Ends with the caller.
    pub(super) async fn graph_of_pull<'a, T: DeserializeOwned>(
        &self,
        repository: &'a RepoFullName,
        number: PullNumber,
        question: &PullQuestion,
        more: impl IntoIterator<Item = (&'static str, Variable<'a>)>,
    ) -> Result<T, GraphQlError> {
        let PullQuestion { name, variables, fields } = question;
        let text = format!(
            "query {name}($owner: String!, $name: String!, $number: Int!{variables}) {{ \
             repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{ {fields} }} }} }}"
        );
        let mut given = vec![
            ("owner", Variable::Text(repository.org())),
            ("name", Variable::Text(repository.name())),
            ("number", Variable::Number(number.get())),
        ];
        given.extend(more);
        let answer: PullAnswer<T> = self.graph(&text, &given).await?;
        answer.repository.and_then(|repository| repository.pull_request).ok_or(GraphQlError::NotFound)
    }

    /// Asks the graph. Ends with the caller.
    async fn graph<T: DeserializeOwned>(
        &self,
        question: &str,
        variables: &[(&str, Variable<'_>)],
    ) -> Result<T, GraphQlError> {
        let _turn = self.turns.slots.acquire().await.map_err(|_| GraphQlError::Unavailable)?;
        let program = self.programs.resolve(Program::CodeHost).await.path;
        let pauses = || self.turns.pauses.lock().unwrap_or_else(PoisonError::into_inner);
        if pauses().lasts(&program, Instant::now()) {
            return Err(GraphQlError::RateLimited);
        }
        let answer = self.ask_graph(question, variables).await;
        if let Err(GraphQlError::RateLimited | GraphQlError::SecondaryLimited) = answer {
            pauses().pause(&program, Instant::now());
        }
        serde_json::from_value(unwrapped(answer?)).map_err(|error| {
            tracing::debug!(%error, "an answer of the code host has another shape");
            GraphQlError::Unreadable
        })
    }

    async fn ask_graph(
        &self,
        question: &str,
        variables: &[(&str, Variable<'_>)],
    ) -> Result<Value, GraphQlError> {
        let mut command = self.command().await.args(["api", "graphql", "-f", &format!("query={question}")]);
        for (name, value) in variables {
            // Only what is known to be a number goes the way on which texts are read as files.
            command = match value {
                Variable::Text(text) => command.args(["-f", &format!("{name}={text}")]),
                Variable::Number(number) => command.args(["-F", &format!("{name}={number}")]),
            };
        }
        let output = command.run(limits(time::READ)).await.map_err(|error| {
            tracing::debug!(%error, "the code host was not asked");
            GraphQlError::Unavailable
        })?;
        read(&output)
    }
}

/// The answer in an output, or why there is none.
fn read(output: &Output) -> Result<Value, GraphQlError> {
    match output.status {
        RunStatus::TimedOut => return Err(GraphQlError::TimedOut),
        RunStatus::OutputTooLarge => return Err(GraphQlError::Unreadable),
        RunStatus::Exited(0) => {}
        RunStatus::Exited(_) | RunStatus::Signalled(_) => {
            let texts = [output.stderr_text(), output.stdout_text()];
            let complaint = texts.iter().map(|text| text.trim()).find(|text| !text.is_empty());
            return Err(classify(complaint.unwrap_or_default()));
        }
    }
    serde_json::from_slice(&output.stdout).map_err(|_| GraphQlError::Unreadable)
}

/// The answer proper, which the program hands on inside a member `data`.
fn unwrapped(answer: Value) -> Value {
    match answer {
        Value::Object(mut members) if members.contains_key("data") => {
            members.remove("data").unwrap_or_default()
        }
        bare => bare,
    }
}

/// What a complaint means.
fn classify(complaint: &str) -> GraphQlError {
    let complaint = complaint.to_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| complaint.contains(sign));
    // Complaints about a name repeat it, and a name may hold any of the words below.
    if says(&["could not resolve to a"]) {
        GraphQlError::NotFound
    } else if says(&["timed out", "timeout"]) {
        GraphQlError::TimedOut
    } else if says(&SECONDARY_LIMIT) {
        GraphQlError::SecondaryLimited
    } else if says(&["rate limit"]) {
        GraphQlError::RateLimited
    } else if says(&NO_LOGIN) {
        GraphQlError::NotLoggedIn
    } else if says(&["json"]) {
        GraphQlError::Unreadable
    } else if says(&FORBIDDEN) {
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
        Output { status: RunStatus::Exited(code), stdout: stdout.into(), stderr: stderr.into() }
    }

    #[test]
    fn git_errors_are_classified() {
        for (complaint, meant) in [
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
            assert_eq!(classify(complaint), meant, "{complaint}");
        }
    }

    #[test]
    fn answer_is_read_wrapped_and_bare() {
        let answer = json!({"repository": {"pullRequest": null}});
        for text in [answer.to_string(), json!({"data": answer}).to_string()] {
            assert_eq!(unwrapped(read(&printed(0, &text, "")).unwrap()), answer);
        }
        assert_eq!(read(&printed(0, "{bad", "")), Err(GraphQlError::Unreadable));
        assert_eq!(
            read(&printed(1, "{\"data\":{}}", "API rate limit exceeded")),
            Err(GraphQlError::RateLimited)
        );
        let hanging = Output { status: RunStatus::TimedOut, stdout: Vec::new(), stderr: Vec::new() };
        assert_eq!(read(&hanging), Err(GraphQlError::TimedOut));
    }

    #[test]
    fn rate_limit_pauses_expire_and_are_bounded() {
        let (mut pauses, start) = (RateLimitPauses::default(), Instant::now());
        let path = |n: usize| PathBuf::from(format!("/bin/gh-{n}"));
        for n in 0..=MAX_PAUSES {
            pauses.pause(&path(n), start);
        }
        assert!(!pauses.lasts(&path(0), start), "the oldest is forgotten");
        assert!(pauses.lasts(&path(1), start) && pauses.lasts(&path(MAX_PAUSES), start));
        assert!(!pauses.lasts(&path(1), start + PAUSE));
        pauses.pause(&path(7), start + PAUSE);
        assert_eq!(pauses.0.len(), 1, "what ended makes room");
    }

    proptest! {
        #[test]
        fn arbitrary_output_does_not_panic(code in -1i32..3, stdout in ".{0,60}", stderr in ".{0,60}") {
            let _ = read(&printed(code, &stdout, &stderr)).map(unwrapped);
        }
    }
}
