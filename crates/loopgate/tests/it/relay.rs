//! Control plane that implements the link only: it accepts every frame, acknowledges where the protocol
//! requires it, and passes the frames to the test in order.

use anyhow::{Context as _, Result};
use futures_util::{SinkExt as _, StreamExt as _};
use http::HeaderValue;
use loopgate_api::link::{Frame, ReportAck, SUBPROTOCOL, event};
use loopgate_testkit::loopgate::Setup;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

const API_KEY: &str = "lgk_live_0123456789abcdef0123456789abcdef";

/// Relay that listens until it is dropped.
pub struct Relay {
    origin: String,
    frames: mpsc::UnboundedReceiver<Frame>,
}

impl Relay {
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let (sender, frames) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(converse(socket, sender.clone()));
            }
        });
        Ok(Self { origin, frames })
    }

    /// Configures a desktop to connect to this relay.
    pub fn configure(&self, setup: Setup) -> Setup {
        setup.env("LOOPGATE_API_KEY", API_KEY).arg("--api-origin").arg(&self.origin)
    }

    /// Returns the payload of the next frame with this event; skips all other frames.
    pub async fn next(&mut self, event: &str) -> Result<Value> {
        loop {
            let frame = self.frames.recv().await.context("the relay has stopped")?;
            if frame.event == event {
                return Ok(frame.data);
            }
        }
    }
}

async fn converse(socket: TcpStream, sender: mpsc::UnboundedSender<Frame>) -> Option<()> {
    #[expect(clippy::result_large_err, reason = "the library's own type")]
    let select = |_: &Request, mut response: Response| {
        let selected = HeaderValue::from_static(SUBPROTOCOL);
        response.headers_mut().insert("sec-websocket-protocol", selected);
        Ok(response)
    };
    let mut socket = accept_hdr_async(socket, select).await.ok()?;
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        let frame = Frame::parse(&text).ok()?;
        if let Some(answer) = answer(&frame) {
            socket.send(Message::text(answer.to_text())).await.ok()?;
        }
        sender.send(frame).ok()?;
    }
    Some(())
}

fn answer(frame: &Frame) -> Option<Frame> {
    if frame.event == event::HELLO {
        let ack = json!({"computeTargetId": uuid::Uuid::nil(), "resumeFromSequence": {}});
        return Some(Frame::event(event::HELLO_ACK, &ack));
    }
    let id = frame.id.as_deref()?;
    Some(Frame::acknowledging(&frame.event, id, &ReportAck::accepted()))
}
