//! `loopgate plan brief`: what an agent has to know about a task, or about the whole change, as a file.
//!
//! The orchestrator passes on a path. Text that a model retypes costs tokens twice, and loses details.

use std::fmt::Write as _;
use std::path::Path;

use loopgate_home::untrusted;
use serde_json::{Map, Value};

use super::document::{self, tasks};
use super::paths::plan_path;
use super::task_changes::{self, START};
use super::task_report::TaskStatus;
use super::{markdown, proof};
use crate::config_env::ConfigEnv;
use crate::hook::answers::{self, AgentAnswer};
use crate::variables as var;

/// Subject of the brief about the whole change.
pub const CHANGE: &str = "change";
/// Directory of the briefs, in the work directory.
const BRIEFS: &str = "briefs";
/// Agent that reviews the whole change.
const CHANGE_REVIEWER: &str = "code:code-reviewer";
/// Agent that tries to disprove the findings of the review.
const FINDING_CHECKER: &str = "code:finding-checker";

/// Writes the brief of a task, or of the whole change, and returns its path.
///
/// # Errors
/// Returns the line to print, also for an unknown task.
pub fn write(workdir: &Path, subject: &str) -> Result<String, String> {
    let plan = document::read(&plan_path(workdir))?;
    let text = if subject == CHANGE { of_change(workdir, &plan)? } else { of_task(workdir, &plan, subject)? };
    let path = workdir.join(BRIEFS).join(format!("{subject}.md"));
    untrusted::write(&path, text.as_bytes())
        .map_err(|error| format!("Error: cannot write {}: {error}", path.display()))?;
    Ok(path.display().to_string())
}

fn of_task(workdir: &Path, plan: &Map<String, Value>, id: &str) -> Result<String, String> {
    let mut all = ["pendingTasks", "completedTasks"].iter().flat_map(|list| tasks(plan, list));
    let task = all.find(|task| task.get("id").and_then(Value::as_str) == Some(id));
    let task = task.ok_or_else(|| format!("Error: no task {id}"))?;
    let mut text = format!("# Task {id}\n\n{}\n", string(task, "description"));
    let criteria = tasks(plan, "acceptanceCriteria").iter().filter(|criterion| {
        let names = task.get("acceptanceCriteria").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|name| Some(name) == criterion.get("id")))
    });
    add(&mut text, "Criteria", &criteria.map(criterion).collect::<String>());
    add(&mut text, "Details", &details(task));
    add_frame(&mut text, workdir, plan);
    let missing = answers::all(workdir).into_iter().rfind(|answer| is_check_of(answer, id));
    if let Some(answer) = missing
        && TaskStatus::parse(&answer.text, id) == TaskStatus::NotImplemented
    {
        add(&mut text, &format!("What the last check found missing ({})", answer.agent_type), &answer.text);
    }
    if let Some(proof) = proof::of_task(workdir, id) {
        add(&mut text, "Tests before and after, run by a program", &proof.to_string());
    }
    let patch = format!("`loopgate plan changed --since-task {id} --patch \"{}\"`", workdir.display());
    add(&mut text, "Change so far", &format!("{patch} prints the path of the patch and the changed files."));
    Ok(text)
}

fn of_change(workdir: &Path, plan: &Map<String, Value>) -> Result<String, String> {
    let content = plan.get("content").and_then(Value::as_str).unwrap_or_default();
    let mut text = "# The whole change\n".to_owned();
    add(&mut text, "Purpose", markdown::section(content, "Summary").unwrap_or_default());
    let criteria: String = tasks(plan, "acceptanceCriteria").iter().map(criterion).collect();
    add(&mut text, "Criteria", &criteria);
    add_frame(&mut text, workdir, plan);
    add(&mut text, "Patch and files", &task_changes::write_patch(workdir, START)?);
    let answers = answers::all(workdir);
    let last = |agent: &str| answers.iter().rfind(|answer| answer.agent_type == agent);
    if let Some(review) = last(CHANGE_REVIEWER) {
        add(&mut text, "Findings of the review", &review.text);
        // The check of an earlier review says nothing about these findings.
        if let Some(check) = last(FINDING_CHECKER).filter(|check| check.number > review.number) {
            add(&mut text, "Check of these findings", &check.text);
        }
    }
    Ok(text)
}

/// Adds what binds every task, and where the files of the loop are.
fn add_frame(text: &mut String, workdir: &Path, plan: &Map<String, Value>) {
    let content = plan.get("content").and_then(Value::as_str).unwrap_or_default();
    add(text, "Constraints", markdown::section(content, "Constraints").unwrap_or_default());
    let config = ConfigEnv::load(workdir).unwrap_or_default();
    let mut places = format!("- work directory: {}\n", workdir.display());
    let configured = [("requirements", var::PRD_FILE), ("further repositories", var::REPO_MAP)];
    for (name, variable) in configured {
        if let Some(value) = config.get(variable).filter(|value| !value.is_empty()) {
            let _ = writeln!(places, "- {name}: {value}");
        }
    }
    for (name, file) in [
        ("answer of the user", "prompt.md"),
        ("learnings of earlier loops", "learnings.md"),
        ("what the worktree lacks", "worktree.md"),
    ] {
        if untrusted::is_file(&workdir.join(file)) {
            let _ = writeln!(places, "- {name}: {}", workdir.join(file).display());
        }
    }
    add(text, "Places", &places);
}

fn add(text: &mut String, heading: &str, body: &str) {
    if !body.trim().is_empty() {
        let _ = write!(text, "\n## {heading}\n\n{}\n", body.trim());
    }
}

fn is_check_of(answer: &AgentAnswer, id: &str) -> bool {
    answers::is_checker(&answer.agent_type)
        && (answer.concerns(id) || answer.reported_for.as_deref() == Some(id))
}

fn criterion(criterion: &Value) -> String {
    format!("- {}: {}\n", string(criterion, "id"), string(criterion, "criterion"))
}

fn details(task: &Value) -> String {
    let details = task.get("details").and_then(Value::as_object);
    let line = |(name, value): (&String, &Value)| match value {
        Value::Array(items) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            format!("- {name}: {}\n", items.join(", "))
        }
        value => format!("- {name}: {}\n", value.as_str().unwrap_or_default()),
    };
    details.into_iter().flatten().map(line).collect()
}

fn string<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use loopgate_api::names::PLAN_MD;

    use super::super::build::build;
    use super::super::structure::tests::CONTENT;
    use super::*;

    fn workdir_with_plan() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let details =
            "*(AC-001)*\n  - files: page.html, style.css\n  - test: `npm test -- page`\n- [x] **T-1.2**";
        let text = CONTENT
            .replace("*(AC-001)*\n- [x] **T-1.2**", details)
            .replace("## Test Plan", "## Constraints\nNo new dependency.\n\n## Test Plan");
        std::fs::write(dir.path().join(PLAN_MD), text).unwrap();
        assert_eq!(build(dir.path()).unwrap(), "PLAN_BUILT: VALID");
        dir
    }

    fn brief(dir: &Path, id: &str) -> String {
        std::fs::read_to_string(write(dir, id).unwrap()).unwrap()
    }

    #[test]
    fn brief_of_a_task_contains_what_binds_it_and_what_is_missing() {
        let dir = workdir_with_plan();
        std::fs::write(dir.path().join("learnings.md"), "x").unwrap();
        let text = brief(dir.path(), "T-1.1");
        for part in [
            "# Task T-1.1\n\nAdd the page\n",
            "- AC-001: The page greets\n",
            "- files: page.html, style.css\n",
            "- test: npm test -- page\n",
            "## Constraints\n\nNo new dependency.\n",
            "learnings.md\n",
            "plan changed --since-task T-1.1 --patch",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("found missing"));
        answers::store(
            dir.path(),
            "code:implementation-subagent",
            "a",
            "IMPLEMENTATION_VERIFIED: T-1.1\nall good",
        );
        answers::store(
            dir.path(),
            "code:task-reviewer",
            "b",
            "NOT_IMPLEMENTED: T-1.1\nmissing:\n- the title",
        );
        let text = brief(dir.path(), "T-1.1");
        assert!(
            text.contains("(code:task-reviewer)\n\nNOT_IMPLEMENTED: T-1.1\nmissing:\n- the title"),
            "{text}"
        );
        assert!(!text.contains("all good"), "the reviewer must not read what the implementer states");
        answers::store(dir.path(), "code:task-reviewer", "b", "VERIFIED: T-1.1");
        assert!(
            !brief(dir.path(), "T-1.1").contains("found missing"),
            "a later check replaces the earlier one"
        );
        assert!(write(dir.path(), "T-9.9").unwrap_err().contains("no task T-9.9"));
    }
}
