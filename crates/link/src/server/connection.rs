//! One connection of a desktop, from the upgrade to the close.
//!
//! A single task reads and writes concurrently. Futures that it awaits are dropped when the connection ends,
//! so a superseded connection has no effect afterwards.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, OptionFuture};
use futures_util::stream::SplitStream;
use loopgate_api::json_size::{VALUE_BYTES, count_values};
use loopgate_api::link::{
    Analytics, CommandAck, CommandEvent, CommandEventAck, Frame, Hello, HelloAck, HelloNack,
    MAX_MESSAGE_BYTES, NackReason, Presence, ReportAck, ServerCapabilities, TelemetryRejected, close, event,
};
use loopgate_api::time::now_iso;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_tungstenite::tungstenite;
use uuid::Uuid;

use super::byte_budget::{ByteBudget, ByteReservation};
use super::host::{DesktopSession, EventOutcome, Host, Identity, OutstandingCommands};
use super::keyed_tasks::KeyedTasks;
use super::registry::{CloseHandle, ConnectionHandle, ConnectionRegistry};
use super::telemetry;
use crate::outbox::{CloseReason, OutboundMessage, SendQueue};

/// Size limit of a frame before the hello, in bytes. Larger ones are dropped without being parsed: a parsed
/// JSON text can occupy a hundred times its size. A hello has 2 KiB.
const MAX_EARLY_FRAME: usize = 64 * 1024;
/// Size up to which a frame is parsed on the thread that serves the connection; takes about a millisecond.
const PARSED_INLINE: usize = 64 * 1024;
/// Frames that are buffered before the hello. Further ones are dropped, because the peer is not registered
/// yet and must not be able to occupy memory.
const MAX_EARLY_FRAMES: usize = 100;
/// Bytes of the frames that are buffered before the hello. Frames beyond that are dropped.
const MAX_EARLY_BYTES: usize = 1024 * 1024;

/// A frame and the reservation of its bytes in the process-wide budget.
type ReservedFrame = (Frame, ByteReservation);

enum ConnectionEnd {
    /// The socket failed or the peer closed it.
    Lost,
    /// This end closes the connection. With the flag, queued messages are dropped.
    Close(CloseReason, bool),
}

impl ConnectionEnd {
    fn close(code: u16, reason: &str) -> Self {
        Self::Close(CloseReason::new(code, reason), false)
    }
}

/// A message that was read from the socket.
enum ReceivedMessage {
    /// The text of a frame.
    Text(Utf8Bytes),
    Pong,
    Nothing,
}

/// Key of a task: tasks with the same key run in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum TaskKey {
    Command(String),
    Presence,
    Telemetry,
    Analytics,
    Handshake,
}

/// Serves an upgraded connection until it ends.
pub(super) async fn serve<H: Host>(registry: &ConnectionRegistry<H>, socket: WebSocket, identity: Identity) {
    let guard = registry.open(identity);
    let (session_id, close_handle) = (guard.session_id, Arc::clone(&guard.close_handle));
    let (sink, mut stream) = socket.split();
    let connection =
        Connection { registry, identity, session_id, close_handle, outbox: Arc::new(SendQueue::holding()) };
    let outbox = Arc::clone(&connection.outbox);
    let mut writer = pin!(outbox.write_to(sink, message));
    let mut session = None;
    let end = tokio::select! {
        end = connection.run(&mut stream, &mut session) => end,
        closing = connection.close_handle.requested() => {
            // A peer that has stopped reading would never drain the queue in front of the close frame.
            let at_once = closing.code == close::TRY_AGAIN_LATER;
            ConnectionEnd::Close(closing, at_once)
        }
        () = &mut writer => ConnectionEnd::Lost,
    };
    if let ConnectionEnd::Close(closing, at_once) = end {
        tracing::info!(code = closing.code, reason = closing.reason, %session_id, "closing link connection");
        outbox.close(closing, at_once);
        let close_handshake = async { tokio::join!(writer, drain(&mut stream)) };
        // The peer may be unreachable; the timeout bounds the wait and its expiry needs no handling.
        let _ = timeout(registry.timing.close, close_handshake).await;
    }
    if let Some(session) = session {
        registry.disconnect(&session).await;
    }
}

fn message(outgoing: OutboundMessage) -> Message {
    match outgoing {
        OutboundMessage::Text(text) => Message::Text(text.into()),
        OutboundMessage::Ping => Message::Ping(Vec::new().into()),
        OutboundMessage::Close(closing) => {
            Message::Close(Some(CloseFrame { code: closing.code, reason: closing.reason.into() }))
        }
    }
}

/// Reads until the peer closes. Dropping the socket with unread data would make the kernel send a reset, and
/// the peer could lose the close frame.
async fn drain(stream: &mut SplitStream<WebSocket>) {
    while let Some(Ok(_)) = stream.next().await {}
}

struct Connection<'a, H> {
    registry: &'a ConnectionRegistry<H>,
    identity: Identity,
    session_id: Uuid,
    close_handle: Arc<CloseHandle>,
    outbox: Arc<SendQueue>,
}

impl<H: Host> Connection<'_, H> {
    async fn run(
        &self,
        stream: &mut SplitStream<WebSocket>,
        registered: &mut Option<DesktopSession>,
    ) -> ConnectionEnd {
        match self.handshake(stream, registered).await {
            Ok((session, capabilities, early)) => {
                self.serve_registered(stream, session, capabilities, early).await
            }
            Err(end) => end,
        }
    }

    /// Waits for the hello, registers the desktop and acknowledges it. Returns the frames that arrived before
    /// the hello, so that they are handled once the session exists.
    async fn handshake(
        &self,
        stream: &mut SplitStream<WebSocket>,
        registered: &mut Option<DesktopSession>,
    ) -> Result<(DesktopSession, ServerCapabilities, Vec<ReservedFrame>), ConnectionEnd> {
        let deadline = Instant::now() + self.registry.timing.hello;
        let (mut early, mut early_bytes) = (Vec::new(), 0);
        let hello = loop {
            let incoming = timeout_at(deadline, read(stream, MAX_EARLY_FRAME))
                .await
                .map_err(|_| ConnectionEnd::close(close::NO_HELLO, "no hello"))??;
            let ReceivedMessage::Text(text) = incoming else { continue };
            let (frame, bytes) = (parse(&text)?, text.len());
            if frame.event == event::HELLO {
                break frame;
            }
            if early.len() < MAX_EARLY_FRAMES
                && early_bytes + bytes <= MAX_EARLY_BYTES
                && let Some(reservation) = self.registry.budget.try_reserve(bytes)
            {
                early_bytes += bytes;
                early.push((frame, reservation));
            }
        };
        // Frames that request an acknowledgement get one, so that the desktop does not wait for its timeout.
        let refuse = |nack: HelloNack| {
            for (frame, _) in &early {
                self.acknowledge(frame, &ReportAck::rejected("validation_failed"));
            }
            self.refuse(&nack)
        };
        let hello = Hello::parse(&hello.data).map_err(|error| HelloNack {
            reason: NackReason::InvalidHello,
            message: Some(error.to_string()),
        });
        let (session, capabilities) = match hello {
            Ok(hello) => self.register(hello).await.map_err(&refuse)?,
            Err(nack) => return Err(refuse(nack)),
        };
        // Set before the remaining steps: from here on the end of the connection is reported to the host.
        *registered = Some(session);
        let handle = ConnectionHandle {
            session,
            outbox: Arc::clone(&self.outbox),
            close_handle: Arc::clone(&self.close_handle),
        };
        self.registry.connect(handle).await;
        // The previous connection may have stored "offline" after the registration above; set it online
        // again.
        let online = timeout(self.registry.timing.registration_step, self.registry.host.touch(&session));
        if online.await.is_err() {
            return Err(refuse(NackReason::OnlineStateUpdateFailed.into()));
        }
        let outstanding = self.outstanding(&session).await.map_err(&refuse)?;
        self.welcome(&session, capabilities, &outstanding).await;
        self.outbox.release();
        Ok((session, capabilities, early))
    }

    async fn register(&self, hello: Hello) -> Result<(DesktopSession, ServerCapabilities), HelloNack> {
        let timeout_reason = if hello.compute_target_id.is_some() {
            NackReason::ComputeTargetUpdateFailed
        } else {
            NackReason::ComputeTargetRegisterFailed
        };
        let host = &self.registry.host;
        let step = self.registry.timing.registration_step;
        let registration = timeout(step, host.register(&self.identity, self.session_id, hello))
            .await
            .map_err(|_| HelloNack::from(timeout_reason))??;
        let session = DesktopSession {
            target_id: registration.target_id,
            session_id: self.session_id,
            identity: self.identity,
        };
        Ok((session, registration.server_capabilities))
    }

    async fn outstanding(&self, session: &DesktopSession) -> Result<OutstandingCommands, HelloNack> {
        timeout(self.registry.timing.registration_step, self.registry.host.outstanding(session))
            .await
            .map_err(|_| HelloNack::from(NackReason::PendingCommandsLookupFailed))?
    }

    /// Sends the acknowledgement of a hello and then the outstanding commands, at the rate at which the
    /// desktop reads.
    async fn welcome(
        &self,
        session: &DesktopSession,
        capabilities: ServerCapabilities,
        outstanding: &OutstandingCommands,
    ) {
        self.acknowledge_hello(session, capabilities, outstanding.resume_from_sequence.clone());
        let cancelled = outstanding.cancelled.iter().map(|cancel| Frame::event(event::CANCEL, cancel));
        let pending = outstanding.pending.iter().map(|command| Frame::event(event::COMMAND, command));
        for frame in cancelled.chain(pending) {
            let text = frame.to_text();
            let bytes = text.len();
            if bytes > MAX_MESSAGE_BYTES {
                let command_id = frame.data.get("commandId").and_then(serde_json::Value::as_str);
                tracing::warn!(command_id, bytes, "outstanding command exceeds the message limit, not sent");
                continue;
            }
            // Outstanding commands can exceed the queue limit together, so wait until the writer has made
            // room.
            if timeout(self.registry.timing.pong, self.outbox.room_for(bytes)).await.is_err() {
                return self.close_handle.end(close::TRY_AGAIN_LATER, "too far behind");
            }
            self.push_text(text);
        }
    }

    fn acknowledge_hello(
        &self,
        session: &DesktopSession,
        capabilities: ServerCapabilities,
        resume: BTreeMap<String, u64>,
    ) {
        let ack = HelloAck {
            compute_target_id: session.target_id,
            session_id: Some(session.session_id),
            server_time: now_iso(),
            server_capabilities: capabilities,
            resume_from_sequence: resume,
        };
        self.push(&Frame::event(event::HELLO_ACK, &ack));
    }

    fn refuse(&self, nack: &HelloNack) -> ConnectionEnd {
        self.push(&Frame::event(event::HELLO_NACK, nack));
        ConnectionEnd::close(nack.reason.close_code(), nack.reason.as_str())
    }

    /// Serves a registered connection: frames, pings and presence updates.
    async fn serve_registered(
        &self,
        stream: &mut SplitStream<WebSocket>,
        session: DesktopSession,
        capabilities: ServerCapabilities,
        early: Vec<ReservedFrame>,
    ) -> ConnectionEnd {
        let timing = self.registry.timing;
        let registered_connection = RegisteredConnection { connection: self, session, capabilities };
        let mut rate = telemetry::RateLimit::new();
        let mut tasks = KeyedTasks::new();
        for frame in early {
            registered_connection.handle(frame, &mut tasks, &mut rate);
        }
        // A frame that waits for the process-wide byte budget and is then parsed. Reading is paused until then,
        // which applies backpressure to the desktop through TCP.
        let mut admission: Option<BoxFuture<'_, Result<ReservedFrame, ConnectionEnd>>> = None;
        let mut next_ping = Instant::now() + timing.ping;
        let mut next_touch = Instant::now() + timing.touch;
        let mut pong_due: Option<Instant> = None;
        loop {
            let may_read = admission.is_none() && tasks.has_room();
            tokio::select! {
                // With this order the pong deadline fires only after all readable messages were processed.
                biased;
                () = tasks.step() => {}
                () = sleep_until(next_ping) => {
                    self.outbox.ping();
                    next_ping += timing.ping;
                    // A later ping must not extend the deadline of an unanswered one.
                    pong_due.get_or_insert(Instant::now() + timing.pong);
                }
                () = sleep_until(next_touch) => {
                    next_touch += timing.touch;
                    registered_connection.touch(&mut tasks);
                }
                Some(frame) = OptionFuture::from(admission.as_mut()) => {
                    admission = None;
                    match frame {
                        Ok(frame) => registered_connection.handle(frame, &mut tasks, &mut rate),
                        Err(end) => return end,
                    }
                }
                incoming = read(stream, MAX_MESSAGE_BYTES), if may_read => match incoming {
                    Ok(ReceivedMessage::Text(text)) => {
                        admission = Some(Box::pin(admit(&self.registry.budget, text)));
                    }
                    Ok(ReceivedMessage::Pong) => pong_due = None,
                    Ok(ReceivedMessage::Nothing) => {}
                    Err(end) => return end,
                },
                // Not while reading is paused: the pong may be waiting in the socket buffer.
                () = sleep_until(pong_due.unwrap_or(next_ping)), if pong_due.is_some() && may_read => {
                    tracing::info!(target_id = %session.target_id, "pong timeout, dropping link connection");
                    return ConnectionEnd::Lost;
                }
            }
        }
    }

    fn acknowledge(&self, frame: &Frame, result: &ReportAck) {
        if let Some(id) = &frame.id {
            self.push(&Frame::acknowledging(&frame.event, id, result));
        }
    }

    fn push(&self, frame: &Frame) {
        self.push_text(frame.to_text());
    }

    fn push_text(&self, text: String) {
        if self.outbox.push_text(text, true).is_err() {
            self.close_handle.end(close::TRY_AGAIN_LATER, "too far behind");
        }
    }
}

/// A connection whose hello was accepted, with its session.
struct RegisteredConnection<'a, H> {
    connection: &'a Connection<'a, H>,
    session: DesktopSession,
    capabilities: ServerCapabilities,
}

impl<'a, H: Host> RegisteredConnection<'a, H> {
    fn handle<'k>(
        &'k self,
        (frame, reservation): ReservedFrame,
        tasks: &mut KeyedTasks<'k, TaskKey>,
        rate: &mut telemetry::RateLimit,
    ) {
        match frame.event.as_str() {
            event::COMMAND_EVENT => {
                // A malformed report is dropped. Closing the connection would only make the desktop send it
                // again.
                let Ok(command_event) = frame.payload::<CommandEvent>() else { return };
                // Sequences start at 1.
                if command_event.sequence > 0 {
                    let key = TaskKey::Command(command_event.command_id.clone());
                    tasks.push(key, reservation, async move { self.command_event(command_event).await });
                }
            }
            event::COMMAND_ACK => {
                let Ok(ack) = frame.payload::<CommandAck>() else { return };
                let key = TaskKey::Command(ack.command_id.clone());
                tasks.push(key, reservation, async move {
                    self.limited(self.host().command_ack(&self.session, ack)).await;
                });
            }
            event::PRESENCE => {
                let Ok(presence) = frame.payload::<Presence>() else { return };
                tasks.push(TaskKey::Presence, reservation, async move {
                    self.limited(self.host().presence(&self.session, presence)).await;
                });
            }
            event::TELEMETRY => self.telemetry(&frame, reservation, tasks, rate),
            event::ANALYTICS => match frame.payload::<Analytics>() {
                Ok(analytics) => {
                    tasks.push(TaskKey::Analytics, reservation, async move {
                        self.analytics(&frame, analytics).await
                    });
                }
                Err(_) => self.connection.acknowledge(&frame, &ReportAck::rejected("validation_failed")),
            },
            event::AGENT_SESSIONS => {
                self.connection.acknowledge(&frame, &ReportAck::rejected("feature_disabled"));
            }
            // A desktop that did not receive the acknowledgement sends its hello again.
            event::HELLO => {
                tasks.push(TaskKey::Handshake, reservation, async move { self.repeat_welcome().await });
            }
            // Acknowledgements are never acknowledged themselves.
            _ if frame.ack.is_some() => {}
            _ => self.connection.acknowledge(&frame, &ReportAck::rejected("unknown_event")),
        }
    }

    const fn host(&self) -> &'a H {
        &self.connection.registry.host
    }

    async fn limited(&self, call: impl Future<Output = ()>) {
        if timeout(self.connection.registry.timing.host_call, call).await.is_err() {
            tracing::warn!(target_id = %self.session.target_id, "host call timed out, report of the desktop not stored");
        }
    }

    async fn command_event(&self, command_event: CommandEvent) {
        let command_id = command_event.command_id.clone();
        let sequence = command_event.sequence;
        let ingesting = self.host().command_event(&self.session, command_event);
        // Not acknowledged: the desktop retains the event and sends it again.
        let Ok(ingested) = timeout(self.connection.registry.timing.host_call, ingesting).await else {
            tracing::warn!(command_id, sequence, "host call timed out, command event not acknowledged");
            return;
        };
        match ingested {
            EventOutcome::Stored | EventOutcome::Duplicate => {
                let ack = CommandEventAck { command_id, sequence };
                self.connection.push(&Frame::event(event::COMMAND_EVENT_ACK, &ack));
            }
            EventOutcome::Gap(last) => {
                let resume = [(command_id, last)].into();
                self.connection.acknowledge_hello(&self.session, self.capabilities, resume);
            }
            EventOutcome::Ignored => {}
        }
    }

    async fn repeat_welcome(&self) {
        match self.connection.outstanding(&self.session).await {
            Ok(outstanding) => {
                self.connection.welcome(&self.session, self.capabilities, &outstanding).await;
            }
            Err(nack) => tracing::warn!(reason = %nack.reason, "failed to answer a repeated hello"),
        }
    }

    async fn analytics(&self, frame: &Frame, analytics: Analytics) {
        let call = self.host().analytics(&self.session, analytics);
        if let Ok(result) = timeout(self.connection.registry.timing.host_call, call).await {
            self.connection.acknowledge(frame, &result);
        }
    }

    fn telemetry<'k>(
        &'k self,
        frame: &Frame,
        reservation: ByteReservation,
        tasks: &mut KeyedTasks<'k, TaskKey>,
        rate: &mut telemetry::RateLimit,
    ) {
        let category = frame.data.get("category").and_then(serde_json::Value::as_str).unwrap_or_default();
        let Some(dropped) = rate.admit(category, Instant::now()) else { return };
        if dropped > 0 {
            tracing::warn!(target_id = %self.session.target_id, dropped, "telemetry dropped by the rate limit");
        }
        match telemetry::read(&frame.data, self.session.target_id) {
            Ok(telemetry) => tasks.push(TaskKey::Telemetry, reservation, async move {
                self.limited(self.host().telemetry(&self.session, telemetry)).await;
            }),
            Err(issues) => {
                let rejected =
                    Frame::event(event::TELEMETRY_VALIDATION_FAILED, &TelemetryRejected { issues });
                self.connection.push(&rejected);
            }
        }
    }

    fn touch<'k>(&'k self, tasks: &mut KeyedTasks<'k, TaskKey>) {
        // Same key as presence reports, so that host calls about the online state are made in order.
        tasks.push(TaskKey::Presence, ByteReservation::none(), async move {
            self.limited(self.host().touch(&self.session)).await;
        });
    }
}

/// Reads one message and enforces the limits of the protocol: size, text frames only, valid frames only. Drops
/// frames above `most` bytes, which is at most the limit of the protocol.
async fn read(stream: &mut SplitStream<WebSocket>, most: usize) -> Result<ReceivedMessage, ConnectionEnd> {
    match stream.next().await {
        Some(Ok(Message::Text(text))) if text.len() > MAX_MESSAGE_BYTES => {
            Err(ConnectionEnd::close(close::TOO_BIG, "message above 10 MiB"))
        }
        Some(Ok(Message::Text(text))) if text.len() > most => {
            tracing::warn!(bytes = text.len(), most, "frame before the hello exceeds the limit, dropped");
            Ok(ReceivedMessage::Nothing)
        }
        Some(Ok(Message::Text(text))) => Ok(ReceivedMessage::Text(text)),
        Some(Ok(Message::Binary(_))) => Err(ConnectionEnd::close(close::UNSUPPORTED, "binary frame")),
        Some(Ok(Message::Pong(_))) => Ok(ReceivedMessage::Pong),
        // The WebSocket library answers pings itself.
        Some(Ok(Message::Ping(_))) => Ok(ReceivedMessage::Nothing),
        Some(Ok(Message::Close(_))) | None => Err(ConnectionEnd::Lost),
        Some(Err(error)) => Err(read_error(error)),
    }
}

/// Reserves the memory that a frame occupies once it is parsed, and parses it.
async fn admit(budget: &ByteBudget, text: Utf8Bytes) -> Result<ReservedFrame, ConnectionEnd> {
    let values = count_values(text.as_bytes());
    let reservation = budget.reserve(text.len() + values * VALUE_BYTES).await;
    if text.len() <= PARSED_INLINE {
        return Ok((parse(&text)?, reservation));
    }
    // On a thread of its own: parsing megabytes would delay the connections that share this one.
    let parsed = tokio::task::spawn_blocking(move || parse(&text)).await;
    Ok((parsed.unwrap_or_else(|_| Err(not_a_frame()))?, reservation))
}

fn parse(text: &str) -> Result<Frame, ConnectionEnd> {
    Frame::parse(text).map_err(|_| not_a_frame())
}

fn not_a_frame() -> ConnectionEnd {
    ConnectionEnd::close(close::MALFORMED, "not a frame")
}

fn read_error(error: axum::Error) -> ConnectionEnd {
    match error.into_inner().downcast_ref::<tungstenite::Error>() {
        Some(tungstenite::Error::Utf8(_)) => ConnectionEnd::close(close::INVALID_TEXT, "text is not UTF-8"),
        Some(tungstenite::Error::Capacity(_)) => ConnectionEnd::close(close::TOO_BIG, "message above 10 MiB"),
        Some(tungstenite::Error::Protocol(_)) => ConnectionEnd::close(close::PROTOCOL, "protocol violation"),
        _ => ConnectionEnd::Lost,
    }
}
