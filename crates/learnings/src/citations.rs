//! What agents answer to learnings: which ones they applied, and the places that show it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::hostile::ACKNOWLEDGED;
use crate::pattern::one_line;
use crate::similarity::use_of;

/// Lines of an acknowledgement after its first one.
const MORE_LINES: usize = 19;
/// Maximum length of the logged text of an acknowledgement, in characters.
const MAX_EVIDENCE_CHARS: usize = 200;
/// Lines between a cited line and the change that it refers to. Agents cite the begin of what they changed, or its middle.
const NEAR: u64 = 5;
/// Maximum number of citations per learning.
const MAX_CITATIONS: usize = 10;

static APPLIED: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a constant pattern, which the tests use")]
    Regex::new(r#"^[\s*>`-]*Applied:\**\s*(?:"([^"]+)"|“([^”]+)”|`([^`]+)`|(P-\d{3,}))(.*)$"#)
        .expect("constant pattern")
});

static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a constant pattern, which the tests use")]
    Regex::new(r#"([^\s\[\]()<>"'`,;:]+):(\d{1,9})\b"#).expect("constant pattern")
});

/// A cited place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// Path as cited.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
}

/// A learning that an agent applied, with the places that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternCitation {
    /// Id of the pattern.
    pub id: String,
    /// The places; empty if the agent named none.
    pub citations: Vec<Citation>,
}

/// Answer of an agent to the learnings that it received.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Acknowledgement {
    /// The first characters of the acknowledgement, in one line.
    pub evidence: String,
    /// The applied learnings, each once.
    pub applied: Vec<PatternCitation>,
}

impl Acknowledgement {
    /// Reads the acknowledgement in an answer. `shown` are the ids and summaries that the agent received; a citation of
    /// another learning does not count. `None` without an acknowledgement.
    #[must_use]
    pub fn parse(answer: &str, shown: &[(String, String)]) -> Option<Self> {
        let block = answer.rfind(ACKNOWLEDGED).map(|at| &answer[at..])?;
        let block: Vec<&str> = block.lines().take(MORE_LINES + 1).collect();
        Some(Self {
            evidence: one_line(&block.join(" "), MAX_EVIDENCE_CHARS),
            applied: applied(block.into_iter(), shown),
        })
    }

    /// Reads the citations of a text without an acknowledgement, as sessions of users write them.
    #[must_use]
    pub fn citations(text: &str, shown: &[(String, String)]) -> Vec<PatternCitation> {
        applied(text.lines(), shown)
    }
}

/// Removes the acknowledgement from the end of an answer.
#[must_use]
pub fn without_acknowledgement(answer: &str) -> &str {
    match answer.rfind(ACKNOWLEDGED) {
        // The whole line, with what may be in front of the word.
        Some(at) => answer[..at].rsplit_once('\n').map_or("", |(before, _)| before),
        None => answer,
    }
}

fn applied<'a>(lines: impl Iterator<Item = &'a str>, shown: &[(String, String)]) -> Vec<PatternCitation> {
    let mut applied: Vec<PatternCitation> = Vec::new();
    for parts in lines.filter_map(|line| APPLIED.captures(line)) {
        let name = (1..=4).find_map(|group| parts.get(group)).map_or("", |name| name.as_str());
        let Some(id) = shown_id(name, shown) else { continue };
        let places = PLACE.captures_iter(parts.get(5).map_or("", |rest| rest.as_str()));
        let places = places
            .filter_map(|place| Some(Citation { file: place[1].to_owned(), line: place[2].parse().ok()? }));
        let known = applied.iter().position(|pattern| pattern.id == id);
        let at = known.unwrap_or_else(|| {
            applied.push(PatternCitation { id, citations: Vec::new() });
            applied.len() - 1
        });
        applied[at].citations.extend(places);
        applied[at].citations.truncate(MAX_CITATIONS);
    }
    applied
}

/// Returns the shown learning that a name denotes: by its id, else by its text.
fn shown_id(name: &str, shown: &[(String, String)]) -> Option<String> {
    let by_id = shown.iter().find(|(id, _)| name.split([':', ' ']).next() == Some(id));
    let by_text = || {
        let matches = shown.iter().filter_map(|known| Some((use_of(name, &known.1)?, known)));
        matches.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, known)| known)
    };
    by_id.or_else(by_text).map(|(id, _)| id.clone())
}

/// Lines that a loop has changed, by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangedLines {
    /// First and last line of each change in the present file.
    changes: BTreeMap<String, Vec<(u64, u64)>>,
    /// Names of repositories, in front of the paths of their files.
    prefixes: BTreeSet<String>,
}

impl ChangedLines {
    /// Adds a change, from the first to the last line in the present file.
    pub fn add(&mut self, path: &str, first: u64, last: u64) {
        self.changes.entry(path.to_owned()).or_default().push((first, last.max(first)));
    }

    /// Adds a text in front of paths, which citations may contain.
    pub fn add_prefix(&mut self, prefix: &str) {
        self.prefixes.insert(prefix.to_owned());
    }

    /// Returns whether nothing has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the paths of the changed files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.changes.keys().map(String::as_str)
    }

    /// Returns whether a citation is true: its file was changed at most five lines away.
    #[must_use]
    pub fn confirm(&self, citation: &Citation) -> bool {
        let is_near = |path: &str| {
            self.changes.get(path.trim_start_matches("./")).is_some_and(|changes| {
                let near = |(first, last): &(u64, u64)| {
                    citation.line.saturating_add(NEAR) >= *first && citation.line <= last.saturating_add(NEAR)
                };
                changes.iter().any(near)
            })
        };
        let stripped = self.prefixes.iter().filter_map(|prefix| citation.file.strip_prefix(prefix.as_str()));
        is_near(&citation.file) || stripped.map(|path| path.trim_start_matches('/')).any(is_near)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown() -> Vec<(String, String)> {
        [("P-001", "Run the migrations before the tests"), ("P-002", "Keep money in cents, as whole numbers")]
            .map(|(id, summary)| (id.to_owned(), summary.to_owned()))
            .to_vec()
    }

    // PR-34
    #[test]
    fn citations_belong_to_their_pattern_and_to_shown_ones_only() {
        let answer = "VERIFIED: T-1.1\n\nLEARNINGS_ACKNOWLEDGED\n\
            Applied: \"P-001\" -> [ran them, see src/db.rs:12 and src/a b.rs:3]\n\
            - Applied: \"Keep money in cents, as whole numbers\" -> [pay.ts:40]\n\
            Applied: P-009 -> [x.rs:1]\nApplied: \"Something that was not shown\" -> [x.rs:1]";
        let acknowledgement = Acknowledgement::parse(answer, &shown()).unwrap();
        let place = |file: &str, line| Citation { file: file.to_owned(), line };
        assert_eq!(
            acknowledgement.applied,
            [
                PatternCitation {
                    id: "P-001".to_owned(),
                    citations: vec![place("src/db.rs", 12), place("b.rs", 3)]
                },
                PatternCitation { id: "P-002".to_owned(), citations: vec![place("pay.ts", 40)] },
            ]
        );
        assert!(acknowledgement.evidence.starts_with("LEARNINGS_ACKNOWLEDGED Applied:"));
        assert_eq!(without_acknowledgement(answer), "VERIFIED: T-1.1\n");
    }

    #[test]
    fn answer_without_the_word_is_no_acknowledgement() {
        assert_eq!(Acknowledgement::parse("Applied: P-001 -> [a.rs:1]", &shown()), None);
        let none = Acknowledgement::parse("done\nLEARNINGS_ACKNOWLEDGED: no_learnings (none fits)", &shown());
        assert_eq!(none.unwrap().applied, []);
        assert_eq!(without_acknowledgement("done"), "done");
    }

    // PR-34
    #[test]
    fn citation_is_true_within_five_lines_of_a_change() {
        let mut changed = ChangedLines::default();
        changed.add("src/db.rs", 10, 12);
        changed.add_prefix("/work/project");
        let confirmed = |file: &str, line| changed.confirm(&Citation { file: file.to_owned(), line });
        assert_eq!(
            [4, 5, 11, 17, 18].map(|line| confirmed("src/db.rs", line)),
            [false, true, true, true, false]
        );
        assert!(confirmed("./src/db.rs", 10) && confirmed("/work/project/src/db.rs", 10));
        assert!(!confirmed("src/other.rs", 10) && !confirmed("db.rs", 10));
    }

    proptest! {
        #[test]
        fn any_answer_is_parsed(answer in "(LEARNINGS_ACKNOWLEDGED|Applied: |P-001|\"|->|[a-z./:0-9 \n\\[\\]]){0,40}") {
            if let Some(acknowledgement) = Acknowledgement::parse(&answer, &shown()) {
                prop_assert!(acknowledgement.applied.len() <= 2);
                prop_assert!(acknowledgement.evidence.chars().count() <= MAX_EVIDENCE_CHARS);
            }
            prop_assert!(answer.starts_with(without_acknowledgement(&answer)));
        }
    }
}
