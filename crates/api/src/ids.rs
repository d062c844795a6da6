//! Identifiers that are validated once, at parsing, and trusted afterwards.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

/// Error for a malformed identifier, with the message for the client.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct InvalidId(pub &'static str);

/// Longest value of an option, in bytes.
const OPTION_LIMIT: usize = 200;

/// Returns whether a text, such as the name of a model, can be passed to a program as the value of an option: a single
/// word of at most 200 bytes that is no option itself.
#[must_use]
pub fn is_option_value(text: &str) -> bool {
    let is_word = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
    is_word && !text.starts_with('-') && text.len() <= OPTION_LIMIT
}

/// Id of a loop, assigned by the control plane; primary key of the desktop's job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LoopId(pub Uuid);

impl LoopId {
    /// Returns the key from which names of worktrees, branches and directories of this loop are derived.
    #[must_use]
    pub fn stable(&self) -> String {
        slug(&self.0.to_string())
    }

    /// Returns the first eight characters, for titles and directory names.
    #[must_use]
    pub fn short(&self) -> String {
        self.0.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for LoopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for LoopId {
    type Err = InvalidId;

    /// Accepts the 8-4-4-4-12 form of any UUID version, in upper or lower case.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // `Uuid::try_parse` also accepts the simple, braced and URN forms.
        let hyphenated = text.len() == 36;
        match Uuid::try_parse(text) {
            Ok(id) if hyphenated => Ok(Self(id)),
            _ => Err(InvalidId("loopId must be a valid UUID")),
        }
    }
}

/// Full name of a repository, `<org>/<repo>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoFullName(String);

impl RepoFullName {
    /// Returns the part before the slash.
    #[must_use]
    pub fn org(&self) -> &str {
        self.0.split_once('/').map_or("", |(org, _)| org)
    }

    /// Returns the part after the slash.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or("", |(_, name)| name)
    }

    /// Returns the full name as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Extracts the last two path segments of an SSH, HTTPS or file URL of a remote.
    #[must_use]
    pub fn from_remote_url(url: &str) -> Option<Self> {
        let url = url.trim().trim_end_matches('/');
        let url = url.strip_suffix(".git").unwrap_or(url);
        let (rest, name) = url.rsplit_once('/')?;
        // In the scp-like form `git@host:org/repo` a colon precedes the first segment.
        let org = rest.rsplit(['/', ':']).next()?;
        format!("{org}/{name}").parse().ok()
    }

    /// Returns whether both names denote the same repository: the code host ignores case.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl FromStr for RepoFullName {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let valid_part = |part: &str| {
            !part.is_empty()
                && part != "."
                && part != ".."
                && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        match text.split_once('/') {
            // The name is an argument of external programs, where a leading dash would start an option.
            Some((org, name))
                if text.len() <= 256 && !text.starts_with('-') && valid_part(org) && valid_part(name) =>
            {
                Ok(Self(text.to_owned()))
            }
            _ => Err(InvalidId("Must be in 'owner/repo' format")),
        }
    }
}

impl TryFrom<String> for RepoFullName {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<RepoFullName> for String {
    fn from(name: RepoFullName) -> Self {
        name.0
    }
}

impl fmt::Display for RepoFullName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A branch name that is safe as a program argument and as a relative path.
///
/// Stricter than `git check-ref-format`: ASCII letters, digits, `.`, `_`, `/` and `-` only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

impl BranchName {
    /// Returns the branch name as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BranchName {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let characters = text.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c));
        let valid = !text.is_empty()
            && text.len() <= 256
            && characters
            // A leading dash would be parsed as an option; the other conditions prevent absolute paths, `..`
            // and empty segments.
            && !text.starts_with(['-', '/', '.'])
            && !text.ends_with(['/', '.'])
            && !text.contains("..")
            && !text.contains("//");
        if valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId("Branch name contains invalid characters"))
        }
    }
}

impl TryFrom<String> for BranchName {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<BranchName> for String {
    fn from(name: BranchName) -> Self {
        name.0
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Id of a ticket as sent by a client, with a form that is safe in file names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TicketId(String);

impl TicketId {
    /// Accepts any text; only [`TicketId::safe`] is used in file names.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text as sent by the client.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the form for file and directory names.
    #[must_use]
    pub fn safe(&self) -> String {
        safe_id(&self.0)
    }
}

/// Makes an id safe for file names: replaces all characters outside `[A-Za-z0-9_-]` by `_`.
#[must_use]
pub fn safe_id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

/// Converts a text to a key for loop directories and branches: lower case, with `-` for characters outside
/// `[a-z0-9-]`, truncated to 50 characters.
#[must_use]
pub fn slug(text: &str) -> String {
    text.to_lowercase()
        .chars()
        // `to_lowercase` handles Unicode, so non-ASCII letters are still possible here.
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' { c } else { '-' })
        .take(50)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn full_name_is_extracted_from_remote_urls_of_all_forms() {
        for url in [
            "git@github.com:acme/widget.git",
            "https://github.com/acme/widget",
            "https://github.com/acme/widget/",
            "ssh://git@github.com:22/acme/widget.git",
            "file:///srv/git/acme/widget.git",
        ] {
            assert_eq!(RepoFullName::from_remote_url(url).unwrap().as_str(), "acme/widget", "{url}");
        }
        assert_eq!(RepoFullName::from_remote_url("widget"), None);
    }

    #[test]
    fn branch_name_is_rejected_when_option_or_path_traversal() {
        assert!("--upload-pack=x".parse::<BranchName>().is_err());
        assert!("a/../b".parse::<BranchName>().is_err());
        assert!("orchestrator/plan-5".parse::<BranchName>().is_ok());
    }

    #[test]
    fn loop_id_requires_hyphenated_form() {
        assert!("abc".parse::<LoopId>().is_err());
        assert!("0190a5f3c8b97f00a1b2c3d4e5f60718".parse::<LoopId>().is_err());
        assert!("0190A5F3-C8B9-7F00-A1B2-C3D4E5F60718".parse::<LoopId>().is_ok());
    }

    proptest! {
        #[test]
        fn safe_ids_have_no_path_separators(id in ".*") {
            let safe = safe_id(&id);
            prop_assert!(safe.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        }

        #[test]
        fn slug_is_idempotent(text in ".*") {
            prop_assert_eq!(slug(&slug(&text)), slug(&text));
        }
    }
}
