//! The last lines of a file that may be large, without loading it into memory.
//!
//! The end is read backwards, in a window that grows until it contains enough lines. [`LineCounts`] counts all
//! lines.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::FileExt as _;

use super::line_counts::LineCounts;

/// Limit of the returned lines in bytes.
const MAX_ANSWER: u64 = 16 * 1024 * 1024;
/// Initial size of the window in bytes.
const WINDOW: u64 = 64 * 1024;
const BUFFER: usize = 64 * 1024;

/// The last lines that are not blank, and the number of all such lines.
pub(super) struct LastLines {
    pub(super) lines: Vec<String>,
    pub(super) total: usize,
}

/// Reads the last `limit` lines that are not blank.
pub(super) fn last_lines(file: &File, limit: usize, counts: &LineCounts) -> io::Result<LastLines> {
    let metadata = file.metadata()?;
    let size = metadata.len();
    let total = counts.count(file, &metadata)?;
    let mut window = WINDOW;
    loop {
        let start = size.saturating_sub(window);
        let bytes = read_between(file, start, size)?;
        let lines = whole_lines(&bytes, start > 0, limit);
        if lines.len() == limit || start == 0 || window >= MAX_ANSWER {
            return Ok(LastLines { lines, total });
        }
        window = window.saturating_mul(4).min(MAX_ANSWER);
    }
}

/// Returns the last lines of a window that are not blank. With `cut`, a first line whose start is missing is
/// omitted.
fn whole_lines(bytes: &[u8], cut: bool, limit: usize) -> Vec<String> {
    let mut rest = bytes;
    let mut lines = Vec::new();
    while lines.len() < limit {
        let begin = memchr::memrchr(b'\n', rest);
        if begin.is_none() && cut {
            break;
        }
        let line = &rest[begin.map_or(0, |begin| begin + 1)..];
        if !is_blank(line) {
            lines.push(String::from_utf8_lossy(line).trim_end_matches('\r').to_owned());
        }
        match begin {
            Some(begin) => rest = &rest[..begin],
            None => break,
        }
    }
    lines.reverse();
    lines
}

pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

fn read_between(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(end - start).map_err(io::Error::other)?];
    let mut read = 0;
    while read < bytes.len() {
        // `read_at` may return fewer bytes, and none when the file was truncated.
        match file.read_at(&mut bytes[read..], start + read as u64)? {
            0 => break,
            more => read += more,
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

/// Returns whether any line satisfies a predicate, reading line by line.
pub(super) fn any_line(file: &File, passes: impl Fn(&str) -> bool) -> io::Result<bool> {
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A longer line is not a record of the assistant; its pieces are tested like lines.
        if (&mut reader).take(MAX_ANSWER).read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        if passes(&String::from_utf8_lossy(&line)) {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn file_of(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn read(file: &File, limit: usize) -> LastLines {
        last_lines(file, limit, &LineCounts::default()).unwrap()
    }

    #[test]
    fn blank_lines_do_not_count() {
        let file = file_of(b"one\n\n  \r\ntwo\r\nthree");
        let all = read(&file, 10);
        assert_eq!((all.lines, all.total), (vec!["one".into(), "two".into(), "three".into()], 3));
        let last = read(&file, 2);
        assert_eq!((last.lines, last.total), (vec!["two".to_owned(), "three".to_owned()], 3));
        assert_eq!(read(&file_of(b""), 5).total, 0);
    }

    #[test]
    fn long_lines_are_found_beyond_the_first_window() {
        let line = "x".repeat(100_000);
        let file = file_of(format!("{line}1\n{line}2\n{line}3\n").as_bytes());
        let last = read(&file, 2);
        assert_eq!(last.total, 3);
        assert!(last.lines.len() == 2 && last.lines[0].ends_with("x2") && last.lines[1].len() == 100_001);
    }

    proptest! {
        #[test]
        fn chunked_reading_equals_a_whole_read(text in "[a-c \n]{0,200}", limit in 1usize..20) {
            let expected: Vec<&str> = text.split('\n').filter(|line| !line.trim().is_empty()).collect();
            let last = read(&file_of(text.as_bytes()), limit);
            prop_assert_eq!(last.total, expected.len());
            prop_assert_eq!(last.lines, expected[expected.len().saturating_sub(limit)..].to_vec());
        }
    }
}
