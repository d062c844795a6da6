//! Splits a stream that arrives in chunks into lines, with memory bounded by the longest accepted line.

/// Buffer capacity to keep for the next line, in bytes. More, after a single long line, is returned to the
/// allocator.
const RETAINED_CAPACITY: usize = 1024 * 1024;

/// A splitter for a stream or a growing file.
#[derive(Debug)]
pub struct LineBuffer {
    /// Bytes of the current line, whose line feed has not been read yet.
    partial: Vec<u8>,
    /// Whether the current line exceeded `max_length` and is discarded up to its line feed.
    skipping: bool,
    max_length: usize,
}

impl LineBuffer {
    /// Creates a buffer that skips lines longer than `max_length` bytes.
    #[must_use]
    pub const fn new(max_length: usize) -> Self {
        Self { partial: Vec::new(), skipping: false, max_length }
    }

    /// Reads the next chunk and calls `each` for every line that ends in it, without its line feed, with the
    /// offset after the line feed within the chunk. A line that is too long is passed as `None`.
    pub fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(Option<&[u8]>, usize)) {
        let mut start = 0;
        while let Some(length) = chunk[start..].iter().position(|byte| *byte == b'\n') {
            let line = &chunk[start..start + length];
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
        let rest = &chunk[start..];
        if self.partial.len() + rest.len() > self.max_length {
            self.partial = Vec::new();
            self.skipping = true;
        } else if !self.skipping {
            self.partial.extend_from_slice(rest);
        }
    }

    /// Returns the incomplete last line; empty when the input ended with a line feed.
    #[must_use]
    pub fn partial(&self) -> &[u8] {
        &self.partial
    }

    /// Discards the incomplete last line.
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
            for chunk in text.as_bytes().chunks(size) {
                lines.feed(chunk, |line, end| seen.push((String::from_utf8(line.unwrap().to_vec()).unwrap(), read + end)));
                read += chunk.len();
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
    fn only_the_line_that_is_too_long_is_skipped() {
        for size in 1..20 {
            let mut lines = LineBuffer::new(4);
            let mut seen = Vec::new();
            for chunk in b"12345\nnext\n123456789\nhalf\ntail".chunks(size) {
                lines.feed(chunk, |line, _| seen.push(line.map(<[u8]>::to_vec)));
            }
            let text = |text: &[u8]| Some(text.to_vec());
            assert_eq!(seen, [None, text(b"next"), None, text(b"half")], "{size}");
            assert_eq!(lines.partial(), b"tail");
        }
    }
}
