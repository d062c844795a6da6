//! The log of a run: its tail, and the local URL that a server prints after it has started.

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
        r"https?://(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]):\d{2,5}(?:/[\w./~-]*)?",
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

/// Returns the last URL of this machine in a text, which a server usually prints when it has started.
/// Wildcard addresses are replaced by `localhost`.
#[must_use]
pub fn local_url(text: &str) -> Option<String> {
    let plain = strip_ansi_escapes::strip_str(text);
    let url = URL.as_ref()?.find_iter(&plain).last()?.as_str();
    let url = url.trim_end_matches('.').replace("0.0.0.0", "localhost").replace("[::]", "localhost");
    LoopbackUrl::parse(&url).map(|_| url)
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
            ("", None),
        ] {
            assert_eq!(local_url(text).as_deref(), expected, "{text}");
        }
    }
}
