//! Distinguishes a stuck loop from a loop that waits for the model by its output, CPU time, process tree and
//! the last record of its stream.
//!
//! A quiet loop that waits for the model is allowed three times as long as one whose tool process is idle.
//! The result is reported and displayed; it never terminates a loop.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use loopgate_api::assistant_record::RecordKind;
use loopgate_api::event::LoopEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_home::untrusted;
use loopgate_tools::process::{ProcessTreeSample, sample_process_tree};
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::jobs::{AwaitingUserSince, Job, Jobs, UserAction};
use crate::timing::RuntimeTiming;
use crate::transcript::state_file;
use crate::transcript::stream_file;

/// Samples per stall timeout: a stall is detected at most 5 % late.
const SAMPLES: u32 = 20;
/// Lower bound of the sampling interval, for very short configured timeouts.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);
/// Idle allowance of CPU time between two samples: 1/`IDLE_PART` of the elapsed time plus `IDLE_TIME`. Timers
/// of an idle process use that much.
const IDLE_PART: u32 = 50;
const IDLE_TIME: Duration = Duration::from_millis(200);
/// Factor on the stall timeout while the loop waits for the model.
const MODEL_FACTOR: u32 = 3;

/// State of a loop's activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActivityState {
    /// The loop prints, uses CPU time or starts programs.
    Working,
    /// No activity while a model request is in flight.
    WaitingForModel,
    /// The driver waits until a usage limit of the assistant's account resets.
    WaitingForLimit,
    /// No activity for longer than the stall timeout.
    Stuck,
}

/// Activity of a loop: state, last change and what the loop waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    pub state: ActivityState,
    /// Time of the last activity, ISO 8601.
    pub since: String,
    /// Name of the program that was started last, while a tool call is in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Reset time of the usage limit, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// One measurement of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct ActivitySample {
    work: ProcessTreeSample,
    bytes: u64,
    /// Whether a tool call of the assistant is in flight.
    in_tool: bool,
    /// Whether the state file reports `AWAITING_USER`.
    asks: bool,
    /// Reset time of the usage limit that the driver waits for.
    waiting_until: Option<String>,
}

struct ActivityRecord {
    /// Sample at the last activity, and its time.
    sample: ActivitySample,
    changed: Instant,
    activity: Activity,
}

/// Activities of running loops, as of their last samples.
#[derive(Clone, Default)]
pub(crate) struct Activities(Arc<Mutex<HashMap<LoopId, ActivityRecord>>>);

impl Activities {
    /// Returns the activity of a loop as of the last sample.
    pub fn of(&self, id: LoopId) -> Option<Activity> {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.get(&id).map(|record| record.activity.clone())
    }

    /// Records a sample. Returns the previous state and the new activity when the state or the reset time
    /// changed.
    fn record(
        &self,
        id: LoopId,
        sample: ActivitySample,
        now: Instant,
        limit: Duration,
    ) -> Option<(ActivityState, Activity)> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let working = || Activity {
            state: ActivityState::Working,
            since: loopgate_api::time::now_iso(),
            command: None,
            until: None,
        };
        let record = all.entry(id).or_insert_with(|| ActivityRecord {
            sample: sample.clone(),
            changed: now,
            activity: working(),
        });
        let (before, previous_until) = (record.activity.state, record.activity.until.clone());
        if let Some(until) = sample.waiting_until.clone() {
            if previous_until.as_ref() != Some(&until) {
                record.activity = working();
                record.activity.state = ActivityState::WaitingForLimit;
                record.activity.until = Some(until);
            }
            // Waiting for a reset is not a stall, so the quiet time restarts with every sample.
            (record.sample, record.changed) = (sample, now);
        } else if before == ActivityState::WaitingForLimit
            || changed(&record.sample, &sample, now - record.changed)
        {
            *record = ActivityRecord { sample, changed: now, activity: working() };
        } else {
            record.activity.state = state_after(now - record.changed, sample.in_tool, limit);
            record.activity.command = sample.work.last_started.filter(|_| sample.in_tool);
        }
        let is_changed = before != record.activity.state || previous_until != record.activity.until;
        is_changed.then(|| (before, record.activity.clone()))
    }

    fn keep_only(&self, ids: &[LoopId]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|id, _| ids.contains(id));
    }
}

/// Returns whether there was activity between two samples.
fn changed(before: &ActivitySample, now: &ActivitySample, between: Duration) -> bool {
    let idle = u64::try_from((IDLE_TIME + between / IDLE_PART).as_millis()).unwrap_or(u64::MAX);
    before.bytes != now.bytes
        || before.work.pids != now.work.pids
        || now.work.cpu_ms > before.work.cpu_ms.saturating_add(idle)
}

fn state_after(quiet: Duration, in_tool: bool, limit: Duration) -> ActivityState {
    match in_tool {
        true if quiet >= limit => ActivityState::Stuck,
        true => ActivityState::Working,
        false if quiet >= limit * MODEL_FACTOR => ActivityState::Stuck,
        false if quiet >= limit / SAMPLES => ActivityState::WaitingForModel,
        false => ActivityState::Working,
    }
}

/// Detects loops that are stuck.
#[derive(Clone)]
pub struct StallDetector {
    jobs: Jobs,
    activities: Activities,
    timing: RuntimeTiming,
    stop: CancellationToken,
}

impl StallDetector {
    pub(crate) const fn new(
        jobs: Jobs,
        activities: Activities,
        timing: RuntimeTiming,
        stop: CancellationToken,
    ) -> Self {
        Self { jobs, activities, timing, stop }
    }

    /// Samples running loops periodically until the runtime stops.
    pub async fn run(&self) {
        let limit = self.timing.stuck_after;
        let every = (limit / SAMPLES).max(SHORTEST_INTERVAL);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = tokio::time::sleep(every) => {}
            }
            let jobs = match self.jobs.store.active().await {
                Ok(jobs) => jobs,
                Err(error) => {
                    tracing::warn!(%error, "cannot read the active loops");
                    continue;
                }
            };
            let running = jobs.into_iter().filter(|job| job.status() == JobStatus::Running);
            let sampled = tokio::task::spawn_blocking(move || -> Vec<(Job, ActivitySample)> {
                running
                    .filter_map(|job| Some((sample(&job)?, job)))
                    .map(|(sample, job)| (job, sample))
                    .collect()
            });
            let samples = sampled.await.unwrap_or_default();
            // A loop that no longer runs must not display a stale activity.
            self.activities.keep_only(&samples.iter().map(|(job, _)| job.id).collect::<Vec<_>>());
            for (job, sample) in samples {
                let (printed, asks) = (sample.bytes, sample.asks);
                if let Some((before, now)) = self.activities.record(job.id, sample, Instant::now(), limit) {
                    self.announce_activity(job.id, before, &now).await;
                }
                self.record_awaiting_user(&job, printed, asks).await;
            }
        }
    }

    async fn announce_activity(&self, id: LoopId, before: ActivityState, now: &Activity) {
        tracing::info!(loop_id = %id, state = ?now.state, "loop activity changed");
        let text = match (before, now.state) {
            (_, ActivityState::Stuck) => match &now.command {
                Some(command) => format!("This loop may be stuck: {command} is idle"),
                None => "This loop may be stuck: the model does not respond".to_owned(),
            },
            (_, ActivityState::WaitingForLimit) => {
                "This loop waits until a usage limit of the assistant resets".to_owned()
            }
            (ActivityState::Stuck | ActivityState::WaitingForLimit, _) => {
                "This loop is active again".to_owned()
            }
            _ => return,
        };
        let event = LoopEvent::new("output", &json!({"data": {"chunk": text, "stall": now}}));
        if let Err(error) = self.jobs.enqueue_event(id, &event).await {
            tracing::warn!(loop_id = %id, %error, "cannot store the loop's activity");
        }
    }

    /// Records that a quiet loop waits for the user, which queues a notification.
    async fn record_awaiting_user(&self, job: &Job, printed: u64, asks: bool) {
        let need = match self.activities.of(job.id).map(|activity| activity.state) {
            None | Some(ActivityState::Working | ActivityState::WaitingForLimit) => return,
            Some(_) if asks => UserAction::Question,
            Some(ActivityState::Stuck) => UserAction::Stuck,
            Some(ActivityState::WaitingForModel) => return,
        };
        let awaiting_user_since = AwaitingUserSince { need, printed };
        // Unchanged since the last record: the user is notified once per wait.
        if job.progress.awaiting_user_since == Some(awaiting_user_since) {
            return;
        }
        let update = self.jobs.change(job.id, |now| {
            now.job.set_awaiting_user(awaiting_user_since);
            Ok(())
        });
        if let Err(error) = update.await {
            tracing::warn!(loop_id = %job.id, %error, "cannot record that the loop waits for the user");
        }
    }
}

/// Samples a loop; `None` when its process is not alive. Performs blocking I/O.
fn sample(job: &Job) -> Option<ActivitySample> {
    let work = sample_process_tree(job.run.pid?)?;
    let directory = job.work_dir();
    let stream = stream_file::resolve_live(&directory);
    let bytes_of = |path: &Path| untrusted::metadata(path).map(|metadata| metadata.len()).unwrap_or_default();
    let names = [loopgate_api::names::LOOP_LOG, loopgate_api::names::ASSISTANT_STDERR];
    // The driver's logs count too: it may print while the assistant is silent.
    let logs: u64 = names.iter().map(|name| bytes_of(&directory.join(name))).sum();
    let bytes = logs + stream.as_deref().map(bytes_of).unwrap_or_default();
    let asks = state_file::status(&directory) == Some(JobStatus::AwaitingUser);
    let waiting_until = state_file::waiting_until(job, &directory);
    let in_tool = stream.is_some_and(|stream| in_tool(&stream));
    Some(ActivitySample { work, bytes, in_tool, asks, waiting_until })
}

/// Returns whether the last record of a stream is a tool call of the assistant.
fn in_tool(stream: &Path) -> bool {
    let tail = stream_file::tail(stream);
    let last = stream_file::records(&tail).rev().find_map(|record| match record.kind {
        RecordKind::Assistant(message) => Some(message.content.tool_calls().next().is_some()),
        RecordKind::User(_) | RecordKind::Result(_) => Some(false),
        _ => None,
    });
    last.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(600);

    fn sample_with(cpu_ms: u64, pids: &[u32], bytes: u64, in_tool: bool) -> ActivitySample {
        let last_started = in_tool.then(|| "sleep".to_owned());
        ActivitySample {
            work: ProcessTreeSample { cpu_ms, pids: pids.to_vec(), last_started },
            bytes,
            in_tool,
            asks: false,
            waiting_until: None,
        }
    }

    #[test]
    fn output_cpu_and_new_processes_count_as_activity() {
        let before = sample_with(1000, &[1, 2], 10, true);
        let second = Duration::from_secs(1);
        for (now, is_active) in [
            // One second allows 200 ms + 20 ms of CPU time.
            (sample_with(1000, &[1, 2], 10, true), false),
            (sample_with(1220, &[1, 2], 10, true), false),
            (sample_with(1221, &[1, 2], 10, true), true),
            (sample_with(1000, &[1], 10, true), true),
            (sample_with(1000, &[1, 2, 3], 10, true), true),
            (sample_with(1000, &[1, 2], 11, true), true),
        ] {
            assert_eq!(changed(&before, &now, second), is_active, "{now:?}");
        }
    }

    #[test]
    fn model_has_more_time_than_a_tool() {
        for (minutes, in_tool, state) in [
            (0, true, ActivityState::Working),
            (9, true, ActivityState::Working),
            (10, true, ActivityState::Stuck),
            (0, false, ActivityState::Working),
            (1, false, ActivityState::WaitingForModel),
            (29, false, ActivityState::WaitingForModel),
            (30, false, ActivityState::Stuck),
        ] {
            assert_eq!(state_after(Duration::from_secs(minutes * 60), in_tool, LIMIT), state, "{minutes}");
        }
    }

    #[test]
    fn loop_that_waits_for_a_limit_is_not_stuck() {
        let (activities, id, start) = (Activities::default(), LoopId(uuid::Uuid::nil()), Instant::now());
        let at = |minutes: u64| start + Duration::from_secs(minutes * 60);
        let waits = || ActivitySample {
            waiting_until: Some("2030-01-01T00:00:00Z".to_owned()),
            ..sample_with(5, &[1], 3, true)
        };
        let (_, now) = activities.record(id, waits(), at(0), LIMIT).unwrap();
        assert_eq!(now.state, ActivityState::WaitingForLimit);
        assert_eq!(now.until.as_deref(), Some("2030-01-01T00:00:00Z"));
        assert_eq!(activities.record(id, waits(), at(600), LIMIT), None);
        let (before, now) = activities.record(id, sample_with(5, &[1], 3, true), at(601), LIMIT).unwrap();
        assert_eq!((before, now.state), (ActivityState::WaitingForLimit, ActivityState::Working));
        assert_eq!(activities.record(id, sample_with(5, &[1], 3, true), at(605), LIMIT), None);
    }

    #[test]
    fn activity_change_is_reported_once() {
        let (activities, id, start) = (Activities::default(), LoopId(uuid::Uuid::nil()), Instant::now());
        let at = |minutes: u64| start + Duration::from_secs(minutes * 60);
        let quiet = || sample_with(5, &[1, 2], 3, true);
        assert_eq!(activities.record(id, quiet(), at(0), LIMIT), None);
        assert_eq!(activities.record(id, quiet(), at(5), LIMIT), None);
        let (before, now) = activities.record(id, quiet(), at(11), LIMIT).unwrap();
        assert_eq!(
            (before, now.state, now.command.as_deref()),
            (ActivityState::Working, ActivityState::Stuck, Some("sleep"))
        );
        assert_eq!(activities.record(id, quiet(), at(12), LIMIT), None);
        let (before, now) = activities.record(id, sample_with(5, &[1, 2], 9, true), at(13), LIMIT).unwrap();
        assert_eq!((before, now.state), (ActivityState::Stuck, ActivityState::Working));
    }
}
