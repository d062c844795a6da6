//! Tells a loop that is stuck from one that thinks: by its output, its processor time, the processes
//! that come and go, and whose turn it is by its own stream.
//!
//! A quiet loop whose assistant waits for the model thinks, and is given three times as long as one
//! in which a program runs that does nothing. What is found is told and shown; nothing is ever
//! ended because of it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_home::untrusted;
use loopgate_tools::process::{TreeWork, tree_work};
use serde::Serialize;
use serde_json::{Value, json};

use crate::finalize::work_dir;
use crate::job::Job;
use crate::notice::{Need, Standstill};
use crate::runtime::Runtime;
use crate::snapshot;
use crate::stream_file;

/// Looks in the time after which a loop counts as stuck.
const LOOKS: u32 = 20;
const SHORTEST_LOOK: Duration = Duration::from_millis(100);
/// One part of this many of a processor's time is idling, and so is this much in all: timers, not
/// work.
const IDLE_PART: u32 = 50;
const IDLE_TIME: Duration = Duration::from_millis(200);
/// How much longer the model may take.
const MODEL_PATIENCE: u32 = 3;

/// What a loop does at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pulse {
    /// It prints, computes, or starts programs.
    Working,
    /// It is quiet, and the model has the word.
    WaitingForModel,
    /// It is quiet for too long.
    Stuck,
}

/// What a loop does, since when, and for what it waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stillness {
    /// What it does.
    pub state: Pulse,
    /// Its last sign of life, ISO 8601.
    pub since: String,
    /// The program that was started last, when it waits for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// One look at a loop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Look {
    work: TreeWork,
    bytes: u64,
    /// Whether a tool of the assistant is under way.
    in_tool: bool,
    /// Whether it says itself that it waits for a person.
    asks: bool,
}

struct Seen {
    /// What was there at the last sign of life, and when that was.
    look: Look,
    moved: Instant,
    told: Stillness,
}

/// What was seen of the loops that run.
#[derive(Default)]
pub(crate) struct Pulses(Mutex<HashMap<LoopId, Seen>>);

impl Pulses {
    /// What a loop does, as of the last look.
    pub fn of(&self, id: LoopId) -> Option<Stillness> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&id).map(|seen| seen.told.clone())
    }

    /// Takes a look in; answers what changed since the last one.
    fn take(&self, id: LoopId, look: Look, now: Instant, limit: Duration) -> Option<(Pulse, Stillness)> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let working =
            || Stillness { state: Pulse::Working, since: loopgate_api::time::now_iso(), command: None };
        let Some(seen) = all.get_mut(&id) else {
            all.insert(id, Seen { look, moved: now, told: working() });
            return None;
        };
        let before = seen.told.state;
        if moved(&seen.look, &look, now - seen.moved) {
            *seen = Seen { look, moved: now, told: working() };
        } else {
            seen.told.state = judge(now - seen.moved, look.in_tool, limit);
            seen.told.command = look.work.last_started.filter(|_| look.in_tool);
        }
        (before != seen.told.state).then(|| (before, seen.told.clone()))
    }

    fn keep_only(&self, ids: &[LoopId]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|id, _| ids.contains(id));
    }
}

/// Whether anything went on between two looks.
fn moved(before: &Look, now: &Look, between: Duration) -> bool {
    let idle = u64::try_from((IDLE_TIME + between / IDLE_PART).as_millis()).unwrap_or(u64::MAX);
    before.bytes != now.bytes
        || before.work.pids != now.work.pids
        || now.work.cpu_ms > before.work.cpu_ms.saturating_add(idle)
}

fn judge(quiet: Duration, in_tool: bool, limit: Duration) -> Pulse {
    match in_tool {
        true if quiet >= limit => Pulse::Stuck,
        true => Pulse::Working,
        false if quiet >= limit * MODEL_PATIENCE => Pulse::Stuck,
        false if quiet >= limit / LOOKS => Pulse::WaitingForModel,
        false => Pulse::Working,
    }
}

impl Runtime {
    /// Looks at the loops that run, now and then, until the runtime stops.
    pub async fn watch_pulses(self: &Arc<Self>) {
        let limit = self.pace.stuck_after;
        let every = (limit / LOOKS).max(SHORTEST_LOOK);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = tokio::time::sleep(every) => {}
            }
            let jobs = match self.store.active().await {
                Ok(jobs) => jobs,
                Err(error) => {
                    tracing::warn!(%error, "the loops that run could not be looked at");
                    continue;
                }
            };
            let running = jobs.into_iter().filter(|job| job.status() == JobStatus::Running);
            let looked = tokio::task::spawn_blocking(move || -> Vec<(Job, Look)> {
                running.filter_map(|job| Some((look(&job)?, job))).map(|(look, job)| (job, look)).collect()
            });
            let looks = looked.await.unwrap_or_default();
            self.pulses.keep_only(&looks.iter().map(|(job, _)| job.id).collect::<Vec<_>>());
            for (job, look) in looks {
                let (printed, asks) = (look.bytes, look.asks);
                if let Some((before, now)) = self.pulses.take(job.id, look, Instant::now(), limit) {
                    self.tell_pulse(job.id, before, &now).await;
                }
                self.note_standstill(&job, printed, asks).await;
            }
        }
    }

    async fn tell_pulse(&self, id: LoopId, before: Pulse, now: &Stillness) {
        tracing::info!(loop_id = %id, state = ?now.state, "pulse");
        let text = match (before, now.state) {
            (_, Pulse::Stuck) => match &now.command {
                Some(command) => format!("This loop may be stuck: {command} does nothing"),
                None => "This loop may be stuck: the model does not answer".to_owned(),
            },
            (Pulse::Stuck, _) => "This loop goes on".to_owned(),
            _ => return,
        };
        let event = LoopEvent::new("output", &json!({"data": {"chunk": text, "stillness": now}}));
        if let Err(error) = self.say(id, &event).await {
            tracing::warn!(loop_id = %id, %error, "the pulse of a loop was not stored");
        }
    }

    /// Notes for its person that a quiet loop waits for them.
    async fn note_standstill(&self, job: &Job, printed: u64, asks: bool) {
        let need = match self.pulses.of(job.id).map(|pulse| pulse.state) {
            None | Some(Pulse::Working) => return,
            Some(_) if asks => Need::Question,
            Some(Pulse::Stuck) => Need::Stuck,
            Some(Pulse::WaitingForModel) => return,
        };
        let standstill = Standstill { need, printed };
        if job.facts.standstill == Some(standstill) {
            return;
        }
        let noted = self.change(job.id, |now| {
            now.job.stands_still(standstill);
            Ok(())
        });
        if let Err(error) = noted.await {
            tracing::warn!(loop_id = %job.id, %error, "that a loop waits for a person was not stored");
        }
    }
}

/// Looks at a loop; `None` when its process does not live. Blocks on the disk.
fn look(job: &Job) -> Option<Look> {
    let work = tree_work(job.facts.pid?)?;
    let directory = work_dir(job);
    let stream = stream_file::resolve_live(&directory);
    let bytes_of = |path: &Path| untrusted::metadata(path).map(|metadata| metadata.len()).unwrap_or_default();
    let names = [loopgate_api::names::LOOP_LOG, loopgate_api::names::ASSISTANT_STDERR];
    let logs: u64 = names.iter().map(|name| bytes_of(&directory.join(name))).sum();
    let bytes = logs + stream.as_deref().map(bytes_of).unwrap_or_default();
    let asks = snapshot::asks(&directory);
    Some(Look { work, bytes, in_tool: stream.is_some_and(|stream| in_tool(&stream)), asks })
}

/// Whether the last word of a stream is a tool that the assistant called.
fn in_tool(stream: &Path) -> bool {
    let tail = stream_file::tail(stream);
    let last = stream_file::records(&tail)
        .rev()
        .find(|record| matches!(record["type"].as_str(), Some("assistant" | "user" | "result")));
    last.is_some_and(|record| {
        let blocks = record.pointer("/message/content").and_then(Value::as_array);
        record["type"] == "assistant"
            && blocks.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_use"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(600);

    fn look_with(cpu_ms: u64, pids: &[u32], bytes: u64, in_tool: bool) -> Look {
        let last_started = in_tool.then(|| "sleep".to_owned());
        Look { work: TreeWork { cpu_ms, pids: pids.to_vec(), last_started }, bytes, in_tool, asks: false }
    }

    #[test]
    fn any_sign_of_life_counts_and_idling_does_not() {
        let before = look_with(1000, &[1, 2], 10, true);
        let second = Duration::from_secs(1);
        for (now, is_life) in [
            (look_with(1000, &[1, 2], 10, true), false),
            (look_with(1220, &[1, 2], 10, true), false),
            (look_with(1221, &[1, 2], 10, true), true),
            (look_with(1000, &[1], 10, true), true),
            (look_with(1000, &[1, 2, 3], 10, true), true),
            (look_with(1000, &[1, 2], 11, true), true),
        ] {
            assert_eq!(moved(&before, &now, second), is_life, "{now:?}");
        }
    }

    #[test]
    fn the_model_has_more_time_than_a_tool() {
        for (minutes, in_tool, state) in [
            (0, true, Pulse::Working),
            (9, true, Pulse::Working),
            (10, true, Pulse::Stuck),
            (0, false, Pulse::Working),
            (1, false, Pulse::WaitingForModel),
            (29, false, Pulse::WaitingForModel),
            (30, false, Pulse::Stuck),
        ] {
            assert_eq!(judge(Duration::from_secs(minutes * 60), in_tool, LIMIT), state, "{minutes}");
        }
    }

    #[test]
    fn a_change_is_told_once() {
        let (pulses, id, start) = (Pulses::default(), LoopId(uuid::Uuid::nil()), Instant::now());
        let at = |minutes: u64| start + Duration::from_secs(minutes * 60);
        let quiet = || look_with(5, &[1, 2], 3, true);
        assert_eq!(pulses.take(id, quiet(), at(0), LIMIT), None);
        assert_eq!(pulses.take(id, quiet(), at(5), LIMIT), None);
        let (before, now) = pulses.take(id, quiet(), at(11), LIMIT).unwrap();
        assert_eq!(
            (before, now.state, now.command.as_deref()),
            (Pulse::Working, Pulse::Stuck, Some("sleep"))
        );
        assert_eq!(pulses.take(id, quiet(), at(12), LIMIT), None);
        let (before, now) = pulses.take(id, look_with(5, &[1, 2], 9, true), at(13), LIMIT).unwrap();
        assert_eq!((before, now.state), (Pulse::Stuck, Pulse::Working));
    }
}
