//! What the executor knows: commands that wait, run or ended, and what is to be sent.
//!
//! Pure bookkeeping under one lock; nothing here waits.

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

/// Commands that run at once.
pub const MAX_IN_FLIGHT: usize = 2;
/// Commands that wait.
pub(super) const MAX_QUEUED: usize = 500;
/// Events of one command that are not acknowledged.
pub(super) const MAX_UNACKNOWLEDGED: u64 = 10_000;
/// Most bytes of one command's events that are retained.
const MAX_COMMAND_BYTES: usize = 64 * 1024 * 1024;
/// Most bytes of all commands' events that are retained.
const MAX_TOTAL_BYTES: usize = 256 * 1024 * 1024;
/// Most ended commands that are retained for replay.
const MAX_ENDED: usize = 200;
/// Times that a command's events are sent again on one connection without any progress.
const MAX_REPLAYS: u8 = 3;
/// Largest sequence that a server can mean: what every reader of JSON keeps exact.
const MAX_SEQUENCE: u64 = 1 << 53;
/// Telemetry and presence that wait for the wire; the oldest go first.
const MAX_REPORTS: usize = 256;

/// Numbers of commands that run and that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStats {
    /// Commands that run.
    pub active_commands: u32,
    /// Commands that wait.
    pub queue_depth: u32,
}

/// What the executor has for the wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExecutorReport {
    Event(CommandEvent),
    Presence(Presence),
    Telemetry(Box<Telemetry>),
}

/// A command that may run.
pub(super) struct QueuedCommand {
    pub(super) command: LinkCommand,
    pub(super) operation: OperationId,
    pub(super) lock: Option<String>,
    pub(super) abort_handle: Arc<AbortHandle>,
}

/// Ends a running command.
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

    /// Why the command was ended; none when the program ends.
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
    /// Since when an acknowledgement is awaited.
    waiting_since: Option<Instant>,
    replays: u8,
    /// It is in the list of commands with something to send.
    listed: bool,
}

/// Why an event was not taken: nothing may follow for its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    Events,
    Bytes,
}

#[derive(Default)]
pub(super) struct ExecutorState {
    pub(super) online: bool,
    pub(super) paused: bool,
    /// Why the gateway cannot be reached just now.
    pub(super) gateway_lost: Option<String>,
    /// The id by which the server knows this desktop.
    target_id: Option<Uuid>,
    /// Whether the server of this connection hands signatures on.
    supports_signing: bool,
    /// How far the server's clock is ahead of ours.
    server_clock_offset: SignedDuration,
    /// The program ends: nothing starts any more.
    stopping: bool,
    queue: VecDeque<QueuedCommand>,
    running: HashMap<String, RunningCommand>,
    commands: HashMap<String, CommandEntry>,
    /// Ended commands, the earliest first.
    ended: VecDeque<String>,
    /// Last sequences that the server has of commands from an earlier life of this program.
    seeds: BTreeMap<String, u64>,
    /// Commands with something to send, in turn.
    ready: VecDeque<String>,
    presence: VecDeque<Presence>,
    telemetry: VecDeque<Telemetry>,
    bytes: usize,
    stats: QueueStats,
}

impl ExecutorState {
    // Commands

    pub(super) fn is_known(&self, command_id: &str) -> bool {
        self.commands.contains_key(command_id)
    }

    /// Notes what the server of this connection said.
    pub(super) const fn register(&mut self, target_id: Uuid, supports_signing: bool) {
        self.target_id = Some(target_id);
        self.supports_signing = supports_signing;
    }

    pub(super) const fn target_id(&self) -> Option<Uuid> {
        self.target_id
    }

    pub(super) const fn supports_signing(&self) -> bool {
        self.supports_signing
    }

    /// Notes what the server's clock says; a text that is no time changes nothing.
    pub(super) fn set_server_time(&mut self, server_time: &str, now: Timestamp) {
        if let Ok(server_time) = server_time.parse::<Timestamp>() {
            self.server_clock_offset = server_time.duration_since(now);
        }
    }

    /// Whether the end of a command has passed. One that names none, or no time, does not expire.
    pub(super) fn has_expired(&self, command: &LinkCommand, now: Timestamp) -> bool {
        let expires_at = command.expires_at.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
        let server_now = now.saturating_add(self.server_clock_offset).unwrap_or(now);
        expires_at.is_some_and(|expires_at| expires_at <= server_now)
    }

    pub(super) fn queue_is_full(&self) -> bool {
        self.queue.len() >= MAX_QUEUED
    }

    /// The last sequence that the server named for a command that is unknown here.
    pub(super) fn seed(&self, command_id: &str) -> u64 {
        self.seeds.get(command_id).copied().unwrap_or(0)
    }

    /// Begins to keep the events of a command.
    pub(super) fn track(&mut self, command_id: &str) {
        let log = EventLog::after(command_id, self.seed(command_id));
        let entry = CommandEntry { log, ended: None, waiting_since: None, replays: 0, listed: false };
        self.commands.insert(command_id.to_owned(), entry);
    }

    pub(super) fn enqueue(&mut self, job: QueuedCommand) {
        self.track(&job.command.command_id);
        self.queue.push_back(job);
    }

    /// The next command that may start, marked as running.
    pub(super) fn start_next(&mut self) -> Option<QueuedCommand> {
        if !self.online || self.stopping || self.running.len() >= MAX_IN_FLIGHT {
            return None;
        }
        let held: HashSet<&str> =
            self.running.values().filter_map(|running| running.lock.as_deref()).collect();
        let free = |job: &QueuedCommand| job.lock.as_deref().is_none_or(|lock| !held.contains(lock));
        let index = self.queue.iter().position(free)?;
        let job = self.queue.remove(index)?;
        let running = RunningCommand { lock: job.lock.clone(), abort_handle: Arc::clone(&job.abort_handle) };
        self.running.insert(job.command.command_id.clone(), running);
        Some(job)
    }

    pub(super) fn stopped(&mut self, command_id: &str) {
        self.running.remove(command_id);
    }

    /// Takes a command out of the queue.
    pub(super) fn unqueue(&mut self, command_id: &str) -> Option<QueuedCommand> {
        let index = self.queue.iter().position(|job| job.command.command_id == command_id)?;
        self.queue.remove(index)
    }

    /// Ends a running command; answers whether it runs.
    pub(super) fn abort_running(&self, command_id: &str, reason: &str) -> bool {
        let running = self.running.get(command_id);
        if let Some(running) = running {
            running.abort_handle.abort(reason);
        }
        running.is_some()
    }

    /// Aborts every running command without an event, and drops those that wait.
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

    // Events

    /// Whether a command takes events, and whether this one fits.
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
        self.list(command_id);
    }

    /// What is worth remembering of an ended command.
    pub(super) fn unacknowledged_events(&self, command_id: &str, max_bytes: usize) -> Vec<CommandEvent> {
        let Some(entry) = self.commands.get(command_id) else { return Vec::new() };
        if entry.log.bytes() <= max_bytes {
            entry.log.unsettled().cloned().collect()
        } else {
            entry.log.unsettled().last().cloned().into_iter().collect()
        }
    }

    /// Sends the retained events of an ended command again.
    pub(super) fn repeat_if_ended(&mut self, command_id: &str) {
        if let Some(entry) = self.commands.get_mut(command_id)
            && entry.log.ended()
        {
            entry.log.send_all_again();
            entry.replays = 0;
            self.list(command_id);
        }
    }

    fn list(&mut self, command_id: &str) {
        if let Some(entry) = self.commands.get_mut(command_id)
            && entry.log.has_unsent()
            && !entry.listed
        {
            entry.listed = true;
            self.ready.push_back(command_id.to_owned());
        }
    }

    // The connection

    /// A hello was acknowledged: a first time on a connection, or again because of a gap.
    pub(super) fn resume(&mut self, resume: &BTreeMap<String, u64>) {
        let resume: BTreeMap<&String, &u64> =
            resume.iter().filter(|(_, last)| **last <= MAX_SEQUENCE).collect();
        let first = !std::mem::replace(&mut self.online, true);
        for (command_id, last) in &resume {
            if !self.commands.contains_key(*command_id) {
                self.seeds.insert((*command_id).clone(), **last);
            }
        }
        let mut listed = Vec::new();
        for (command_id, entry) in &mut self.commands {
            let before = entry.log.bytes();
            match resume.get(command_id) {
                Some(last) if first => entry.log.reconnect(**last),
                Some(last) => entry.log.resume(**last),
                // The server has its last event, or has dropped the command.
                None if first && entry.log.ended() => {
                    entry.log.acknowledge(entry.log.last());
                }
                None if first => entry.log.send_again(),
                None => continue,
            }
            self.bytes -= before - entry.log.bytes();
            entry.waiting_since = None;
            entry.replays = if first { 0 } else { entry.replays };
            listed.push(command_id.clone());
        }
        for command_id in listed {
            self.list(&command_id);
        }
        if first {
            self.presence.push_back(self.presence_now());
        }
    }

    /// Forgets the connection and the frames that were meant for it alone.
    pub(super) fn disconnect(&mut self) {
        self.online = false;
        self.supports_signing = false;
        self.seeds.clear();
        self.presence.clear();
        self.telemetry.clear();
        self.ready.clear();
        for entry in self.commands.values_mut() {
            entry.listed = false;
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

    /// The next thing for the wire.
    pub(super) fn next_report(&mut self, now: Instant) -> Option<ExecutorReport> {
        if !self.online {
            return None;
        }
        if let Some(presence) = self.presence.pop_front() {
            return Some(ExecutorReport::Presence(presence));
        }
        while let Some(command_id) = self.ready.pop_front() {
            let Some(entry) = self.commands.get_mut(&command_id) else { continue };
            entry.listed = false;
            let Some(event) = entry.log.take() else { continue };
            entry.waiting_since.get_or_insert(now);
            self.list(&command_id);
            return Some(ExecutorReport::Event(event));
        }
        self.telemetry.pop_front().map(|telemetry| ExecutorReport::Telemetry(Box::new(telemetry)))
    }

    /// When the first acknowledgement is overdue.
    pub(super) fn overdue_at(&self, timing: &ExecutorTiming) -> Option<Instant> {
        let since = |entry: &CommandEntry| entry.waiting_since.filter(|_| entry.replays < MAX_REPLAYS);
        self.commands.values().filter_map(since).min().map(|since| since + timing.ack_progress)
    }

    /// Sends again what was not acknowledged in time.
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
            tracing::info!(command_id, "no acknowledgement came; its events are sent again");
            self.list(&command_id);
        }
    }

    // Presence, telemetry, retention

    /// Notes a change of the counters; says whether there was one.
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

    /// Queues the presence of this desktop, when it is connected.
    pub(super) fn announce(&mut self) {
        if self.online {
            if self.presence.len() >= MAX_REPORTS {
                self.presence.pop_front();
            }
            self.presence.push_back(self.presence_now());
        }
    }

    /// Why nothing new is taken, if that is so.
    pub(super) fn rejection(&self) -> Option<Rejection> {
        let lost = self.gateway_lost.clone().map(Rejection::GatewayRecovering);
        lost.or(self.paused.then_some(Rejection::Paused))
    }

    fn presence_now(&self) -> Presence {
        let closed = self.rejection();
        Presence {
            state: if closed.is_some() { PresenceState::Degraded } else { PresenceState::Online },
            error: closed.map(|rejection| rejection.to_string()),
            active_commands: Some(self.stats.active_commands),
            queue_depth: Some(self.stats.queue_depth),
        }
    }

    pub(super) fn telemetry(&mut self, telemetry: Telemetry) {
        if self.online && self.telemetry.len() < MAX_REPORTS {
            self.telemetry.push_back(telemetry);
        }
    }

    /// Forgets ended commands that are old or too many. Those that the server may still
    /// ask for go last.
    pub(super) fn prune(&mut self, now: Instant, timing: &ExecutorTiming) {
        let commands = &self.commands;
        let keep = |command_id: &String| {
            commands.get(command_id).is_some_and(|entry| {
                let limit =
                    if entry.log.settled() { timing.settled_retention } else { timing.unsettled_retention };
                entry.ended.is_none_or(|ended| now.duration_since(ended) < limit)
            })
        };
        let (mut kept, mut dropped): (Vec<String>, Vec<String>) = self.ended.drain(..).partition(keep);
        let excess = kept.len().saturating_sub(MAX_ENDED);
        if excess > 0 {
            // A stable sort: settled ones first, each kind from the earliest to the latest.
            kept.sort_by_key(|command_id| commands.get(command_id).is_some_and(|t| !t.log.settled()));
            dropped.extend(kept.drain(..excess));
        }
        self.ended = kept.into();
        for command_id in dropped {
            if let Some(entry) = self.commands.remove(&command_id) {
                self.bytes -= entry.log.bytes();
            }
        }
    }
}
