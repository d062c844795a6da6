//! Divides a change among reviewers: `partitions.json`.
//!
//! Each file is in one partition, except a large one, whose line ranges are divided.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::diff_data::{ChangeStatus, DiffData, LineRange};

/// Lines of implementation from which tests are reviewed separately.
const MIN_IMPLEMENTATION: u64 = 50;
/// Largest number of lines of a partition that was merged with another of its kind.
const MAX_MERGED: u64 = 1200;
/// Partitions with fewer lines join another.
const MIN_LINES: u64 = 20;
/// Largest number of parts of a file, which bounds the time for absurd limits.
const MAX_PARTS: u64 = 10_000;
/// Directories of tests.
const TEST_DIRECTORIES: [&str; 3] = ["__tests__", "test", "tests"];

/// Limits of partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionLimits {
    /// Changed lines of a partition.
    pub lines: u64,
    /// Files of a partition.
    pub files: usize,
    /// Number of partitions.
    pub partitions: usize,
}

impl Default for PartitionLimits {
    fn default() -> Self {
        Self { lines: 400, files: 20, partitions: 5 }
    }
}

/// The parts of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partitions {
    /// Partitions; the id of each is its index.
    pub partitions: Vec<Partition>,
    /// Paths of the changed test files.
    pub test_file_paths: Vec<String>,
    /// Number of times that partitions were merged without regard to their limits.
    pub force_merged_count: u64,
}

/// A part of a change, for one reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Partition {
    /// Number of the partition, from 0.
    pub id: usize,
    /// Files, or parts of files.
    pub files: Vec<PartitionEntry>,
    /// Number of changed lines.
    pub total_loc: u64,
    /// Whether all files are tests.
    pub is_test_only: bool,
}

/// A file of a partition, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionEntry {
    /// Path of the file.
    pub file: String,
    /// Number of changed lines.
    pub loc: u64,
    /// Whether the file contains tests.
    pub is_test: bool,
    /// First and last line of the part; the whole file if absent. Lines of the new file, of the old one if the file was
    /// removed. Removed lines belong to the line of the new file before which they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_range: Option<LineRange>,
}

/// Returns whether a path is that of a test file.
#[must_use]
pub fn is_test_path(path: &str) -> bool {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    name.contains(".test.")
        || name.contains(".spec.")
        || directory.split('/').any(|directory| TEST_DIRECTORIES.contains(&directory))
}

/// Divides a change.
#[must_use]
pub fn partition(data: &DiffData, limits: PartitionLimits) -> Partitions {
    // A limit of 0 cannot be met.
    let limits = PartitionLimits {
        lines: limits.lines.max(1),
        files: limits.files.max(1),
        partitions: limits.partitions.max(1),
    };
    let mut entries: Vec<PartitionEntry> =
        data.files_to_review.iter().flat_map(|path| entries(data, path, limits.lines)).collect();
    // The sort is stable, so that the parts of a file remain in their order.
    entries.sort_by(|one, other| (Reverse(one.loc), &one.file).cmp(&(Reverse(other.loc), &other.file)));
    let mut packed = Partitioning { limits, partitions: Vec::new(), force_merged_count: 0 };
    packed.pack(entries);
    packed.separate_tests();
    packed.merge_same_kind();
    packed.force_merge();
    packed.join_small();
    let mut partitions = packed.partitions;
    for (id, partition) in partitions.iter_mut().enumerate() {
        partition.id = id;
    }
    let mut test_file_paths: Vec<String> =
        data.files_to_review.iter().filter(|path| is_test_path(path)).cloned().collect();
    test_file_paths.sort_unstable();
    Partitions { partitions, test_file_paths, force_merged_count: packed.force_merged_count }
}

/// Returns the entry of a file, or those of its parts if it has more lines than a partition.
fn entries(data: &DiffData, path: &str, max_lines: u64) -> Vec<PartitionEntry> {
    let loc = data.line_count(path);
    let entry = |loc, line_range| PartitionEntry {
        file: path.to_owned(),
        loc,
        is_test: is_test_path(path),
        line_range,
    };
    let mut blocks = if loc > max_lines { blocks(data, path) } else { Vec::new() };
    // Small, or the ranges are not those of the counted lines.
    if blocks.iter().map(LineBlock::lines).fold(0, u64::saturating_add) != loc || blocks.is_empty() {
        return vec![entry(loc, None)];
    }
    blocks.sort_unstable();
    let max_lines = max_lines.max(loc / MAX_PARTS);
    let mut parts: Vec<(u64, LineRange)> = Vec::new();
    for block in blocks {
        let mut first = block.first;
        while first <= block.last {
            let (used, end) = parts.last().map_or((max_lines, 0), |(lines, range)| (*lines, range[1]));
            let room = max_lines.saturating_sub(used);
            // Lines at one place of the new file belong to one part, and removed lines are at one place.
            let is_same_place = end >= first;
            let (lines, last) = match (block.removed, is_same_place) {
                (0, true) if room == 0 => (end - first + 1, end),
                (0, _) => {
                    let lines = block.lines_from(first).min(if room == 0 { max_lines } else { room });
                    (lines, first + (lines - 1))
                }
                (removed, _) => (removed, block.last),
            };
            match parts.last_mut() {
                Some((part, range)) if is_same_place || lines <= room => {
                    *part += lines;
                    range[1] = range[1].max(last);
                }
                _ => parts.push((lines, [first, last])),
            }
            let Some(next) = last.checked_add(1) else { break };
            first = next;
        }
    }
    parts.into_iter().map(|(loc, range)| entry(loc, Some(range))).collect()
}

/// Changed lines in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LineBlock {
    first: u64,
    last: u64,
    /// Number of lines that were removed there; 0 for added lines.
    removed: u64,
}

impl LineBlock {
    const fn lines(&self) -> u64 {
        if self.removed > 0 { self.removed } else { self.lines_from(self.first) }
    }

    const fn lines_from(&self, first: u64) -> u64 {
        self.last.saturating_sub(first).saturating_add(1)
    }
}

fn blocks(data: &DiffData, path: &str) -> Vec<LineBlock> {
    let Some(ranges) = data.changed_ranges.get(path) else { return Vec::new() };
    let lines = |[first, last]: &LineRange| LineBlock { first: *first, last: *last, removed: 0 };
    if data.file_statuses.get(path) == Some(&ChangeStatus::Removed) {
        return ranges.removed.iter().map(lines).collect();
    }
    let removed = ranges.removed.iter().enumerate().map(|(index, [first, last])| {
        // Without the places in the new file, the old lines are the best estimate.
        let at = ranges.removed_at.get(index).copied().unwrap_or(*first);
        LineBlock { first: at, last: at, removed: last.saturating_sub(*first) + 1 }
    });
    ranges.added.iter().map(lines).chain(removed).collect()
}

struct Partitioning {
    limits: PartitionLimits,
    partitions: Vec<Partition>,
    force_merged_count: u64,
}

impl Partition {
    fn of(files: Vec<PartitionEntry>) -> Self {
        let total_loc = files.iter().map(|entry| entry.loc).sum();
        let is_test_only = files.iter().all(|entry| entry.is_test);
        Self { id: 0, files, total_loc, is_test_only }
    }

    fn absorb(&mut self, other: Self) {
        self.files.extend(other.files);
        *self = Self::of(std::mem::take(&mut self.files));
    }
}

impl Partitioning {
    /// Puts each entry into the first partition with room for it.
    fn pack(&mut self, entries: Vec<PartitionEntry>) {
        for entry in entries {
            let has_room = |partition: &&mut Partition| {
                partition.total_loc.saturating_add(entry.loc) <= self.limits.lines
                    && partition.files.len() < self.limits.files
            };
            match self.partitions.iter_mut().find(has_room) {
                Some(partition) => partition.absorb(Partition::of(vec![entry])),
                None => self.partitions.push(Partition::of(vec![entry])),
            }
        }
    }

    /// Divides partitions with tests and much implementation.
    fn separate_tests(&mut self) {
        let mut separated = Vec::new();
        for partition in std::mem::take(&mut self.partitions) {
            let (tests, rest): (Vec<_>, Vec<_>) =
                partition.files.into_iter().partition(|entry| entry.is_test);
            let implementation: u64 = rest.iter().map(|entry| entry.loc).sum();
            if tests.is_empty() || rest.is_empty() || implementation < MIN_IMPLEMENTATION {
                separated.push(Partition::of(rest.into_iter().chain(tests).collect()));
            } else {
                separated.extend([Partition::of(rest), Partition::of(tests)]);
            }
        }
        self.partitions = separated;
    }

    /// Merges partitions of one kind, the smallest first, until there are few enough or none fit together.
    fn merge_same_kind(&mut self) {
        while self.partitions.len() > self.limits.partitions {
            let order = self.by_size();
            let size = |index: usize| self.partitions[index].total_loc;
            let fits = |one: usize, other: usize| {
                let (one, other) = (&self.partitions[one], &self.partitions[other]);
                one.is_test_only == other.is_test_only
                    && one.total_loc.saturating_add(other.total_loc) <= MAX_MERGED
                    && one.files.len() + other.files.len() <= self.limits.files
            };
            let mut lowest: Option<(u64, usize, usize)> = None;
            for (at, one) in order.iter().copied().enumerate() {
                if lowest.is_some_and(|(total, ..)| 2 * size(one) >= total) || size(one) > MAX_MERGED {
                    break;
                }
                // In the order of size, the first that fits has the lowest total.
                let Some(other) = order[at + 1..].iter().copied().find(|other| fits(one, *other)) else {
                    continue;
                };
                let total = size(one) + size(other);
                if lowest.is_none_or(|(lowest, ..)| total < lowest) {
                    lowest = Some((total, one, other));
                }
            }
            let Some((_, one, other)) = lowest else { return };
            self.merge(one, other);
        }
    }

    /// Merges the two smallest partitions until there are few enough.
    fn force_merge(&mut self) {
        while self.partitions.len() > self.limits.partitions {
            let order = self.by_size();
            self.merge(order[0], order[1]);
            self.force_merged_count += 1;
        }
    }

    /// Adds partitions with few lines to the smallest partition of the same kind, else of any kind, that has room for
    /// their files.
    fn join_small(&mut self) {
        loop {
            let order = self.by_size();
            let target = |small: usize, same_kind: bool| {
                order.iter().copied().find(|other| {
                    let (small_one, other_one) = (&self.partitions[small], &self.partitions[*other]);
                    *other != small
                        && (!same_kind || small_one.is_test_only == other_one.is_test_only)
                        && small_one.files.len() + other_one.files.len() <= self.limits.files
                })
            };
            let small = order.iter().copied().filter(|index| self.partitions[*index].total_loc < MIN_LINES);
            let pair = small.filter_map(|small| {
                target(small, true).or_else(|| target(small, false)).map(|other| (small, other))
            });
            let Some((small, other)) = pair.into_iter().next() else { return };
            self.merge(other, small);
        }
    }

    /// Returns the indices of the partitions, the smallest first.
    fn by_size(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.partitions.len()).collect();
        order.sort_by_key(|index| self.partitions[*index].total_loc);
        order
    }

    /// Adds the second partition to the first one.
    fn merge(&mut self, into: usize, from: usize) {
        let from_partition = self.partitions.remove(from);
        let into = if from < into { into - 1 } else { into };
        self.partitions[into].absorb(from_partition);
    }
}

#[cfg(test)]
mod tests;
