//! What a subagent answered about a task, and what follows from it for the plan.
//!
//! The first line of an answer is its status: `VERIFIED`, `IMPLEMENTATION_VERIFIED: T-1.2`, `NOT_IMPLEMENTED`
//! or `BLOCKED: T-1.2`. A line that says `BLOCKED` counts wherever it stands; an answer that says nothing
//! clear changes nothing.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::blocked::{BLOCKED_TASKS, unblock};
use super::document::{self, PlanLock, tasks};
use super::{sync, tick};
use crate::clock::now;

/// Longest reason that is kept.
const REASON_CHARS: usize = 2000;

static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a constant pattern, which the tests use")]
    Regex::new(r"^[*#>\s`-]*(IMPLEMENTATION_VERIFIED|VERIFIED|NOT_IMPLEMENTED|BLOCKED)\b[*`]*:?[*`]*\s*(T-\d+\.\d+\b)?[*`:.]*\s*(.*)$")
        .expect("constant pattern")
});

/// What an answer says of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskStatus {
    /// The task is done, and that was checked.
    Verified,
    /// Something is missing.
    NotImplemented,
    /// Only something outside of the agent's reach lets it go on; the reason.
    Blocked(String),
    /// The answer does not say; why it counts as unclear.
    Unclear(String),
}

impl TaskStatus {
    /// Reads the answer of a subagent about a task.
    #[must_use]
    pub fn read(answer: &str, id: &str) -> Self {
        let lines: Vec<&str> = answer
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("```"))
            .collect();
        let statuses: Vec<(usize, regex::Captures<'_>)> =
            lines.iter().enumerate().filter_map(|(at, line)| Some((at, STATUS.captures(line)?))).collect();
        if let Some((at, found)) = statuses.iter().find(|(_, found)| &found[1] == "BLOCKED") {
            return match other_task(found, id) {
                Some(other) => Self::Unclear(format!("it is about {other}")),
                None => Self::Blocked(reason(&found[3], &lines[at + 1..])),
            };
        }
        let Some((0, first)) = statuses.first() else {
            return Self::Unclear("its first line is no status".to_owned());
        };
        if let Some(other) = other_task(first, id) {
            return Self::Unclear(format!("it is about {other}"));
        }
        let is_done = |found: &regex::Captures<'_>| &found[1] != "NOT_IMPLEMENTED";
        if statuses.iter().any(|(_, found)| is_done(found) != is_done(first)) {
            return Self::Unclear("it contradicts itself".to_owned());
        }
        if is_done(first) { Self::Verified } else { Self::NotImplemented }
    }
}

/// Whether an answer says that its task is blocked.
#[must_use]
pub fn says_blocked(answer: &str) -> bool {
    answer.lines().any(|line| STATUS.captures(line.trim()).is_some_and(|found| &found[1] == "BLOCKED"))
}

fn other_task<'a>(found: &'a regex::Captures<'_>, id: &str) -> Option<&'a str> {
    found.get(2).map(|task| task.as_str()).filter(|task| *task != id)
}

fn reason(first: &str, rest: &[&str]) -> String {
    let rest = rest.iter().copied().filter(|line| !line.starts_with("<promise>"));
    let text =
        std::iter::once(first).chain(rest).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    if text.is_empty() { "no reason was given".to_owned() } else { text.chars().take(REASON_CHARS).collect() }
}

/// Applies an answer to the plan: ticks a task that is done, keeps the reason of one that is blocked. The text
/// begins with `REPORT: ` and the status.
///
/// # Errors
/// The line to print.
pub fn apply(workdir: &Path, id: &str, answer: &str) -> Result<String, String> {
    match TaskStatus::read(answer, id) {
        TaskStatus::Verified => tick::tick(workdir, id).map(|done| format!("REPORT: VERIFIED\n{done}")),
        TaskStatus::NotImplemented => Ok("REPORT: NOT_IMPLEMENTED".to_owned()),
        TaskStatus::Blocked(reason) => {
            block(workdir, id, &reason).map(|()| format!("REPORT: BLOCKED\n{id} stays open: {reason}"))
        }
        TaskStatus::Unclear(why) => Ok(format!(
            "REPORT: UNCLEAR\nThe answer about {id} is not taken: {why}. Ask the agent for a first line \
             `IMPLEMENTATION_VERIFIED: {id}`, `VERIFIED`, `NOT_IMPLEMENTED` or `BLOCKED: {id}`."
        )),
    }
}

fn block(workdir: &Path, id: &str, reason: &str) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    let mut plan = sync::current(workdir)?;
    if !tasks(&plan, "pendingTasks").iter().any(|task| task.get("id").and_then(Value::as_str) == Some(id)) {
        return Err(format!("Error: no pending task {id}"));
    }
    unblock(&mut plan, id);
    let list = plan.entry(BLOCKED_TASKS).or_insert_with(|| json!([]));
    if !list.is_array() {
        *list = json!([]);
    }
    if let Some(list) = list.as_array_mut() {
        list.push(json!({"id": id, "reason": reason, "at": now()}));
    }
    document::write(workdir, &plan)
}

/// Lets a new loop try the blocked tasks again.
///
/// # Errors
/// The line to print.
pub fn unblock_all(workdir: &Path) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    // Without a sound plan there is nothing to try again.
    let Ok(mut plan) = sync::current(workdir) else { return Ok(()) };
    if plan.remove(BLOCKED_TASKS).is_none() {
        return Ok(());
    }
    document::write(workdir, &plan)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Map;

    use super::super::blocked::blocked;
    use super::super::build::from_markdown;
    use super::super::paths::plan_path;
    use super::super::structure::tests::CONTENT;
    use super::*;

    fn read(answer: &str) -> TaskStatus {
        TaskStatus::read(answer, "T-1.1")
    }

    fn blocked_by(reason: &str) -> TaskStatus {
        TaskStatus::Blocked(reason.to_owned())
    }

    #[test]
    fn first_line_is_the_status() {
        let done = [
            "VERIFIED",
            "```\nIMPLEMENTATION_VERIFIED: T-1.1\nfiles:\n- a\n```\n<promise>IMPLEMENTATION_VERIFIED</promise>",
            "\n**IMPLEMENTATION_VERIFIED: T-1.1**\n",
            "`VERIFIED`",
        ];
        for answer in done {
            assert_eq!(read(answer), TaskStatus::Verified, "{answer}");
        }
        assert_eq!(read("NOT_IMPLEMENTED\nmissing:\n- all"), TaskStatus::NotImplemented);
        assert_eq!(read("BLOCKED: T-1.1\nThe key is missing"), blocked_by("The key is missing"));
        assert_eq!(read("BLOCKED: T-1.1 no network"), blocked_by("no network"));
    }

    #[test]
    fn blocked_wins_over_a_claim_of_success() {
        let both = "IMPLEMENTATION_VERIFIED: T-1.1\nBLOCKED: T-1.1 the service is down\n\
                    <promise>IMPLEMENTATION_VERIFIED</promise>";
        assert_eq!(read(both), blocked_by("the service is down"));
        let promised = "BLOCKED: T-1.1\n<promise>IMPLEMENTATION_VERIFIED</promise>";
        assert_eq!(read(promised), blocked_by("no reason was given"));
    }

    #[test]
    fn what_says_nothing_clear_is_not_believed() {
        for answer in [
            "",
            "I am done: IMPLEMENTATION_VERIFIED: T-1.1",
            "IMPLEMENTATION_VERIF",
            "Here is my report.\nVERIFIED",
            "IMPLEMENTATION_VERIFIED: T-1.2",
            "BLOCKED: T-9.9 not mine",
            "VERIFIED\nNOT_IMPLEMENTED",
            "VERIFIEDLY done",
        ] {
            assert!(matches!(read(answer), TaskStatus::Unclear(_)), "{answer}: {:?}", read(answer));
        }
    }

    proptest! {
        #[test]
        fn nothing_but_a_status_line_ticks_a_task(answer in "(?s).{0,200}") {
            let ticks = read(&answer) == TaskStatus::Verified;
            prop_assert!(!ticks || answer.contains("VERIFIED"));
        }

        #[test]
        fn answer_that_is_cut_anywhere_never_turns_blocked_into_done(cut in 0usize..70) {
            let answer = "BLOCKED: T-1.1\nIt needs a key.\nIMPLEMENTATION_VERIFIED of the rest";
            let part: String = answer.chars().take(cut).collect();
            prop_assert_ne!(read(&part), TaskStatus::Verified);
        }
    }

    #[test]
    fn blocked_task_stays_open_with_its_reason_until_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let plan = from_markdown(CONTENT, Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        let said = apply(dir.path(), "T-1.1", "BLOCKED: T-1.1 no key").unwrap();
        assert_eq!(said, "REPORT: BLOCKED\nT-1.1 stays open: no key");
        let plan = || document::read(&plan_path(dir.path())).unwrap();
        assert_eq!(blocked(&plan())[0]["reason"], "no key");
        apply(dir.path(), "T-1.1", "BLOCKED: still no key").unwrap();
        assert_eq!(blocked(&plan()).len(), 1);
        assert!(apply(dir.path(), "T-1.1", "VERIFIED").unwrap().starts_with("REPORT: VERIFIED\nT-1.1 done"));
        assert_eq!(plan().get(BLOCKED_TASKS), None);
        assert!(apply(dir.path(), "T-9.9", "BLOCKED: x").is_err());
    }

    #[test]
    fn new_loop_tries_blocked_tasks_again() {
        let dir = tempfile::tempdir().unwrap();
        unblock_all(dir.path()).unwrap();
        let plan = from_markdown(CONTENT, Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        apply(dir.path(), "T-1.1", "BLOCKED: no key").unwrap();
        unblock_all(dir.path()).unwrap();
        assert!(blocked(&document::read(&plan_path(dir.path())).unwrap()).is_empty());
    }
}
