//! Applies a subagent's answer about a task to the plan.
//!
//! The answers are those that agents gave, stored by their hook: the orchestrator cannot change them. The first line of
//! an answer is its status: `VERIFIED`, `IMPLEMENTATION_VERIFIED: T-1.2`, `NOT_IMPLEMENTED`, `NEEDS_CONTEXT: T-1.2` or
//! `BLOCKED: T-1.2`. `BLOCKED` and `NEEDS_CONTEXT` count at any position; an ambiguous answer changes
//! nothing.
//!
//! An agent can repeat a status that leaves its task open. These are counted from the stored answers, whether or not they
//! are reported, and at the limit the task becomes blocked:
//!
//! | status of the answer | counted as |
//! |---|---|
//! | `VERIFIED` by a checking agent while the tests of the task fail | refusal, when it is reported |
//! | `NOT_IMPLEMENTED`, or an unclear answer, of the reviewer | refusal |
//! | `NEEDS_CONTEXT` | question |
//! | `BLOCKED` | blocks at once |
//! | any that does not complete the task | answer |

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use loopgate_learnings::without_acknowledgement;
use regex::Regex;
use serde_json::{Value, json};

use super::blocked::{BLOCKED_TASKS, unblock};
use super::document::{self, PlanLock, tasks};
use super::{brief, proof, sync, tick};
use crate::clock::now;
use crate::hook::answers::{self, AgentAnswer};

/// Upper bound of a stored reason in characters.
const REASON_CHARS: usize = 2000;
/// Refusals by the reviewer, and reports with failing tests, after which a task is blocked.
pub const MAX_REFUSALS: usize = 3;
/// Questions about a task that are answered; a further one blocks it.
const MAX_QUESTIONS: usize = 2;
/// Answers about a task, after which it is blocked if none completed it. Three rounds of implementation, tests and
/// review with two questions take eleven.
const MAX_ANSWERS: usize = 15;

static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a constant pattern, which the tests use")]
    Regex::new(r"^[*#>\s`-]*(IMPLEMENTATION_VERIFIED|VERIFIED|NOT_IMPLEMENTED|NEEDS_CONTEXT|BLOCKED)\b[*`]*:?[*`]*\s*(T-\d+\.\d+\b)?[*`:.]*\s*(.*)$")
        .expect("constant pattern")
});

/// Status of a task according to an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskStatus {
    /// The task is implemented and was verified.
    Verified,
    /// Parts of the task are missing.
    NotImplemented,
    /// The implementer lacks information; contains its question.
    NeedsContext(String),
    /// The task depends on something that the agent cannot provide; contains the reason.
    Blocked(String),
    /// The answer is ambiguous; contains the reason.
    Unclear(String),
}

impl TaskStatus {
    /// Parses the answer of a subagent about a task.
    #[must_use]
    pub fn parse(answer: &str, id: &str) -> Self {
        let lines: Vec<&str> = answer
            .lines()
            .map(str::trim)
            // Models often put their answer into a code block; its fence is not the first line of the answer.
            .filter(|line| !line.is_empty() && !line.starts_with("```"))
            .collect();
        let statuses: Vec<(usize, regex::Captures<'_>)> =
            lines.iter().enumerate().filter_map(|(at, line)| Some((at, STATUS.captures(line)?))).collect();
        // These take precedence over a claim of success: a model may repeat its promise although it could not
        // finish.
        for status in ["BLOCKED", "NEEDS_CONTEXT"] {
            let Some((at, parts)) = statuses.iter().find(|(_, parts)| &parts[1] == status) else { continue };
            let reason = reason(&parts[3], &lines[at + 1..]);
            return match other_task(parts, id) {
                Some(other) => Self::Unclear(format!("it is about {other}")),
                None if status == "BLOCKED" => Self::Blocked(reason),
                None => Self::NeedsContext(reason),
            };
        }
        // Any other status must be on the first line: later lines may quote the instructions.
        let Some((0, first)) = statuses.first() else {
            return Self::Unclear("its first line is not a status".to_owned());
        };
        if let Some(other) = other_task(first, id) {
            return Self::Unclear(format!("it is about {other}"));
        }
        let is_done = |parts: &regex::Captures<'_>| &parts[1] != "NOT_IMPLEMENTED";
        // An answer that claims both results may quote its instructions, so neither claim is applied.
        if statuses.iter().any(|(_, parts)| is_done(parts) != is_done(first)) {
            return Self::Unclear("it contradicts itself".to_owned());
        }
        if is_done(first) { Self::Verified } else { Self::NotImplemented }
    }
}

/// Returns whether an answer contains a line with `BLOCKED` or `NEEDS_CONTEXT`.
#[must_use]
pub fn says_stuck(answer: &str) -> bool {
    statuses(answer).any(|parts| matches!(&parts[1], "BLOCKED" | "NEEDS_CONTEXT"))
}

/// Returns the task that an answer names first.
#[must_use]
pub fn task_of_answer(answer: &str) -> Option<String> {
    statuses(answer).find_map(|parts| Some(parts.get(2)?.as_str().to_owned()))
}

fn statuses(answer: &str) -> impl Iterator<Item = regex::Captures<'_>> {
    answer.lines().filter_map(|line| STATUS.captures(line.trim()))
}

fn other_task<'a>(parts: &'a regex::Captures<'_>, id: &str) -> Option<&'a str> {
    parts.get(2).map(|task| task.as_str()).filter(|task| *task != id)
}

fn reason(first: &str, rest: &[&str]) -> String {
    // The promise and the acknowledgement belong to the protocol of hooks and are not part of the reason.
    let is_reason = |line: &&str| line.is_empty() || !without_acknowledgement(line).is_empty();
    let rest = rest.iter().copied().take_while(is_reason).filter(|line| !line.starts_with("<promise>"));
    let text =
        std::iter::once(first).chain(rest).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    if text.is_empty() { "no reason was given".to_owned() } else { text.chars().take(REASON_CHARS).collect() }
}

/// Applies the latest answer of an agent about a task to the plan: ticks a verified task, records the reason of a
/// blocked one. Only a checking agent's answer completes a task. The returned text starts with `REPORT: ` and the
/// status, followed by what to do next.
///
/// # Errors
/// Returns the line to print, also when no agent has answered since the last report.
pub fn apply(workdir: &Path, id: &str) -> Result<String, String> {
    let answers = answers::all(workdir);
    // The latest answer about the task counts, and only once: neither an earlier one nor that about another task may
    // complete it.
    let latest = answers.iter().rfind(|answer| answer.is_about_task() && answer.may_concern(id));
    let Some(answer) = latest.filter(|answer| answer.reported_for.is_none()) else {
        return Err(format!(
            "Error: no agent has answered about {id} since the last report. Ask `code:task-reviewer`, then report it."
        ));
    };
    let mut tests_failed = false;
    let status = TaskStatus::parse(&answer.text, id);
    let completes = status == TaskStatus::Verified && answers::is_checker(&answer.agent_type);
    let report = match status {
        TaskStatus::Blocked(reason) => block(workdir, id, &reason)?,
        _ if !completes && answers_about(&answers, id) >= MAX_ANSWERS => {
            block(workdir, id, &exhausted_reason(&answer.text))?
        }
        TaskStatus::Verified if !completes => {
            return Ok(format!(
                "REPORT: UNCHECKED\nThe implementer's statement does not complete {id}. Ask `code:task-reviewer` \
                 about it, and report its answer."
            ));
        }
        TaskStatus::Verified => match proof::failing_now(workdir, id) {
            Some(command) => {
                tests_failed = true;
                // The present report is not stored yet.
                failing(workdir, id, refusals(&answers, id) + 1, &command)?
            }
            None => format!("REPORT: VERIFIED\n{}", tick::complete(workdir, id)?),
        },
        TaskStatus::NotImplemented => refused(workdir, id, &answers, answer)?,
        TaskStatus::NeedsContext(question) => needs_context(workdir, id, &answers, &question)?,
        TaskStatus::Unclear(_) if refusals(&answers, id) >= MAX_REFUSALS => {
            block(workdir, id, &refusal_reason(&answer.text))?
        }
        TaskStatus::Unclear(why) => {
            return Ok(format!(
                "REPORT: UNCLEAR\nThe answer about {id} is not accepted: {why}. Ask the agent for a first line \
                 `VERIFIED: {id}`, `NOT_IMPLEMENTED: {id}` or `BLOCKED: {id}`."
            ));
        }
    };
    answers::mark_reported(workdir, answer, id, tests_failed);
    Ok(report)
}

/// Returns the tasks that checking agents' answers completed.
#[must_use]
pub fn completed_by_answers(answers: &[AgentAnswer]) -> BTreeSet<String> {
    let completes = |answer: &AgentAnswer| {
        let is_of_checker = answers::is_checker(&answer.agent_type);
        let id = answer.reported_for.clone().filter(|_| is_of_checker && !answer.tests_failed)?;
        (TaskStatus::parse(&answer.text, &id) == TaskStatus::Verified).then_some(id)
    };
    answers.iter().filter_map(completes).collect()
}

/// Counts the refusals of a task: by its reviewer, and by its tests. An unclear answer of the reviewer counts too, so that
/// there is an end.
pub fn refusals(answers: &[AgentAnswer], id: &str) -> usize {
    let is_refusal = |answer: &&AgentAnswer| {
        let is_refused = || {
            answer.agent_type == answers::REVIEWING
                && matches!(
                    TaskStatus::parse(&answer.text, id),
                    TaskStatus::NotImplemented | TaskStatus::Unclear(_)
                )
        };
        is_counted_for(answer, id) && (answer.tests_failed || is_refused())
    };
    answers.iter().filter(is_refusal).count()
}

/// Counts the questions of agents about a task.
fn questions(answers: &[AgentAnswer], id: &str) -> usize {
    let is_question = |answer: &&AgentAnswer| {
        answer.is_about_task()
            && is_counted_for(answer, id)
            && matches!(TaskStatus::parse(&answer.text, id), TaskStatus::NeedsContext(_))
    };
    answers.iter().filter(is_question).count()
}

/// Counts the answers of all agents about a task.
fn answers_about(answers: &[AgentAnswer], id: &str) -> usize {
    answers.iter().filter(|answer| answer.is_about_task() && is_counted_for(answer, id)).count()
}

fn is_counted_for(answer: &AgentAnswer, id: &str) -> bool {
    answer.concerns(id) || answer.reported_for.as_deref() == Some(id)
}

/// Handles a confirmed task whose tests fail.
fn failing(workdir: &Path, id: &str, count: usize, command: &str) -> Result<String, String> {
    if count >= MAX_REFUSALS {
        return block(workdir, id, &format!("Its tests still fail after {count} checks (`{command}`)"));
    }
    Ok(format!(
        "REPORT: FAILING\nRefusal {count} of {MAX_REFUSALS}. {id} stays open: its tests fail (`{command}`). Send the \
         failure to the implementer, then ask `code:task-reviewer` again."
    ))
}

fn refused(
    workdir: &Path,
    id: &str,
    answers: &[AgentAnswer],
    answer: &AgentAnswer,
) -> Result<String, String> {
    if answer.agent_type != answers::REVIEWING {
        return Ok(format!(
            "REPORT: NOT_IMPLEMENTED\nStart the implementer with {}",
            brief::write(workdir, id)?
        ));
    }
    let count = refusals(answers, id);
    if count >= MAX_REFUSALS {
        return block(workdir, id, &refusal_reason(&answer.text));
    }
    let next = if count + 1 < MAX_REFUSALS {
        "Send the implementer (SendMessage) to"
    } else {
        "Start a new implementer with the model `opus` and"
    };
    Ok(format!(
        "REPORT: NOT_IMPLEMENTED\nRefusal {count} of {MAX_REFUSALS}. {next} {}, which now has the reviewer's list",
        brief::write(workdir, id)?
    ))
}

fn needs_context(
    workdir: &Path,
    id: &str,
    answers: &[AgentAnswer],
    question: &str,
) -> Result<String, String> {
    if questions(answers, id) > MAX_QUESTIONS {
        return block(workdir, id, &question_reason(question));
    }
    Ok(format!("REPORT: NEEDS_CONTEXT\n{question}"))
}

fn question_reason(question: &str) -> String {
    format!("Its agents lack information: {question}")
}

fn exhausted_reason(latest: &str) -> String {
    let text =
        format!("{MAX_ANSWERS} answers of its agents did not complete it. The latest: {}", latest.trim());
    text.chars().take(REASON_CHARS).collect()
}

/// Returns why a refused task is blocked: the reviewer's list.
fn refusal_reason(answer: &str) -> String {
    let list = answer.lines().skip_while(|line| !line.contains("NOT_IMPLEMENTED")).skip(1);
    let list: Vec<&str> = list.map(str::trim_end).collect();
    let text = format!("The reviewer refused it {MAX_REFUSALS} times. {}", list.join("\n").trim());
    text.chars().take(REASON_CHARS).collect()
}

/// Blocks the pending tasks that were refused as often as allowed, and those whose latest answer is `BLOCKED` or one
/// question too many, whether or not the orchestrator reported it.
///
/// # Errors
/// Returns the line to print.
pub fn block_stuck(workdir: &Path) -> Result<(), String> {
    let answers = answers::all(workdir);
    let Ok(plan) = document::read(&super::paths::plan_path(workdir)) else { return Ok(()) };
    let blocked = super::blocked::blocked(&plan);
    let id = |task: &Value| task.get("id").and_then(Value::as_str).map(str::to_owned);
    let is_blocked = |task: &String| blocked.iter().any(|entry| id(entry).as_ref() == Some(task));
    for task in tasks(&plan, "pendingTasks").iter().filter_map(id).filter(|task| !is_blocked(task)) {
        let about = || answers.iter().filter(|answer| answer.is_about_task() && answer.concerns(&task));
        let refusal = about().rfind(|answer| answer.agent_type == answers::REVIEWING);
        let Some(latest) = about().next_back() else { continue };
        let status = TaskStatus::parse(&latest.text, &task);
        let reason = match (status, refusal) {
            (TaskStatus::Blocked(reason), _) => reason,
            // It waits for its report.
            (TaskStatus::Verified, _)
                if answers::is_checker(&latest.agent_type) && latest.reported_for.is_none() =>
            {
                continue;
            }
            (TaskStatus::NeedsContext(question), _) if questions(&answers, &task) > MAX_QUESTIONS => {
                question_reason(&question)
            }
            (_, Some(refusal)) if refusals(&answers, &task) >= MAX_REFUSALS => refusal_reason(&refusal.text),
            _ if answers_about(&answers, &task) >= MAX_ANSWERS => exhausted_reason(&latest.text),
            _ => continue,
        };
        block(workdir, &task, &reason)?;
    }
    Ok(())
}

fn block(workdir: &Path, id: &str, reason: &str) -> Result<String, String> {
    let _lock = PlanLock::take(workdir)?;
    let mut plan = sync::current(workdir)?;
    if !tasks(&plan, "pendingTasks").iter().any(|task| task.get("id").and_then(Value::as_str) == Some(id)) {
        return Err(format!("Error: no pending task {id}"));
    }
    // A repeated report replaces the reason instead of adding a second entry.
    unblock(&mut plan, id);
    let list = plan.entry(BLOCKED_TASKS).or_insert_with(|| json!([]));
    // A model may have edited plan.json; a malformed list is replaced.
    if !list.is_array() {
        *list = json!([]);
    }
    if let Some(list) = list.as_array_mut() {
        list.push(json!({"id": id, "reason": reason, "at": now()}));
    }
    document::write(workdir, &plan)?;
    Ok(format!("REPORT: BLOCKED\n{id} stays open: {reason}"))
}

/// Clears all blocked tasks, so that a new loop retries them.
///
/// # Errors
/// Returns the line to print.
pub fn unblock_all(workdir: &Path) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    // Without a valid plan there are no tasks to retry; the loop reports the plan's faults itself.
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

    fn parse(answer: &str) -> TaskStatus {
        TaskStatus::parse(answer, "T-1.1")
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
            assert_eq!(parse(answer), TaskStatus::Verified, "{answer}");
        }
        assert_eq!(parse("NOT_IMPLEMENTED\nmissing:\n- all"), TaskStatus::NotImplemented);
        assert_eq!(parse("BLOCKED: T-1.1\nThe key is missing"), blocked_by("The key is missing"));
        assert_eq!(parse("BLOCKED: T-1.1 no network"), blocked_by("no network"));
    }

    #[test]
    fn blocked_takes_precedence_over_a_claim_of_success() {
        let both = "IMPLEMENTATION_VERIFIED: T-1.1\nBLOCKED: T-1.1 the service is down\n\
                    <promise>IMPLEMENTATION_VERIFIED</promise>";
        assert_eq!(parse(both), blocked_by("the service is down"));
        let promised = "BLOCKED: T-1.1\n<promise>IMPLEMENTATION_VERIFIED</promise>";
        assert_eq!(parse(promised), blocked_by("no reason was given"));
    }

    #[test]
    fn ambiguous_answer_is_unclear() {
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
            assert!(matches!(parse(answer), TaskStatus::Unclear(_)), "{answer}: {:?}", parse(answer));
        }
    }

    proptest! {
        #[test]
        fn only_a_status_line_ticks_a_task(answer in "(?s).{0,200}") {
            let ticks = parse(&answer) == TaskStatus::Verified;
            prop_assert!(!ticks || answer.contains("VERIFIED"));
        }

        #[test]
        fn truncated_blocked_answer_is_never_verified(cut in 0usize..70) {
            let answer = "BLOCKED: T-1.1\nIt needs a key.\nIMPLEMENTATION_VERIFIED of the rest";
            let part: String = answer.chars().take(cut).collect();
            prop_assert_ne!(parse(&part), TaskStatus::Verified);
        }
    }

    #[test]
    fn blocked_task_keeps_its_reason_until_it_is_verified() {
        let dir = tempfile::tempdir().unwrap();
        let plan = from_markdown(CONTENT, Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        let report = |id: &str, agent: &str, answer: &str| {
            answers::store(dir.path(), agent, "a", answer);
            apply(dir.path(), id)
        };
        let output = report("T-1.1", "code:implementation-subagent", "BLOCKED: T-1.1 no key").unwrap();
        assert_eq!(output, "REPORT: BLOCKED\nT-1.1 stays open: no key");
        let plan = || document::read(&plan_path(dir.path())).unwrap();
        assert_eq!(blocked(&plan())[0]["reason"], "no key");
        report("T-1.1", "code:task-reviewer", "BLOCKED: still no key").unwrap();
        assert_eq!(blocked(&plan()).len(), 1);
        let verified = report("T-1.1", "code:task-reviewer", "VERIFIED").unwrap();
        assert!(verified.starts_with("REPORT: VERIFIED\nT-1.1 done"));
        assert_eq!(plan().get(BLOCKED_TASKS), None);
        assert!(report("T-9.9", "code:task-reviewer", "BLOCKED: x").is_err());
    }

    #[test]
    fn only_a_checking_agent_completes_a_task_and_only_once() {
        let dir = tempfile::tempdir().unwrap();
        let plan = from_markdown(CONTENT, Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        let is_pending = || {
            let plan = document::read(&plan_path(dir.path())).unwrap();
            tasks(&plan, "pendingTasks").iter().any(|task| task["id"] == "T-1.1")
        };
        assert!(apply(dir.path(), "T-1.1").unwrap_err().contains("no agent has answered"));
        let verified = "IMPLEMENTATION_VERIFIED: T-1.1";
        answers::store(dir.path(), "code:implementation-subagent", "a", verified);
        assert!(apply(dir.path(), "T-1.1").unwrap().starts_with("REPORT: UNCHECKED"));
        // Agents that neither implement nor check leave no answer.
        answers::store(dir.path(), "code:code-simplifier", "b", verified);
        // Not the agent of the plugin: a repository defines it.
        answers::store(dir.path(), "task-reviewer", "b", "VERIFIED: T-1.1");
        assert!(apply(dir.path(), "T-1.1").unwrap().starts_with("REPORT: UNCHECKED") && is_pending());
        answers::store(dir.path(), "code:task-reviewer", "c", "VERIFIED");
        assert!(apply(dir.path(), "T-1.1").unwrap().starts_with("REPORT: VERIFIED") && !is_pending());
        assert!(apply(dir.path(), "T-1.2").is_err(), "an answer counts for one task");
    }

    #[test]
    fn answer_that_nobody_reports_blocks_its_task() {
        let dir = tempfile::tempdir().unwrap();
        let plan = from_markdown(CONTENT, Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        let reason = || {
            block_stuck(dir.path()).unwrap();
            let plan = document::read(&plan_path(dir.path())).unwrap();
            blocked(&plan).first().map(|task| task["reason"].clone())
        };
        let answer = |text: &str| answers::store(dir.path(), answers::IMPLEMENTING, "a", text);
        answer("BLOCKED: T-1.1 no key");
        answer("IMPLEMENTATION_VERIFIED: T-1.1");
        assert_eq!(reason(), None, "a later answer counts");
        answer("BLOCKED: T-1.1 no network");
        assert_eq!(reason(), Some(json!("no network")));
    }

    #[test]
    fn repeated_questions_block_their_task_even_if_nobody_reports_them() {
        for agent in [answers::IMPLEMENTING, answers::VERIFYING, answers::REVIEWING] {
            let dir = tempfile::tempdir().unwrap();
            let plan = from_markdown(CONTENT, Map::new());
            std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
            let reason = || {
                block_stuck(dir.path()).unwrap();
                let plan = document::read(&plan_path(dir.path())).unwrap();
                blocked(&plan).first().map(|task| task["reason"].clone())
            };
            answers::store(dir.path(), agent, "a", "NEEDS_CONTEXT: T-1.2 another task");
            for _ in 0..MAX_QUESTIONS {
                answers::store(dir.path(), agent, "a", "NEEDS_CONTEXT: T-1.1 which port?");
                assert_eq!(reason(), None, "{agent}");
            }
            answers::store(dir.path(), agent, "a", "NEEDS_CONTEXT: T-1.1 which host?");
            assert_eq!(reason(), Some(json!("Its agents lack information: which host?")), "{agent}");
        }
    }

    #[test]
    fn answers_that_no_other_limit_counts_block_their_task() {
        for (agent, text) in
            [(answers::IMPLEMENTING, "VERIFIED: T-1.1"), (answers::VERIFYING, "NOT_IMPLEMENTED: T-1.1")]
        {
            let dir = tempfile::tempdir().unwrap();
            let plan = from_markdown(CONTENT, Map::new());
            std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
            for _ in 1..MAX_ANSWERS {
                answers::store(dir.path(), agent, "a", text);
                assert!(!apply(dir.path(), "T-1.1").unwrap().contains("BLOCKED"), "{agent}");
            }
            answers::store(dir.path(), agent, "a", text);
            block_stuck(dir.path()).unwrap();
            let plan = document::read(&plan_path(dir.path())).unwrap();
            let reason = format!("15 answers of its agents did not complete it. The latest: {text}");
            assert_eq!(blocked(&plan)[0]["reason"], json!(reason));
            let report = apply(dir.path(), "T-1.1").unwrap();
            assert_eq!(report, format!("REPORT: BLOCKED\nT-1.1 stays open: {reason}"));
            answers::store(dir.path(), answers::REVIEWING, "a", "VERIFIED: T-1.1");
            assert!(apply(dir.path(), "T-1.1").unwrap().starts_with("REPORT: VERIFIED"), "{agent}");
        }
    }

    #[test]
    fn unclear_answers_of_the_reviewer_end_in_a_blocked_task() {
        let dir = tempfile::tempdir().unwrap();
        let plan = from_markdown(CONTENT, Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        let statuses: Vec<String> = (0..MAX_REFUSALS)
            .map(|_| {
                std::fs::write(dir.path().join("state.json"), r#"{"task": {"id": "T-1.1"}}"#).unwrap();
                answers::store(dir.path(), answers::REVIEWING, "a", "It looks good");
                let report = apply(dir.path(), "T-1.1").unwrap();
                report.lines().next().unwrap_or_default().to_owned()
            })
            .collect();
        assert_eq!(statuses, ["REPORT: UNCLEAR", "REPORT: UNCLEAR", "REPORT: BLOCKED"]);
    }

    #[test]
    fn answer_about_a_task_with_failing_tests_completes_nothing_and_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let plan = from_markdown(CONTENT, Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        let proof = json!({"verdict": "FAILING", "command": "make test", "detail": "", "at": ""});
        let evidence = json!({"T-1.1": {"proof": proof}});
        loopgate_home::untrusted::write(&proof::record(dir.path()), evidence.to_string().as_bytes()).unwrap();
        let report = || {
            answers::store(dir.path(), answers::REVIEWING, "a", "VERIFIED: T-1.1");
            apply(dir.path(), "T-1.1").unwrap()
        };
        for _ in 1..MAX_REFUSALS {
            assert!(report().starts_with("REPORT: FAILING"));
        }
        assert!(completed_by_answers(&answers::all(dir.path())).is_empty());
        assert_eq!(
            report(),
            "REPORT: BLOCKED\nT-1.1 stays open: Its tests still fail after 3 checks (`make test`)"
        );
    }

    #[test]
    fn new_loop_retries_blocked_tasks() {
        let dir = tempfile::tempdir().unwrap();
        unblock_all(dir.path()).unwrap();
        let plan = from_markdown(CONTENT, Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        answers::store(dir.path(), "code:task-reviewer", "a", "BLOCKED: no key");
        apply(dir.path(), "T-1.1").unwrap();
        unblock_all(dir.path()).unwrap();
        assert!(blocked(&document::read(&plan_path(dir.path())).unwrap()).is_empty());
    }
}
