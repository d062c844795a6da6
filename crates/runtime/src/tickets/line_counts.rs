//! Line counts of log files that only grow. Repeated requests read what was appended, not the whole file.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::last_lines::is_blank;

/// Number of files whose counts are kept. Each takes less than a kilobyte.
const MAX_FILES: usize = 16;
const BUFFER: usize = 64 * 1024;
/// Bytes before the counted end that must be unchanged for a count to be continued.
const COMPARED: usize = 256;

/// The number of non-blank lines of recently read files.
#[derive(Debug, Default)]
pub struct LineCounts(Mutex<VecDeque<(FileId, LineCount)>>);

/// Identity of a file. File systems reuse inode numbers, but not with the same creation time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
    /// `None` on file systems that do not record it.
    created: Option<SystemTime>,
}

/// Count of the non-blank lines up to a position.
#[derive(Debug, Clone, Default)]
struct LineCount {
    lines: usize,
    position: u64,
    /// Whether a line that is not blank begins before the position and has no line break yet.
    in_line: bool,
    /// The last bytes before the position, to detect a file that was rewritten in place.
    last_bytes: Vec<u8>,
}

impl LineCounts {
    /// Counts the lines of a file that are not blank, up to a size that the file had. Reads only what was
    /// appended since the last call, unless the file was truncated or replaced.
    pub(super) fn count(&self, file: &File, metadata: &Metadata) -> io::Result<usize> {
        let id = FileId { device: metadata.dev(), inode: metadata.ino(), created: metadata.created().ok() };
        // The lock is not held while the file is read, so that a large file does not delay other requests.
        let mut count = match self.get(id) {
            Some(count) if count.is_prefix_of(file, metadata.len())? => count,
            _ => LineCount::default(),
        };
        count.advance(file, metadata.len())?;
        let lines = count.total();
        self.insert(id, count);
        Ok(lines)
    }

    fn get(&self, id: FileId) -> Option<LineCount> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().find(|(known, _)| *known == id).map(|(_, count)| count.clone())
    }

    /// Stores a count in place of the file's earlier one, and evicts the least recently used one.
    fn insert(&self, id: FileId, count: LineCount) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.retain(|(known, _)| *known != id);
        counts.truncate(MAX_FILES - 1);
        counts.push_front((id, count));
    }
}

impl LineCount {
    /// Returns whether the file still contains what was counted, as far as its size and the last counted
    /// bytes show.
    fn is_prefix_of(&self, file: &File, size: u64) -> io::Result<bool> {
        if size < self.position {
            return Ok(false);
        }
        let mut bytes = vec![0; self.last_bytes.len()];
        match file.read_exact_at(&mut bytes, self.position - self.last_bytes.len() as u64) {
            Ok(()) => Ok(bytes == self.last_bytes),
            // Truncated since its size was read.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn total(&self) -> usize {
        self.lines + usize::from(self.in_line)
    }

    /// Counts from the position to the end, or to where the file was truncated in the meantime.
    fn advance(&mut self, file: &File, end: u64) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        while self.position < end {
            let length = usize::try_from(end - self.position).unwrap_or(BUFFER).min(BUFFER);
            let read = file.read_at(&mut buffer[..length], self.position)?;
            if read == 0 {
                break;
            }
            self.add(&buffer[..read]);
        }
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) {
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.lines += usize::from(self.in_line || !is_blank(&bytes[begin..end]));
            (self.in_line, begin) = (false, end + 1);
        }
        self.in_line |= !is_blank(&bytes[begin..]);
        self.position += bytes.len() as u64;
        self.last_bytes.extend_from_slice(&bytes[bytes.len().saturating_sub(COMPARED)..]);
        self.last_bytes.drain(..self.last_bytes.len().saturating_sub(COMPARED));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn count(counts: &LineCounts, file: &File) -> usize {
        counts.count(file, &file.metadata().unwrap()).unwrap()
    }

    fn file_of(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    /// Overwrites counted bytes before the compared ones; a count that read them again would change.
    fn blank_the_start(file: &File) {
        file.write_all_at(&[b' '; 100], 0).unwrap();
    }

    #[test]
    fn appended_bytes_are_counted_without_reading_the_others() {
        let counts = LineCounts::default();
        let mut file = file_of("12345678\n".repeat(1000).as_bytes());
        assert_eq!(count(&counts, &file), 1000);
        blank_the_start(&file);
        assert_eq!(count(&counts, &file), 1000);
        file.write_all(b"half").unwrap();
        assert_eq!(count(&counts, &file), 1001);
        file.write_all(b" line\n \nlast\n").unwrap();
        assert_eq!(count(&counts, &file), 1002);
    }

    #[test]
    fn file_that_was_truncated_or_rewritten_is_counted_from_its_start() {
        let counts = LineCounts::default();
        let file = file_of(&b"one\n".repeat(1000));
        assert_eq!(count(&counts, &file), 1000);
        file.set_len(40).unwrap();
        assert_eq!(count(&counts, &file), 10);
        file.set_len(0).unwrap();
        assert_eq!(count(&counts, &file), 0);
        file.write_all_at(&b"three3\n".repeat(1000), 0).unwrap();
        assert_eq!(count(&counts, &file), 1000);
        // Rewritten, and longer than before.
        file.write_all_at(&b"fourteen-bytes".repeat(1000), 0).unwrap();
        assert_eq!(count(&counts, &file), 1);
    }

    #[test]
    fn least_recently_used_count_is_evicted() {
        let counts = LineCounts::default();
        let files: Vec<File> = (0..=MAX_FILES).map(|_| file_of(&b"12345678\n".repeat(1000))).collect();
        files[..MAX_FILES].iter().for_each(|file| assert_eq!(count(&counts, file), 1000));
        // The second file is now the least recently used one, and the last file takes its place.
        assert_eq!(count(&counts, &files[0]), 1000);
        assert_eq!(count(&counts, &files[MAX_FILES]), 1000);
        files.iter().for_each(blank_the_start);
        assert_eq!(count(&counts, &files[0]), 1000);
        assert_eq!(count(&counts, &files[2]), 1000);
        assert_eq!(count(&counts, &files[1]), 989);
    }

    proptest! {
        #[test]
        fn count_in_pieces_equals_the_count_of_the_whole(pieces in proptest::collection::vec("[a \n]{0,300}", 0..8)) {
            let (counts, mut file, mut text) = (LineCounts::default(), file_of(b""), String::new());
            for piece in pieces {
                file.write_all(piece.as_bytes()).unwrap();
                text.push_str(&piece);
                let expected = text.split('\n').filter(|line| !line.trim().is_empty()).count();
                prop_assert_eq!(count(&counts, &file), expected);
            }
        }
    }
}
