//! Checks the text of a plan for unfinished parts that a drafting agent must not leave.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::document;
use super::markdown::prose;
use super::paths::plan_path;

/// List items without a checkbox under Tasks that are tolerated as notes.
const MAX_BARE_ITEMS: usize = 5;

fn regex(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test uses them all")]
    Regex::new(pattern).expect("constant pattern")
}

/// Matches placeholders, which are alone or precede a colon; a task about a todo list is not a placeholder.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\bTODO\b(?:\s*:|\s*$|\s*[)\]])|\bFIXME\b|\bTBD\b|(?i:\bto be determined\b|\[?<?\bplaceholder\b>?\]?\s*$|\bfill (?:this )?in\b\s*[.\])]*$)",
    )
});
static EMPTY_BOX: LazyLock<Regex> = LazyLock::new(|| regex(r"^- \[[ xX]\]\s*$"));
static BOX: LazyLock<Regex> = LazyLock::new(|| regex(r"^- \[[ xX]\] "));

/// Result of the check.
#[derive(Debug, Default)]
struct Findings {
    failures: Vec<String>,
    warnings: Vec<String>,
}

/// Checks the plan of a work directory. The first line of the report is the result.
#[must_use]
pub fn report(prd: &Path, workdir: &Path) -> String {
    let mut findings = Findings::default();
    // Only a warning: a plan can be checked without its requirements.
    if !prd.is_file() {
        findings.warnings.push(format!("Requirements file not found: {}", prd.display()));
    }
    match document::read(&plan_path(workdir)) {
        Ok(plan) => match plan.get("content").and_then(Value::as_str) {
            Some(content) => check_content(content, &mut findings),
            None => findings.failures.push("plan.json has no content".to_owned()),
        },
        Err(message) => findings.failures.push(message),
    }
    render(&findings)
}

fn render(findings: &Findings) -> String {
    let mut text = match (findings.failures.is_empty(), findings.warnings.is_empty()) {
        (true, true) => "VALIDATION: PASS",
        (true, false) => "VALIDATION: PASS (with warnings)",
        (false, _) => "VALIDATION: FAIL",
    }
    .to_owned();
    for (heading, lines) in [("Failures", &findings.failures), ("Warnings", &findings.warnings)] {
        if !lines.is_empty() {
            let _ = write!(text, "\n{heading}:\n- {}", lines.join("\n- "));
        }
    }
    text
}

fn check_content(content: &str, findings: &mut Findings) {
    let (mut section, mut bare) = (String::new(), 0);
    let mut has_questions = false;
    for line in prose(content).map(str::trim) {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading.trim().to_lowercase();
            has_questions |= section.starts_with("open questions");
        }
        if EMPTY_BOX.is_match(line) {
            findings.failures.push(format!("Empty checkbox item in section '{section}'"));
        }
        if let Some(placeholder) = PLACEHOLDER.find(line) {
            findings.failures.push(format!("Placeholder '{}' in: {line}", placeholder.as_str().trim()));
        }
        let is_item = line.starts_with("- ") && !BOX.is_match(line) && !EMPTY_BOX.is_match(line);
        if is_item && section.starts_with("open questions") {
            findings.failures.push(format!("Open question without checkbox: {line}"));
        }
        // Items with a colon are details of a task, such as `Files: …`.
        if is_item && section.starts_with("tasks") && !line.contains(':') {
            bare += 1;
        }
    }
    if !has_questions {
        findings.failures.push("Missing section: ## Open Questions".to_owned());
    }
    if bare > MAX_BARE_ITEMS {
        findings.failures.push(format!("{bare} list items under Tasks have no checkbox"));
    }
    warn_about_files(content, findings);
}

fn warn_about_files(content: &str, findings: &mut Findings) {
    let lower = content.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["new file", "create a file"]) && !has(&["because", "rationale", "reason", "so that", "since"]) {
        findings.warnings.push("New files are planned without a reason".to_owned());
    }
    if has(&["copy-paste", "copy and paste", "duplicate the code", "copy the code"]) {
        findings.warnings.push("The plan proposes to copy code".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_text(content: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(plan_path(dir.path()), json!({"content": content}).to_string()).unwrap();
        std::fs::write(dir.path().join("prd.md"), "request").unwrap();
        report(&dir.path().join("prd.md"), dir.path())
    }

    #[test]
    fn clean_text_passes() {
        let text = "## Tasks\n- [ ] **T-1.1**: Show the todo list\n## Open Questions\n- [ ] Q-001: Which?\n";
        assert_eq!(check_text(text), "VALIDATION: PASS");
    }

    #[test]
    fn unfinished_text_fails() {
        for text in [
            "## Tasks\n- [ ] **T-1.1**: TODO\n## Open Questions\n",
            "## Tasks\n- [ ] **T-1.1**: Limits TBD\n## Open Questions\n",
            "## Tasks\n- [ ]\n## Open Questions\n",
            "## Open Questions\n- Which one?\n",
            "## Tasks\n- [ ] **T-1.1**: x\n",
        ] {
            assert!(check_text(text).starts_with("VALIDATION: FAIL\n"), "{text}");
        }
    }

    #[test]
    fn missing_plan_fails_and_missing_requirements_warn() {
        let dir = tempfile::tempdir().unwrap();
        let text = report(Path::new("/nonexistent"), dir.path());
        assert!(text.starts_with("VALIDATION: FAIL") && text.contains("Warnings:"));
    }
}
