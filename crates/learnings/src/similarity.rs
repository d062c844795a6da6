//! Comparison of two statements: equivalent, contradicting or different.

use std::collections::BTreeSet;

/// Minimum Jaccard similarity of the words of two statements on the same subject.
const SAME_SUBJECT: f64 = 0.8;
/// Minimum Jaccard similarity between a recorded use and its pattern. Lower, because agents paraphrase what
/// they used.
const SAME_USE: f64 = 0.6;

/// Words that negate a statement.
const NEGATIONS: [&str; 10] =
    ["not", "never", "no", "dont", "doesnt", "avoid", "cannot", "cant", "shouldnt", "mustnt"];
/// Words without effect on the meaning.
const FILLERS: [&str; 9] = ["always", "do", "does", "must", "should", "the", "a", "an", "please"];

/// Relation between two statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Both have the same meaning.
    Same,
    /// Both are about the same subject, but one negates the other or has different numbers.
    Conflict,
    Different,
}

pub(crate) fn relation(one: &str, other: &str) -> Relation {
    if one.trim().eq_ignore_ascii_case(other.trim()) && !one.trim().is_empty() {
        return Relation::Same;
    }
    let (one, other) = (Statement::of(one), Statement::of(other));
    if one.words.is_empty() || overlap(&one.words, &other.words) < SAME_SUBJECT {
        Relation::Different
    } else if one.negated == other.negated && one.numbers == other.numbers {
        Relation::Same
    } else {
        Relation::Conflict
    }
}

/// Returns how well a recorded use matches a pattern, 0 to 1; `None` when it does not match.
pub(crate) fn use_of(used: &str, pattern: &str) -> Option<f64> {
    let (used, pattern) = (used.to_lowercase(), pattern.to_lowercase());
    let (used, pattern) = (used.trim(), pattern.trim());
    if used.is_empty() || pattern.is_empty() {
        return None;
    }
    if used == pattern {
        return Some(1.0);
    }
    if used.contains(pattern) || pattern.contains(used) {
        // Below an exact match, above any match by words.
        return Some(0.99);
    }
    Some(overlap(&words(used), &words(pattern))).filter(|share| *share > SAME_USE)
}

struct Statement {
    words: BTreeSet<String>,
    /// Words that contain digits.
    numbers: BTreeSet<String>,
    negated: bool,
}

impl Statement {
    fn of(text: &str) -> Self {
        let mut negated = false;
        let has_digit = |word: &String| word.contains(|letter: char| letter.is_ascii_digit());
        let (numbers, mut words): (BTreeSet<_>, BTreeSet<_>) = words(text).into_iter().partition(has_digit);
        words.retain(|word| {
            let negation = NEGATIONS.contains(&word.as_str());
            // A double negation is an affirmation.
            negated ^= negation;
            !negation && !FILLERS.contains(&word.as_str())
        });
        Self { words, numbers, negated }
    }
}

fn words(text: &str) -> BTreeSet<String> {
    // Without apostrophes, so that "don't" becomes one word of NEGATIONS.
    let text = text.to_lowercase().replace(['\'', '’'], "");
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Jaccard similarity: the number of common words divided by the number of all words.
fn overlap(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let either = one.union(other).count();
    if either == 0 {
        return 0.0;
    }
    one.intersection(other).count() as f64 / either as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn relation_of_statements_is_detected() {
        for (one, other, expected) in [
            ("Run the linter before a commit", "run linter before commit!", Relation::Same),
            ("Always run the linter before a commit", "Run the linter before a commit", Relation::Same),
            ("Never mock the database in tests", "Mock the database in tests", Relation::Conflict),
            ("Don't mock the database in tests", "Always mock the database in tests", Relation::Conflict),
            ("Don't mock the database in tests", "Never mock the database in tests", Relation::Same),
            ("Use pnpm in this repository", "Check the lock, then write", Relation::Different),
            ("Serve on port 3000", "Serve on port 3100", Relation::Conflict),
            ("", "", Relation::Different),
        ] {
            assert_eq!(relation(one, other), expected, "{one} / {other}");
        }
    }

    #[test]
    fn use_matches_pattern_when_equal_contained_or_similar() {
        assert_eq!(use_of("Check the lock", "check the LOCK"), Some(1.0));
        assert!(use_of("Check the lock", "Check the lock, then write").is_some());
        assert!(use_of("then write, check lock", "Check the lock, then write").is_some());
        assert_eq!(use_of("Say why", "Check the lock, then write"), None);
        assert_eq!(use_of("", "Check the lock"), None);
    }

    proptest! {
        #[test]
        fn relation_is_symmetric(one in "[a-e ]{0,20}(not )?[a-e ]{0,20}", other in "[a-e ]{0,20}(not )?[a-e ]{0,20}") {
            prop_assert_eq!(relation(&one, &other), relation(&other, &one));
        }
    }
}
