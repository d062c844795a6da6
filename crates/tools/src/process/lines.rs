//! Cuts what is read piece by piece into lines, holding at most one of them.

/// A buffer that one line has made larger than this is given back, in bytes.
const RETAINED_CAPACITY: usize = 1024 * 1024;

/// The lines of a stream or of a growing file.
#[derive(Debug)]
pub struct LineBuffer {
    /// The start of a line whose end has not been read yet.
    partial: Vec<u8>,
    /// Whether the present line is too long and is being skipped.
    skipping: bool,
    max_length: usize,
}

impl LineBuffer {
    /// A buffer that skips lines of more bytes than `max_length`.
    #[must_use]
    pub const fn new(max_length: usize) -> Self {
        Self { partial: Vec::new(), skipping: false, max_length }
    }

    /// Reads the next piece and hands on each line that ends in it, without its line break, with the offset
    /// behind the break within the piece. A line that is too long is handed on as `None`.
    pub fn feed(&mut self, piece: &[u8], mut each: impl FnMut(Option<&[u8]>, usize)) {
        let mut start = 0;
        while let Some(length) = piece[start..].iter().position(|byte| *byte == b'\n') {
            let line = &piece[start..start + length];
            start += length + 1;
            if std::mem::take(&mut self.skipping) || self.partial.len() + line.len() > self.max_length {
                each(None, start);
            } else if self.partial.is_empty() {
                each(Some(line), start);
            } else {
                self.partial.extend_from_slice(line);
                each(Some(&self.partial), start);
            }
            self.partial.clear();
            self.partial.shrink_to(RETAINED_CAPACITY);
        }
        let rest = &piece[start..];
        if self.partial.len() + rest.len() > self.max_length {
            self.partial = Vec::new();
            self.skipping = true;
        } else if !self.skipping {
            self.partial.extend_from_slice(rest);
        }
    }

    /// The start of the present line; empty between two lines.
    #[must_use]
    pub fn partial(&self) -> &[u8] {
        &self.partial
    }

    /// Forgets the start of the present line.
    pub fn clear(&mut self) {
        *self = Self::new(self.max_length);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_change_lines(text in "[a{\n]{0,80}", size in 1usize..9) {
            let mut lines = LineBuffer::new(1000);
            let (mut seen, mut read) = (Vec::new(), 0);
            for piece in text.as_bytes().chunks(size) {
                lines.feed(piece, |line, end| seen.push((String::from_utf8(line.unwrap().to_vec()).unwrap(), read + end)));
                read += piece.len();
            }
            let mut expected = Vec::new();
            let mut end = 0;
            for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
                end += line.len();
                expected.push((line.trim_end_matches('\n').to_owned(), end));
            }
            prop_assert_eq!(seen, expected);
            prop_assert_eq!(lines.partial(), &text.as_bytes()[end..]);
        }
    }

    #[test]
    fn line_that_is_too_long_is_skipped_and_the_next_is_not() {
        for size in 1..20 {
            let mut lines = LineBuffer::new(4);
            let mut seen = Vec::new();
            for piece in b"12345\nnext\n123456789\nhalf\ntail".chunks(size) {
                lines.feed(piece, |line, _| seen.push(line.map(<[u8]>::to_vec)));
            }
            let text = |text: &[u8]| Some(text.to_vec());
            assert_eq!(seen, [None, text(b"next"), None, text(b"half")], "{size}");
            assert_eq!(lines.partial(), b"tail");
        }
    }
}
