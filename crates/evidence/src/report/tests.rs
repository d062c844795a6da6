//! Parsing of recorded output: each file in `tests/output` was printed by a real run.

use proptest::prelude::*;

use super::*;

/// Names of passed, failed and skipped tests, and their counts.
type Expected<'a> = (&'a [&'a str], &'a [&'a str], &'a [&'a str], [u64; 3]);

fn check(output: &str, (passed, failed, skipped, [pass, fail, skip]): Expected<'_>) {
    let report = read_report(output.as_bytes()).expect("a report");
    let names = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>();
    assert_eq!(names(&report.passed), passed, "{output}");
    assert_eq!(names(&report.failed), failed, "{output}");
    assert_eq!(names(&report.skipped), skipped, "{output}");
    assert_eq!(report.counts, TestCounts { passed: pass, failed: fail, skipped: skip }, "{output}");
}

#[test]
fn libtest_and_nextest_output_names_every_test() {
    check(
        include_str!("../../tests/output/libtest.txt"),
        (
            &["it sells", "shop src/lib.rs - add", "shop tests::adds", "shop tests::refuses"],
            &["it refunds"],
            &["shop tests::waits"],
            [4, 1, 1],
        ),
    );
    check(
        include_str!("../../tests/output/nextest.txt"),
        (
            &["shop tests::adds", "shop tests::refuses", "shop::it sells"],
            &["shop::it refunds"],
            &[],
            [3, 1, 0],
        ),
    );
}

#[test]
fn pytest_and_unittest_output_is_parsed() {
    let failed = [
        "test_shop.py::Cart::test_total",
        "test_shop.py::test_each[2]",
        "test_shop.py::test_refunds",
        "test_shop.py::test_setup",
    ];
    check(include_str!("../../tests/output/pytest.txt"), (&[], &failed, &[], [2, 4, 1]));
    let passed = ["test_shop.py::test_each[1]", "test_shop.py::test_sells"];
    let verbose = include_str!("../../tests/output/pytest-verbose.txt");
    check(verbose, (&passed, &failed, &["test_shop.py::test_waits"], [2, 4, 1]));

    let failed = [
        "test_each (test_shop.Cart.test_each)",
        "test_refunds (test_shop.Cart.test_refunds)",
        "test_total (test_shop.Cart.test_total)",
    ];
    check(include_str!("../../tests/output/unittest.txt"), (&[], &failed, &[], [1, 3, 1]));
    let passed = ["test_sells (test_shop.Cart.test_sells)"];
    let skipped = ["test_waits (test_shop.Cart.test_waits)"];
    check(include_str!("../../tests/output/unittest-verbose.txt"), (&passed, &failed, &skipped, [1, 3, 1]));
}

#[test]
fn go_output_is_parsed() {
    let failed = [
        "example.org/shop/broken",
        "example.org/shop/calc TestRefunds",
        "example.org/shop/calc TestRefunds/card",
    ];
    check(include_str!("../../tests/output/go.txt"), (&["example.org/shop/good"], &failed, &[], [1, 3, 0]));
    let passed =
        ["example.org/shop/calc TestAdds", "example.org/shop/good", "example.org/shop/good TestWorks"];
    let verbose = include_str!("../../tests/output/go-verbose.txt");
    check(verbose, (&passed, &failed, &["example.org/shop/calc TestWaits"], [3, 3, 1]));
}

#[test]
fn jest_vitest_and_mocha_output_is_parsed() {
    let failed = ["jest/broken.test.js", "jest/shop.test.js › cart › refunds"];
    for output in
        [include_str!("../../tests/output/jest.txt"), include_str!("../../tests/output/jest-verbose.txt")]
    {
        check(output, (&[], &failed, &[], [2, 1, 1]));
    }
    let failed = ["shop.test.js > cart > refunds"];
    check(include_str!("../../tests/output/vitest.txt"), (&[], &failed, &[], [2, 1, 1]));
    let passed = ["other.test.js > works", "shop.test.js > cart > adds"];
    let skipped = ["shop.test.js > cart > waits"];
    check(include_str!("../../tests/output/vitest-verbose.txt"), (&passed, &failed, &skipped, [2, 1, 1]));
    let failed = ["cart › refunds", "cart › total › is right"];
    check(include_str!("../../tests/output/mocha.txt"), (&[], &failed, &[], [2, 2, 1]));
}

#[test]
fn node_output_names_every_test_with_its_suite() {
    let expected: Expected<'_> =
        (&["cart › adds", "works"], &["cart › refunds"], &["cart › waits", "later"], [2, 1, 2]);
    check(include_str!("../../tests/output/node-tap.txt"), expected);
    check(include_str!("../../tests/output/node-spec.txt"), expected);
}

#[test]
fn outputs_of_two_runners_are_merged() {
    let both = [include_str!("../../tests/output/libtest.txt"), include_str!("../../tests/output/mocha.txt")];
    let report = read_report(both.concat().as_bytes()).unwrap();
    assert!(report.failed.contains("it refunds") && report.failed.contains("cart › refunds"));
    assert_eq!(report.counts, TestCounts { passed: 6, failed: 3, skipped: 2 });
}

#[test]
fn unknown_output_has_no_report() {
    for output in ["", "all good\n", "3 passed\n", "    test refunds ... FAILED\n", "ok\n"] {
        assert_eq!(read_report(output.as_bytes()), None, "{output}");
    }
}

/// Truncated output may lack failures but must not contain failures that the complete output does not.
#[test]
fn truncated_output_has_no_additional_failures() {
    let outputs = [
        include_str!("../../tests/output/libtest.txt"),
        include_str!("../../tests/output/nextest.txt"),
        include_str!("../../tests/output/pytest.txt"),
        include_str!("../../tests/output/pytest-verbose.txt"),
        include_str!("../../tests/output/unittest.txt"),
        include_str!("../../tests/output/unittest-verbose.txt"),
        include_str!("../../tests/output/go.txt"),
        include_str!("../../tests/output/go-verbose.txt"),
        include_str!("../../tests/output/jest.txt"),
        include_str!("../../tests/output/jest-verbose.txt"),
        include_str!("../../tests/output/vitest.txt"),
        include_str!("../../tests/output/vitest-verbose.txt"),
        include_str!("../../tests/output/mocha.txt"),
        include_str!("../../tests/output/node-tap.txt"),
        include_str!("../../tests/output/node-spec.txt"),
    ];
    for output in outputs {
        let whole = read_report(output.as_bytes()).unwrap();
        let ends = output.match_indices('\n').map(|(end, _)| end);
        for cut in ends.flat_map(|end| [end.saturating_sub(1), end, end + 1]) {
            let part = read_report(&output.as_bytes()[..cut]).unwrap_or_default();
            assert!(part.failed.is_subset(&whole.failed), "byte {cut}: {:?}\n{output}", part.failed);
        }
    }
}

fn test_name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,12}(::[a-z][a-z0-9_]{0,12}){0,2}"
}

proptest! {
    #[test]
    fn any_libtest_output_is_parsed(
        tests in proptest::collection::btree_map(test_name(), 0..3_usize, 0..12),
        noise in "[ -~]{0,40}",
    ) {
        let status = ["ok", "FAILED", "ignored, slow"];
        let lines = tests.iter().map(|(name, at)| format!("test {name} ... {}\n", status[*at]));
        let output = format!("     Running tests/it.rs (target/debug/deps/it-0123456789abcdef)\n    {noise}\n{}",
            lines.collect::<String>());
        let report = read_report(output.as_bytes()).unwrap_or_default();
        for (name, at) in &tests {
            let sets = [&report.passed, &report.failed, &report.skipped];
            let is_in: Vec<bool> = sets.iter().map(|set| set.contains(&format!("it {name}"))).collect();
            prop_assert!(is_in.iter().enumerate().all(|(index, found)| *found == (index == *at)), "{}", name);
        }
    }

    #[test]
    fn any_tap_output_is_parsed(
        tests in proptest::collection::btree_map("[a-z][a-z ]{0,10}[a-z]", 0..3_usize, 1..12),
    ) {
        let mut output = "TAP version 13\n# Subtest: outer\n".to_owned();
        for (name, at) in &tests {
            let (ok, end) = [("ok", ""), ("not ok", ""), ("ok", " # SKIP")][*at];
            output += &format!("    # Subtest: {name}\n    {ok} 1 - {name}{end}\n");
        }
        let report = read_report(output.as_bytes()).unwrap_or_default();
        let names = report.passed.iter().chain(&report.failed).chain(&report.skipped);
        prop_assert_eq!(names.count(), tests.len());
        for (name, at) in &tests {
            let set = [&report.passed, &report.failed, &report.skipped][*at];
            let whole = format!("outer › {name}");
            prop_assert!(set.contains(&whole), "{}", whole);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(output in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_report(&output);
    }
}
