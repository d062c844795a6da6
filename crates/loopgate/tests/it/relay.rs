//! A control plane that knows nothing but the link: it takes whatever a desktop says, answers what
//! asks for an answer, and hands it to the test in order.

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

/// It listens until it is dropped.
pub struct Relay {
    origin: String,
    heard: mpsc::UnboundedReceiver<Frame>,
}

impl Relay {
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let (hearing, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(converse(socket, hearing.clone()));
            }
        });
        Ok(Self { origin, heard })
    }

    /// A desktop that connects to it.
    pub fn of(&self, setup: Setup) -> Setup {
        setup.env("LOOPGATE_API_KEY", API_KEY).arg("--api-origin").arg(&self.origin)
    }

    /// The payload of the next frame of an event, whatever comes before it.
    pub async fn next(&mut self, event: &str) -> Result<Value> {
        loop {
            let frame = self.heard.recv().await.context("it listens")?;
            if frame.event == event {
                return Ok(frame.data);
            }
        }
    }
}

async fn converse(socket: TcpStream, hearing: mpsc::UnboundedSender<Frame>) -> Option<()> {
    #[expect(clippy::result_large_err, reason = "the library's own type")]
    let select = |_: &Request, mut response: Response| {
        let selected = HeaderValue::from_static(SUBPROTOCOL);
        response.headers_mut().insert("sec-websocket-protocol", selected);
        Ok(response)
    };
    let mut line = accept_hdr_async(socket, select).await.ok()?;
    while let Some(Ok(message)) = line.next().await {
        let Message::Text(text) = message else { continue };
        let frame = Frame::parse(&text).ok()?;
        if let Some(answer) = answer(&frame) {
            line.send(Message::text(answer.to_text())).await.ok()?;
        }
        hearing.send(frame).ok()?;
    }
    Some(())
}

fn answer(frame: &Frame) -> Option<Frame> {
    if frame.event == event::HELLO {
        let ack = json!({"computeTargetId": uuid::Uuid::nil(), "resumeFromSequence": {}});
        return Some(Frame::event(event::HELLO_ACK, &ack));
    }
    let id = frame.id.as_deref()?;
    Some(Frame::acknowledging(&frame.event, id, &ReportAck::yes()))
}
