//! Answers of agents in the assistant's stream, which confirm the stored ones.

use std::collections::BTreeSet;

use super::task_report::{TaskStatus, task_of_answer};
use crate::hook::answers;

/// Answer of a subagent in the assistant's stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStatement {
    /// Type of the subagent, in the assistant's notation.
    pub agent_type: String,
    /// Text of the answer.
    pub text: String,
}

/// Keeps the tasks that statements of checking agents confirm. A statement that names no task confirms any one of them.
#[must_use]
pub fn confirmed(tasks: BTreeSet<String>, statements: &[AgentStatement]) -> BTreeSet<String> {
    let of_checkers = statements.iter().filter(|statement| answers::is_checker(&statement.agent_type));
    let mut named = BTreeSet::new();
    let mut unnamed = 0;
    for AgentStatement { text, .. } in of_checkers {
        let task = task_of_answer(text);
        match (TaskStatus::parse(text, task.as_deref().unwrap_or_default()), task) {
            (TaskStatus::Verified, Some(task)) => _ = named.insert(task),
            (TaskStatus::Verified, None) => unnamed += 1,
            _ => {}
        }
    }
    let (mut confirmed, others): (BTreeSet<_>, BTreeSet<_>) =
        tasks.into_iter().partition(|task| named.contains(task));
    confirmed.extend(others.into_iter().take(unnamed));
    confirmed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_confirm_the_tasks_that_they_name_or_one_other_each() {
        let statement = |agent_type: &str, text: &str| AgentStatement {
            agent_type: agent_type.to_owned(),
            text: text.to_owned(),
        };
        let tasks = || BTreeSet::from(["T-1.1", "T-1.2", "T-1.3"].map(str::to_owned));
        let confirmed =
            |statements: &[AgentStatement]| confirmed(tasks(), statements).into_iter().collect::<Vec<_>>();
        assert_eq!(confirmed(&[]), [""; 0]);
        let named = statement(answers::REVIEWING, "VERIFIED: T-1.2\nagentId: a");
        let unnamed = statement(answers::VERIFYING, "VERIFIED");
        assert_eq!(confirmed(std::slice::from_ref(&named)), ["T-1.2"]);
        assert_eq!(confirmed(&[named.clone(), named.clone()]), ["T-1.2"]);
        assert_eq!(confirmed(&[named, unnamed]), ["T-1.1", "T-1.2"]);
        let others = [
            statement(answers::IMPLEMENTING, "VERIFIED"),
            statement(answers::REVIEWING, "NOT_IMPLEMENTED"),
            statement(answers::REVIEWING, "VERIFIED: T-9.9"),
        ];
        assert_eq!(confirmed(&others), [""; 0]);
    }
}
