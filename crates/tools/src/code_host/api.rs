//! Requests to the API whose status and rate limits the caller needs.
//!
//! `gh` prints status and headers, so that a rate limit is waited out for as long as the code host says, and a rejection
//! is recognized by its status and not by its text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use loopgate_api::redact;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::error::SECONDARY_LIMIT_SIGNS;
use super::{CodeHost, CodeHostError, limits, time};
use crate::process::Stdin;

/// Wait after a rate limit for which the code host says no time; doubled with each further one. Its documentation
/// requires at least a minute.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);
/// Added to the time at which a limit ends, because the clocks of both machines differ.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(1);
/// Type of the error of a GraphQL query that exceeds the hourly limit. Its status is 200.
const GRAPHQL_RATE_LIMITED: &str = "RATE_LIMITED";

/// A request to the API.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ApiRequest {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Path without the leading `/`, possibly with a query.
    pub path: String,
    /// Body of a `POST`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

/// Why a request failed.
#[derive(Debug, Error)]
pub enum CodeHostApiError {
    /// The code host rejected the request.
    #[error("the code host answered with HTTP {status}: {}", redact::message(message))]
    Status {
        /// Status of the response, also 429 for a rate limit that would take too long to wait for.
        status: u16,
        /// The code host's explanation; not redacted.
        message: String,
    },
    /// A GraphQL query failed.
    #[error("the code host rejected the query: {}", redact::message(message))]
    Query {
        /// Type of the first error, such as `NOT_FOUND`; empty without one.
        kind: String,
        /// Its explanation; not redacted.
        message: String,
    },
    /// The program failed, or the response could not be parsed.
    #[error(transparent)]
    Program(#[from] CodeHostError),
}

impl CodeHostApiError {
    /// Returns a short name of the reason, for counts: a status, the type of a GraphQL error, or `timeout`, `unreadable`
    /// and `unavailable`.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Self::Status { status, .. } => status.to_string(),
            Self::Query { kind, .. } if kind.is_empty() => "query".to_owned(),
            Self::Query { kind, .. } => kind.clone(),
            Self::Program(CodeHostError::TimedOut) => "timeout".to_owned(),
            Self::Program(CodeHostError::Unreadable | CodeHostError::TooMuchOutput) => {
                "unreadable".to_owned()
            }
            Self::Program(error) if error.is_signed_out() => "401".to_owned(),
            Self::Program(_) => "unavailable".to_owned(),
        }
    }
}

/// How long a series of requests waits for rate limits in total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitWait {
    remaining: Duration,
    waited: Duration,
    default_wait: Duration,
}

impl RateLimitWait {
    /// Creates the bound of a series of requests.
    #[must_use]
    pub const fn at_most(limit: Duration) -> Self {
        Self { remaining: limit, waited: Duration::ZERO, default_wait: DEFAULT_WAIT }
    }

    /// Returns how long the requests have waited.
    #[must_use]
    pub const fn waited(&self) -> Duration {
        self.waited
    }

    /// Returns how long to wait, or `None` if it would exceed the bound. `requested`: as the code host says.
    fn take(&mut self, requested: Option<Duration>) -> Option<Duration> {
        let wait = requested.unwrap_or(self.default_wait);
        if requested.is_none() {
            self.default_wait = self.default_wait.saturating_mul(2);
        }
        self.remaining = self.remaining.checked_sub(wait)?;
        self.waited += wait;
        Some(wait)
    }
}

/// A response with what decides about a repetition.
#[derive(Debug, PartialEq, Eq)]
struct ApiResponse {
    status: u16,
    /// Time for which the code host requests to send nothing.
    retry_after: Option<Duration>,
    /// Unix time in seconds at which an exhausted limit ends.
    exhausted_until: Option<u64>,
    body: Vec<u8>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GraphQlAnswer {
    data: Value,
    errors: Vec<GraphQlAnswerError>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GraphQlAnswerError {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

impl CodeHost {
    /// Sends a request and returns the body of its response. A rate limit is waited out within the bound. No request is
    /// repeated for another reason: the code host may have executed it. A `POST` runs to completion even when the future is
    /// dropped.
    pub(super) async fn api<T: DeserializeOwned>(
        &self,
        request: &ApiRequest,
        wait: &mut RateLimitWait,
    ) -> Result<T, CodeHostApiError> {
        loop {
            let response = self.send(request).await?;
            if response.is_rate_limited() {
                let requested = response.requested_wait(SystemTime::now());
                let Some(wait) = wait.take(requested) else {
                    return Err(CodeHostApiError::Status { status: 429, message: response.message() });
                };
                tracing::info!(seconds = wait.as_secs(), "waiting for the code host's rate limit");
                tokio::time::sleep(wait).await;
                continue;
            }
            if !(200..300).contains(&response.status) {
                return Err(CodeHostApiError::Status {
                    status: response.status,
                    message: response.message(),
                });
            }
            return serde_json::from_slice(&response.body).map_err(|error| {
                tracing::debug!(%error, "code host returned an unexpected response");
                CodeHostError::Unreadable.into()
            });
        }
    }

    /// Sends a GraphQL query or mutation, and returns the member `data` of its response.
    pub(super) async fn graphql_api<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: Value,
        wait: &mut RateLimitWait,
    ) -> Result<T, CodeHostApiError> {
        let body = serde_json::json!({"query": query, "variables": variables});
        let request = ApiRequest { method: "POST", path: "graphql".to_owned(), body: Some(body) };
        let answer: GraphQlAnswer = self.api(&request, wait).await?;
        if let Some(error) = answer.errors.into_iter().next() {
            return Err(CodeHostApiError::Query { kind: error.kind, message: error.message });
        }
        serde_json::from_value(answer.data).map_err(|error| {
            tracing::debug!(%error, "code host returned an unexpected response");
            CodeHostError::Unreadable.into()
        })
    }

    async fn send(&self, request: &ApiRequest) -> Result<ApiResponse, CodeHostError> {
        let args = ["api", "--include", "--method", request.method, &request.path];
        let command = self.command().await.args(args);
        let output = match &request.body {
            None => command.run(limits(time::READ)).await?,
            Some(body) => {
                let text = body.to_string().into_bytes();
                let command = command.args(["--input", "-"]).stdin(Stdin::Bytes(text));
                command.run_to_completion(limits(time::WRITE)).await?
            }
        };
        let output = CodeHostError::check_limits(output)?;
        // The program prints no response if it could not send the request.
        ApiResponse::parse(&output.stdout).ok_or_else(|| CodeHostError::failed(&output))
    }
}

impl ApiResponse {
    /// Parses a status line, headers, an empty line and the body.
    fn parse(printed: &[u8]) -> Option<Self> {
        let mut rest = printed;
        let mut line = || {
            let end = memchr::memchr(b'\n', rest)?;
            let line = str::from_utf8(&rest[..end]).ok()?;
            rest = &rest[end + 1..];
            Some(line.trim_end_matches('\r'))
        };
        let status = line()?.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok()?;
        let (mut retry_after, mut is_exhausted, mut reset) = (None, false, None);
        loop {
            let header = line()?;
            if header.is_empty() {
                break;
            }
            let Some((name, value)) = header.split_once(':') else { continue };
            let number: Option<u64> = value.trim().parse().ok();
            match name.to_ascii_lowercase().as_str() {
                "retry-after" => retry_after = number.map(Duration::from_secs),
                "x-ratelimit-remaining" => is_exhausted = number == Some(0),
                "x-ratelimit-reset" => reset = number,
                _ => {}
            }
        }
        let exhausted_until = reset.filter(|_| is_exhausted);
        Some(Self { status, retry_after, exhausted_until, body: rest.to_vec() })
    }

    fn is_rate_limited(&self) -> bool {
        let message = || self.message().to_lowercase();
        match self.status {
            429 => true,
            403 => {
                self.retry_after.is_some() || self.exhausted_until.is_some() || {
                    let message = message();
                    message.contains("rate limit")
                        || SECONDARY_LIMIT_SIGNS.iter().any(|sign| message.contains(sign))
                }
            }
            422 => SECONDARY_LIMIT_SIGNS.iter().any(|sign| message().contains(sign)),
            200 => {
                let answer: GraphQlAnswer = serde_json::from_slice(&self.body).unwrap_or_default();
                answer.errors.iter().any(|error| error.kind == GRAPHQL_RATE_LIMITED)
            }
            _ => false,
        }
    }

    fn requested_wait(&self, now: SystemTime) -> Option<Duration> {
        let until_reset = || {
            let reset = UNIX_EPOCH.checked_add(Duration::from_secs(self.exhausted_until?))?;
            Some(reset.duration_since(now).unwrap_or_default() + CLOCK_TOLERANCE)
        };
        self.retry_after.or_else(until_reset)
    }

    /// Returns the code host's explanation, or the body.
    fn message(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let details = body["errors"].as_array().into_iter().flatten();
        let details = details.filter_map(|error| error.as_str().or_else(|| error["message"].as_str()));
        let texts: Vec<&str> = body["message"].as_str().into_iter().chain(details).collect();
        match texts.is_empty() {
            true => String::from_utf8_lossy(&self.body).into_owned(),
            false => texts.join(": "),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn response(status: &str, headers: &str, body: &str) -> ApiResponse {
        ApiResponse::parse(format!("HTTP/2.0 {status}\r\n{headers}\r\n{body}").as_bytes()).unwrap()
    }

    #[test]
    fn response_is_parsed_with_its_limits() {
        let parsed = response("201 Created", "Content-Type: application/json\r\n", "{\"id\": 1}\n");
        assert_eq!((parsed.status, parsed.body.as_slice()), (201, b"{\"id\": 1}\n".as_slice()));
        assert!(!parsed.is_rate_limited());
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        for (status, headers, body, wait) in [
            ("403 Forbidden", "Retry-After: 30\r\n", "{}", Some(30)),
            ("403 Forbidden", "X-Ratelimit-Remaining: 0\r\nX-Ratelimit-Reset: 1060\r\n", "{}", Some(61)),
            (
                "429 Too Many Requests",
                "X-Ratelimit-Remaining: 0\r\nX-Ratelimit-Reset: 900\r\n",
                "{}",
                Some(1),
            ),
            ("403 Forbidden", "", r#"{"message": "You have exceeded a secondary rate limit."}"#, None),
            (
                "422 Unprocessable Entity",
                "",
                r#"{"message": "Validation Failed", "errors": [{"message": "was submitted too quickly"}]}"#,
                None,
            ),
            ("200 OK", "", r#"{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit"}]}"#, None),
        ] {
            let parsed = response(status, headers, body);
            assert!(parsed.is_rate_limited(), "{status} {headers}");
            assert_eq!(parsed.requested_wait(now), wait.map(Duration::from_secs), "{status} {headers}");
        }
        for (status, headers, body) in [
            (
                "403 Forbidden",
                "X-Ratelimit-Remaining: 12\r\nX-Ratelimit-Reset: 1060\r\n",
                r#"{"message": "no"}"#,
            ),
            ("401 Unauthorized", "", r#"{"message": "Bad credentials"}"#),
            ("422 Unprocessable Entity", "", r#"{"message": "Validation Failed"}"#),
            ("200 OK", "X-Ratelimit-Remaining: 0\r\nX-Ratelimit-Reset: 1060\r\n", "[]"),
        ] {
            assert!(!response(status, headers, body).is_rate_limited(), "{status}");
        }
        assert_eq!(ApiResponse::parse(b"error connecting to api.github.com\n"), None);
    }

    #[test]
    fn waits_are_bounded_in_total() {
        let mut wait = RateLimitWait::at_most(Duration::from_secs(200));
        assert_eq!(wait.take(Some(Duration::from_secs(10))), Some(Duration::from_secs(10)));
        assert_eq!(wait.take(None), Some(Duration::from_secs(60)));
        assert_eq!(wait.take(None), Some(Duration::from_secs(120)));
        assert_eq!(wait.take(Some(Duration::from_secs(11))), None);
        assert_eq!(wait.waited(), Duration::from_secs(190));
    }

    proptest! {
        #[test]
        fn arbitrary_output_does_not_panic(text in "(HTTP/1.1 [0-9]{3} ?)?(?s).{0,60}", body in "(?s).{0,40}") {
            if let Some(parsed) = ApiResponse::parse(format!("{text}\n\n{body}").as_bytes()) {
                let _ = (parsed.is_rate_limited(), parsed.requested_wait(UNIX_EPOCH), parsed.message());
            }
        }
    }
}
