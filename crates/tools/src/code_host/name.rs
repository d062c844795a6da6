//! Names of pull requests: the repository at the code host, and the number.

use std::fmt;
use std::str::FromStr;

use loopgate_api::ids::{InvalidId, RepoFullName};

/// Host name of the code host.
const HOST: &str = "github.com";

/// The number of a pull request. Its `Display` form has only digits, so it is safe in a URL path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PullNumber(u32);

impl PullNumber {
    /// Returns the number if it is in the valid range.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        // The code host's numbers are positive 32-bit signed integers.
        u32::try_from(number).ok().filter(|number| (1..=i32::MAX as u32).contains(number)).map(Self)
    }

    /// Returns the number as an integer.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for PullNumber {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { text.parse().ok().and_then(Self::new) } else { None };
        number.ok_or(InvalidId("Must be the number of a pull request"))
    }
}

impl fmt::Display for PullNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Parses the URL of a remote. Returns `None` when the remote is not at the code host.
#[must_use]
pub fn origin_at_code_host(url: &str) -> Option<RepoFullName> {
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix(".git").unwrap_or(url);
    let at = url.to_ascii_lowercase().find(HOST)?;
    let (before, after) = (&url[..at], &url[at + HOST.len()..]);
    // Subdomains are accepted: `ssh.github.com` serves SSH on port 443, for networks that block port 22.
    let is_host = before.is_empty() || before.ends_with(['/', '@', '.']);
    let path = after.strip_prefix([':', '/']).filter(|_| is_host)?;
    let path = match path.split_once('/') {
        Some((port, rest)) if rest.contains('/') && is_port(after, port) => rest,
        _ => path,
    };
    path.parse().ok()
}

fn is_port(after: &str, segment: &str) -> bool {
    after.starts_with(':') && !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn repository_is_parsed_from_urls_of_the_code_host() {
        for url in [
            "git@github.com:acme/widget.git",
            "https://github.com/acme/widget",
            "https://github.com/acme/widget/",
            "https://token@GitHub.com/acme/widget.git\n",
            "ssh://git@github.com/acme/widget.git",
            "ssh://git@github.com:22/acme/widget.git",
            "ssh://git@ssh.github.com:443/acme/widget.git",
        ] {
            assert_eq!(origin_at_code_host(url).unwrap().as_str(), "acme/widget", "{url}");
        }
        for url in [
            "",
            "github.com",
            "https://gitlab.example/acme/widget.git",
            "https://notgithub.com/acme/widget",
            "https://github.com.example/acme/widget",
            "https://github.com/acme",
            "https://github.com/acme/widget/extra",
            "https://github.com/../widget",
            "https://github.com/@acme/widget",
            "/srv/git/acme/widget.git",
        ] {
            assert_eq!(origin_at_code_host(url), None, "{url}");
        }
    }

    #[test]
    fn number_has_only_digits() {
        for text in ["", "0", "-1", "+1", "4;x", "1.0", " 1", "2147483648", "@f", "99999999999999999999"] {
            assert!(text.parse::<PullNumber>().is_err(), "{text}");
        }
        assert_eq!("0042".parse::<PullNumber>().unwrap().to_string(), "42");
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic_or_escape_the_path(text in ".{0,40}(github\\.com)?.{0,40}") {
            if let Some(name) = origin_at_code_host(&text) {
                prop_assert!(!name.as_str().contains("..") || !name.as_str().split('/').any(|part| part == ".."));
            }
            if let Ok(number) = text.parse::<PullNumber>() {
                prop_assert!(number.get() > 0);
            }
        }
    }
}
