//! One connection to the control plane, from the upgrade to its end.
//!
//! A single task concurrently reads, writes and passes commands to the executor, so that a slow disk under
//! the command log does not delay pongs. Events are fetched from the executor only while the send queue has
//! room, so that a slow network applies backpressure instead of filling the queue.

use std::pin::pin;

use futures_util::stream::SplitStream;
use futures_util::{FutureExt as _, StreamExt as _};
use loopgate_api::DESKTOP_VERSION;
use loopgate_api::link::{
    Cancel, CommandAck, CommandEventAck, Frame, HelloAck, HelloNack, LinkCommand, MAX_MESSAGE_BYTES,
    ReportAck, Severity, Telemetry, close, event,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::analytics;
use super::context::{LinkContext, LinkState};
use super::dial::Socket;
use super::timing::Retry;
use crate::executor::ExecutorReport;
use crate::outbox::{CloseReason, MAX_QUEUED_BYTES, OutboundMessage, SendQueue};

/// Commands and cancellations waiting for the executor. Above the executor's own queue limit, so a server
/// that respects that limit never reaches this one.
const MAX_ORDERS: usize = 1000;

#[derive(Debug)]
pub(super) struct SessionEnd {
    pub(super) retry: Retry,
    pub(super) reason: String,
    /// The server rejected the key.
    pub(super) unauthorized: bool,
    /// The hello was acknowledged on this connection.
    pub(super) was_online: bool,
}

enum Disconnect {
    /// This end closes the connection.
    Close(CloseReason),
    /// The socket failed; with the error message.
    Lost(String),
    /// The server closed the connection; with its close code and reason.
    Closed(u16, String),
}

impl Disconnect {
    fn close(code: u16, reason: &str) -> Self {
        Self::Close(CloseReason::new(code, reason))
    }
}

/// Serves one connection until it ends or `stop` is cancelled.
pub(super) async fn serve(
    context: &LinkContext,
    socket: Socket,
    target: &mut Option<Uuid>,
    stop: &CancellationToken,
) -> SessionEnd {
    let (sink, mut stream) = socket.split();
    let outbox = SendQueue::default();
    let (orders, order_receiver) = mpsc::channel(MAX_ORDERS);
    let mut session = ClientSession {
        context,
        outbox: &outbox,
        target,
        session_id: None,
        online: false,
        refusal: None,
        orders,
    };
    let mut analytics =
        analytics::AnalyticsSender::new(&context.analytics, context.config.timing.analytics_ack);
    let mut writer = pin!(outbox.write_to(sink, message));
    let disconnect = tokio::select! {
        disconnect = session.run(&mut stream, &mut analytics) => disconnect,
        () = forward_orders(context, &outbox, order_receiver) => Disconnect::Lost("connection lost".to_owned()),
        () = stop.cancelled() => {
            session.send_pending(&analytics);
            Disconnect::close(close::NORMAL, "desktop stopped")
        }
        () = &mut writer => Disconnect::Lost("connection lost".to_owned()),
    };
    let was_online = session.online;
    // Before the close handshake, so that no command is started during it.
    context.config.executor.disconnected();
    let (code, reason) = match disconnect {
        Disconnect::Lost(reason) => (None, reason),
        Disconnect::Closed(code, reason) => (Some(code), reason),
        Disconnect::Close(closing) => {
            let reason = closing.reason.clone();
            outbox.close(closing, !stop.is_cancelled());
            let close_handshake = async { tokio::join!(writer, drain(&mut stream)) };
            // Best-effort: the server may be unreachable, and its close frame changes nothing.
            let _ = timeout(context.config.timing.close, close_handshake).await;
            (None, reason)
        }
    };
    let unauthorized = matches!(code, Some(close::KEY_ENDED | close::FORBIDDEN));
    SessionEnd { retry: code.map_or(Retry::Backoff, Retry::after), reason, unauthorized, was_online }
}

fn message(outgoing: OutboundMessage) -> Message {
    match outgoing {
        OutboundMessage::Text(text) => Message::text(text),
        OutboundMessage::Ping => Message::Ping(Vec::new().into()),
        OutboundMessage::Close(closing) => {
            Message::Close(Some(CloseFrame { code: closing.code.into(), reason: closing.reason.into() }))
        }
    }
}

async fn drain(stream: &mut SplitStream<Socket>) {
    while let Some(Ok(_)) = stream.next().await {}
}

/// Instruction of the control plane to the executor.
enum Order {
    Command(Box<LinkCommand>),
    Cancel(Cancel),
}

/// Passes orders to the executor sequentially until the session ends.
async fn forward_orders(context: &LinkContext, outbox: &SendQueue, mut orders: mpsc::Receiver<Order>) {
    let executor = &context.config.executor;
    while let Some(order) = orders.recv().await {
        match order {
            Order::Command(command) => {
                if let Some(ack) = executor.receive(*command).await {
                    push(outbox, &Frame::event(event::COMMAND_ACK, &ack));
                }
            }
            Order::Cancel(cancel) => executor.cancel(&cancel).await,
        }
    }
}

struct ClientSession<'a> {
    context: &'a LinkContext,
    outbox: &'a SendQueue,
    target: &'a mut Option<Uuid>,
    session_id: Option<Uuid>,
    online: bool,
    /// Reason of the server's refusal, which arrives before its close frame.
    refusal: Option<String>,
    orders: mpsc::Sender<Order>,
}

impl ClientSession<'_> {
    async fn run(
        &mut self,
        stream: &mut SplitStream<Socket>,
        analytics: &mut analytics::AnalyticsSender<'_>,
    ) -> Disconnect {
        let timing = &self.context.config.timing;
        let mut last_received = Instant::now();
        let mut hellos = 1;
        let mut hello_due = Instant::now() + timing.hello_ack;
        self.send_hello();
        loop {
            tokio::select! {
                message = stream.next() => {
                    // Any message resets the timeout, including the pings of the server.
                    last_received = Instant::now();
                    if let Err(stop) = self.receive(message, analytics) {
                        return stop;
                    }
                }
                report = self.next_report(), if self.online => self.send_report(report),
                frame = analytics.next(), if self.online => self.push(&frame),
                () = sleep_until(last_received + timing.silence) => {
                    return Disconnect::Lost("timed out waiting for the server".to_owned());
                }
                () = sleep_until(hello_due), if !self.online => {
                    if hellos == 2 {
                        self.degraded("Relay did not respond to handshake — reconnecting");
                        return Disconnect::close(close::NORMAL, "the server did not acknowledge the hello");
                    }
                    self.degraded("Relay did not respond to handshake — retrying");
                    hellos += 1;
                    hello_due = Instant::now() + timing.hello_ack;
                    self.send_hello();
                }
            }
        }
    }

    fn send_hello(&self) {
        let config = &self.context.config;
        let hello = config.settings.hello().hello(config.credentials.gateway_id(), *self.target);
        self.push(&Frame::event(event::HELLO, &hello));
    }

    /// Waits until the send queue has room, then for the executor's next report.
    async fn next_report(&self) -> ExecutorReport {
        self.outbox.room_for(MAX_QUEUED_BYTES / 2).await;
        self.context.config.executor.next_report().await
    }

    /// Queues all pending reports before a shutdown, if the server has acknowledged the hello.
    fn send_pending(&self, analytics: &analytics::AnalyticsSender<'_>) {
        if !self.online {
            return;
        }
        while let Some(report) = self.next_report().now_or_never() {
            self.send_report(report);
        }
        for frame in analytics.drain() {
            self.push(&frame);
        }
    }

    fn send_report(&self, report: ExecutorReport) {
        let frame = match report {
            ExecutorReport::Event(command_event) => Frame::event(event::COMMAND_EVENT, &command_event),
            ExecutorReport::Presence(presence) => Frame::event(event::PRESENCE, &presence),
            ExecutorReport::Telemetry(telemetry) => Frame::event(event::TELEMETRY, &self.traced(*telemetry)),
        };
        self.push(&frame);
    }

    fn traced(&self, mut telemetry: Telemetry) -> Telemetry {
        telemetry.trace.compute_target_id = self.target.map(|id| id.to_string()).unwrap_or_default();
        telemetry.trace.gateway_session_id = self.session_id.map(|id| id.to_string());
        telemetry.trace.desktop_client_version = Some(DESKTOP_VERSION.to_owned());
        telemetry
    }

    fn receive(
        &mut self,
        message: Option<Result<Message, tungstenite::Error>>,
        analytics: &mut analytics::AnalyticsSender<'_>,
    ) -> Result<(), Disconnect> {
        let text = match message {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Binary(_))) => {
                return Err(Disconnect::close(close::UNSUPPORTED, "binary frame"));
            }
            Some(Ok(Message::Close(frame))) => return Err(self.closed(frame)),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => return Ok(()),
            Some(Err(error)) => return Err(read_error(&error)),
            None => return Err(Disconnect::Lost("connection lost".to_owned())),
        };
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(Disconnect::close(close::TOO_BIG, "message above 10 MiB"));
        }
        let frame = Frame::parse(&text).map_err(|_| Disconnect::close(close::MALFORMED, "not a frame"))?;
        analytics.acknowledged(&frame);
        self.handle(frame);
        Ok(())
    }

    fn closed(&mut self, frame: Option<CloseFrame>) -> Disconnect {
        // RFC 6455 reserves 1005 for a close frame without a code.
        let (code, close_reason) = frame
            .map_or((1005, String::new()), |frame| (u16::from(frame.code), frame.reason.as_str().to_owned()));
        let close_reason = self.refusal.take().unwrap_or(close_reason);
        let reason = if close_reason.is_empty() { format!("closed with code {code}") } else { close_reason };
        tracing::info!(code, reason, "link closed by the control plane");
        Disconnect::Closed(code, reason)
    }

    fn handle(&mut self, frame: Frame) {
        let executor = &self.context.config.executor;
        match frame.event.as_str() {
            event::HELLO_ACK => {
                if let Ok(ack) = frame.payload::<HelloAck>() {
                    self.acknowledged(&ack);
                }
            }
            event::HELLO_NACK => {
                if let Ok(nack) = frame.payload::<HelloNack>() {
                    let detail = nack.message.map(|text| format!(": {text}")).unwrap_or_default();
                    let refusal = format!("{}{detail}", nack.reason);
                    tracing::warn!(reason = refusal, "hello refused by the control plane");
                    self.refusal = Some(refusal);
                }
            }
            event::COMMAND => match frame.payload::<LinkCommand>() {
                Ok(command) => self.order(Order::Command(Box::new(command))),
                Err(error) => match frame.data.get("commandId").and_then(Value::as_str) {
                    Some(id) => {
                        let reason = format!("invalid command: {error}");
                        let ack = CommandAck::rejected(id, "invalid_command", reason);
                        self.push(&Frame::event(event::COMMAND_ACK, &ack));
                    }
                    None => tracing::warn!(%error, "command without an id dropped"),
                },
            },
            event::COMMAND_EVENT_ACK => {
                if let Ok(ack) = frame.payload::<CommandEventAck>() {
                    executor.acknowledged(&ack);
                }
            }
            event::CANCEL => {
                if let Ok(cancel) = frame.payload::<Cancel>() {
                    self.order(Order::Cancel(cancel));
                }
            }
            // Acknowledgements belong to analytics frames, which were handled before.
            _ if frame.ack.is_some() => {}
            _ => {
                if let Some(id) = &frame.id {
                    self.push(&Frame::acknowledging(&frame.event, id, &ReportAck::rejected("unknown_event")));
                }
            }
        }
    }

    /// Queues an order for the executor. Above the limit it is dropped without a reply; the server sends it
    /// again after the next hello.
    fn order(&self, order: Order) {
        if self.orders.try_send(order).is_err() {
            tracing::warn!("command queue full, command dropped until the next hello");
        }
    }

    fn acknowledged(&mut self, ack: &HelloAck) {
        // Later acknowledgements on the same connection report a gap or answer a repeated hello.
        let first = !std::mem::replace(&mut self.online, true);
        *self.target = Some(ack.compute_target_id);
        self.session_id = ack.session_id;
        let executor = &self.context.config.executor;
        executor.registered(ack);
        executor.resume(&ack.resume_from_sequence);
        if first {
            let (category, message) = if self.context.was_ever_online() {
                ("connection.reconnection_resumed", "Connection resumed")
            } else {
                ("connection.established", "Connection established")
            };
            executor.telemetry(Telemetry::new(Severity::Info, category, message));
            let supports_signing = ack.server_capabilities.compute_target_signing;
            let target_id = ack.compute_target_id;
            self.context.set_state(LinkState::Online { target_id, supports_signing });
        }
    }

    fn degraded(&self, error: &str) {
        self.context.set_state(LinkState::Degraded { error: error.to_owned() });
    }

    fn push(&self, frame: &Frame) {
        push(self.outbox, frame);
    }
}

fn push(outbox: &SendQueue, frame: &Frame) {
    // Events wait for room before they are pushed, and other frames are small. The queue is therefore full
    // only when the server has stopped reading; the silence timeout then ends the connection.
    if outbox.push(frame).is_err() {
        tracing::warn!(event = frame.event, "send queue full, frame dropped");
    }
}

fn read_error(error: &tungstenite::Error) -> Disconnect {
    match error {
        tungstenite::Error::Utf8(_) => Disconnect::close(close::INVALID_TEXT, "text is not UTF-8"),
        tungstenite::Error::Capacity(_) => Disconnect::close(close::TOO_BIG, "message above 10 MiB"),
        // The network closed the connection; this is not a protocol violation of the server.
        tungstenite::Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake) => {
            Disconnect::Lost("connection lost".to_owned())
        }
        tungstenite::Error::Protocol(_) => Disconnect::close(close::PROTOCOL, "protocol violation"),
        other => Disconnect::Lost(other.to_string()),
    }
}
