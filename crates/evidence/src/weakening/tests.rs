use loopgate_api::test_evidence::TestRun;
use proptest::prelude::*;

use super::*;
use crate::report::TestReport;

/// Returns the diff of one file, from lines with their signs.
fn diff_of(path: &str, lines: &[&str]) -> String {
    let count = |other: char| lines.iter().filter(|line| !line.starts_with(other)).count();
    let (old, new) = (count('+'), count('-'));
    let head = format!("diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n");
    let hunk = format!("@@ -1,{old} +1,{new} @@ fn outer() {{\n");
    head + &hunk + &lines.iter().map(|line| format!("{line}\n")).collect::<String>()
}

fn deleted(path: &str, lines: &[&str]) -> String {
    let body: String = lines.iter().map(|line| format!("-{line}\n")).collect();
    format!(
        "diff --git a/{path} b/{path}\ndeleted file mode 100644\nindex 1..0\n--- a/{path}\n+++ /dev/null\n\
             @@ -1,{} +0,0 @@\n{body}",
        lines.len()
    )
}

fn detected(diff: &str) -> Vec<(TestFlagKind, String)> {
    diff_flags(diff).into_iter().map(|flag| (flag.kind, flag.detail)).collect()
}

#[test]
fn diffs_of_flagged_files_are_exact_parts_of_the_diff() {
    let weakened = diff_of("src/a.test.ts", &["-it('adds', () => {", "+it.skip('adds', () => {"]);
    let removed = deleted("test/b.test.ts", &["it('b', () => {", "-- a/looks like a header"]);
    let other = diff_of("src/a.ts", &["-one", "+two"]);
    let diff = format!("{weakened}{other}{removed}");
    let flags = diff_flags(&diff);
    let expected = [("src/a.test.ts", &weakened), ("test/b.test.ts", &removed)];
    let expected = expected.map(|(path, diff)| TestFileDiff { path: path.to_owned(), diff: diff.clone() });
    assert_eq!(flagged_diffs(&diff, &flags), expected);

    let line = format!("+{}", "x".repeat(MAX_DIFF_BYTES));
    let long = diff_of("src/a.test.ts", &["-it('adds', () => {", "+it.skip('adds', () => {", &line]);
    assert!(!diff_flags(&long).is_empty());
    assert_eq!(flagged_diffs(&long, &diff_flags(&long)), []);
}

#[test]
fn skipped_tests_are_flagged_in_every_language() {
    for (path, was, now) in [
        ("src/lib.rs", "#[test]", "#[ignore]"),
        ("tests/it.rs", "// first", "#[ignore = \"flaky\"]"),
        ("tests/test_a.py", "# first", "@pytest.mark.skip(reason=\"x\")"),
        ("test_a.py", "pass", "    self.skipTest('x')"),
        ("src/a.test.ts", "it('adds', () => {", "it.skip('adds', () => {"),
        ("src/a.spec.js", "it('adds', () => {", "xit('adds', () => {"),
        ("src/a.spec.js", "it('adds', () => {", "it.only('adds', () => {"),
        ("test/a.mjs", "test('adds', () => {", "test('adds', { skip: true }, () => {"),
        ("calc/a_test.go", "// first", "\tt.Skip(\"later\")"),
        ("src/CartTest.java", "// first", "    @Disabled"),
        ("spec/cart_spec.rb", "  it 'adds' do", "  xit 'adds' do"),
    ] {
        let context = if path == "src/lib.rs" { " #[test]" } else { " " };
        let flags = detected(&diff_of(path, &[context, &format!("-{was}"), &format!("+{now}"), " fn x() {"]));
        assert!(flags.contains(&(TestFlagKind::TestSkipped, now.trim().to_owned())), "{path}: {flags:?}");
        // Removing the marker does not weaken the tests.
        let back = detected(&diff_of(path, &[context, &format!("-{now}"), &format!("+{was}"), " fn x() {"]));
        assert!(back.iter().all(|(kind, _)| *kind != TestFlagKind::TestSkipped), "{path}: {back:?}");
    }
}

#[test]
fn removed_tests_are_flagged_unless_moved() {
    for (path, lines, name) in [
        ("src/lib.rs", &["-    #[tokio::test]", "-    async fn adds() {", "-    }"] as &[&str], "adds"),
        ("src/lib.rs", &["-#[test]", " fn adds() {", " }"], "adds"),
        ("tests/test_a.py", &["-def test_adds():", "-    assert add(1, 2) == 3"], "test_adds"),
        ("a.test.js", &["-  it(\"adds two\", () => {", "-  });"], "adds two"),
        ("calc/a_test.go", &["-func TestAdds(t *testing.T) {", "-}"], "TestAdds"),
        ("src/CartTest.kt", &["-  @Test", "-  fun adds() {", "-  }"], "adds"),
    ] {
        let diff = diff_of(path, lines);
        assert_eq!(detected(&diff), [(TestFlagKind::TestRemoved, name.to_owned())], "{diff}");
        let added: Vec<String> = lines.iter().map(|line| format!("+{}", &line[1..])).collect();
        let added: Vec<&str> = added.iter().map(String::as_str).collect();
        let elsewhere = path.replace("lib", "other").replace("a.", "b.").replace("a_", "b_");
        let moved = diff.clone() + &diff_of(&elsewhere, &added);
        assert_eq!(detected(&moved), [], "{moved}");
    }
}

#[test]
fn deleted_test_files_are_flagged() {
    let lines = ["#[test]", "fn adds() {}"];
    assert_eq!(
        detected(&deleted("tests/it.rs", &lines)),
        [(TestFlagKind::FileDeleted, "1 tests".to_owned())]
    );
    assert_eq!(detected(&deleted("src/main.rs", &["fn main() {}"])), []);
    let moved = deleted("tests/it.rs", &lines) + &diff_of("tests/other.rs", &["+#[test]", "+fn adds() {}"]);
    assert_eq!(detected(&moved), []);
}

#[test]
fn assertions_without_replacement_are_counted() {
    let removed =
        |path, line: &str| detected(&diff_of(path, &[" #[test]", " fn x() {", &format!("-{line}"), " }"]));
    for (path, line) in [
        ("tests/it.rs", "    assert_eq!(1, 1);"),
        ("src/lib.rs", "    assert!(true);"),
        ("tests/test_a.py", "    assert 1 == 1"),
        ("tests/test_a.py", "    self.assertEqual(1, 1)"),
        ("a.test.ts", "    expect(1).toBe(1);"),
        ("a_test.go", "    t.Errorf(\"no\")"),
    ] {
        let flags = removed(path, line);
        assert_eq!(flags, [(TestFlagKind::AssertionsRemoved, "1 removed, 0 added".to_owned())], "{path}");
    }
    let replaced = ["-    assert_eq!(1, 1);", "+    assert_eq!(1, 2);"];
    assert_eq!(detected(&diff_of("tests/it.rs", &replaced)), []);
    let production = ["-    assert_eq!(1, 1);", "+    check();"];
    assert_eq!(detected(&diff_of("src/main.rs", &production)), [], "an assertion of the program itself");
}

#[test]
fn changed_lines_that_resemble_headers_are_not_headers() {
    let diff = diff_of("tests/test_a.py", &["--- a/other.py", "-def test_adds():", "+++ b/other.py"]);
    let flags = diff_flags(&diff);
    assert_eq!(flags.len(), 1, "{flags:?}");
    assert_eq!(flags[0].path.as_deref(), Some("tests/test_a.py"));
}

fn run(passed: &[&str], skipped: &[&str], exit_code: i32) -> CompletedRun {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    CompletedRun {
        run: TestRun {
            commit: String::new(),
            exit_code: Some(exit_code),
            duration_ms: 0,
            counts: None,
            error: None,
            log: String::new(),
            output: None,
        },
        report: Some(TestReport { passed: set(passed), skipped: set(skipped), ..TestReport::default() }),
    }
}

#[test]
fn tests_that_no_longer_pass_are_flagged() {
    let base = run(&["it a", "it b", "it c"], &[], 0);
    let flags = run_flags(&base, &run(&["it a"], &["it b"], 0), &[]);
    let details: Vec<_> = flags.iter().map(|flag| (flag.kind, flag.detail.as_str())).collect();
    assert_eq!(details, [(TestFlagKind::TestSkipped, "it b"), (TestFlagKind::TestRemoved, "it c")]);
    let reported = [flag(TestFlagKind::TestRemoved, "x.rs", "c")];
    assert_eq!(
        run_flags(&base, &run(&["it a", "it b"], &[], 0), &reported),
        [],
        "already flagged by the diff"
    );
    assert_eq!(run_flags(&base, &run(&["it a"], &[], 1), &[]), [], "a failed run may have aborted early");
    assert_eq!(run_flags(&base, &run(&[], &[], 0), &[]), [], "the runner names no passed tests");
}

#[test]
fn changed_test_command_is_flagged() {
    let command = |command: &str, definition: Option<&str>| TestCommand {
        command: command.to_owned(),
        reason: String::new(),
        definition: definition.map(str::to_owned),
    };
    let base = command("npm test", Some("vitest run"));
    assert_eq!(command_flag("npm test", Some(&base), Some(&base)), None);
    let weak = command("npm test", Some("true"));
    let flag = command_flag("npm test", Some(&base), Some(&weak)).unwrap();
    assert_eq!(flag.detail, "`vitest run` before, `true` now");
    let flag = command_flag("npm test", Some(&base), None).unwrap();
    assert_eq!(flag.detail, "`vitest run` before, no longer detected");
    assert_eq!(command_flag("make check", Some(&base), None), None, "a command that the user entered");
}

proptest! {
    #[test]
    fn arbitrary_text_does_not_panic(text in "(diff --git a/x b/x\n|--- a/t.py\n|@@ -1,2 \\+1 @@\n|[-+ ].{0,20}\n|.{0,20}\n){0,20}") {
        let _ = diff_flags(&text);
    }

    #[test]
    fn added_tests_are_never_flagged(names in proptest::collection::btree_set("[a-z]{1,8}", 0..6)) {
        let lines: Vec<String> =
            names.iter().flat_map(|name| [format!("+def test_{name}():"), "+    assert True".to_owned()]).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        prop_assert_eq!(diff_flags(&diff_of("tests/test_a.py", &lines)), []);
    }

    #[test]
    fn every_removed_test_is_named(names in proptest::collection::btree_set("[a-z]{1,8}", 0..6)) {
        let lines: Vec<String> = names.iter().map(|name| format!("-def test_{name}(): pass")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let flags = diff_flags(&diff_of("tests/test_a.py", &lines));
        let expected: Vec<String> = names.iter().map(|name| format!("test_{name}")).collect();
        prop_assert_eq!(flags.into_iter().map(|flag| flag.detail).collect::<Vec<_>>(), expected);
    }
}
