use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};

use super::*;
use crate::diff_data::{ChangedLineCount, DiffData};

const HASH: &str = "de980441c3ab03a8c07dda1ad27b8a11f39deb1e";

fn git(directory: &Path, args: &[&str]) -> Vec<u8> {
    #[expect(clippy::disallowed_methods, reason = "prepares a test; the product starts git elsewhere")]
    let output = std::process::Command::new("git")
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn tree(directory: &Path) -> String {
    git(directory, &["add", "--all"]);
    String::from_utf8(git(directory, &["write-tree"])).unwrap().trim().to_owned()
}

fn compare(directory: &Path, from: &str, to: &str, options: &[&str]) -> Vec<u8> {
    let args = ["diff-tree", "-r", "-z", "--raw", "--numstat", "--patch"];
    git(directory, &[&args, options, &[from, to]].concat())
}

/// Splits a content as a patch does. The line feed at the end is not part of a line.
fn lines(content: &[u8]) -> Vec<&[u8]> {
    match content.strip_suffix(b"\n").unwrap_or(content) {
        [] if content.is_empty() => Vec::new(),
        content => content.split(|byte| *byte == b'\n').collect(),
    }
}

/// Applies the hunks to the old lines, and checks the removed lines and all numbers.
fn applied<'a>(file: &ReviewedFile<'a>, old: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let mut new: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    for hunk in &file.hunks {
        let start = usize::try_from(hunk.old.0).unwrap() - 1;
        new.extend(&old[at..start]);
        at = start;
        for line in &hunk.removed {
            assert_eq!((line.number, line.text), (at as u64 + 1, old[at]));
            at += 1;
        }
        assert_eq!(hunk.new.0, new.len() as u64 + 1);
        for line in &hunk.added {
            new.push(line.text);
            assert_eq!(line.number, new.len() as u64);
        }
        assert_eq!((hunk.old.1, hunk.new.1), (hunk.removed.len() as u64, hunk.added.len() as u64));
    }
    new.extend(&old[at..]);
    new
}

/// Lines that resemble parts of a patch.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let resembling = [
        "",
        "-",
        "+",
        " ",
        "--- a/x",
        "+++ b/x",
        "-- a/x",
        "++ b/x",
        "@@ -1 +1 @@",
        "@@ -1,9 +1,9 @@ f",
        "diff --git a/x b/x",
        "\\ No newline at end of file",
        "Binary files a/x and b/x differ",
        "\r",
        "rename from x",
        "* Unmerged path x",
    ];
    let any =
        proptest::collection::vec(any::<u8>().prop_filter("a line", |byte| !matches!(byte, 0 | b'\n')), 0..6);
    prop_oneof![
        4 => proptest::sample::select(resembling.map(|line| line.as_bytes().to_vec()).to_vec()),
        1 => any,
        1 => Just(b"a\0b".to_vec()),
    ]
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    (proptest::collection::vec(line(), 0..12), any::<bool>()).prop_map(|(lines, ends)| {
        let mut content = lines.join(&b'\n');
        content.extend(ends.then_some(b'\n'));
        content
    })
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let any = proptest::collection::vec(1..=255_u8, 1..5).prop_map(|bytes| {
        bytes.into_iter().map(|byte| if byte == b'/' { b'x' } else { byte }).collect::<Vec<u8>>()
    });
    let resembling = ["a b", "b/x", "x b", "\"q\"", "-x", "größe", "a\nb", "a\tb"];
    let any = prop_oneof![
        any,
        proptest::sample::select(resembling.map(|name| name.replace('/', "_").into_bytes()).to_vec())
    ];
    any.prop_filter("a file name", |name| !matches!(name.as_slice(), b"." | b".."))
}

/// ContentPair of a file; `None` where it does not exist.
type ContentPair = (Option<Vec<u8>>, Option<Vec<u8>>);

fn check_files(files: &std::collections::BTreeMap<Vec<u8>, ContentPair>) -> Result<(), TestCaseError> {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    git(root, &["init", "--quiet"]);
    let path = |name: &[u8]| root.join(OsStr::from_bytes(&[b"f", name].concat()));
    let mut trees = Vec::new();
    for is_new in [false, true] {
        for (name, (old, new)) in files {
            match if is_new { new } else { old } {
                Some(content) => fs::write(path(name), content).unwrap(),
                None => drop(fs::remove_file(path(name))),
            }
        }
        trees.push(tree(root));
    }
    for options in [["--unified=0", "--no-renames"], ["--unified=1", "--no-renames"]] {
        for quote in ["core.quotePath=true", "core.quotePath=false"] {
            let args = ["-c", quote, "diff-tree", "-r", "-z", "--raw", "--numstat", "--patch"];
            let output = git(root, &[args.as_slice(), &options, &[&trees[0], &trees[1]]].concat());
            let change =
                ReviewedChange::parse(&output).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let changed = files.iter().filter(|(_, (old, new))| old != new);
            prop_assert_eq!(change.files.len(), changed.clone().count());
            for (name, (old, new)) in changed {
                let path = [b"f", name.as_slice()].concat();
                let file = change.files.iter().find(|file| file.path == path).unwrap();
                let status = match (old, new) {
                    (None, _) => b'A',
                    (_, None) => b'D',
                    _ => b'M',
                };
                prop_assert_eq!(file.status, status);
                let (old, new) = (old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default());
                if old.contains(&0) || new.contains(&0) {
                    prop_assert_eq!((file.line_count, file.hunks.len()), (None, 0));
                    continue;
                }
                let (old, new) = (lines(old), lines(new));
                prop_assert_eq!(applied(file, &old), new.clone());
                for line in &file.unchanged {
                    prop_assert_eq!(line.text, new[line.number as usize - 1]);
                }
            }
            // Truncated output is never accepted.
            for end in [output.len() / 2, output.len().saturating_sub(3), output.len() / 3] {
                if end > 0 && end + 1 < output.len() {
                    let part = ReviewedChange::parse(&output[..end]);
                    prop_assert!(
                        part.is_err()
                            || part == Ok(change.clone())
                            || output[end..].iter().all(|byte| *byte == b'\n'),
                        "{}",
                        end
                    );
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(24) })]

    #[test]
    fn output_of_git_is_parsed_for_any_names_and_contents(
        files in proptest::collection::btree_map(
            name(), (proptest::option::of(content()), proptest::option::of(content())), 1..7,
        ),
    ) {
        check_files(&files)?;
    }
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
        hunk in "@@ -[0-9]{1,20}(,[0-9]{1,20})? \\+[0-9]{1,20}(,[0-9]{1,20})? @@\n([-+ \\\\]?x?\n){0,4}",
    ) {
        let record = format!(":100644 100644 {HASH} {HASH} M\0a\0");
        let _ = ReviewedChange::parse(&[record.as_bytes(), &bytes].concat());
        let patch = [b"diff --git a/a b/a\n", hunk.as_bytes(), &bytes].concat();
        let _ = ReviewedChange::parse(&[record.as_bytes(), b"1\t1\ta\0\0", &patch].concat());
    }
}

#[test]
fn renames_binary_files_modes_links_and_submodules_are_parsed() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    let write = |name: &str, content: &[u8]| {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), content).unwrap();
    };
    let text: String = (0..20).map(|line| format!("line {line}\n")).collect();
    git(root, &["init", "--quiet"]);
    write("old name", text.as_bytes());
    write("script", b"1\n");
    write("link", b"file\n");
    write("vendor/x.c", b"1\n");
    write("Cargo.lock", b"1\n");
    write("web/a.min.js", b"1\n");
    let submodule = |hash: &str| {
        let entry = format!("160000,{hash},sub");
        git(root, &["update-index", "--add", "--cacheinfo", &entry]);
    };
    submodule(HASH);
    git(root, &["add", "--all", "--", ":!sub"]);
    let before = String::from_utf8(git(root, &["write-tree"])).unwrap().trim().to_owned();
    fs::rename(root.join("old name"), root.join("new\nname")).unwrap();
    write("new\nname", text.replace("line 7\n", "line seven\nand more").as_bytes());
    write("bin", b"\0\x01");
    fs::remove_file(root.join("link")).unwrap();
    std::os::unix::fs::symlink("/home/sam/x", root.join("link")).unwrap();
    fs::set_permissions(root.join("script"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for name in ["vendor/x.c", "Cargo.lock", "web/a.min.js"] {
        write(name, b"2\n");
    }
    git(root, &["add", "--all", "--", ":!sub"]);
    submodule(&HASH.replace('d', "e"));
    let after = String::from_utf8(git(root, &["write-tree"])).unwrap().trim().to_owned();
    let output = compare(root, &before, &after, &["--unified=0", "--find-renames", "--submodule=short"]);
    let change = ReviewedChange::parse(&output).unwrap();
    let file = |path: &str| change.files.iter().find(|file| file.path == path.as_bytes()).unwrap();
    let renamed = file("new\nname");
    assert_eq!((renamed.status, renamed.from), (b'R', Some(b"old name".as_slice())));
    assert_eq!(
        renamed.added().map(|line| (line.number, line.text)).collect::<Vec<_>>(),
        [(8, b"line seven".as_slice()), (9, b"and moreline 8")]
    );
    let script = file("script");
    assert_eq!(
        (script.old_mode, script.new_mode, script.line_count),
        (Some("100644"), Some("100755"), Some((0, 0)))
    );
    assert_eq!((file("bin").kind, file("bin").line_count), (FileKind::Binary, None));
    let link = file("link");
    assert_eq!((link.status, link.kind, link.line_count), (b'T', FileKind::Link, Some((1, 1))));
    assert_eq!(
        (link.hunks[0].removed[0].text, link.hunks[1].added[0].text),
        (b"file".as_slice(), b"/home/sam/x".as_slice())
    );
    for (path, kind) in [
        ("sub", FileKind::Submodule),
        ("vendor/x.c", FileKind::Vendored),
        ("Cargo.lock", FileKind::Lock),
        ("web/a.min.js", FileKind::Generated),
    ] {
        assert_eq!(file(path).kind, kind, "{path}");
    }
    let data = DiffData::from(&change);
    assert_eq!(data.file_loc["new\nname"], ChangedLineCount { added: 2, removed: 2 });
    assert_eq!(data.changed_ranges["new\nname"].removed, [[8, 9]]);
    assert_eq!((data.line_count("bin"), data.files_to_review.len()), (0, change.files.len()));
    let value = serde_json::to_value(&data).unwrap();
    assert_eq!(value["file_statuses"]["new\nname"], "modified");
    assert_eq!(value["patch_lines"]["script"], serde_json::json!({"added_lines": {}, "removed_lines": {}}));
    assert_eq!(value["patch_lines"]["link"]["added_lines"], serde_json::json!({"1": "/home/sam/x"}));
    assert_eq!(serde_json::from_value::<DiffData>(value).unwrap(), data);
}

#[test]
fn removed_lines_have_a_place_in_the_new_file() {
    let patch = "diff --git a/a b/a\n@@ -3,2 +2,0 @@ f\n-x\n-y\n@@ -9 +7 @@\n-z\n+Z\n";
    let output = format!(":100644 100644 {HASH} {HASH} M\0a\0\u{31}\t3\ta\0\0{patch}");
    let data = DiffData::from(&ReviewedChange::parse(output.as_bytes()).unwrap());
    let ranges = &data.changed_ranges["a"];
    assert_eq!(
        (&ranges.added[..], &ranges.removed[..], &ranges.removed_at[..]),
        (&[[7, 7]][..], &[[3, 4], [9, 9]][..], &[3, 7][..])
    );
    assert_eq!((data.total_loc, data.line_count("a")), (4, 4));
}

#[test]
fn malformed_output_is_rejected() {
    let raw = format!(":100644 100644 {HASH} {HASH} M\0a\0");
    let parse = |counts: &str, patch: &str| {
        ReviewedChange::parse(format!("{raw}{counts}\0{patch}").as_bytes()).map(drop)
    };
    assert_eq!(ReviewedChange::parse(b""), Ok(ReviewedChange::default()));
    assert_eq!(ReviewedChange::parse(raw.as_bytes()), Err(ParseDiffError::Count));
    assert_eq!(ReviewedChange::parse(b":100644 100644 x\0a\0"), Err(ParseDiffError::Record));
    assert_eq!(parse("x\t1\ta\0", ""), Err(ParseDiffError::Count));
    assert_eq!(parse("1\t0\ta\0", ""), Err(ParseDiffError::Mismatch("a".to_owned())));
    assert_eq!(parse("1\t0\ta\0", "diff --git a/b b/b\n"), Err(ParseDiffError::File(0)));
    assert_eq!(parse("1\t0\ta\0", "diff --git a/a b/a\n@@ -0,0 +1 @@\n"), Err(ParseDiffError::Hunk(19)));
    assert_eq!(parse("1\t0\ta\0", "diff --git a/a b/a\n@@ -0,0 +1 @@\n-x\n"), Err(ParseDiffError::Hunk(19)));
    assert_eq!(
        parse("1\t0\ta\0", "diff --git a/a b/a\n@@ -0,0 +1 @@\n+x\n+y\n"),
        Err(ParseDiffError::File(36))
    );
    assert_eq!(parse("1\t0\ta\0", "diff --git a/a b/a\n@@ -0,0 +1 @@\n+x\n"), Ok(()));
}
