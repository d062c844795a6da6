//! The lines of a plan's markdown that mean something to programs.
//!
//! Reads what the writing conventions fix: tasks, questions, gaps, criteria, headings, repositories.
//! Fenced blocks are examples and are passed over.

use std::sync::LazyLock;

use regex::Regex;

fn regex(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test uses them all")]
    Regex::new(pattern).expect("constant pattern")
}

static TASK: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^- \[([ xX])\] \*\*(T-\d+\.\d+)\*\*\s*(\[MANUAL\])?\s*:?\s*(.*)$"));
static TASK_MENTION: LazyLock<Regex> = LazyLock::new(|| regex(r"\*\*T-\d+\.\d+\*\*"));
static QUESTION: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^- \[([ xX])\] (?:\*\*)?(Q-\d{3})(?:\*\*)?\s*:?(?:\*\*)?\s*(.*)$"));
static GAP: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^- \[([ xX])\] (?:\*\*)?(GAP-\d{3})(?:\*\*)?\s*:?(?:\*\*)?\s*(.*)$"));
static CRITERION: LazyLock<Regex> = LazyLock::new(|| regex(r"^\|\s*\**(AC-\d{3})\**\s*\|(.*)$"));
static REFERENCES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\s*\*?\(((?:AC-\d{3})(?:\s*,\s*AC-\d{3})*)\)\*?"));
static RECOMMENDED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\s*(?:\*\*)?\[Recommended:\s*(.*?)\](?:\*\*)?\s*$"));
static ANSWER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\s*\*\*Answer:\s*(?:\*\*)?\s*(.*?)\s*(?:\*\*)?\s*$"));
static RESOLUTION: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\s*\*\*Resolution:\s*(?:\*\*)?\s*(.*?)\s*(?:\*\*)?\s*$"));

/// A task line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLine {
    /// `T-n.n`.
    pub id: String,
    /// Ticked.
    pub done: bool,
    /// For a person to do.
    pub manual: bool,
    /// What to do, without the criteria.
    pub text: String,
    /// Criteria that it serves.
    pub criteria: Vec<String>,
}

/// A question or a gap, with what was said to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// `Q-nnn` or `GAP-nnn`.
    pub id: String,
    /// Ticked.
    pub done: bool,
    /// The question or gap itself.
    pub text: String,
    /// Recommendation, answer or resolution.
    pub remark: Option<String>,
}

/// A row of the criteria table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// `AC-nnn`.
    pub id: String,
    /// The criterion.
    pub text: String,
    /// Where it comes from.
    pub source: String,
}

/// Everything that a plan's markdown fixes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Texts of the second-level headings, in lower case.
    pub headings: Vec<String>,
    /// Tasks, in order.
    pub tasks: Vec<TaskLine>,
    /// Questions, in order.
    pub questions: Vec<Point>,
    /// Gaps, in order.
    pub gaps: Vec<Point>,
    /// Criteria, in order.
    pub criteria: Vec<Criterion>,
    /// Lines that name a task without being a task line.
    pub stray_tasks: Vec<String>,
}

impl Outline {
    /// Reads markdown.
    #[must_use]
    pub fn read(content: &str) -> Self {
        let mut outline = Self::default();
        prose(content).for_each(|line| outline.take(line));
        outline
    }

    /// Whether a second-level heading begins with a name.
    #[must_use]
    pub fn has_section(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.headings.iter().any(|heading| heading.starts_with(&name))
    }

    fn take(&mut self, line: &str) {
        let line = line.trim();
        if let Some(heading) = line.strip_prefix("## ") {
            self.headings.push(heading.trim().to_lowercase());
        } else if let Some(task) = task(line) {
            self.tasks.push(task);
        } else if TASK_MENTION.is_match(line) {
            self.stray_tasks.push(line.to_owned());
        } else if let Some(question) = question(line) {
            self.questions.push(question);
        } else if let Some(gap) = point(&GAP, &RESOLUTION, line) {
            self.gaps.push(gap);
        } else if let Some(criterion) = criterion(line) {
            self.criteria.push(criterion);
        }
    }
}

/// Lines outside fenced blocks.
pub fn prose(content: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    content.lines().filter(move |line| {
        if is_fence(line) {
            fenced = !fenced;
            return false;
        }
        !fenced
    })
}

/// Whether a line begins or ends a fenced block.
fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// The content with a task's box ticked; `None` when there is no such open line.
#[must_use]
pub fn ticked(content: &str, id: &str) -> Option<String> {
    let (mut found, mut fenced) = (false, false);
    let mut tick = |line: &str| {
        fenced ^= is_fence(line);
        match task(line.trim()) {
            Some(task) if task.id == id && !task.done && !found && !fenced => {
                found = true;
                line.replacen("- [ ]", "- [x]", 1)
            }
            _ => line.to_owned(),
        }
    };
    let lines: Vec<String> = content.split('\n').map(&mut tick).collect();
    found.then(|| lines.join("\n"))
}

fn task(line: &str) -> Option<TaskLine> {
    let parts = TASK.captures(line)?;
    let rest = &parts[4];
    let criteria = REFERENCES
        .captures_iter(rest)
        .flat_map(|found| found[1].split(',').map(|id| id.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    Some(TaskLine {
        id: parts[2].to_owned(),
        done: &parts[1] != " ",
        manual: parts.get(3).is_some(),
        text: REFERENCES.replace_all(rest, "").trim().to_owned(),
        criteria,
    })
}

fn question(line: &str) -> Option<Point> {
    let open = QUESTION.captures(line).is_some_and(|parts| &parts[1] == " ");
    point(&QUESTION, if open { &RECOMMENDED } else { &ANSWER }, line)
}

fn point(shape: &Regex, remark: &Regex, line: &str) -> Option<Point> {
    let parts = shape.captures(line)?;
    let rest = &parts[3];
    let said = remark.captures(rest).map(|found| found[1].trim().to_owned()).filter(|text| !text.is_empty());
    Some(Point {
        id: parts[2].to_owned(),
        done: &parts[1] != " ",
        text: remark.replace(rest, "").trim().to_owned(),
        remark: said,
    })
}

fn criterion(line: &str) -> Option<Criterion> {
    let parts = CRITERION.captures(line)?;
    let mut cells = parts[2].split('|').map(str::trim);
    Some(Criterion {
        id: parts[1].to_owned(),
        text: cells.next().unwrap_or_default().to_owned(),
        source: cells.next().unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_line_is_read() {
        let outline = Outline::read(
            "## Summary\n### Tasks inside\n## Open Questions\n\
             | AC-001 | It works | prd.md |\n\
             - [ ] **T-1.1**: Add a page *(AC-001, AC-002)*\n\
             - [x] **T-1.2**: Done\n\
             - [ ] **T-3.1** [MANUAL]: Ask legal\n\
             - [ ] Q-001: Which colour? **[Recommended: blue]**\n\
             - [x] **Q-002**: Which size? **Answer: large**\n\
             - [ ] **GAP-001**: No tests\n\
             - [x] **GAP-002**: No docs **Resolution:** Write them\n\
             see **T-1.1** above\n\
             ```\n- [ ] **T-9.9**: example\n```\n",
        );
        assert_eq!(outline.headings, ["summary", "open questions"]);
        let task = &outline.tasks[0];
        assert_eq!((task.text.as_str(), task.criteria.len(), task.done), ("Add a page", 2, false));
        assert!(outline.tasks[1].done && outline.tasks[2].manual && outline.tasks.len() == 3);
        assert_eq!(outline.questions[0].remark.as_deref(), Some("blue"));
        assert_eq!(outline.questions[0].text, "Which colour?");
        assert_eq!(outline.questions[1].remark.as_deref(), Some("large"));
        assert_eq!(outline.gaps[1].remark.as_deref(), Some("Write them"));
        assert_eq!(outline.criteria[0].source, "prd.md");
        assert_eq!(outline.stray_tasks, ["see **T-1.1** above"]);
    }

    #[test]
    fn ticking_changes_one_box() {
        let content = "- [ ] **T-1.1**: a\n  - [ ] **T-1.2**: b\n";
        assert_eq!(ticked(content, "T-1.2").unwrap(), "- [ ] **T-1.1**: a\n  - [x] **T-1.2**: b\n");
        assert_eq!(ticked(content, "T-1.3"), None);
    }
}
