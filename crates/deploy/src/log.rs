//! The log of a run: its tail, and the local URLs that a server prints after it has started.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::LazyLock;

use loopgate_home::untrusted;
use regex::Regex;

use crate::loopback::LoopbackUrl;

// Bytes read from the end of a log: enough for a status response, small enough to poll.
const TAIL: u64 = 256 * 1024;

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"https?://(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|[*+]):\d{2,5}(?:/[\w./~-]*)?",
    )
    .ok()
});

/// Returns the end of a log without terminal escapes, or `None` when it is empty or missing.
pub(crate) fn tail(path: &Path) -> Option<String> {
    let read = || -> io::Result<Vec<u8>> {
        // The worktree is untrusted: a run may replace its log with a link or a named pipe.
        let mut file = untrusted::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = strip_ansi_escapes::strip(read().ok()?);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the URLs of this machine in a text, without duplicates, the last one first: a server usually prints
/// its URL when it has started. Wildcard addresses are replaced by `localhost`.
#[must_use]
pub fn local_urls(text: &str) -> Vec<String> {
    let plain = strip_ansi_escapes::strip_str(text);
    let matches = URL.as_ref().into_iter().flat_map(|pattern| pattern.find_iter(&plain));
    let mut urls: Vec<String> = Vec::new();
    for found in matches {
        let mut url = found.as_str().trim_end_matches('.').to_owned();
        for wildcard in ["://0.0.0.0", "://[::]", "://*", "://+"] {
            url = url.replace(wildcard, "://localhost");
        }
        if LoopbackUrl::parse(&url).is_some() {
            urls.retain(|earlier| *earlier != url);
            urls.push(url);
        }
    }
    urls.reverse();
    urls
}

/// Returns the last URL of this machine in a text.
#[must_use]
pub fn local_url(text: &str) -> Option<String> {
    local_urls(text).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_local_url_is_returned() {
        for (text, expected) in [
            ("  Local:   http://localhost:5174/\n", Some("http://localhost:5174/")),
            ("\u{1b}[32mhttp://localhost:\u{1b}[1m5173\u{1b}[0m/", Some("http://localhost:5173/")),
            ("Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...", Some("http://localhost:8000/")),
            ("http://localhost:1111 then http://127.0.0.1:2222.", Some("http://127.0.0.1:2222")),
            ("http://[::]:3000", Some("http://localhost:3000")),
            ("see http://example.test:80/ and http://10.0.0.1:3000", None),
            ("http://localhost:99999", None),
            ("http://localhost:3000 and http://localhost:99999", Some("http://localhost:3000")),
            ("Now listening on: http://*:8080", Some("http://localhost:8080")),
            ("", None),
        ] {
            assert_eq!(local_url(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn all_local_urls_are_returned_once_and_the_last_first() {
        let text = "http://localhost:1111 http://0.0.0.0:2222/a http://localhost:1111 https://[::]:3333.";
        let expected = ["https://localhost:3333", "http://localhost:1111", "http://localhost:2222/a"];
        assert_eq!(local_urls(text), expected);
    }
}
