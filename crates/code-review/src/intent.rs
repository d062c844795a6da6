//! Classifies the purpose of a change by the words that describe it.

use crate::diff_data::{ChangeStatus, DiffData};
use crate::route::ReviewIntent;

const FEATURE: [&str; 7] = ["feat", "feature", "add", "implement", "new", "introduce", "create"];
const FIX: [&str; 7] = ["fix", "bug", "patch", "hotfix", "repair", "correct", "revert"];
const REFACTOR: [&str; 7] = ["refactor", "cleanup", "clean", "reorganize", "rename", "move", "restructure"];
/// A change in which at least this part of the files is new adds behavior.
const ADDED_PERCENT: usize = 70;

/// Classifies a change by its title, the first line of its description and the subjects of its commits.
#[must_use]
pub fn classify<'a>(texts: impl IntoIterator<Item = &'a str>, data: &DiffData) -> ReviewIntent {
    let words: Vec<String> = texts
        .into_iter()
        .flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let has =
        |prefixes: &[&str]| words.iter().any(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
    let statuses = data.file_statuses.values();
    let added = statuses.filter(|status| **status == ChangeStatus::Added).count();
    let is_mostly_new = added > 0 && added * 100 >= data.file_statuses.len() * ADDED_PERCENT;
    match (has(&FEATURE) || is_mostly_new, has(&FIX), has(&REFACTOR)) {
        (true, false, false) => ReviewIntent::Feature,
        (false, true, false) => ReviewIntent::Fix,
        (false, false, true) => ReviewIntent::Refactor,
        _ => ReviewIntent::Mixed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(texts: &[&str], statuses: serde_json::Value) -> ReviewIntent {
        let data = serde_json::from_value(json!({"file_statuses": statuses})).unwrap();
        classify(texts.iter().copied(), &data)
    }

    #[test]
    fn exactly_one_class_decides() {
        let changed = json!({"a": "modified"});
        for (texts, intent) in [
            (vec!["feat(shop): baskets"], ReviewIntent::Feature),
            (vec!["Fixes the total"], ReviewIntent::Fix),
            (vec!["Rename the basket", "Move files"], ReviewIntent::Refactor),
            (vec!["Add a test", "fix it"], ReviewIntent::Mixed),
            (vec!["Baskets"], ReviewIntent::Mixed),
            (vec![], ReviewIntent::Mixed),
        ] {
            assert_eq!(of(&texts, changed.clone()), intent, "{texts:?}");
        }
        let mostly_new: serde_json::Map<String, serde_json::Value> =
            (0..10).map(|n| (n.to_string(), json!(if n < 7 { "added" } else { "modified" }))).collect();
        assert_eq!(of(&["Baskets"], mostly_new.clone().into()), ReviewIntent::Feature);
        assert_eq!(of(&["Fix baskets"], mostly_new.into()), ReviewIntent::Mixed);
    }
}
