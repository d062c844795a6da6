//! Sends notifications: to the desktop, and to the command of the person's choice.
//!
//! Nothing in here can hold up a loop or make one fail. What goes wrong is logged, once a notification.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::redact;
use loopgate_home::Notify;
use loopgate_tools::process::{Command, Limits, Output, Status, Stdin};
use serde_json::{Value, json};

use super::desktop;
use crate::jobs::store::StoreError;
use crate::jobs::{Job, Notification, UserAction};
use crate::runtime::Runtime;

/// Commands that run at once; more wait.
pub(crate) const MAX_CONCURRENT: usize = 4;
/// Bytes that a command may print on each stream.
const OUTPUT_CAP: usize = 1024 * 1024;
/// What of a failed command's words is logged.
const SAID_BYTES: usize = 1024;
const SAID_LINES: usize = 10;
/// Variables of ours that begin so stay with us, but for those that are set for the command.
const OWN_PREFIX: &str = "LOOPGATE_";
/// Secrets of a control plane whose name does not begin so.
const OWN_SECRETS: [&str; 3] = ["LOCAL_GATEWAY_JWT_SECRET", "LOOP_RUNNER_JWT_SECRET", "INTERNAL_API_SECRET"];

impl Runtime {
    /// Sends pending notifications, now and whenever something happens, until the runtime stops.
    pub async fn run_notifications(self: &Arc<Self>) {
        loop {
            if let Err(error) = self.send_pending().await {
                tracing::warn!(%error, "pending notifications were not sent");
            }
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.pending_notifications.notified() => {}
            }
        }
    }

    async fn send_pending(self: &Arc<Self>) -> Result<(), StoreError> {
        for job in self.store.with_pending_notifications().await? {
            let mut notifications = Vec::new();
            // Removed from the record first: twice is worse than never when everything dies now.
            let job = self
                .store
                .update(job.id, |job| notifications = std::mem::take(&mut job.facts.notifications))
                .await?;
            for notification in notifications {
                let (runtime, job) = (self.clone(), job.clone());
                self.tasks.spawn(async move {
                    let stop = runtime.stop.clone();
                    // Giving up drops the run, which ends the command's whole group.
                    stop.run_until_cancelled(runtime.notify(NotificationMessage::of(&job, notification)))
                        .await;
                });
            }
        }
        Ok(())
    }

    pub(super) async fn notify(&self, message: NotificationMessage) {
        let settings = self.settings.get();
        let wished = &settings.notify;
        if !wished.desktop && wished.command.is_empty() {
            return;
        }
        let Ok(_permit) = self.notification_permits.acquire().await else { return };
        let of = |member: &str| message.facts[member].as_str();
        tracing::info!(loop_id = of("loopId"), event = of("event"), "the person is notified");
        let environment = self.person_environment().await;
        let on_desktop = async {
            if wished.desktop {
                desktop::show(&message, &environment).await;
            }
        };
        tokio::join!(on_desktop, run(wished, &message, &environment));
    }

    /// The person's environment, without anything that is ours.
    async fn person_environment(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = self.child_environment().await;
        environment.retain(|name, _| {
            let name = name.to_string_lossy();
            !name.starts_with(OWN_PREFIX) && !OWN_SECRETS.contains(&name.as_ref())
        });
        environment
    }
}

/// A notification in words.
pub(super) struct NotificationMessage {
    /// What happened, in a few words.
    pub title: &'static str,
    /// To which loop, and what is to be done.
    pub message: String,
    /// Everything, for a program.
    pub facts: Value,
}

impl NotificationMessage {
    fn of(job: &Job, notification: Notification) -> Self {
        let facts = &job.facts;
        let name = facts.artifact_slug.as_deref().or(facts.ticket_id.as_deref());
        let agent = name.unwrap_or("Your agent");
        let (title, message) = match notification {
            Notification::Completed => ("Loop complete", format!("{agent} finished running.")),
            Notification::Failed => ("Loop failed", format!("{agent}: {}", reason(job))),
            Notification::NeedsAnswer(UserAction::PlanReady) => {
                ("Plan ready", format!("{agent} waits for you to judge its plan."))
            }
            Notification::NeedsAnswer(UserAction::Question) => {
                let question = facts.live_activity.as_deref().filter(|_| job.status().is_terminal());
                let asks = question.map_or("asks you something.".to_owned(), |text| format!("asks: {text}"));
                ("Loop needs an answer", format!("{agent} {asks}"))
            }
            Notification::NeedsAnswer(UserAction::Stuck) => {
                ("Loop may be stuck", format!("{agent} has been quiet for long."))
            }
        };
        let mut all = json!({
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
            ("endedAt", facts.completed_at.as_ref().map(|text| json!(text))),
            ("name", name.map(|text| json!(text))),
            ("repository", facts.primary_repo_full_name.as_ref().map(|text| json!(text))),
            ("worktree", facts.worktree_dir.as_ref().map(|text| json!(text))),
            ("exitCode", facts.exit_code.map(|code| json!(code))),
        ];
        for (member, value) in more {
            if let Some(value) = value {
                all[member] = value;
            }
        }
        Self { title, message, facts: all }
    }

    /// The same as variables: `LOOPGATE_EVENT`, and one a member.
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

/// Why a loop failed, as far as its record says.
fn reason(job: &Job) -> String {
    let facts = &job.facts;
    let said = facts.user_visible_loop_failure.as_ref().map(|failure| failure.message.as_str());
    let said = said.or(facts.live_activity.as_deref()).filter(|text| !text.is_empty());
    match (said, &facts.exit_signal, facts.exit_code) {
        (Some(said), ..) => redact::message(said),
        (None, Some(signal), _) => format!("its process was ended by {signal}."),
        (None, None, Some(code)) => format!("its process ended with code {code}."),
        (None, None, None) => "nobody can tell how it ended.".to_owned(),
    }
}

/// `exitCode` as `EXIT_CODE`.
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

/// Runs the person's command to its end, or to the end of its time.
async fn run(wished: &Notify, message: &NotificationMessage, environment: &BTreeMap<OsString, OsString>) {
    let Some((program, args)) = wished.command.split_first() else { return };
    let input = format!("{}\n", message.facts).into_bytes();
    let mut command = Command::new(program).args(args).environment(environment.clone()).session();
    command = command.directory(loopgate_home::expand_home("~")).stdin(Stdin::Bytes(input));
    for (name, value) in message.variables() {
        command = command.env(name, value);
    }
    let limits = Limits::time(Duration::from_secs(wished.timeout_seconds)).output(OUTPUT_CAP);
    let failure = match command.run(limits).await {
        Ok(output) if output.status.success() => return,
        Ok(output) => failure(&output, wished.timeout_seconds),
        Err(error) => error.to_string(),
    };
    let event = message.facts["event"].as_str();
    tracing::warn!(event, command = command.program_name(), "the command of notify failed: {failure}");
}

fn failure(output: &Output, seconds: u64) -> String {
    let how = match output.status {
        Status::TimedOut => format!("it took longer than {seconds} s and was ended"),
        Status::OutputTooLarge => "it printed too much and was ended".to_owned(),
        Status::Exited(code) => format!("exit code {code}"),
        Status::Signalled(signal) => format!("signal {signal}"),
    };
    let texts = [output.stderr_text(), output.stdout_text()];
    match texts.iter().find_map(|text| redact::tail(text, SAID_BYTES, SAID_LINES)) {
        Some(said) => format!("{how}: {}", said.replace('\n', "; ")),
        None => how,
    }
}

#[cfg(test)]
mod tests {
    use loopgate_api::command::LoopCommand;
    use loopgate_api::ids::LoopId;

    use super::*;

    #[test]
    fn a_notice_is_told_in_words_and_in_variables() {
        let mut job = Job::starting(LoopId(uuid::Uuid::nil()), LoopCommand::Execute);
        job.facts.artifact_slug = Some("shop-7".to_owned());
        job.facts.exit_code = Some(3);
        let message = NotificationMessage::of(&job, Notification::Failed);
        assert_eq!(
            (message.title, message.message.as_str()),
            ("Loop failed", "shop-7: its process ended with code 3.")
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

    #[test]
    fn what_a_command_says_is_logged_on_one_line_without_secrets() {
        let output =
            Output { status: Status::Exited(2), stdout: Vec::new(), stderr: b"one\ntoken=abc\n".to_vec() };
        assert_eq!(failure(&output, 30), "exit code 2: one; token=[REDACTED]");
    }
}
