//! Cuts a byte stream into lines, without ever holding more than one line.

/// Longest line that is kept; the assistant puts whole images into one.
const LINE_CAP: usize = 32 * 1024 * 1024;

/// The unfinished line at the end of what has been read.
#[derive(Debug, Default)]
pub struct LineSplitter {
    rest: Vec<u8>,
    /// The line has outgrown the cap and is skipped up to its end.
    skipping: bool,
}

impl LineSplitter {
    /// Takes a piece and hands on every line that it completes, without the line break.
    pub fn feed(&mut self, piece: &[u8], mut line: impl FnMut(&[u8])) {
        let mut start = 0;
        while let Some(offset) = piece[start..].iter().position(|byte| *byte == b'\n') {
            let end = start + offset;
            if self.skipping {
                self.skipping = false;
            } else if self.rest.is_empty() {
                line(&piece[start..end]);
            } else {
                self.rest.extend_from_slice(&piece[start..end]);
                line(&self.rest);
                self.rest.clear();
            }
            start = end + 1;
        }
        if !self.skipping {
            self.rest.extend_from_slice(&piece[start..]);
            if self.rest.len() > LINE_CAP {
                self.rest = Vec::new();
                self.skipping = true;
            }
        }
    }

    /// The last line, when the stream ended without a line break.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.rest)).filter(|rest| !rest.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_cuts_of_the_pieces_do_not_matter(
            text in "[a{\n]{0,80}",
            size in 1usize..9,
        ) {
            let mut lines = LineSplitter::default();
            let mut seen = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                lines.feed(piece, |line| seen.push(String::from_utf8(line.to_vec()).unwrap()));
            }
            seen.extend(lines.finish().map(|line| String::from_utf8(line).unwrap()));
            let expected: Vec<String> = text.lines().map(str::to_owned).collect();
            prop_assert_eq!(seen, expected);
        }
    }

    #[test]
    fn an_endless_line_is_skipped() {
        let mut lines = LineSplitter::default();
        let mut seen = Vec::new();
        lines.feed(&vec![b'x'; LINE_CAP + 1], |_| panic!("no line yet"));
        lines.feed(b"tail\nnext\n", |line| seen.push(line.to_vec()));
        assert_eq!(seen, [b"next".to_vec()]);
    }
}
