//! Sends notifications: to the desktop, and to the command of the person's choice.
//!
//! Nothing in here can hold up a loop or make one fail. What goes wrong is logged, once a notification.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::redact;
use loopgate_home::{Notify, SettingsStore};
use loopgate_tools::process::{Command, Limits, Output, RunStatus, Stdin};
use tokio::sync::Semaphore;

use super::desktop;
use super::message::NotificationMessage;
use crate::jobs::Jobs;
use crate::jobs::store::StoreError;
use crate::tasks::Tasks;
use loopgate_tools::environment::ProcessEnvironment;

/// Commands that run at once; more wait.
const MAX_CONCURRENT: usize = 4;
/// Bytes that a command may print on each stream.
const OUTPUT_CAP: usize = 1024 * 1024;
/// What of a failed command's words is logged.
const SAID_BYTES: usize = 1024;
const SAID_LINES: usize = 10;
/// Variables of ours that begin so stay with us, but for those that are set for the command.
const OWN_PREFIX: &str = "LOOPGATE_";
/// Secrets of a control plane whose name does not begin so.
const OWN_SECRETS: [&str; 3] = ["LOCAL_GATEWAY_JWT_SECRET", "LOOP_RUNNER_JWT_SECRET", "INTERNAL_API_SECRET"];

/// Notifies the person.
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

    /// Sends pending notifications, now and whenever something happens, until the runtime stops.
    pub async fn run(self: &Arc<Self>) {
        loop {
            if let Err(error) = self.send_pending().await {
                tracing::warn!(%error, "pending notifications were not sent");
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
            // Removed from the record first: twice is worse than never when everything dies now.
            let job = self
                .jobs
                .store
                .update(job.id, |job| notifications = std::mem::take(&mut job.progress.notifications))
                .await?;
            for notification in notifications {
                let (service, job) = (self.clone(), job.clone());
                self.tasks.spawn(async move {
                    let stop = service.tasks.stop.clone();
                    // Giving up drops the run, which ends the command's whole group.
                    stop.run_until_cancelled(service.notify(NotificationMessage::of(&job, notification)))
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
        let Ok(_permit) = self.permits.acquire().await else { return };
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
        let mut environment = self.environment.inherited().await;
        environment.retain(|name, _| {
            let name = name.to_string_lossy();
            !name.starts_with(OWN_PREFIX) && !OWN_SECRETS.contains(&name.as_ref())
        });
        environment
    }
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
        RunStatus::TimedOut => format!("it took longer than {seconds} s and was ended"),
        RunStatus::OutputTooLarge => "it printed too much and was ended".to_owned(),
        RunStatus::Exited(code) => format!("exit code {code}"),
        RunStatus::Signalled(signal) => format!("signal {signal}"),
    };
    let texts = [output.stderr_text(), output.stdout_text()];
    match texts.iter().find_map(|text| redact::tail(text, SAID_BYTES, SAID_LINES)) {
        Some(said) => format!("{how}: {}", said.replace('\n', "; ")),
        None => how,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_output_is_logged_on_one_redacted_line() {
        let output =
            Output { status: RunStatus::Exited(2), stdout: Vec::new(), stderr: b"one\ntoken=abc\n".to_vec() };
        assert_eq!(failure(&output, 30), "exit code 2: one; token=[REDACTED]");
    }
}
