//! The error of a code host command.

use loopgate_api::redact;
use thiserror::Error;

use crate::git::GitError;
use crate::process::{Output, ProcessStatus, StartError};

/// An error of a code host command. Its `Display` text is safe to show: without credentials and escape
/// sequences, and at most 500 characters long.
#[derive(Debug, Error)]
pub enum CodeHostError {
    /// The program could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The clone must not be used.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The program exceeded its time limit and was terminated.
    #[error("the code host did not respond in time")]
    TimedOut,
    /// The program exceeded its output cap and was terminated.
    #[error("the response of the code host is too large")]
    TooMuchOutput,
    /// The program exited with a code other than 0.
    #[error("{}", redact::message(printed))]
    Failed {
        /// The exit code; 1 when a signal terminated the program.
        code: i32,
        /// Standard error, else standard output; not redacted.
        printed: String,
    },
    /// The output of the program could not be parsed.
    #[error("the response of the code host could not be parsed")]
    Unreadable,
}

impl CodeHostError {
    pub(super) fn failed(output: &Output) -> Self {
        let texts = [output.stderr_text(), output.stdout_text()];
        let printed = texts.iter().map(|text| text.trim()).find(|text| !text.is_empty());
        Self::Failed {
            code: output.status.code().unwrap_or(1),
            printed: printed.unwrap_or("the code host's program failed without a message").to_owned(),
        }
    }

    pub(super) fn check_limits(output: Output) -> Result<Output, Self> {
        match output.status {
            ProcessStatus::TimedOut => Err(Self::TimedOut),
            ProcessStatus::OutputTooLarge => Err(Self::TooMuchOutput),
            ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) => Ok(output),
        }
    }

    /// Returns whether the same command may succeed later without intervention: the host was unreachable,
    /// failed internally, or rate-limited the request.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::TimedOut => true,
            Self::Git(error) => error.is_transient(),
            Self::Failed { printed, .. } => {
                let message = printed.to_lowercase();
                [NETWORK, RATE_LIMITED, SECONDARY_LIMITED].contains(&explain(printed))
                    || HOST_FAILURE_SIGNS.iter().any(|sign| message.contains(sign))
            }
            Self::Start(_) | Self::TooMuchOutput | Self::Unreadable => false,
        }
    }

    /// Returns whether no user is signed in at the code host.
    #[must_use]
    pub fn is_signed_out(&self) -> bool {
        self.user_message() == NOT_AUTHENTICATED
    }

    /// Returns whether the host has no such object, or the user's account no access to it.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.user_message() == NOT_FOUND
    }

    /// Returns a message for the user, chosen by texts in the program's output.
    #[must_use]
    pub fn user_message(&self) -> &'static str {
        match self {
            Self::Failed { printed, .. } => explain(printed),
            Self::TimedOut => NETWORK,
            Self::Git(error) => explain(&error.to_string()),
            Self::Start(_) | Self::TooMuchOutput | Self::Unreadable => UNKNOWN,
        }
    }
}

// Clients compare these messages, so they must not be changed.
pub(super) const NOT_AUTHENTICATED: &str = "GitHub CLI not authenticated. Run 'gh auth login' in terminal.";
pub(super) const RATE_LIMITED: &str = "GitHub rate limit reached. Try again later.";
pub(super) const SECONDARY_LIMITED: &str = "GitHub secondary rate limit reached. Try again later.";
pub(super) const NOT_PERMITTED: &str = "Permission denied. Check your GitHub access.";
pub(super) const NOT_FOUND: &str = "Repository not found or no access.";
pub(super) const NO_COMMITS: &str = "No commits to create a PR. Make sure changes are committed first.";
const NETWORK: &str = "Network error. Check your connection.";
const UNKNOWN: &str = "Failed to complete GitHub operation. Check logs for details.";

/// Texts that indicate a missing or expired login.
pub(super) const LOGIN_SIGNS: [&str; 5] =
    ["not logged in", "authentication", "gh auth login", "bad credentials", "http 401"];
/// Texts that indicate too many requests at a time.
pub(super) const SECONDARY_LIMIT_SIGNS: [&str; 3] =
    ["secondary rate limit", "abuse detection", "submitted too quickly"];
/// Texts that indicate that the user or the user's token lacks a permission.
pub(super) const FORBIDDEN_SIGNS: [&str; 5] =
    ["permission denied", "403", "required scope", "not accessible by", "saml"];
/// Texts that indicate that the repository was renamed or transferred.
const MOVED_SIGNS: [&str; 4] = ["moved permanently", "http 301", "http 307", "http 308"];

/// Texts that indicate an internal failure of the host.
const HOST_FAILURE_SIGNS: [&str; 2] = ["http 5", "something went wrong while executing your query"];

/// Messages by texts in the program's output, compared without case. The first matching row applies.
const MEANINGS: [(&[&str], &str); 11] = [
    (&SECONDARY_LIMIT_SIGNS, SECONDARY_LIMITED),
    (&["rate limit"], RATE_LIMITED),
    (&LOGIN_SIGNS, NOT_AUTHENTICATED),
    (&["already exists"], "A pull request already exists for this branch."),
    (&["no commits"], NO_COMMITS),
    (&["uncommitted changes"], "You have uncommitted changes. Commit them first."),
    (&["not a git repository"], "Not a git repository."),
    (&FORBIDDEN_SIGNS, NOT_PERMITTED),
    (&MOVED_SIGNS, "The repository has moved. Change the remote of the clone to its new URL."),
    (&["not found", "404", "could not resolve to a"], NOT_FOUND),
    (
        &[
            "network",
            "err_internet_disconnected",
            "err_name_not_resolved",
            "enotfound",
            "etimedout",
            "econnrefused",
            "econnreset",
            "could not resolve host",
            "no such host",
            "error connecting to",
            "failed to connect",
            "connection refused",
            "connection reset",
            "timed out",
            "i/o timeout",
        ],
        NETWORK,
    ),
];

/// Returns the message for the user that corresponds to a program's output.
#[must_use]
pub fn explain(message: &str) -> &'static str {
    let message = message.to_lowercase();
    let meaning = MEANINGS.iter().find(|(signs, _)| signs.iter().any(|sign| message.contains(sign)));
    meaning.map_or(UNKNOWN, |(_, sentence)| sentence)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn first_matching_row_decides() {
        assert!(explain("To get started, please run: gh auth login").starts_with("GitHub CLI not"));
        assert!(explain("GraphQL: No commits between main and x").starts_with("No commits"));
        assert!(explain("a pull request for branch \"x\" already exists: 404").starts_with("A pull request"));
        assert!(explain("HTTP 403: Must have admin rights").starts_with("Permission denied"));
        assert!(explain("dial tcp: ECONNREFUSED").starts_with("Network"));
        assert_eq!(explain("boom"), UNKNOWN);
        for (message, begin) in [
            ("gh: API rate limit exceeded for user ID 1. (HTTP 403)", "GitHub rate limit"),
            ("gh: You have exceeded a secondary rate limit. (HTTP 403)", "GitHub secondary rate limit"),
            ("gh: Bad credentials (HTTP 401)", "GitHub CLI not authenticated"),
            ("gh: Your token has not been granted the required scopes", "Permission denied"),
            ("gh: Moved Permanently (HTTP 307)", "The repository has moved"),
            ("GraphQL: Could not resolve to a Repository with the name 'a/b'.", "Repository not found"),
            ("fatal: unable to access 'x': Could not resolve host: github.com", "Network error"),
            ("network is unreachable", "Network error"),
        ] {
            assert!(explain(message).starts_with(begin), "{message}: {}", explain(message));
        }
        for (signs, sentence) in MEANINGS {
            for sign in signs {
                assert_eq!(*sign, sign.to_lowercase(), "compared with lower case");
                assert!(!sentence.is_empty());
            }
        }
    }

    #[test]
    fn outages_are_transient_and_rejections_are_not() {
        let of =
            |printed: &str| CodeHostError::Failed { code: 1, printed: printed.to_owned() }.is_transient();
        for printed in [
            "error connecting to api.github.com",
            "HTTP 502: Bad Gateway (https://api.github.com/graphql)",
            "GraphQL: Something went wrong while executing your query.",
            "gh: API rate limit exceeded for user ID 1. (HTTP 403)",
            "dial tcp: lookup api.github.com: no such host",
        ] {
            assert!(of(printed), "{printed}");
        }
        for printed in [
            "GraphQL: No commits between main and x",
            "HTTP 403: Must have admin rights",
            "gh: Bad credentials (HTTP 401)",
            "a pull request for branch \"x\" already exists",
            "GraphQL: Could not resolve to a Repository with the name 'a/b'.",
        ] {
            assert!(!of(printed), "{printed}");
        }
        assert!(CodeHostError::TimedOut.is_transient());
    }

    proptest! {
        #[test]
        fn errors_do_not_contain_program_output(
            before in "[ -~]{0,30}",
            sign in prop::sample::select(MEANINGS.iter().flat_map(|(signs, _)| signs.iter()).collect::<Vec<_>>()),
            after in "[ -~]{0,30}",
        ) {
            let sentence = explain(&format!("{before}{sign}{after}"));
            prop_assert!(MEANINGS.iter().any(|(_, known)| *known == sentence));
            let shouted = format!("{before}{sign}{after}").to_uppercase();
            prop_assert_eq!(explain(&shouted), sentence, "in any case");
        }
    }
}
