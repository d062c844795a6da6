//! Text of a notification for the user, and its facts for programs.

use loopgate_api::redact;
use serde_json::{Value, json};

use crate::jobs::{Job, Notification, UserAction};

/// The content of a notification.
pub(super) struct NotificationMessage {
    /// Event, as the title.
    pub title: &'static str,
    /// Loop and required action.
    pub message: String,
    /// All values, for notification commands.
    pub facts: Value,
}

impl NotificationMessage {
    pub fn of(job: &Job, notification: Notification) -> Self {
        let name = job.launch.artifact_slug.as_deref().or(job.launch.ticket_id.as_deref());
        let agent = name.unwrap_or("Your agent");
        let (title, message) = match notification {
            Notification::Completed => ("Loop complete", format!("{agent} finished running.")),
            Notification::Failed => ("Loop failed", format!("{agent}: {}", reason(job))),
            Notification::NeedsAnswer(UserAction::PlanReady) => {
                ("Plan ready", format!("{agent} has a plan ready for your review."))
            }
            Notification::NeedsAnswer(UserAction::Question) => {
                // While the loop runs, the live activity contains output instead of the question.
                let question = job.progress.live_activity.as_deref().filter(|_| job.status().is_terminal());
                let predicate =
                    question.map_or("has a question for you.".to_owned(), |text| format!("asks: {text}"));
                ("Loop needs an answer", format!("{agent} {predicate}"))
            }
            Notification::NeedsAnswer(UserAction::Stuck) => {
                ("Loop may be stuck", format!("{agent} has shown no activity for a long time."))
            }
        };
        let mut facts = json!({
            "event": notification.event(),
            "title": title,
            "message": message,
            "loopId": job.id,
            "command": job.command,
            "status": job.status(),
            "startedAt": job.started_at,
        });
        let need = if let Notification::NeedsAnswer(need) = notification { Some(json!(need)) } else { None };
        let more = [
            ("reason", need),
            ("endedAt", job.report.completed_at.as_ref().map(|text| json!(text))),
            ("name", name.map(|text| json!(text))),
            ("repository", job.workspace.primary_repo_full_name.as_ref().map(|text| json!(text))),
            ("worktree", job.workspace.worktree_dir.as_ref().map(|text| json!(text))),
            ("exitCode", job.run.exit_code.map(|code| json!(code))),
        ];
        for (member, value) in more {
            if let Some(value) = value {
                facts[member] = value;
            }
        }
        Self { title, message, facts }
    }

    /// Returns the facts as environment variables: `LOOPGATE_EVENT`, and one per other member.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let members = self.facts.as_object().into_iter().flatten();
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let variable = |(name, value): (&String, &Value)| match name.as_str() {
            "event" => ("LOOPGATE_EVENT".to_owned(), text(value)),
            name => (format!("LOOPGATE_EVENT_{}", upper_snake(name)), text(value)),
        };
        members.map(variable).collect()
    }
}

/// Returns the recorded reason of a failure.
fn reason(job: &Job) -> String {
    let detail = job.progress.user_visible_loop_failure.as_ref().map(|failure| failure.message.as_str());
    let detail = detail.or(job.progress.live_activity.as_deref()).filter(|text| !text.is_empty());
    match (detail, &job.run.exit_signal, job.run.exit_code) {
        (Some(detail), ..) => redact::message(detail),
        (None, Some(signal), _) => format!("its process was terminated by {signal}."),
        (None, None, Some(code)) => format!("its process exited with code {code}."),
        (None, None, None) => "its outcome is unknown.".to_owned(),
    }
}

/// Converts `exitCode` to `EXIT_CODE`.
fn upper_snake(name: &str) -> String {
    let mut upper = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            upper.push('_');
        }
        upper.push(letter.to_ascii_uppercase());
    }
    upper
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use loopgate_api::command::LoopCommand;
    use loopgate_api::ids::LoopId;

    use super::*;

    #[test]
    fn notification_has_a_message_and_variables() {
        let mut job = Job::starting(LoopId(uuid::Uuid::nil()), LoopCommand::Execute);
        job.launch.artifact_slug = Some("shop-7".to_owned());
        job.run.exit_code = Some(3);
        let message = NotificationMessage::of(&job, Notification::Failed);
        assert_eq!(
            (message.title, message.message.as_str()),
            ("Loop failed", "shop-7: its process exited with code 3.")
        );
        let variables: BTreeMap<String, String> = message.variables().into_iter().collect();
        let of = |name: &str| variables.get(name).map(String::as_str);
        assert_eq!(of("LOOPGATE_EVENT"), Some("failed"));
        assert_eq!(of("LOOPGATE_EVENT_LOOP_ID"), Some("00000000-0000-0000-0000-000000000000"));
        assert_eq!(of("LOOPGATE_EVENT_EXIT_CODE"), Some("3"));
        assert_eq!(of("LOOPGATE_EVENT_REASON"), None);
        let message = NotificationMessage::of(&job, Notification::NeedsAnswer(UserAction::PlanReady));
        assert_eq!(
            (&message.facts["event"], &message.facts["reason"]),
            (&json!("needs-answer"), &json!("plan-ready"))
        );
    }
}
