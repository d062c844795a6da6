//! A desktop at the other end of a real WebSocket: it claims its key, says hello, and answers as a
//! test configures.

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

/// A signing key and the id of its installation.
pub struct DesktopIdentity {
    pub gateway_id: Uuid,
    pub signing: SigningKey,
    pub api_key: String,
}

impl DesktopIdentity {
    /// Claims a key by the same handshake as every desktop.
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

    /// The headers of a request, signed at a distance of seconds from now.
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

    /// A caller with the key and a proof for one request.
    pub fn client(&self, plane: &TestApp, method: &str, path: &str, offset: i64) -> TestClient {
        let client = plane.anonymous().with_bearer(&self.api_key);
        let proof = self.proof(method, path, offset);
        proof.iter().fold(client, |client, (name, value)| client.with_header(name, value))
    }

    /// Opens a connection with a proof signed at a distance of seconds from now, or tells the status of
    /// the refusal.
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

/// The body of a claim.
pub fn claim_body(attempt: &str, gateway_id: Uuid, signing: &SigningKey) -> Value {
    let pem = signing.verifying_key().to_public_key_pem(LineEnding::LF).unwrap();
    json!({"onboardingAttemptId": attempt, "webAppOrigin": ORIGIN, "gatewayId": gateway_id, "gatewayPublicKeyPem": pem})
}

type LinkStream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A connected desktop.
pub struct LinkedDesktop {
    pub identity: DesktopIdentity,
    pub target_id: Uuid,
    /// Payload of the acknowledged hello.
    pub hello_ack: Value,
    address: SocketAddr,
    /// Boxed, because a connection is large.
    socket: Box<LinkStream>,
}

impl LinkedDesktop {
    /// Connects and says hello.
    pub async fn connect(identity: DesktopIdentity, address: SocketAddr) -> Self {
        let hello = hello(identity.gateway_id);
        Self::connect_with(identity, address, &hello).await
    }

    /// The same with another hello.
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

    /// Says a hello that is refused; answers the refusal.
    pub async fn refused(identity: DesktopIdentity, address: SocketAddr, hello: &Value) -> Value {
        let socket = Box::new(identity.upgrade(address, 0).await.unwrap());
        let mut desktop = Self { identity, target_id: Uuid::nil(), hello_ack: Value::Null, address, socket };
        desktop.send(event::HELLO, hello).await;
        desktop.expect(event::HELLO_NACK).await
    }

    /// Loses the connection and makes a new one.
    pub async fn reconnect(self) -> Self {
        let Self { identity, address, socket, .. } = self;
        drop(socket);
        Self::connect(identity, address).await
    }

    /// Sends an event.
    pub async fn send(&mut self, name: &str, payload: &Value) {
        self.socket.send(Message::text(Frame::event(name, payload).to_text())).await.unwrap();
    }

    /// The payload of the next event of a name; others are passed over.
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

    /// The code with which the server closes; everything before it is passed over.
    pub async fn closed(&mut self) -> u16 {
        loop {
            if let Message::Close(Some(frame)) = self.socket.next().await.unwrap().unwrap() {
                let code = frame.code.into();
                // Answers the close, so that the server need not wait for it.
                let _ = self.socket.next().await;
                return code;
            }
        }
    }

    /// Takes the next command.
    pub async fn accept(&mut self) -> Value {
        let command = self.expect(event::COMMAND).await;
        let ack = json!({"commandId": command["commandId"], "accepted": true, "state": "accepted"});
        self.send(event::COMMAND_ACK, &ack).await;
        command
    }

    /// Refuses the next command.
    pub async fn reject(&mut self, reason: &str) -> Value {
        self.reject_with(json!({"reason": reason})).await
    }

    /// Refuses the next command with these members of the acknowledgement.
    pub async fn reject_with(&mut self, members: Value) -> Value {
        let command = self.expect(event::COMMAND).await;
        let mut ack = json!({"commandId": command["commandId"], "accepted": false, "state": "failed"});
        ack.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        self.send(event::COMMAND_ACK, &ack).await;
        command
    }

    /// Sends an event of a command and waits until it is stored.
    pub async fn report(&mut self, command: &Value, sequence: u64, kind: &str, data: Value) {
        let payload =
            json!({"commandId": command["commandId"], "sequence": sequence, "eventType": kind, "data": data});
        self.send(event::COMMAND_EVENT, &payload).await;
        let ack = self.expect(event::COMMAND_EVENT_ACK).await;
        assert_eq!(ack["sequence"], sequence);
    }
}

/// The hello of every desktop of the tests.
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
