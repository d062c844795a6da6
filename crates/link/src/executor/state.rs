//! State of the executor: queued, running and ended commands, and the reports to send.
//!
//! Synchronous bookkeeping behind one mutex; nothing here performs I/O or awaits.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, OnceLock};

use jiff::{SignedDuration, Timestamp};
use loopgate_api::link::{CommandEvent, LinkCommand, Presence, PresenceState, Telemetry};
use loopgate_api::operation::OperationId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::event_log::EventLog;
use super::rejection::Rejection;
use super::timing::ExecutorTiming;

/// Commands that run concurrently. Reported to the server in the hello.
pub const MAX_IN_FLIGHT: usize = 2;
/// Queued commands; further ones are rejected.
pub(super) const MAX_QUEUED: usize = 500;
/// Unacknowledged events per command. Above it the command is ended with an overflow error.
pub(super) const MAX_UNACKNOWLEDGED: u64 = 10_000;
/// Bytes of retained events per command: 64 MiB.
const MAX_COMMAND_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of retained events of all commands: 256 MiB.
const MAX_TOTAL_BYTES: usize = 256 * 1024 * 1024;
/// Ended commands that are retained for replay.
const MAX_ENDED: usize = 200;
/// Replays of a command's events per connection without progress. A server that never acknowledges would
/// otherwise receive the same events every ten seconds.
const MAX_REPLAYS: u8 = 3;
/// Largest accepted sequence: 2^53, above which JSON readers that use doubles lose precision.
const MAX_SEQUENCE: u64 = 1 << 53;
/// Queued telemetry events and presence updates, each. Above it new telemetry and the oldest presence are
/// dropped.
const MAX_REPORTS: usize = 256;

/// Numbers of running and queued commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStats {
    /// Commands that run now.
    pub active_commands: u32,
    /// Commands waiting in the queue.
    pub queue_depth: u32,
}

/// A message of the executor to the control plane.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExecutorReport {
    Event(CommandEvent),
    Presence(Presence),
    Telemetry(Box<Telemetry>),
}

/// A queued command with its operation and lock key.
pub(super) struct QueuedCommand {
    pub(super) command: LinkCommand,
    pub(super) operation: OperationId,
    pub(super) lock: Option<String>,
    pub(super) abort_handle: Arc<AbortHandle>,
}

/// Aborts a running command.
#[derive(Default)]
pub(super) struct AbortHandle {
    reason: OnceLock<String>,
    pub(super) token: CancellationToken,
}

impl AbortHandle {
    fn abort(&self, reason: &str) {
        let _ = self.reason.set(reason.to_owned());
        self.token.cancel();
    }

    /// Returns why the command was aborted; `None` during a shutdown.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }
}

struct RunningCommand {
    lock: Option<String>,
    abort_handle: Arc<AbortHandle>,
}

struct CommandEntry {
    log: EventLog,
    ended: Option<Instant>,
    /// Start of the period without an acknowledgement; `None` when nothing is unacknowledged.
    waiting_since: Option<Instant>,
    replays: u8,
    /// Whether the command is in [`ExecutorState::ready`].
    in_ready: bool,
}

/// Limit that an event would exceed. The command is then ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    Events,
    Bytes,
}

#[derive(Default)]
pub(super) struct ExecutorState {
    pub(super) online: bool,
    pub(super) paused: bool,
    /// Reason for which the gateway is unreachable, if it is.
    pub(super) gateway_lost: Option<String>,
    /// Id of this desktop at the control plane.
    target_id: Option<Uuid>,
    /// Offset of the server's clock from the local clock.
    server_clock_offset: SignedDuration,
    /// A shutdown is in progress; no command is started.
    stopping: bool,
    queue: VecDeque<QueuedCommand>,
    running: HashMap<String, RunningCommand>,
    commands: HashMap<String, CommandEntry>,
    /// Ended commands, oldest first.
    ended: VecDeque<String>,
    /// Last sequences that the server has stored for commands of an earlier process, by command id.
    seeds: BTreeMap<String, u64>,
    /// Ids of commands with unsent events, served round-robin.
    ready: VecDeque<String>,
    presence: VecDeque<Presence>,
    telemetry: VecDeque<Telemetry>,
    bytes: usize,
    stats: QueueStats,
}

impl ExecutorState {
    pub(super) fn is_known(&self, command_id: &str) -> bool {
        self.commands.contains_key(command_id)
    }

    /// Stores the properties of the current connection.
    pub(super) const fn register(&mut self, target_id: Uuid) {
        self.target_id = Some(target_id);
    }

    pub(super) const fn target_id(&self) -> Option<Uuid> {
        self.target_id
    }

    /// Stores the offset of the server's clock. Ignores text that is not a timestamp.
    pub(super) fn set_server_time(&mut self, server_time: &str, now: Timestamp) {
        if let Ok(server_time) = server_time.parse::<Timestamp>() {
            self.server_clock_offset = server_time.duration_since(now);
        }
    }

    /// Returns whether a command has expired by the server's clock. Without a valid expiry it never does.
    pub(super) fn has_expired(&self, command: &LinkCommand, now: Timestamp) -> bool {
        let expires_at = command.expires_at.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
        let server_now = now.saturating_add(self.server_clock_offset).unwrap_or(now);
        expires_at.is_some_and(|expires_at| expires_at <= server_now)
    }

    pub(super) fn queue_is_full(&self) -> bool {
        self.queue.len() >= MAX_QUEUED
    }

    /// Returns the last sequence that the server has stored for an untracked command, or 0.
    pub(super) fn seed(&self, command_id: &str) -> u64 {
        self.seeds.get(command_id).copied().unwrap_or(0)
    }

    /// Starts retaining the events of a command.
    pub(super) fn track(&mut self, command_id: &str) {
        let log = EventLog::after(command_id, self.seed(command_id));
        let entry = CommandEntry { log, ended: None, waiting_since: None, replays: 0, in_ready: false };
        self.commands.insert(command_id.to_owned(), entry);
    }

    pub(super) fn enqueue(&mut self, job: QueuedCommand) {
        self.track(&job.command.command_id);
        self.queue.push_back(job);
    }

    /// Marks the next command that may start as running, and returns it.
    pub(super) fn start_next(&mut self) -> Option<QueuedCommand> {
        if !self.online || self.stopping || self.running.len() >= MAX_IN_FLIGHT {
            return None;
        }
        let locked: HashSet<&str> =
            self.running.values().filter_map(|running| running.lock.as_deref()).collect();
        let free = |job: &QueuedCommand| job.lock.as_deref().is_none_or(|lock| !locked.contains(lock));
        // The first command whose lock key is free, not the first of the queue: a busy repository must not
        // block commands for other repositories.
        let index = self.queue.iter().position(free)?;
        let job = self.queue.remove(index)?;
        let running = RunningCommand { lock: job.lock.clone(), abort_handle: Arc::clone(&job.abort_handle) };
        self.running.insert(job.command.command_id.clone(), running);
        Some(job)
    }

    pub(super) fn stopped(&mut self, command_id: &str) {
        self.running.remove(command_id);
    }

    /// Removes a command from the queue.
    pub(super) fn unqueue(&mut self, command_id: &str) -> Option<QueuedCommand> {
        let index = self.queue.iter().position(|job| job.command.command_id == command_id)?;
        self.queue.remove(index)
    }

    /// Aborts a running command. Returns whether it was running.
    pub(super) fn abort_running(&self, command_id: &str, reason: &str) -> bool {
        let running = self.running.get(command_id);
        if let Some(running) = running {
            running.abort_handle.abort(reason);
        }
        running.is_some()
    }

    /// Aborts all running commands without emitting events, and clears the queue.
    pub(super) fn abandon(&mut self) {
        self.stopping = true;
        self.queue.clear();
        for running in self.running.values() {
            running.abort_handle.token.cancel();
        }
    }

    pub(super) const fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Returns whether an event of this size fits, or `None` when the command is unknown or ended.
    pub(super) fn admits(&self, command_id: &str, bytes: usize) -> Option<Result<(), Overflow>> {
        let log = &self.commands.get(command_id).filter(|entry| !entry.log.ended())?.log;
        Some(if log.unacknowledged() >= MAX_UNACKNOWLEDGED {
            Err(Overflow::Events)
        } else if log.bytes() + bytes > MAX_COMMAND_BYTES || self.bytes + bytes > MAX_TOTAL_BYTES {
            Err(Overflow::Bytes)
        } else {
            Ok(())
        })
    }

    pub(super) fn push(
        &mut self,
        command_id: &str,
        event: super::answer::EventBody,
        bytes: usize,
        now: Instant,
    ) {
        let Some(entry) = self.commands.get_mut(command_id) else { return };
        if entry.log.ended() {
            return;
        }
        entry.log.push(event.0, event.1, bytes);
        self.bytes += bytes;
        if entry.log.ended() {
            entry.ended = Some(now);
            self.ended.push_back(command_id.to_owned());
        }
        self.mark_ready(command_id);
    }

    /// Returns the events to log for an ended command: the unacknowledged ones, or only the last above
    /// `max_bytes`.
    pub(super) fn unacknowledged_events(&self, command_id: &str, max_bytes: usize) -> Vec<CommandEvent> {
        let Some(entry) = self.commands.get(command_id) else { return Vec::new() };
        if entry.log.bytes() <= max_bytes {
            entry.log.unsettled().cloned().collect()
        } else {
            entry.log.unsettled().last().cloned().into_iter().collect()
        }
    }

    /// Sends all retained events of an ended command again.
    pub(super) fn repeat_if_ended(&mut self, command_id: &str) {
        if let Some(entry) = self.commands.get_mut(command_id)
            && entry.log.ended()
        {
            entry.log.send_all_again();
            entry.replays = 0;
            self.mark_ready(command_id);
        }
    }

    fn mark_ready(&mut self, command_id: &str) {
        if let Some(entry) = self.commands.get_mut(command_id)
            && entry.log.has_unsent()
            && !entry.in_ready
        {
            entry.in_ready = true;
            self.ready.push_back(command_id.to_owned());
        }
    }

    /// Handles the acknowledgement of a hello: the first one of a connection, or a later one after a gap.
    pub(super) fn resume(&mut self, resume: &BTreeMap<String, u64>) {
        let resume: BTreeMap<&String, &u64> =
            resume.iter().filter(|(_, last)| **last <= MAX_SEQUENCE).collect();
        let first = !std::mem::replace(&mut self.online, true);
        for (command_id, last) in &resume {
            if !self.commands.contains_key(*command_id) {
                self.seeds.insert((*command_id).clone(), **last);
            }
        }
        let mut replayed = Vec::new();
        for (command_id, entry) in &mut self.commands {
            let before = entry.log.bytes();
            match resume.get(command_id) {
                Some(last) if first => entry.log.reconnect(**last),
                Some(last) => entry.log.resume(**last),
                // Not listed by the server: it has stored the terminal event or has dropped the command.
                None if first && entry.log.ended() => {
                    entry.log.acknowledge(entry.log.last());
                }
                None if first => entry.log.send_again(),
                None => continue,
            }
            self.bytes -= before - entry.log.bytes();
            entry.waiting_since = None;
            entry.replays = if first { 0 } else { entry.replays };
            replayed.push(command_id.clone());
        }
        for command_id in replayed {
            self.mark_ready(&command_id);
        }
        if first {
            self.presence.push_back(self.current_presence());
        }
    }

    /// Discards the state of the connection and the reports that are valid on it only.
    pub(super) fn disconnect(&mut self) {
        self.online = false;
        self.seeds.clear();
        self.presence.clear();
        self.telemetry.clear();
        self.ready.clear();
        for entry in self.commands.values_mut() {
            entry.in_ready = false;
            entry.waiting_since = None;
        }
    }

    pub(super) fn acknowledge(&mut self, command_id: &str, sequence: u64, now: Instant) {
        let Some(entry) = self.commands.get_mut(command_id) else { return };
        let before = entry.log.bytes();
        if entry.log.acknowledge(sequence) {
            self.bytes -= before - entry.log.bytes();
            entry.replays = 0;
            entry.waiting_since = entry.log.awaits_ack().then_some(now);
        }
    }

    /// Returns the next report to send: presence first, then events round-robin, then telemetry.
    pub(super) fn next_report(&mut self, now: Instant) -> Option<ExecutorReport> {
        if !self.online {
            return None;
        }
        if let Some(presence) = self.presence.pop_front() {
            return Some(ExecutorReport::Presence(presence));
        }
        while let Some(command_id) = self.ready.pop_front() {
            let Some(entry) = self.commands.get_mut(&command_id) else { continue };
            entry.in_ready = false;
            let Some(event) = entry.log.take() else { continue };
            // The timeout starts with the first unacknowledged event.
            entry.waiting_since.get_or_insert(now);
            self.mark_ready(&command_id);
            return Some(ExecutorReport::Event(event));
        }
        self.telemetry.pop_front().map(|telemetry| ExecutorReport::Telemetry(Box::new(telemetry)))
    }

    /// Returns when the earliest acknowledgement becomes overdue.
    pub(super) fn overdue_at(&self, timing: &ExecutorTiming) -> Option<Instant> {
        let since = |entry: &CommandEntry| entry.waiting_since.filter(|_| entry.replays < MAX_REPLAYS);
        self.commands.values().filter_map(since).min().map(|since| since + timing.ack_progress)
    }

    /// Sends events again whose acknowledgement is overdue.
    pub(super) fn replay_overdue(&mut self, now: Instant, timing: &ExecutorTiming) {
        let mut overdue = Vec::new();
        for (command_id, entry) in &mut self.commands {
            let waited = entry.waiting_since.is_some_and(|since| now >= since + timing.ack_progress);
            if waited && entry.replays < MAX_REPLAYS {
                entry.replays += 1;
                entry.waiting_since = None;
                entry.log.send_again();
                overdue.push(command_id.clone());
            }
        }
        for command_id in overdue {
            tracing::info!(command_id, "acknowledgement overdue, replaying events");
            self.mark_ready(&command_id);
        }
    }

    /// Updates the counters. Returns them if they changed.
    pub(super) fn note_stats(&mut self) -> Option<QueueStats> {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let stats =
            QueueStats { active_commands: count(self.running.len()), queue_depth: count(self.queue.len()) };
        if stats == self.stats {
            return None;
        }
        self.stats = stats;
        self.announce();
        Some(stats)
    }

    /// Queues a presence update, if connected.
    pub(super) fn announce(&mut self) {
        if self.online {
            if self.presence.len() >= MAX_REPORTS {
                self.presence.pop_front();
            }
            self.presence.push_back(self.current_presence());
        }
    }

    /// Returns why new commands are rejected, if they are.
    pub(super) fn rejection(&self) -> Option<Rejection> {
        let lost = self.gateway_lost.clone().map(Rejection::GatewayRecovering);
        lost.or(self.paused.then_some(Rejection::Paused))
    }

    fn current_presence(&self) -> Presence {
        let rejection = self.rejection();
        Presence {
            state: if rejection.is_some() { PresenceState::Degraded } else { PresenceState::Online },
            error: rejection.map(|rejection| rejection.to_string()),
            active_commands: Some(self.stats.active_commands),
            queue_depth: Some(self.stats.queue_depth),
        }
    }

    pub(super) fn telemetry(&mut self, telemetry: Telemetry) {
        if self.online && self.telemetry.len() < MAX_REPORTS {
            self.telemetry.push_back(telemetry);
        }
    }

    /// Drops ended commands that exceed the retention time or the limit. Above the limit, those whose events
    /// are all acknowledged are dropped first, because the server may still request the others.
    pub(super) fn prune(&mut self, now: Instant, timing: &ExecutorTiming) {
        let commands = &self.commands;
        let keep = |command_id: &String| {
            commands.get(command_id).is_some_and(|entry| {
                let limit =
                    if entry.log.settled() { timing.settled_retention } else { timing.unsettled_retention };
                entry.ended.is_none_or(|ended| now.duration_since(ended) < limit)
            })
        };
        let (mut retained, mut dropped): (Vec<String>, Vec<String>) = self.ended.drain(..).partition(keep);
        let excess = retained.len().saturating_sub(MAX_ENDED);
        if excess > 0 {
            // The sort is stable: settled commands first, and by age within each group.
            retained.sort_by_key(|command_id| commands.get(command_id).is_some_and(|t| !t.log.settled()));
            dropped.extend(retained.drain(..excess));
        }
        self.ended = retained.into();
        for command_id in dropped {
            if let Some(entry) = self.commands.remove(&command_id) {
                self.bytes -= entry.log.bytes();
            }
        }
    }
}
