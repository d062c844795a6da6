//! Cuts what is read of a growing file into lines, with flat memory.

/// A line that is longer is skipped.
const MAX_LINE: usize = 32 * 1024 * 1024;
/// A buffer that one line has made larger than this is given back.
const KEPT_BUFFER: usize = 1024 * 1024;

/// The lines of one file, fed piece by piece.
#[derive(Debug, Default)]
pub(crate) struct TranscriptLines {
    /// The beginning of a line whose end has not been read yet.
    partial: Vec<u8>,
    /// Whether the present line is too long and is being skipped.
    skipping: bool,
}

impl TranscriptLines {
    /// Takes a piece that begins at `at`, and hands on each line that ends in it, with the offset
    /// behind it. A line that is too long is handed on as nothing.
    pub fn take(&mut self, bytes: &[u8], mut at: u64, mut each: impl FnMut(Option<&[u8]>, u64)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            at += end as u64 + 1;
            rest = &after[1..];
            if std::mem::take(&mut self.skipping) {
                each(None, at);
            } else if self.partial.is_empty() {
                each(Some(line), at);
            } else {
                self.partial.extend_from_slice(line);
                each(Some(&self.partial), at);
                self.partial.clear();
                self.partial.shrink_to(KEPT_BUFFER);
            }
        }
        if self.partial.len() + rest.len() > MAX_LINE {
            self.partial = Vec::new();
            self.skipping = true;
        } else if !self.skipping {
            self.partial.extend_from_slice(rest);
        }
    }

    /// The beginning of the present line; empty between two lines.
    pub fn unfinished(&self) -> &[u8] {
        &self.partial
    }

    /// Forgets the beginning of the present line.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_is_not() {
        let mut lines = TranscriptLines::default();
        let mut seen = Vec::new();
        let piece = vec![b'x'; MAX_LINE / 2 + 1];
        let mut at = 0;
        for bytes in [&piece[..], &piece[..], b"x\nnext\n", b"ha", b"lf\n"] {
            lines.take(bytes, at, |line, end| seen.push((line.map(<[u8]>::to_vec), end)));
            at += bytes.len() as u64;
        }
        let long = piece.len() as u64 * 2 + 2;
        let text = |text: &[u8]| Some(text.to_vec());
        assert_eq!(seen, [(None, long), (text(b"next"), long + 5), (text(b"half"), long + 10)]);
        assert!(lines.unfinished().is_empty());
    }
}
