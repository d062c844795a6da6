//! Merging, uses, edits by the user, and the text for prompts.

use jiff::ToSpan as _;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::pending::LearningSource;
use crate::similarity::{Relation, relation};

pub(super) struct TestStore(pub(super) tempfile::TempDir);

impl TestStore {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn store(&self) -> PatternStore {
        PatternStore::new(self.0.path().join("learnings"), Some(self.0.path().join("older.toon")))
    }

    pub(super) fn learn(&self, summaries: &[&str]) -> MergeReport {
        let candidates: Vec<PendingLearning> =
            summaries.iter().map(|summary| candidate(summary, "acme/shop")).collect();
        self.store().merge(&candidates, day(0)).unwrap()
    }

    pub(super) fn text(&self) -> String {
        std::fs::read_to_string(self.store().path()).unwrap()
    }

    pub(super) fn edit(&self, from: &str, to: &str) {
        let text = self.text();
        assert!(text.contains(from), "{text}");
        std::fs::write(self.store().path(), text.replace(from, to)).unwrap();
    }

    fn patterns(&self) -> Vec<Pattern> {
        self.store().list().unwrap().into_iter().map(|listed| listed.pattern).collect()
    }

    fn record(&self, id: &str) -> Value {
        let text = std::fs::read(self.0.path().join("learnings").join(RECORDS)).unwrap();
        serde_json::from_slice::<Value>(&text).unwrap()["patterns"][id].clone()
    }

    pub(super) fn record_use(&self, summary: &str, verified: bool, at: Timestamp) -> usize {
        let effect = if verified { UseEffect::Verified } else { UseEffect::Unverified };
        let learning_use = LearningUse { id: None, summary: summary.to_owned(), effect, key: String::new() };
        self.store().count_uses(&[learning_use], at).unwrap()
    }
}

pub(super) fn day(days: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + (days * 24).hours()
}

pub(super) fn candidate(summary: &str, repo: &str) -> PendingLearning {
    PendingLearning {
        category: "convention".to_owned(),
        summary: summary.to_owned(),
        applies_to: vec!["*".to_owned()],
        context: vec!["io".to_owned()],
        repo: repo.to_owned(),
        is_general: false,
        source: LearningSource {
            key: uuid::Uuid::new_v4().to_string(),
            run: "shop-SHOP-7".to_owned(),
            ticket: "SHOP-7".to_owned(),
            file: "src/a.rs:42".to_owned(),
            commit: "0123abcd".to_owned(),
            repo: repo.to_owned(),
            chat: "chat-history.json".to_owned(),
            evidence: String::new(),
        },
        account: None,
    }
}

#[test]
fn duplicates_are_merged_with_all_sources() {
    let fixture = TestStore::new();
    let report = fixture.learn(&["Run the migrations before the tests", "run migrations before the tests!"]);
    assert_eq!((report.added, report.merged), (1, 1));
    let patterns = fixture.patterns();
    assert_eq!((patterns.len(), patterns[0].seen_count, patterns[0].id.as_str()), (1, 2, "P-001"));
    let sources = fixture.record("P-001")["sources"].clone();
    assert_eq!(sources.as_array().map(Vec::len), Some(2));
    assert_eq!(sources[0]["commit"], "0123abcd");
    assert_eq!(sources[0]["file"], "src/a.rs:42");
}

#[test]
fn source_is_counted_once() {
    let fixture = TestStore::new();
    let learned = candidate("Run the migrations before the tests", "acme/shop");
    for _ in 0..2 {
        fixture.store().merge(std::slice::from_ref(&learned), day(0)).unwrap();
    }
    assert_eq!(fixture.patterns()[0].seen_count, 1);
}

#[test]
fn contradicting_patterns_are_both_kept_for_review() {
    let fixture = TestStore::new();
    fixture.learn(&["Mock the database in tests of the shop"]);
    let report = fixture.learn(&["Never mock the database in tests of the shop"]);
    assert_eq!((report.added, report.conflicts), (1, 1));
    let flags: Vec<String> = fixture.patterns().into_iter().map(|pattern| pattern.flags).collect();
    assert_eq!(flags, ["[REVIEW]", "[REVIEW]"]);
    assert_eq!(fixture.record("P-002")["conflictsWith"], json!(["P-001"]));
    assert_eq!(fixture.record("P-001")["conflictsWith"], json!(["P-002"]));
}

#[test]
fn edits_by_the_user_are_preserved() {
    let fixture = TestStore::new();
    fixture.learn(&["Run the migrations before the tests", "Use pnpm, not npm, for installs"]);
    fixture.edit("medium", "high");
    fixture.edit("Run the migrations", "Run the database migrations");
    let note = "# ask Kim about these\n";
    std::fs::write(fixture.store().path(), format!("{note}{}", fixture.text())).unwrap();
    fixture.learn(&["Keep money in cents, as whole numbers"]);
    assert_eq!(fixture.record_use("Run the database migrations before the tests", false, day(1)), 1);
    let patterns = fixture.patterns();
    assert_eq!(patterns[0].summary, "Run the database migrations before the tests");
    assert_eq!(patterns[0].confidence, Confidence::High);
    assert_eq!(patterns[0].success_rate, Some(0.0));
    assert!(fixture.text().starts_with(note));
    assert_eq!(patterns.len(), 3);
    let backup = std::fs::read_to_string(fixture.0.path().join("learnings").join(BACKUP)).unwrap();
    assert!(backup.starts_with(note));
}

#[test]
fn removed_pattern_is_not_learned_again() {
    let fixture = TestStore::new();
    fixture.learn(&["Run the migrations before the tests", "Use pnpm for installs in this repository"]);
    let text = fixture.text();
    let remaining: Vec<&str> = text.lines().filter(|line| !line.contains("P-001")).collect();
    std::fs::write(fixture.store().path(), remaining.join("\n")).unwrap();
    let report = fixture.learn(&["Run the migrations before tests", "Keep money in cents, as whole numbers"]);
    assert_eq!((report.skipped, report.added), (1, 1));
    let ids: Vec<String> = fixture.patterns().into_iter().map(|pattern| pattern.id).collect();
    assert_eq!(ids, ["P-002", "P-003"]);
    // Deleting the whole file resets the learnings.
    std::fs::remove_file(fixture.store().path()).unwrap();
    assert_eq!(fixture.learn(&["Run the migrations before tests"]).added, 1);
}

#[test]
fn successful_uses_raise_confidence_and_failures_lower_it() {
    let fixture = TestStore::new();
    fixture.learn(&["Run the migrations before the tests"]);
    assert_eq!(fixture.patterns()[0].confidence, Confidence::Medium);
    for _ in 0..2 {
        assert_eq!(fixture.record_use("run the migrations before the tests", true, day(1)), 1);
    }
    let pattern = fixture.patterns().remove(0);
    assert_eq!((pattern.confidence, pattern.flags.as_str()), (Confidence::High, ""));
    assert_eq!((pattern.success_rate, pattern.seen_count), (Some(1.0), 3));
    assert_eq!(fixture.record_use("Something else that was never learned", true, day(1)), 0);
    for _ in 0..6 {
        fixture.record_use("run the migrations before the tests", false, day(2));
    }
    let pattern = fixture.patterns().remove(0);
    assert_eq!((pattern.confidence, pattern.flags.as_str()), (Confidence::Low, "[REVIEW]"));
    assert_eq!(pattern.success_rate, Some(0.25));
}

#[test]
fn file_is_capped_without_dropping_edited_rows() {
    let fixture = TestStore::new();
    fixture.learn(&["Use pnpm for installs in this repository"]);
    fixture.edit("[UNTESTED]", "[PRUNE]");
    let many: Vec<String> =
        (0..60).map(|n| format!("alpha{n} beta{n} gamma{n} delta{n} epsilon{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    fixture.learn(&many);
    let patterns = fixture.patterns();
    assert_eq!(patterns.len(), MAX_PATTERNS);
    assert_eq!(patterns[0].id, "P-001");
    assert!(fixture.text().contains("patterns[50]{"));
}

fn outcome(id: &str, effect: UseEffect, key: &str) -> LearningUse {
    LearningUse { id: Some(id.to_owned()), summary: String::new(), effect, key: key.to_owned() }
}

// PR-33
#[test]
fn rates_follow_from_true_and_false_citations() {
    let fixture = TestStore::new();
    let summaries: Vec<String> =
        (0..4).map(|n| format!("alpha{n} beta{n} gamma{n} delta{n} epsilon{n}")).collect();
    fixture.learn(&summaries.iter().map(String::as_str).collect::<Vec<_>>());
    let count = |id: &str, verified: u64, uses: u64, at| {
        let effect = |n| if n < verified { UseEffect::Verified } else { UseEffect::Unverified };
        let uses: Vec<LearningUse> =
            (0..uses).map(|n| outcome(id, effect(n), &format!("{id}/{n}"))).collect();
        fixture.store().count_uses(&uses, at).unwrap()
    };
    // A rate of 0.75 is high confidence in the contract; with (3 + 1) / (4 + 2) it is medium here.
    count("P-001", 3, 4, day(1));
    count("P-002", 6, 21, day(1));
    count("P-003", 4, 4, day(1));
    let of = |pattern: &Pattern| (pattern.success_rate, pattern.confidence, pattern.flags.clone());
    let patterns = fixture.patterns();
    assert_eq!(of(&patterns[0]), (Some(0.75), Confidence::Medium, String::new()));
    assert_eq!(of(&patterns[1]), (Some(0.29), Confidence::Low, "[PRUNE]".to_owned()));
    assert_eq!(of(&patterns[3]), (None, Confidence::Medium, "[UNTESTED]".to_owned()));
    // Repeating the step counts no use again.
    assert_eq!(count("P-001", 3, 4, day(2)), 0);
    // The contract counts 10 iterations; here a pattern is stale after 180 days without a use.
    fixture.store().count_uses(&[outcome("P-001", UseEffect::Verified, "late")], day(200)).unwrap();
    assert_eq!(fixture.patterns()[2].flags, "[STALE]");
}

#[test]
fn shown_learning_that_is_not_cited_keeps_its_rate() {
    let fixture = TestStore::new();
    fixture.learn(&["Run the migrations before the tests"]);
    let uses: Vec<LearningUse> =
        (0..30).map(|n| outcome("P-001", UseEffect::Shown, &n.to_string())).collect();
    assert_eq!(fixture.store().count_uses(&uses, day(1)).unwrap(), 30);
    let listed = fixture.store().list().unwrap().remove(0);
    assert_eq!((listed.history.shown, listed.history.uses), (30, 0));
    assert_eq!((listed.pattern.flags.as_str(), listed.pattern.seen_count), ("[UNTESTED]", 1));
}

fn merged(count: usize, change: impl Fn(usize, &mut Value)) -> MergeResult {
    let pattern = |n: usize| {
        let mut pattern = json!({"id": format!("P-{:03}", n + 1), "category": "insight", "confidence": "medium",
            "summary": format!("alpha{n} beta{n} gamma{n} delta{n}"), "seen_count": "1", "success_rate": "",
            "flags": "", "applies_to": "*", "context": "a|b", "repo": "acme/shop"});
        change(n, &mut pattern);
        pattern
    };
    let patterns: Vec<Value> = (0..count).map(pattern).collect();
    serde_json::from_value(json!({"schema_version": "1.0", "stats": {}, "patterns": patterns})).unwrap()
}

// PR-31
#[test]
fn merged_list_is_validated_as_a_whole_and_capped() {
    let fixture = TestStore::new();
    fixture.learn(&["Run the migrations before the tests"]);
    let before = fixture.text();
    for (member, value) in [("id", "P-1"), ("flags", "[X]"), ("success_rate", "2"), ("category", "joke")] {
        let invalid = merged(2, |n, pattern| {
            if n == 1 {
                pattern[member] = value.into();
            }
        });
        let Err(ReplacementError::Invalid(faults)) = fixture.store().replace(&invalid, day(1)) else {
            panic!("{member} is not checked")
        };
        assert_eq!(faults.len(), 1);
        assert_eq!(fixture.text(), before);
    }
    let many = merged(60, |n, pattern| {
        pattern["id"] = format!("P-{:03}", n + 100).into();
        if n < 10 {
            pattern["flags"] = "[PRUNE]".into();
        }
    });
    assert_eq!(fixture.store().replace(&many, day(1)).unwrap(), 10);
    let patterns = fixture.patterns();
    assert_eq!(patterns.len(), MAX_PATTERNS);
    assert!(patterns.iter().all(|pattern| pattern.number() == 1 || pattern.number() >= 110));
    let backup = std::fs::read_to_string(fixture.0.path().join("learnings").join(BACKUP)).unwrap();
    assert_eq!(backup, before);
}

#[test]
fn merged_list_changes_neither_edited_rows_nor_repositories() {
    let fixture = TestStore::new();
    fixture.learn(&["Run the migrations before the tests", "Keep money in cents, as whole numbers"]);
    fixture.edit("Run the migrations", "Run the database migrations");
    let general = merged(3, |_, pattern| pattern["repo"] = "*".into());
    fixture.store().replace(&general, day(1)).unwrap();
    let patterns = fixture.patterns();
    assert_eq!(patterns[0].summary, "Run the database migrations before the tests");
    assert_eq!(
        (patterns[1].summary.as_str(), patterns[1].repo.as_str()),
        ("alpha1 beta1 gamma1 delta1", "acme/shop")
    );
    let listed = fixture.store().list().unwrap();
    assert!(listed[2].history.needs_agreement, "a new pattern for all repositories needs an agreement");
}

// DL-25
#[test]
fn current_file_takes_precedence_over_fallback() {
    let fixture = TestStore::new();
    assert!(fixture.patterns().is_empty());
    std::fs::write(fixture.0.path().join("older.toon"), "- Old habits\nmore\n\n* Second").unwrap();
    let summaries: Vec<String> = fixture.patterns().into_iter().map(|pattern| pattern.summary).collect();
    assert_eq!(summaries, ["Old habits", "Second"]);
    fixture.learn(&["Run the migrations before the tests"]);
    assert_eq!(fixture.patterns()[0].id, "P-001");
}

#[test]
fn brief_contains_patterns_of_the_repository() {
    let fixture = TestStore::new();
    assert_eq!(fixture.store().brief("acme/shop", 1000, day(0)), None);
    fixture.learn(&["Run the migrations before the tests", "Use pnpm for installs in this repository"]);
    let other = candidate("Keep money in cents, as whole numbers", "acme/bank");
    fixture.store().merge(&[other], day(0)).unwrap();
    fixture.record_use("Use pnpm for installs in this repository", true, day(1));
    let brief = fixture.store().brief("acme/shop", 1000, day(1)).unwrap();
    let lines: Vec<&str> = brief.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(
        lines,
        [
            "- P-002 [medium] Use pnpm for installs in this repository",
            "- P-001 [medium] [UNTESTED] Run the migrations before the tests",
        ]
    );
    assert_eq!(fixture.store().brief("acme/garden", 1000, day(1)), None);
}

#[test]
fn broken_patterns_file_is_not_overwritten() {
    let fixture = TestStore::new();
    fixture.learn(&["Run the migrations before the tests"]);
    std::fs::write(fixture.store().path(), b"\xff\xfe").unwrap();
    let learned = candidate("Keep money in cents, as whole numbers", "acme/shop");
    assert!(fixture.store().merge(&[learned], day(0)).is_err());
    assert_eq!(std::fs::read(fixture.store().path()).unwrap(), b"\xff\xfe");
    assert!(fixture.store().list().is_err());
    assert_eq!(fixture.store().brief("acme/shop", 1000, day(0)), None);
}

#[test]
fn broken_records_are_not_overwritten() {
    let fixture = TestStore::new();
    fixture.learn(&["Run the migrations before the tests"]);
    let (records, text) = (fixture.0.path().join("learnings").join(RECORDS), fixture.text());
    std::fs::write(&records, "{\"patterns\": oops").unwrap();
    let learned = candidate("Keep money in cents, as whole numbers", "acme/shop");
    assert!(fixture.store().merge(&[learned], day(0)).is_err());
    assert_eq!(std::fs::read_to_string(&records).unwrap(), "{\"patterns\": oops");
    assert_eq!(fixture.text(), text);
}

#[test]
fn crash_between_the_two_writes_neither_loses_nor_duplicates_patterns() {
    let fixture = TestStore::new();
    let learned = [
        candidate("Run the migrations before the tests", "acme/shop"),
        candidate("Keep money in cents, as whole numbers", "acme/shop"),
    ];
    fixture.store().merge(&learned[..1], day(0)).unwrap();
    let records = fixture.0.path().join("learnings").join(RECORDS);
    let before = std::fs::read(&records).unwrap();
    fixture.store().merge(&learned, day(0)).unwrap();
    // Simulates the crash by restoring the records from before the second merge.
    // The patterns are written first, so a crash leaves the older records.
    std::fs::write(&records, before).unwrap();
    fixture.store().merge(&learned, day(0)).unwrap();
    let summaries: Vec<String> = fixture.patterns().into_iter().map(|pattern| pattern.summary).collect();
    assert_eq!(summaries, learned.map(|candidate| candidate.summary));
    assert_eq!(fixture.record("P-002")["sources"].as_array().map(Vec::len), Some(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn brief_respects_token_budget(count in 1usize..30, words in 3usize..40, tokens in 0usize..400) {
        let fixture = TestStore::new();
        let many: Vec<String> =
            (0..count).map(|n| (0..words).map(|word| format!("w{n}x{word}")).collect::<Vec<_>>().join(" ")).collect();
        fixture.learn(&many.iter().map(String::as_str).collect::<Vec<_>>());
        if let Some(brief) = fixture.store().brief("acme/shop", tokens, day(0)) {
            prop_assert!(brief.chars().count().div_ceil(CHARS_PER_TOKEN) <= tokens);
        }
    }

    #[test]
    fn every_learning_is_added_or_merged(summaries in prop::collection::vec("(never )?[a-d]{1,3} [a-d]{1,3} [a-d]{1,3}", 1..20)) {
        let fixture = TestStore::new();
        let report = fixture.learn(&summaries.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(report.added + report.merged, summaries.len());
        let patterns = fixture.patterns();
        prop_assert_eq!(patterns.len(), report.added);
        for summary in &summaries {
            let exists = patterns.iter().any(|pattern| relation(&pattern.summary, summary) == Relation::Same);
            prop_assert!(exists, "{}", summary);
        }
    }
}
