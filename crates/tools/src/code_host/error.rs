//! Why the code host said no, in words that are safe to show.

use loopgate_api::redact;
use thiserror::Error;

use crate::git::GitError;
use crate::process::{Output, RunStatus, StartError};

/// A command that failed. Its text holds no credentials and no colours, and at most 500 characters.
#[derive(Debug, Error)]
pub enum CodeHostError {
    /// The program could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The clone is not used.
    #[error(transparent)]
    Git(#[from] GitError),
    /// It took longer than it may.
    #[error("the code host took too long to answer")]
    TimedOut,
    /// It printed more than it may.
    #[error("the code host's answer is too large")]
    TooMuchOutput,
    /// It said no.
    #[error("{}", redact::message(printed))]
    Failed {
        /// Exit code; 1 when a signal ended it.
        code: i32,
        /// What it complained, else what it printed; raw, so sanitize before showing it.
        printed: String,
    },
    /// It answered something else than it was asked.
    #[error("the code host's answer cannot be read")]
    Unreadable,
}

impl CodeHostError {
    pub(super) fn failed(output: &Output) -> Self {
        let texts = [output.stderr_text(), output.stdout_text()];
        let printed = texts.iter().map(|text| text.trim()).find(|text| !text.is_empty());
        Self::Failed {
            code: output.status.code().unwrap_or(1),
            printed: printed.unwrap_or("the code host gave no reason").to_owned(),
        }
    }

    pub(super) fn check_limits(output: Output) -> Result<Output, Self> {
        match output.status {
            RunStatus::TimedOut => Err(Self::TimedOut),
            RunStatus::OutputTooLarge => Err(Self::TooMuchOutput),
            RunStatus::Exited(_) | RunStatus::Signalled(_) => Ok(output),
        }
    }

    /// Whether the same command may succeed later without anybody doing anything: the host was not
    /// reached, was out of order, or wanted fewer requests.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::TimedOut => true,
            Self::Git(error) => error.is_transient(),
            Self::Failed { printed, .. } => {
                let complaint = printed.to_lowercase();
                [NETWORK, RATE_LIMITED, SECONDARY_LIMITED].contains(&explain(printed))
                    || OUT_OF_ORDER.iter().any(|sign| complaint.contains(sign))
            }
            Self::Start(_) | Self::TooMuchOutput | Self::Unreadable => false,
        }
    }

    /// One of a few known sentences for people, chosen by what the program complained.
    #[must_use]
    pub fn sentence(&self) -> &'static str {
        match self {
            Self::Failed { printed, .. } => explain(printed),
            Self::TimedOut => NETWORK,
            Self::Git(error) => explain(&error.to_string()),
            Self::Start(_) | Self::TooMuchOutput | Self::Unreadable => UNKNOWN,
        }
    }
}

/// Error texts. Clients match on them: do not change them.
pub(super) const NOT_AUTHENTICATED: &str = "GitHub CLI not authenticated. Run 'gh auth login' in terminal.";
pub(super) const RATE_LIMITED: &str = "GitHub rate limit reached. Try again later.";
pub(super) const SECONDARY_LIMITED: &str = "GitHub secondary rate limit reached. Try again later.";
pub(super) const NOT_PERMITTED: &str = "Permission denied. Check your GitHub access.";
pub(super) const NOT_FOUND: &str = "Repository not found or no access.";
pub(super) const NO_COMMITS: &str = "No commits to create a PR. Make sure changes are committed first.";
const NETWORK: &str = "Network error. Check your connection.";
const UNKNOWN: &str = "Failed to complete GitHub operation. Check logs for details.";

/// Nobody is logged in, or the login has expired.
pub(super) const NO_LOGIN: [&str; 5] =
    ["not logged in", "authentication", "gh auth login", "bad credentials", "http 401"];
/// The host wants fewer requests at a time.
pub(super) const SECONDARY_LIMIT: [&str; 3] =
    ["secondary rate limit", "abuse detection", "submitted too quickly"];
/// The user, or what the user's token may do, does not suffice.
pub(super) const FORBIDDEN: [&str; 5] =
    ["permission denied", "403", "required scope", "not accessible by", "saml"];
/// What was asked for has another name now.
const MOVED: [&str; 4] = ["moved permanently", "http 301", "http 307", "http 308"];

/// The host could not answer, whatever it was asked.
const OUT_OF_ORDER: [&str; 2] = ["http 5", "something went wrong while executing your query"];

/// What a complaint means; the first row of which one text occurs in it, in any case.
const MEANINGS: [(&[&str], &str); 11] = [
    (&SECONDARY_LIMIT, SECONDARY_LIMITED),
    (&["rate limit"], RATE_LIMITED),
    (&NO_LOGIN, NOT_AUTHENTICATED),
    (&["already exists"], "A pull request already exists for this branch."),
    (&["no commits"], NO_COMMITS),
    (&["uncommitted changes"], "You have uncommitted changes. Commit them first."),
    (&["not a git repository"], "Not a git repository."),
    (&FORBIDDEN, NOT_PERMITTED),
    (&MOVED, "The repository has moved. Point the remote of the clone at its new place."),
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

/// The sentence for people that a complaint stands for.
#[must_use]
pub fn explain(complaint: &str) -> &'static str {
    let complaint = complaint.to_lowercase();
    let meant = MEANINGS.iter().find(|(signs, _)| signs.iter().any(|sign| complaint.contains(sign)));
    meant.map_or(UNKNOWN, |(_, sentence)| sentence)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn first_marker_decides() {
        assert!(explain("To get started, please run: gh auth login").starts_with("GitHub CLI not"));
        assert!(explain("GraphQL: No commits between main and x").starts_with("No commits"));
        assert!(explain("a pull request for branch \"x\" already exists: 404").starts_with("A pull request"));
        assert!(explain("HTTP 403: Must have admin rights").starts_with("Permission denied"));
        assert!(explain("dial tcp: ECONNREFUSED").starts_with("Network"));
        assert_eq!(explain("boom"), UNKNOWN);
        for (complaint, begin) in [
            ("gh: API rate limit exceeded for user ID 1. (HTTP 403)", "GitHub rate limit"),
            ("gh: You have exceeded a secondary rate limit. (HTTP 403)", "GitHub secondary rate limit"),
            ("gh: Bad credentials (HTTP 401)", "GitHub CLI not authenticated"),
            ("gh: Your token has not been granted the required scopes", "Permission denied"),
            ("gh: Moved Permanently (HTTP 307)", "The repository has moved"),
            ("GraphQL: Could not resolve to a Repository with the name 'a/b'.", "Repository not found"),
            ("fatal: unable to access 'x': Could not resolve host: github.com", "Network error"),
            ("network is unreachable", "Network error"),
        ] {
            assert!(explain(complaint).starts_with(begin), "{complaint}: {}", explain(complaint));
        }
        for (signs, sentence) in MEANINGS {
            for sign in signs {
                assert_eq!(*sign, sign.to_lowercase(), "compared with lower case");
                assert!(!sentence.is_empty());
            }
        }
    }

    #[test]
    fn outage_of_the_host_passes_and_its_refusal_does_not() {
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
