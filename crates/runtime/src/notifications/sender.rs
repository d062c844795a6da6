//! Sends notifications to the desktop, and to the command that the user configured.
//!
//! Never blocks or fails a loop. Failures are logged once per notification.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::redact;
use loopgate_home::{Notify, SettingsStore};
use loopgate_tools::process::{Command, Limits, Output, ProcessStatus, Stdin};
use tokio::sync::Semaphore;

use super::desktop;
use super::message::NotificationMessage;
use crate::jobs::Jobs;
use crate::jobs::store::StoreError;
use crate::tasks::Tasks;
use loopgate_tools::environment::ProcessEnvironment;

/// Limit of concurrent notification commands; further ones wait.
const MAX_CONCURRENT: usize = 4;
/// Output limit of a command in bytes, for each of its two streams.
const OUTPUT_CAP: usize = 1024 * 1024;
/// Limits of a failed command's output in the log.
const LOG_BYTES: usize = 1024;
const LOG_LINES: usize = 10;
/// Prefix of Loopgate's variables. A command gets those of its notification, never inherited ones.
const OWN_PREFIX: &str = "LOOPGATE_";
/// Secrets of the control plane that lack the prefix.
const OWN_SECRETS: [&str; 3] = ["LOCAL_GATEWAY_JWT_SECRET", "LOOP_RUNNER_JWT_SECRET", "INTERNAL_API_SECRET"];

/// Sends notifications to the user.
pub struct Notifications {
    jobs: Jobs,
    settings: Arc<SettingsStore>,
    environment: ProcessEnvironment,
    /// Limits how many notification commands run at once.
    permits: Semaphore,
    pub(super) tasks: Tasks,
}

impl Notifications {
    pub(crate) const fn new(
        jobs: Jobs,
        settings: Arc<SettingsStore>,
        environment: ProcessEnvironment,
        tasks: Tasks,
    ) -> Self {
        Self { jobs, settings, environment, permits: Semaphore::const_new(MAX_CONCURRENT), tasks }
    }

    /// Sends pending notifications, now and after each change, until the runtime stops.
    pub async fn run(self: &Arc<Self>) {
        loop {
            if let Err(error) = self.send_pending().await {
                tracing::warn!(%error, "cannot send pending notifications");
            }
            tokio::select! {
                () = self.tasks.stop.cancelled() => return,
                () = self.jobs.pending_notifications.notified() => {}
            }
        }
    }

    async fn send_pending(self: &Arc<Self>) -> Result<(), StoreError> {
        for job in self.jobs.store.with_pending_notifications().await? {
            let mut notifications = Vec::new();
            // Removed from the record first: after a crash, a lost notification is better than a repeated
            // one.
            let job = self
                .jobs
                .store
                .update(job.id, |job| notifications = std::mem::take(&mut job.progress.notifications))
                .await?;
            for notification in notifications {
                let (service, job) = (self.clone(), job.clone());
                self.tasks.spawn(async move {
                    let stop = service.tasks.stop.clone();
                    // Cancellation drops the future, which terminates the command's process group.
                    stop.run_until_cancelled(service.notify(NotificationMessage::of(&job, notification)))
                        .await;
                });
            }
        }
        Ok(())
    }

    pub(super) async fn notify(&self, message: NotificationMessage) {
        let settings = self.settings.get();
        let notify = &settings.notify;
        if !notify.desktop && notify.command.is_empty() {
            return;
        }
        let Ok(_permit) = self.permits.acquire().await else { return };
        let of = |member: &str| message.facts[member].as_str();
        tracing::info!(loop_id = of("loopId"), event = of("event"), "notifying the user");
        let environment = self.user_environment().await;
        let on_desktop = async {
            if notify.desktop {
                desktop::show(&message, &environment).await;
            }
        };
        tokio::join!(on_desktop, run(notify, &message, &environment));
    }

    /// Returns the user's environment without variables of Loopgate.
    async fn user_environment(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = self.environment.inherited().await;
        environment.retain(|name, _| {
            let name = name.to_string_lossy();
            !name.starts_with(OWN_PREFIX) && !OWN_SECRETS.contains(&name.as_ref())
        });
        environment
    }
}

/// Runs the user's command until it exits or times out.
async fn run(notify: &Notify, message: &NotificationMessage, environment: &BTreeMap<OsString, OsString>) {
    let Some((program, args)) = notify.command.split_first() else { return };
    let input = format!("{}\n", message.facts).into_bytes();
    let mut command = Command::new(program).args(args).environment(environment.clone()).session();
    // The home directory always exists, unlike the worktree of the loop.
    command = command.directory(loopgate_home::expand_home("~")).stdin(Stdin::Bytes(input));
    for (name, value) in message.variables() {
        command = command.env(name, value);
    }
    let limits = Limits::time(Duration::from_secs(notify.timeout_seconds)).output(OUTPUT_CAP);
    let failure = match command.run(limits).await {
        Ok(output) if output.status.success() => return,
        Ok(output) => failure(&output, notify.timeout_seconds),
        Err(error) => error.to_string(),
    };
    let event = message.facts["event"].as_str();
    tracing::warn!(event, command = command.program_name(), "notify.command failed: {failure}");
}

fn failure(output: &Output, seconds: u64) -> String {
    let how = match output.status {
        ProcessStatus::TimedOut => format!("timed out after {seconds} s"),
        ProcessStatus::OutputTooLarge => "output limit exceeded".to_owned(),
        ProcessStatus::Exited(code) => format!("exit code {code}"),
        ProcessStatus::Signalled(signal) => format!("signal {signal}"),
    };
    let texts = [output.stderr_text(), output.stdout_text()];
    match texts.iter().find_map(|text| redact::tail(text, LOG_BYTES, LOG_LINES)) {
        Some(text) => format!("{how}: {}", text.replace('\n', "; ")),
        None => how,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_output_is_logged_on_one_redacted_line() {
        let output = Output {
            status: ProcessStatus::Exited(2),
            stdout: Vec::new(),
            stderr: b"one\ntoken=abc\n".to_vec(),
            last_program: None,
        };
        assert_eq!(failure(&output, 30), "exit code 2: one; token=[REDACTED]");
    }
}
