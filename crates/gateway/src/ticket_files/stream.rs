//! Lines of a file that may be large: the last ones, without reading the rest into memory.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

/// Bytes of lines that one answer may carry.
const MAX_ANSWER: u64 = 16 * 1024 * 1024;
const BUFFER: usize = 64 * 1024;

/// The last lines that are not blank, and how many there are in all.
pub(super) struct LastLines {
    pub(super) lines: Vec<String>,
    pub(super) total: usize,
}

/// Reads the last `wanted` lines that are not blank.
pub(super) fn last_lines(file: &File, wanted: usize) -> io::Result<LastLines> {
    let (places, total) = places_of_lines(file, wanted)?;
    let mut budget = MAX_ANSWER;
    let fitting = places.iter().rev().take_while(|(start, end)| {
        let length = end - start;
        let fits = length <= budget;
        budget = budget.saturating_sub(length);
        fits
    });
    let kept: Vec<&(u64, u64)> = fitting.collect();
    let mut lines = Vec::with_capacity(kept.len());
    for (start, end) in kept.into_iter().rev() {
        lines.push(text_between(file, *start, *end)?);
    }
    Ok(LastLines { lines, total })
}

fn text_between(mut file: &File, start: u64, end: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(end - start).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned())
}

/// Begin and end of the last lines, and the number of all.
fn places_of_lines(mut file: &File, wanted: usize) -> io::Result<(VecDeque<(u64, u64)>, usize)> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let mut places = VecDeque::new();
    let (mut total, mut start, mut position, mut blank) = (0, 0, 0, true);
    let mut line_ends = |start: u64, end: u64| {
        total += 1;
        if places.len() == wanted {
            places.pop_front();
        }
        places.push_back((start, end));
    };
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        for byte in chunk {
            position += 1;
            if *byte == b'\n' {
                if !blank {
                    line_ends(start, position);
                }
                (start, blank) = (position, true);
            } else {
                blank &= byte.is_ascii_whitespace();
            }
        }
        let read = chunk.len();
        reader.consume(read);
    }
    if !blank {
        line_ends(start, position);
    }
    Ok((places, total))
}

/// Whether any line passes, read one by one.
pub(super) fn any_line(file: &File, passes: impl Fn(&str) -> bool) -> io::Result<bool> {
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line longer than an answer is none of ours; its pieces are looked at as lines.
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

    #[test]
    fn blank_lines_do_not_count() {
        let file = file_of(b"one\n\n  \r\ntwo\r\nthree");
        let all = last_lines(&file, 10).unwrap();
        assert_eq!((all.lines, all.total), (vec!["one".into(), "two".into(), "three".into()], 3));
        let last = last_lines(&file, 2).unwrap();
        assert_eq!((last.lines, last.total), (vec!["two".to_owned(), "three".to_owned()], 3));
        assert_eq!(last_lines(&file_of(b""), 5).unwrap().total, 0);
    }

    proptest! {
        #[test]
        fn as_if_the_whole_were_read(text in "[a-c \n]{0,200}", wanted in 1usize..20) {
            let expected: Vec<&str> = text.split('\n').filter(|line| !line.trim().is_empty()).collect();
            let read = last_lines(&file_of(text.as_bytes()), wanted).unwrap();
            prop_assert_eq!(read.total, expected.len());
            prop_assert_eq!(read.lines, expected[expected.len().saturating_sub(wanted)..].to_vec());
        }
    }
}
