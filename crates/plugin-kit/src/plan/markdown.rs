//! Parser for the lines of a plan's Markdown that programs interpret.
//!
//! Recognizes tasks, questions, gaps, criteria and headings as the writing conventions define them. Fenced
//! code blocks are examples and are skipped.

use std::sync::LazyLock;

use loopgate_api::plan::is_fence;
use regex::Regex;
use serde::Serialize;

fn regex(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test uses them all")]
    Regex::new(pattern).expect("constant pattern")
}

static TASK: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^- \[([ xX])\] \*\*(T-\d+\.\d+)\*\*\s*(\[MANUAL\])?\s*:?\s*(.*)$"));
static DETAIL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s+[-*] \**(files|uses|provides|test)\**\s*:\**\s*(.+)$"));
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

/// A task in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLine {
    /// Task id, for example `T-1.2`.
    pub id: String,
    /// Whether the checkbox is ticked.
    pub done: bool,
    /// Whether the task is for a person and not for the loop.
    pub manual: bool,
    /// Description of the task, without the criteria.
    pub text: String,
    /// Ids of the acceptance criteria that the task serves.
    pub criteria: Vec<String>,
    /// Detail lines below the task.
    pub details: TaskDetails,
}

/// Detail lines below a task: `  - files: a.rs, b.rs`. They tell the agents of the task what it touches, needs and offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TaskDetails {
    /// Files that the task changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What the task needs; an id of another task makes the task depend on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// What the task provides to later tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub provides: Vec<String>,
    /// Command that runs the tests of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
}

impl TaskDetails {
    fn add(&mut self, name: &str, text: &str) {
        let items = || {
            let items = text.split(',').map(|item| item.trim().trim_matches('`').to_owned());
            items.filter(|item| !item.is_empty()).collect::<Vec<_>>()
        };
        match name {
            "files" => self.files.extend(items()),
            "uses" => self.uses.extend(items()),
            "provides" => self.provides.extend(items()),
            // A command may contain commas.
            _ => self.test = Some(text.trim().trim_matches('`').to_owned()).filter(|text| !text.is_empty()),
        }
    }
}

/// A question or a gap, with its recommendation, answer or resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Id of the form `Q-nnn` or `GAP-nnn`.
    pub id: String,
    /// Whether the checkbox is ticked.
    pub done: bool,
    /// Text of the question or gap.
    pub text: String,
    /// Recommendation, answer or resolution.
    pub remark: Option<String>,
}

/// A row of the table of acceptance criteria.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// Id of the form `AC-nnn`.
    pub id: String,
    /// Text of the criterion.
    pub text: String,
    /// Document that the criterion is derived from.
    pub source: String,
}

/// The interpreted lines of a plan's Markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Texts of the second-level headings, in lower case.
    pub headings: Vec<String>,
    /// Tasks in document order.
    pub tasks: Vec<TaskLine>,
    /// Questions in document order.
    pub questions: Vec<Point>,
    /// Gaps in document order.
    pub gaps: Vec<Point>,
    /// Criteria in document order.
    pub criteria: Vec<Criterion>,
    /// Lines that mention a task in bold without being a task line.
    pub stray_tasks: Vec<String>,
    /// Whether the previous line belongs to the last task.
    in_task: bool,
}

impl Outline {
    /// Parses a Markdown text.
    #[must_use]
    pub fn read(content: &str) -> Self {
        let mut outline = Self::default();
        prose(content).for_each(|line| outline.take(line));
        outline
    }

    /// Returns whether a second-level heading starts with `name`, ignoring case.
    #[must_use]
    pub fn has_section(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.headings.iter().any(|heading| heading.starts_with(&name))
    }

    fn take(&mut self, line: &str) {
        if self.in_task
            && let (Some(detail), Some(task)) = (DETAIL.captures(line), self.tasks.last_mut())
        {
            return task.details.add(&detail[1], &detail[2]);
        }
        // Only indented or empty lines continue a task.
        self.in_task &= line.is_empty() || line.starts_with([' ', '\t']);
        let line = line.trim();
        if let Some(heading) = line.strip_prefix("## ") {
            self.headings.push(heading.trim().to_lowercase());
        } else if let Some(task) = task(line) {
            self.tasks.push(task);
            self.in_task = true;
        // Must follow the task lines: every other mention in bold is an incomplete task line.
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

/// Iterates over the lines outside fenced code blocks.
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

fn task(line: &str) -> Option<TaskLine> {
    let parts = TASK.captures(line)?;
    let rest = &parts[4];
    let criteria = REFERENCES
        .captures_iter(rest)
        .flat_map(|references| references[1].split(',').map(|id| id.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    Some(TaskLine {
        id: parts[2].to_owned(),
        done: &parts[1] != " ",
        manual: parts.get(3).is_some(),
        text: REFERENCES.replace_all(rest, "").trim().to_owned(),
        criteria,
        details: TaskDetails::default(),
    })
}

/// Returns the text of the second-level section with a heading, ignoring case.
#[must_use]
pub fn section<'a>(content: &'a str, name: &str) -> Option<&'a str> {
    let is_heading =
        |line: &str| line.strip_prefix("## ").is_some_and(|text| text.trim().eq_ignore_ascii_case(name));
    let mut lines = content.split_inclusive('\n');
    let mut start = 0;
    lines.by_ref().find(|line| {
        start += line.len();
        is_heading(line)
    })?;
    let length: usize = lines.take_while(|line| !line.starts_with("## ")).map(str::len).sum();
    Some(content[start..start + length].trim()).filter(|text| !text.is_empty())
}

fn question(line: &str) -> Option<Point> {
    // An open question carries a recommendation, an answered one its answer.
    let open = QUESTION.captures(line).is_some_and(|parts| &parts[1] == " ");
    point(&QUESTION, if open { &RECOMMENDED } else { &ANSWER }, line)
}

fn point(shape: &Regex, remark: &Regex, line: &str) -> Option<Point> {
    let parts = shape.captures(line)?;
    let rest = &parts[3];
    let remark_text =
        remark.captures(rest).map(|parts| parts[1].trim().to_owned()).filter(|text| !text.is_empty());
    Some(Point {
        id: parts[2].to_owned(),
        done: &parts[1] != " ",
        text: remark.replace(rest, "").trim().to_owned(),
        remark: remark_text,
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
    fn each_kind_of_line_is_parsed() {
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
    fn detail_lines_belong_to_the_task_above() {
        let outline = Outline::read(
            "- [ ] **T-1.1**: Parse\n  - files: `src/a.rs`, src/b.rs\n  - **provides**: fn parse\n  - a remark\n\
             \n  - test: `cargo test -p a, b`\n- [ ] **T-1.2**: Print\n  - uses: T-1.1\nText.\n  - files: none.rs\n",
        );
        let details = &outline.tasks[0].details;
        assert_eq!(
            (details.files.as_slice(), details.provides.as_slice()),
            (&["src/a.rs".to_owned(), "src/b.rs".to_owned()][..], &["fn parse".to_owned()][..])
        );
        assert_eq!(details.test.as_deref(), Some("cargo test -p a, b"));
        assert_eq!(
            outline.tasks[1].details,
            TaskDetails { uses: vec!["T-1.1".to_owned()], ..TaskDetails::default() }
        );
    }

    #[test]
    fn section_is_found_by_its_whole_heading() {
        let content = "## Risks & Constraints\nrisk\n## Constraints\nNo new dependency.\n\n## Tasks\n";
        assert_eq!(section(content, "constraints"), Some("No new dependency."));
        assert_eq!(section(content, "Tasks"), None);
        assert_eq!(section("", "Tasks"), None);
    }
}
