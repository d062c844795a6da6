//! A simulated desktop on a real WebSocket: it claims an API key, sends the hello, and acknowledges or
//! rejects commands as the test decides.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::pkcs8::{EncodePublicKey, spki::der::pem::LineEnding};
use ed25519_dalek::{Signer, SigningKey};
use futures_util::{SinkExt, StreamExt};
use http::Request;
use loopgate_api::link::{Frame, KEY_VERIFICATION_PATH, LINK_PATH, SUBPROTOCOL, event};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use uuid::Uuid;

use super::{ORIGIN, TestApp, TestClient};
use crate::store::now;

/// The credentials of a desktop: gateway id, signing key and API key.
#[derive(Clone)]
pub struct DesktopIdentity {
    pub gateway_id: Uuid,
    pub signing: SigningKey,
    pub api_key: String,
}

impl DesktopIdentity {
    /// Claims an API key through the onboarding routes, as every desktop does.
    pub async fn claim(plane: &TestApp) -> Self {
        Self::claim_for(plane, Uuid::new_v4()).await
    }

    pub async fn claim_for(plane: &TestApp, gateway_id: Uuid) -> Self {
        let signing = SigningKey::from_bytes(&rand::random());
        let attempt = plane.plane.onboarding_attempt_for_owner(&plane.owner).await.unwrap();
        let body = claim_body(&attempt, gateway_id, &signing);
        let reply = plane.anonymous().post("/desktop/bootstrap/claim", body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let api_key = reply.json["apiKey"].as_str().unwrap().to_owned();
        Self { gateway_id, signing, api_key }
    }

    /// Returns the proof-of-possession headers of a request, signed `offset` seconds from now.
    pub fn proof(&self, method: &str, path: &str, offset: i64) -> [(&'static str, String); 3] {
        let timestamp = (now() / 1000 + offset).to_string();
        let text = format!("{method}\n{path}\n{timestamp}\n{}", self.gateway_id);
        let signature = URL_SAFE_NO_PAD.encode(self.signing.sign(text.as_bytes()).to_bytes());
        [
            ("x-desktop-gateway-id", self.gateway_id.to_string()),
            ("x-desktop-timestamp", timestamp),
            ("x-desktop-signature", signature),
        ]
    }

    /// Returns a client with the API key and the proof for one request.
    pub fn client(&self, plane: &TestApp, method: &str, path: &str, offset: i64) -> TestClient {
        let client = plane.anonymous().with_bearer(&self.api_key);
        let proof = self.proof(method, path, offset);
        proof.iter().fold(client, |client, (name, value)| client.with_header(name, value))
    }

    /// Opens a WebSocket with a proof signed `offset` seconds from now.
    ///
    /// Returns the HTTP status when the upgrade is refused.
    pub async fn upgrade(&self, address: SocketAddr, offset: i64) -> Result<LinkStream, u16> {
        let mut request = Request::builder()
            .uri(format!("ws://{address}{LINK_PATH}"))
            .header("host", address.to_string())
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", generate_key())
            .header("sec-websocket-protocol", SUBPROTOCOL)
            .header("authorization", format!("Bearer {}", self.api_key));
        for (name, value) in self.proof("POST", KEY_VERIFICATION_PATH, offset) {
            request = request.header(name, value);
        }
        match tokio_tungstenite::connect_async(request.body(()).unwrap()).await {
            Ok((socket, _)) => Ok(socket),
            Err(tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Returns the request body that claims an API key.
pub fn claim_body(attempt: &str, gateway_id: Uuid, signing: &SigningKey) -> Value {
    let pem = signing.verifying_key().to_public_key_pem(LineEnding::LF).unwrap();
    json!({"onboardingAttemptId": attempt, "webAppOrigin": ORIGIN, "gatewayId": gateway_id, "gatewayPublicKeyPem": pem})
}

type LinkStream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A desktop whose hello the control plane has acknowledged.
pub struct LinkedDesktop {
    pub identity: DesktopIdentity,
    pub target_id: Uuid,
    /// The payload of the hello acknowledgement.
    pub hello_ack: Value,
    address: SocketAddr,
    /// Boxed because the type is several hundred bytes large, and tests move desktops by value.
    socket: Box<LinkStream>,
}

impl LinkedDesktop {
    /// Connects and completes the handshake with the default hello.
    pub async fn connect(identity: DesktopIdentity, address: SocketAddr) -> Self {
        let hello = hello(identity.gateway_id);
        Self::connect_with(identity, address, &hello).await
    }

    /// Connects and completes the handshake with this hello.
    pub async fn connect_with(identity: DesktopIdentity, address: SocketAddr, hello: &Value) -> Self {
        let socket = identity.upgrade(address, 0).await.unwrap();
        let mut desktop = Self {
            identity,
            target_id: Uuid::nil(),
            hello_ack: Value::Null,
            address,
            socket: Box::new(socket),
        };
        desktop.send(event::HELLO, hello).await;
        desktop.hello_ack = desktop.expect(event::HELLO_ACK).await;
        desktop.target_id = desktop.hello_ack["computeTargetId"].as_str().unwrap().parse().unwrap();
        desktop
    }

    /// Drops the connection and opens a new one.
    pub async fn reconnect(self) -> Self {
        let Self { identity, address, socket, .. } = self;
        drop(socket);
        Self::connect(identity, address).await
    }

    pub async fn send(&mut self, name: &str, payload: &Value) {
        self.socket.send(Message::text(Frame::event(name, payload).to_text())).await.unwrap();
    }

    /// Returns the payload of the next event with this name; skips other events.
    pub async fn expect(&mut self, name: &str) -> Value {
        loop {
            let message = self.socket.next().await.unwrap().unwrap();
            let Message::Text(text) = message else { continue };
            let frame = Frame::parse(&text).unwrap();
            if frame.event == name {
                return frame.data;
            }
        }
    }

    /// Returns the close code that the server sends; skips earlier messages.
    pub async fn close_code(&mut self) -> u16 {
        loop {
            if let Message::Close(Some(frame)) = self.socket.next().await.unwrap().unwrap() {
                let code = frame.code.into();
                // Reading once more sends our close frame; the server waits for it before it drops the
                // connection.
                let _ = self.socket.next().await;
                return code;
            }
        }
    }

    /// Accepts the next command and returns it.
    pub async fn accept(&mut self) -> Value {
        let command = self.expect(event::COMMAND).await;
        let ack = json!({"commandId": command["commandId"], "accepted": true, "state": "accepted"});
        self.send(event::COMMAND_ACK, &ack).await;
        command
    }

    /// Rejects the next command with this reason.
    pub async fn reject(&mut self, reason: &str) -> Value {
        self.reject_with(json!({"reason": reason})).await
    }

    /// Rejects the next command with additional members in the acknowledgement.
    pub async fn reject_with(&mut self, members: Value) -> Value {
        let command = self.expect(event::COMMAND).await;
        let mut ack = json!({"commandId": command["commandId"], "accepted": false, "state": "failed"});
        ack.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        self.send(event::COMMAND_ACK, &ack).await;
        command
    }

    /// Sends an event of a command and waits for its acknowledgement, which is sent after the event is
    /// stored.
    pub async fn report(&mut self, command: &Value, sequence: u64, kind: &str, data: Value) {
        let payload =
            json!({"commandId": command["commandId"], "sequence": sequence, "eventType": kind, "data": data});
        self.send(event::COMMAND_EVENT, &payload).await;
        let ack = self.expect(event::COMMAND_EVENT_ACK).await;
        assert_eq!(ack["sequence"], sequence);
    }
}

/// Returns the hello that the simulated desktops send by default.
pub fn hello(gateway_id: Uuid) -> Value {
    json!({
        "gatewayId": gateway_id,
        "desktopSecurityUpgradeProtocolVersion": 1,
        "machineName": "workbench",
        "platform": "linux",
        "pluginVersion": "1.9.3",
        "desktopClientVersion": "0.13.18",
        "gatewayProtocolVersion": "0.1.0",
        "supportedOperations": ["orchestrator_loop", "orchestrator_loop_kill"],
        "maxInFlightCommands": 2,
        "allowedDirectoriesHash": "9b74",
        "capabilities": {"loopRunnerRefreshSupported": true, "loopRunnerHeartbeatSupported": true},
    })
}
