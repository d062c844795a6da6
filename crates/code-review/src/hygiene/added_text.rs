//! The added lines of a file as one text, so that each pattern scans a file once.

use std::collections::BTreeMap;
use std::ops::Range;

/// Added lines, each with a line feed, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedText {
    text: String,
    /// Byte offsets of the lines, with their numbers.
    starts: Vec<(usize, u64)>,
}

impl AddedText {
    pub fn new(lines: &BTreeMap<u64, String>) -> Self {
        let mut text = String::with_capacity(lines.values().map(|line| line.len() + 1).sum());
        let mut starts = Vec::with_capacity(lines.len());
        for (number, line) in lines {
            starts.push((text.len(), *number));
            text.push_str(line);
            text.push('\n');
        }
        Self { text, starts }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn first_line(&self) -> Option<u64> {
        self.starts.first().map(|(_, number)| *number)
    }

    /// Returns the byte ranges of consecutive lines, without lines of more than `max_line` bytes.
    pub fn without_long_lines(&self, max_line: usize) -> Vec<Range<usize>> {
        let ends = self.starts.iter().skip(1).map(|(start, _)| *start).chain([self.text.len()]);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for ((start, _), end) in
            self.starts.iter().zip(ends).filter(|((start, _), end)| end - start <= max_line)
        {
            match ranges.last_mut() {
                Some(last) if last.end == *start => last.end = end,
                _ => ranges.push(*start..end),
            }
        }
        ranges
    }

    /// Returns the number of the line that contains a byte offset.
    pub fn line_number(&self, at: usize) -> u64 {
        let after = self.starts.partition_point(|(start, _)| *start <= at);
        self.starts.get(after.saturating_sub(1)).map_or(1, |(_, number)| *number)
    }

    /// Returns the byte range of the line that contains a byte offset, without its line feed.
    pub fn line_range(&self, at: usize) -> Range<usize> {
        let after = self.starts.partition_point(|(start, _)| *start <= at);
        let start = self.starts.get(after.saturating_sub(1)).map_or(0, |(start, _)| *start);
        let end = self.starts.get(after).map_or(self.text.len(), |(start, _)| *start);
        start..end.saturating_sub(1).max(start)
    }
}
