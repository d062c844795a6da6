use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::diff_data::{ChangedLineCount, ChangedRanges};

/// A file with hunks: unchanged lines before it, removed and added lines.
type TestFile<'a> = (&'a str, &'a [(u64, u64, u64)]);

fn data(files: &[TestFile<'_>]) -> DiffData {
    let mut data = DiffData::default();
    for (path, hunks) in files {
        let (mut ranges, mut count) = (ChangedRanges::default(), ChangedLineCount::default());
        let (mut old, mut new) = (1, 1);
        for (unchanged, removed, added) in *hunks {
            (old, new) = (old + unchanged, new + unchanged);
            if *removed > 0 {
                ranges.removed.push([old, old + removed - 1]);
                ranges.removed_at.push(new);
            }
            if *added > 0 {
                ranges.added.push([new, new + added - 1]);
            }
            (old, new) = (old + removed, new + added);
            count.added += added;
            count.removed += removed;
        }
        data.files_to_review.push((*path).to_owned());
        data.total_loc += count.total();
        data.file_loc.insert((*path).to_owned(), count);
        data.changed_ranges.insert((*path).to_owned(), ranges);
    }
    data
}

fn limits(lines: u64, files: usize, partitions: usize) -> PartitionLimits {
    PartitionLimits { lines, files, partitions }
}

fn files(partition: &Partition) -> Vec<&str> {
    partition.files.iter().map(|entry| entry.file.as_str()).collect()
}

// PR-21
#[test]
fn large_file_is_divided_by_line_ranges() {
    let parts = partition(&data(&[("big.rs", &[(0, 0, 1200)])]), limits(500, 25, 5));
    let entries: Vec<(u64, Option<LineRange>)> = parts
        .partitions
        .iter()
        .flat_map(|partition| &partition.files)
        .map(|entry| (entry.loc, entry.line_range))
        .collect();
    assert_eq!(entries, [(500, Some([1, 500])), (500, Some([501, 1000])), (200, Some([1001, 1200]))]);
    let value = serde_json::to_value(&parts).unwrap();
    assert_eq!(
        value["partitions"][2],
        serde_json::json!({"id": 2, "files": [{"file": "big.rs", "loc": 200,
        "is_test": false, "line_range": [1001, 1200]}], "total_loc": 200, "is_test_only": false})
    );
    // Hunks remain whole where they fit.
    let hunks =
        partition(&data(&[("a.rs", &[(10, 0, 300), (10, 0, 150), (10, 0, 300)])]), limits(500, 25, 5));
    let ranges: Vec<Option<LineRange>> =
        hunks.partitions.iter().map(|partition| partition.files[0].line_range).collect();
    assert_eq!(ranges, [Some([11, 530]), Some([531, 780])]);
}

// PR-21
#[test]
fn partitions_are_merged_down_to_their_limit() {
    let names: Vec<String> = (10..22).map(|number| format!("src/{number}.rs")).collect();
    let of = |added| {
        let hunks = [(0, 0, added)];
        let list: Vec<TestFile<'_>> = names.iter().map(|name| (name.as_str(), hunks.as_slice())).collect();
        partition(&data(&list), limits(500, 25, 5))
    };
    // Four of 300 lines fit into one of 1,200 lines.
    let merged = of(300);
    assert_eq!((merged.partitions.len(), merged.force_merged_count), (5, 0));
    let forced = of(500);
    assert_eq!((forced.partitions.len(), forced.force_merged_count), (5, 1));
    assert_eq!(forced.partitions.iter().map(|partition| partition.total_loc).sum::<u64>(), 6000);
    assert_eq!(forced.partitions.iter().map(|partition| partition.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn tests_are_separated_from_much_implementation() {
    let list: &[TestFile<'_>] =
        &[("src/a.rs", &[(0, 0, 50)]), ("tests/a.rs", &[(0, 0, 40)]), ("web/b.spec.ts", &[(0, 0, 30)])];
    let parts = partition(&data(list), PartitionLimits::default());
    let names: Vec<(Vec<&str>, bool)> =
        parts.partitions.iter().map(|part| (files(part), part.is_test_only)).collect();
    assert_eq!(names, [(vec!["src/a.rs"], false), (vec!["tests/a.rs", "web/b.spec.ts"], true)]);
    assert_eq!(parts.test_file_paths, ["tests/a.rs", "web/b.spec.ts"]);
    // With little implementation they stay together.
    let list: &[TestFile<'_>] = &[("src/a.rs", &[(0, 0, 49)]), ("tests/a.rs", &[(0, 0, 40)])];
    let parts = partition(&data(list), PartitionLimits::default());
    assert_eq!((parts.partitions.len(), parts.partitions[0].is_test_only), (1, false));
}

#[test]
fn small_partition_joins_another() {
    let list: &[TestFile<'_>] =
        &[("a.rs", &[(0, 0, 400)]), ("b.rs", &[(0, 0, 395)]), ("c.rs", &[(0, 0, 19)])];
    let parts = partition(&data(list), PartitionLimits::default());
    let names: Vec<Vec<&str>> = parts.partitions.iter().map(files).collect();
    assert_eq!(names, [vec!["a.rs"], vec!["b.rs", "c.rs"]]);
}

#[test]
fn test_files_are_recognized_by_name_and_directory() {
    for path in ["a.test.ts", "src/a.spec.js", "tests/a.rs", "a/__tests__/b.js", "x/test/y/z.py"] {
        assert!(is_test_path(path), "{path}");
    }
    for path in ["test", "src/testing/a.rs", "contest.rs", "a/tests.rs", "attest/a.rs"] {
        assert!(!is_test_path(path), "{path}");
    }
}

#[test]
fn empty_change_and_absurd_limits_are_accepted() {
    assert_eq!(partition(&DiffData::default(), limits(0, 0, 0)).partitions, []);
    let all = partition(&data(&[("a", &[(0, 3, 5)]), ("b", &[])]), limits(0, 0, 0));
    assert_eq!(all.partitions.len(), 1);
    let mut huge = data(&[("a", &[(0, 0, 5)])]);
    huge.changed_ranges.get_mut("a").unwrap().added = vec![[1, u64::MAX]];
    huge.file_loc.get_mut("a").unwrap().added = u64::MAX;
    assert_eq!(partition(&huge, limits(1, 1, 1)).partitions.len(), 1);
}

proptest! {
    #[test]
    fn each_changed_line_is_in_exactly_one_partition(
        list in proptest::collection::btree_map(
            "(src|tests|lib/test)/[a-f]{1,2}(\\.test)?\\.rs",
            proptest::collection::vec((1..9_u64, 0..40_u64, 0..400_u64), 0..6),
            0..14,
        ),
        (lines, files, count) in (1..300_u64, 1..8_usize, 1..7_usize),
    ) {
        let list: Vec<TestFile<'_>> = list.iter().map(|(path, hunks)| (path.as_str(), hunks.as_slice())).collect();
        let data = data(&list);
        let parts = partition(&data, limits(lines, files, count));
        let mut by_file: BTreeMap<&str, Vec<&PartitionEntry>> = BTreeMap::new();
        for (id, part) in parts.partitions.iter().enumerate() {
            prop_assert_eq!(part.id, id);
            prop_assert_eq!(part.total_loc, part.files.iter().map(|entry| entry.loc).sum::<u64>());
            prop_assert_eq!(part.is_test_only, part.files.iter().all(|entry| entry.is_test));
            prop_assert!(!part.files.is_empty());
            for entry in &part.files {
                by_file.entry(&entry.file).or_default().push(entry);
            }
        }
        prop_assert_eq!(by_file.len(), data.files_to_review.len());
        for (path, hunks) in &list {
            let entries = &by_file[path];
            prop_assert_eq!(entries.iter().map(|entry| entry.loc).sum::<u64>(), data.line_count(path));
            if entries.iter().any(|entry| entry.line_range.is_none()) {
                prop_assert_eq!(entries.len(), 1);
                continue;
            }
            // Counts the lines of each range independently of the ranges of the change.
            let mut places = Vec::new();
            let mut line = 1;
            for (unchanged, removed, added) in *hunks {
                line += unchanged;
                places.extend((0..*removed).map(|_| line));
                places.extend(line..line + added);
                line += added;
            }
            let largest_removal = hunks.iter().map(|(_, removed, _)| *removed).max().unwrap_or(0);
            for entry in entries {
                let [first, last] = entry.line_range.unwrap();
                let inside = places.iter().filter(|place| (first..=last).contains(*place)).count() as u64;
                prop_assert_eq!(inside, entry.loc, "{} {:?}", path, entry);
                prop_assert!(entry.loc <= lines + 2 * largest_removal + 1);
            }
            let covered = |place: &u64| entries.iter().filter(|entry| {
                let [first, last] = entry.line_range.unwrap();
                (first..=last).contains(place)
            }).count() == 1;
            prop_assert!(places.iter().all(covered));
        }
        // Limits hold unless partitions were merged by force.
        prop_assert!(parts.partitions.len() <= count);
        if parts.force_merged_count == 0 {
            prop_assert!(parts.partitions.iter().all(|part| part.files.len() <= files));
            let max = lines.max(MAX_MERGED) + MIN_LINES * files as u64;
            prop_assert!(parts.partitions.iter().all(|part| part.total_loc <= max || part.files.len() == 1));
        }
    }
}
