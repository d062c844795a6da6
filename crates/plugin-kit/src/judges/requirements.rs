//! Checks of the structure of requirements that need no model: stories and their criteria, rows of the metrics, critical
//! questions, and a section about the scope.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::answer::{FindingWeight, JudgeFinding};
use crate::plan::structure::regex;

/// Judge to whose findings those of the checks are added.
pub const STRUCTURE_JUDGE: &str = "prd-auditor";
/// Its metric.
const METRIC: &str = "structural_completeness";
/// Longest quotation in characters.
const MAX_QUOTE: usize = 200;
/// Cells that say that a value is not known yet.
const EMPTY_CELLS: [&str; 8] = ["", "-", "–", "—", "?", "tbd", "todo", "n/a"];

/// A story or criterion at the beginning of a line, after marks of lists, headings and emphasis.
static DEFINED: LazyLock<Regex> = LazyLock::new(|| regex(r"^[\s>*_#\-+\[\]xX|]*(US|AC)-(\d+)(?:\.(\d+))?\b"));
/// A question that is marked as critical.
static CRITICAL: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\bQ-\d+\b[\s*_:]*\[critical\]"));
/// Signs that a question is answered: a checked box, struck text, or a mark.
static RESOLVED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)^\s*[-*+]\s+\[x\]|~~|\[(?:resolved|answered|closed)\]"));
static SCOPE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\bscope\b|\bnon-?goals?\b"));
static METRICS: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\bmetrics?\b"));

/// A line of the document outside of code blocks.
#[derive(Clone, Copy)]
struct TextLine<'a> {
    number: usize,
    text: &'a str,
}

impl TextLine<'_> {
    fn finding(&self, weight: FindingWeight, explanation: String) -> JudgeFinding {
        JudgeFinding {
            metric: METRIC,
            weight,
            place: format!("line {}", self.number),
            quote: self.text.trim().chars().take(MAX_QUOTE).collect(),
            explanation,
        }
    }

    fn is_heading(&self) -> bool {
        self.text.starts_with('#')
    }
}

/// Returns the faults in the structure of requirements, in the order of the checks.
pub fn faults(text: &str) -> Vec<JudgeFinding> {
    let lines = lines(text);
    [criteria(&lines), metrics(&lines), questions(&lines), scope(&lines)].concat()
}

fn lines(text: &str) -> Vec<TextLine<'_>> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(TextLine { number: index + 1, text: line });
        }
    }
    lines
}

/// Each story has a criterion, and each criterion a story.
fn criteria(lines: &[TextLine<'_>]) -> Vec<JudgeFinding> {
    let (mut stories, mut criteria) = (Vec::new(), Vec::new());
    for line in lines {
        let Some(found) = DEFINED.captures(line.text) else { continue };
        let (id, is_criterion) = (&found[2], found.get(3).is_some());
        match &found[1] {
            "US" if !is_criterion => stories.push((id.to_owned(), line)),
            "AC" if is_criterion => criteria.push((id.to_owned(), line)),
            _ => {}
        }
    }
    let ids =
        |items: &[(String, &TextLine<'_>)]| items.iter().map(|(id, _)| id.clone()).collect::<BTreeSet<_>>();
    let (known, judged) = (ids(&stories), ids(&criteria));
    let without_criterion = stories.iter().filter(|(id, _)| !judged.contains(id)).map(|(id, line)| {
        line.finding(FindingWeight::Blocking, format!("US-{id} has no acceptance criterion AC-{id}.n."))
    });
    let without_story = criteria.iter().filter(|(id, _)| !known.contains(id)).map(|(id, line)| {
        line.finding(FindingWeight::Major, format!("The criterion belongs to US-{id}, which does not exist."))
    });
    without_criterion.chain(without_story).collect()
}

/// Each row of a table below a heading about metrics has a baseline and a target.
fn metrics(lines: &[TextLine<'_>]) -> Vec<JudgeFinding> {
    let mut found = Vec::new();
    let mut is_metrics = false;
    let mut columns: Option<[Option<usize>; 2]> = None;
    for line in lines {
        if line.is_heading() {
            is_metrics = METRICS.is_match(line.text);
        }
        let row = line.text.trim().strip_prefix('|').filter(|_| is_metrics);
        let Some(row) = row else {
            columns = None;
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let Some(known) = columns else {
            let at = |name: &str| cells.iter().position(|cell| cell.to_lowercase().contains(name));
            let known = [at("baseline"), at("target")];
            for (name, _) in ["baseline", "target"].iter().zip(known).filter(|(_, at)| at.is_none()) {
                found.push(line.finding(FindingWeight::Major, format!("The metrics have no column {name}.")));
            }
            columns = Some(known);
            continue;
        };
        if cells.iter().all(|cell| cell.chars().all(|letter| ":-".contains(letter))) {
            continue;
        }
        for (name, at) in ["baseline", "target"].iter().zip(known) {
            let Some(at) = at else { continue };
            let value = cells.get(at).copied().unwrap_or_default().to_lowercase();
            if EMPTY_CELLS.contains(&value.as_str()) {
                found.push(line.finding(FindingWeight::Major, format!("The metric has no {name}.")));
            }
        }
    }
    found
}

/// No critical question is open.
fn questions(lines: &[TextLine<'_>]) -> Vec<JudgeFinding> {
    let open = lines.iter().filter(|line| CRITICAL.is_match(line.text) && !RESOLVED.is_match(line.text));
    open.map(|line| line.finding(FindingWeight::Blocking, "A critical question is open.".to_owned()))
        .collect()
}

/// A heading limits the scope.
fn scope(lines: &[TextLine<'_>]) -> Vec<JudgeFinding> {
    if lines.iter().any(|line| line.is_heading() && SCOPE.is_match(line.text)) {
        return Vec::new();
    }
    let first = lines.iter().find(|line| !line.text.trim().is_empty());
    let explanation = "No section limits the scope: there is no heading with Scope or Non-goals.";
    first.map(|line| line.finding(FindingWeight::Blocking, explanation.to_owned())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMPLETE: &str = "# Export\n\n## User Stories\n\n**US-1**: as a user I want files, so that I can read them.\n\
        - **AC-1.1**: The file has a row for each order.\n\n## Scope\n\n### Out of scope\n- US-7 of another product\n\n\
        ## Metrics\n\n| metric | baseline | target |\n|---|:-:|---|\n| time | measured by the log | 2 s |\n\n\
        ## Open Questions\n- [x] Q-1 [critical]: Which format?\n- Q-2: Which name?\n";

    fn found(text: &str) -> Vec<(&'static str, String, String)> {
        faults(text).into_iter().map(|fault| (fault.weight.name(), fault.place, fault.explanation)).collect()
    }

    #[test]
    fn complete_requirements_have_no_faults() {
        let outside = COMPLETE.replace("- US-7 of", "- The stories US-7 of");
        assert_eq!(found(&outside), []);
        assert_eq!(found(&format!("{outside}\n```\nUS-9\nQ-3 [critical]\n```\n")), []);
    }

    #[test]
    fn each_fault_has_its_weight_and_line() {
        for (from, to, weight, place, explanation) in [
            ("- **AC-1.1**", "- AC-2.1", "blocking", "line 5", "US-1 has no acceptance criterion AC-1.n."),
            ("Which format", "Which", "", "", ""),
            ("[x] Q-1", "Q-1", "blocking", "line 20", "A critical question is open."),
            (
                "## Scope\n\n### Out of scope",
                "## Limits\n\n### Other",
                "blocking",
                "line 1",
                "No section limits the scope: there is no heading with Scope or Non-goals.",
            ),
            ("measured by the log", "TBD", "major", "line 17", "The metric has no baseline."),
            ("| 2 s |", "|  |", "major", "line 17", "The metric has no target."),
            ("| baseline |", "| before |", "major", "line 15", "The metrics have no column baseline."),
        ] {
            let text = COMPLETE.replace("- US-7 of", "- The stories US-7 of").replace(from, to);
            let found = found(&text);
            let expected = (weight, place.to_owned(), explanation.to_owned());
            assert!(weight.is_empty() && found.is_empty() || found.contains(&expected), "{to}: {found:?}");
        }
        // A story and a criterion that belong to each other by their numbers only.
        let found =
            found(&COMPLETE.replace("- US-7 of", "- The stories US-7 of").replace("AC-1.1", "AC-3.1"));
        assert_eq!(found.iter().map(|(weight, ..)| *weight).collect::<Vec<_>>(), ["blocking", "major"]);
    }

    proptest! {
        #[test]
        fn any_text_is_checked_and_each_quotation_is_in_it(text in "[#|\\-*`\\[\\] QUSAC0-9.:\nx]{0,200}") {
            for fault in faults(&text) {
                prop_assert!(text.contains(&fault.quote), "{fault:?}");
            }
        }
    }
}
