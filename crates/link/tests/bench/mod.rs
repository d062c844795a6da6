//! Test doubles for both ends: a control plane with in-memory storage behind a real socket, a raw desktop
//! that sends arbitrary frames, and a real desktop with a scripted gateway.
#![allow(dead_code, reason = "no test file uses all of it")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a failed setup step fails the test"
)]

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{SinkExt as _, StreamExt as _};
use http::{HeaderMap, HeaderValue};
use loopgate_api::link::{
    Analytics, CommandAck, CommandEvent, Frame, Hello, HelloNack, LINK_PATH, LinkCommand, NackReason,
    Presence, ReportAck, SUBPROTOCOL, ServerCapabilities, Telemetry, event,
};
use loopgate_home::{AuthorizedKeys, Credentials, DataDir};
use loopgate_link::client::{self, Client, ClientConfig, FixedSettings, HelloInfo, LinkState};
use loopgate_link::executor::{
    self, CommandHandler, CommandLog, Executor, ExecutorConfig, InMemoryCommandLog, LoopCredentials, Signing,
};
use loopgate_link::server::{
    self, AcceptedHello, ConnectionRegistry, DesktopSession, EventOutcome, Host, Identity,
    OutstandingCommands, SequenceCheck, UpgradeError,
};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest as _};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Fails all requests; these tests sign no loops.
struct NoCredentials;

impl LoopCredentials for NoCredentials {
    fn fetch(&self, _: Uuid, _: String, _: String) -> BoxFuture<'_, Result<Value, String>> {
        Box::pin(async { Err("no credentials in this test".to_owned()) })
    }
}

/// Upper bound of each wait. Generous, because the tests run in parallel on loaded machines.
const TIMEOUT: Duration = Duration::from_secs(20);

pub const KEY: &str = "lgk_live_good";
pub const OTHER_KEY: &str = "lgk_live_other";

pub async fn with_timeout<T>(what: &str, wait: impl Future<Output = T>) -> T {
    match tokio::time::timeout(TIMEOUT, wait).await {
        Ok(value) => value,
        Err(_) => panic!("timed out waiting for {what}"),
    }
}

/// Parses a frame sent by the code under test, and asserts that it matches the published schema.
pub fn validated_frame(text: &str) -> Frame {
    static SCHEMA: LazyLock<jsonschema::Validator> =
        LazyLock::new(|| jsonschema::validator_for(&loopgate_api::link::json_schema()).unwrap());
    let json = serde_json::from_str(text).unwrap();
    if let Err(error) = SCHEMA.validate(&json) {
        panic!("{error}: {text}");
    }
    Frame::parse(text).unwrap()
}

// Control plane

#[derive(Clone, Default)]
pub struct CommandRecord {
    pub target: Uuid,
    pub command: LinkCommand,
    pub ack: Option<CommandAck>,
    pub events: Vec<CommandEvent>,
}

impl CommandRecord {
    pub fn ended(&self) -> bool {
        self.events.last().is_some_and(CommandEvent::is_terminal)
    }
}

#[derive(Clone, Default)]
pub struct MemoryStore {
    /// Target id and owner by gateway id.
    pub targets: HashMap<Uuid, (Uuid, Uuid)>,
    pub hellos: Vec<Hello>,
    pub online: HashMap<Uuid, bool>,
    pub commands: Vec<CommandRecord>,
    pub presence: Vec<Presence>,
    pub telemetry: Vec<Telemetry>,
    pub touches: usize,
    pub disconnects: usize,
    /// Number of following command events whose storage fails.
    pub failing_writes: usize,
    /// Number of events that were received more than once.
    pub duplicates: usize,
    /// Reason with which registrations are refused.
    pub refuse: Option<NackReason>,
}

impl MemoryStore {
    pub fn entry(&self, id: &str) -> &CommandRecord {
        self.commands.iter().find(|entry| entry.command.command_id == id).unwrap()
    }
}

/// In-memory host whose changes a test can await.
pub struct MemoryHost {
    pub store: watch::Sender<MemoryStore>,
    /// Blocks the storage of this command's events until the sender is used or dropped.
    pub blocked: Mutex<Option<(String, oneshot::Receiver<()>)>>,
    /// Blocks the next registration until the sender is used or dropped.
    pub gate: Mutex<Option<oneshot::Receiver<()>>>,
}

impl MemoryHost {
    fn change<T>(&self, change: impl FnOnce(&mut MemoryStore) -> T) -> T {
        let mut result = None;
        self.store.send_modify(|store| result = Some(change(store)));
        result.unwrap()
    }

    pub async fn until(&self, what: &str, condition: impl FnMut(&MemoryStore) -> bool) -> MemoryStore {
        let mut store = self.store.subscribe();
        with_timeout(what, store.wait_for(condition)).await.unwrap().clone()
    }

    pub fn set(&self, change: impl FnOnce(&mut MemoryStore)) {
        self.change(change);
    }
}

impl Host for MemoryHost {
    async fn register(&self, identity: &Identity, _: Uuid, hello: Hello) -> Result<AcceptedHello, HelloNack> {
        let gate = self.gate.lock().unwrap().take();
        if let Some(gate) = gate {
            let _ = gate.await;
        }
        self.change(|store| {
            store.hellos.push(hello.clone());
            if let Some(reason) = store.refuse {
                return Err(reason.into());
            }
            let gateway = hello.gateway_id.unwrap();
            let (target_id, owner) =
                *store.targets.entry(gateway).or_insert((Uuid::new_v4(), identity.user_id));
            if owner != identity.user_id {
                return Err(NackReason::GatewayConflict.into());
            }
            store.online.insert(target_id, true);
            Ok(AcceptedHello { target_id, server_capabilities: ServerCapabilities::default() })
        })
    }

    async fn outstanding(&self, session: &DesktopSession) -> Result<OutstandingCommands, HelloNack> {
        let store = self.store.borrow();
        let open = store.commands.iter().filter(|entry| entry.target == session.target_id && !entry.ended());
        let open: Vec<&CommandRecord> = open.collect();
        let last = |entry: &&CommandRecord| (entry.command.command_id.clone(), entry.events.len() as u64);
        Ok(OutstandingCommands {
            resume_from_sequence: open.iter().map(last).collect(),
            pending: open.iter().map(|entry| entry.command.clone()).collect(),
            cancelled: Vec::new(),
        })
    }

    async fn command_ack(&self, session: &DesktopSession, ack: CommandAck) {
        self.change(|store| {
            let own = |entry: &&mut CommandRecord| {
                entry.command.command_id == ack.command_id && entry.target == session.target_id
            };
            if let Some(entry) = store.commands.iter_mut().find(own) {
                entry.ack = Some(ack.clone());
            }
        });
    }

    async fn command_event(&self, session: &DesktopSession, event: CommandEvent) -> EventOutcome {
        let blocked = {
            let mut blocked = self.blocked.lock().unwrap();
            blocked.take_if(|(id, _)| *id == event.command_id)
        };
        if let Some((_, release)) = blocked {
            let _ = release.await;
        }
        self.change(|store| {
            if store.failing_writes > 0 {
                store.failing_writes -= 1;
                return EventOutcome::Ignored;
            }
            let own = |entry: &&mut CommandRecord| {
                entry.command.command_id == event.command_id && entry.target == session.target_id
            };
            let Some(entry) = store.commands.iter_mut().find(own) else { return EventOutcome::Ignored };
            let last = entry.events.len() as u64;
            match SequenceCheck::of(event.sequence, last) {
                SequenceCheck::Next => {
                    entry.events.push(event);
                    EventOutcome::Stored
                }
                SequenceCheck::Duplicate => {
                    store.duplicates += 1;
                    EventOutcome::Duplicate
                }
                SequenceCheck::Gap => EventOutcome::Gap(last),
            }
        })
    }

    async fn presence(&self, _: &DesktopSession, presence: Presence) {
        self.change(|store| store.presence.push(presence));
    }

    async fn telemetry(&self, _: &DesktopSession, telemetry: Telemetry) {
        self.change(|store| store.telemetry.push(telemetry));
    }

    async fn analytics(&self, _: &DesktopSession, analytics: Analytics) -> ReportAck {
        if analytics.event == "accepted" {
            ReportAck::accepted()
        } else {
            ReportAck::rejected("feature_disabled")
        }
    }

    async fn touch(&self, session: &DesktopSession) {
        self.change(|store| {
            store.touches += 1;
            store.online.insert(session.target_id, true);
        });
    }

    async fn disconnected(&self, session: &DesktopSession) {
        self.change(|store| {
            store.disconnects += 1;
            store.online.insert(session.target_id, false);
        });
    }
}

pub struct ServerFixture {
    pub address: SocketAddr,
    pub registry: Arc<ConnectionRegistry<MemoryHost>>,
    /// Headers of all upgrade requests.
    pub upgrades: watch::Receiver<Vec<HeaderMap>>,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

type HostServices = (Arc<ConnectionRegistry<MemoryHost>>, Arc<watch::Sender<Vec<HeaderMap>>>);

async fn upgrade(State((registry, upgrades)): State<HostServices>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    upgrades.send_modify(|seen| seen.push(parts.headers.clone()));
    let admitted = server::admit(&mut parts, |origin| origin == "http://trusted.test").await;
    let (upgrade, key) = match admitted {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into_response(),
    };
    match identity(key.expose_secret()) {
        Some(identity) => server::accept(upgrade, registry, identity),
        None => UpgradeError::Unauthorized.into_response(),
    }
}

pub fn identity(key: &str) -> Option<Identity> {
    let number = match key {
        KEY => 1,
        OTHER_KEY => 2,
        _ => return None,
    };
    let id = Uuid::from_u128(number);
    Some(Identity { user_id: id, organization_id: id, key_id: id })
}

impl ServerFixture {
    pub async fn start() -> Self {
        Self::start_with(server::ServerTiming::default()).await
    }

    pub async fn start_with(timing: server::ServerTiming) -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), MemoryStore::default(), timing).await
    }

    pub async fn start_at(address: SocketAddr, store: MemoryStore, timing: server::ServerTiming) -> Self {
        let host =
            MemoryHost { store: watch::channel(store).0, blocked: Mutex::default(), gate: Mutex::default() };
        let registry = ConnectionRegistry::with_timing(host, timing);
        let (seen, upgrades) = watch::channel(Vec::new());
        let app =
            Router::new().route(LINK_PATH, any(upgrade)).with_state((Arc::clone(&registry), Arc::new(seen)));
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        // Nagle's algorithm delays the small frames of these tests by 40 ms each.
        let listener = listener.tap_io(|socket| socket.set_nodelay(true).unwrap());
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let serving = tokio::spawn(async move {
            axum::serve(listener, app).with_graceful_shutdown(stopped).await.unwrap();
        });
        Self { address, registry, upgrades, stop, serving }
    }

    pub fn host(&self) -> &MemoryHost {
        self.registry.host()
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stores a command and sends it if its target is connected.
    pub fn order(&self, target: Uuid, command: LinkCommand) {
        self.host().set(|store| {
            store.commands.push(CommandRecord {
                target,
                command: command.clone(),
                ..CommandRecord::default()
            });
        });
        // Fails when the target is not connected; the command is then sent after the next hello.
        let _ = self.registry.deliver(target, &command);
    }

    pub async fn events_until_end(&self, id: &str) -> Vec<CommandEvent> {
        let store = self.host().until(id, |store| store.entry(id).ended()).await;
        store.entry(id).events.clone()
    }

    /// Shuts down and returns the final state of the store.
    pub async fn stop(self) -> MemoryStore {
        with_timeout("the registry to shut down", self.registry.shutdown()).await;
        self.stop.cancel();
        with_timeout("the server to stop", self.serving).await.unwrap();
        self.registry.host().store.borrow().clone()
    }
}

// Raw desktop

pub struct RawDesktop(pub WebSocketStream<MaybeTlsStream<TcpStream>>);

/// Message received by a raw desktop.
#[derive(Debug, PartialEq)]
pub enum SocketEvent {
    Frame(Frame),
    Closed(u16),
    Lost,
}

impl RawDesktop {
    pub async fn connect(control_plane: &ServerFixture, key: &str) -> Self {
        Self::try_connect(control_plane, &[("authorization", &format!("Bearer {key}"))], Some(SUBPROTOCOL))
            .await
            .unwrap()
    }

    /// Fails with the status and body of the refusal.
    pub async fn try_connect(
        control_plane: &ServerFixture,
        headers: &[(&'static str, &str)],
        subprotocol: Option<&'static str>,
    ) -> Result<Self, (u16, Value)> {
        let url = format!("ws://{}{LINK_PATH}", control_plane.address);
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        if let Some(subprotocol) = subprotocol {
            request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(subprotocol));
        }
        match connect_async(request).await {
            Ok((socket, response)) => {
                assert_eq!(response.headers()["sec-websocket-protocol"], SUBPROTOCOL);
                Ok(Self(socket))
            }
            Err(tokio_tungstenite::tungstenite::Error::Http(response)) => {
                let body = response.body().as_deref().unwrap_or_default();
                Err((response.status().as_u16(), serde_json::from_slice(body).unwrap_or_default()))
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub async fn send(&mut self, frame: &Frame) {
        self.send_text(&frame.to_text()).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    pub async fn hello(&mut self, gateway_id: Uuid) -> Frame {
        self.send(&Frame::event(event::HELLO, &hello(gateway_id))).await;
        self.frame().await
    }

    pub async fn receive(&mut self) -> SocketEvent {
        loop {
            return match with_timeout("a message", self.0.next()).await {
                Some(Ok(Message::Text(text))) => SocketEvent::Frame(validated_frame(&text)),
                Some(Ok(Message::Close(frame))) => {
                    SocketEvent::Closed(frame.map_or(1005, |frame| frame.code.into()))
                }
                Some(Ok(_)) => continue,
                Some(Err(_)) | None => SocketEvent::Lost,
            };
        }
    }

    pub async fn frame(&mut self) -> Frame {
        match self.receive().await {
            SocketEvent::Frame(frame) => frame,
            other => panic!("{other:?}"),
        }
    }

    pub async fn closed(&mut self) -> u16 {
        match self.receive().await {
            SocketEvent::Closed(code) => code,
            other => panic!("{other:?}"),
        }
    }
}

pub fn hello(gateway_id: Uuid) -> Value {
    json!({
        "machineName": "m", "platform": "linux", "pluginVersion": "1.0.0", "gatewayId": gateway_id,
        "supportedOperations": ["git_action"], "maxInFlightCommands": 2, "allowedDirectoriesHash": "",
    })
}

pub fn command_event(id: &str, sequence: u64, kind: &str) -> Frame {
    let data = json!({"commandId": id, "sequence": sequence, "eventType": kind, "data": {"n": sequence}});
    Frame::event(event::COMMAND_EVENT, &data)
}

pub fn command(id: &str) -> LinkCommand {
    LinkCommand {
        command_id: id.into(),
        operation_id: "git_action".into(),
        method: "POST".into(),
        path: "/api/gateway/git".into(),
        ..LinkCommand::default()
    }
}

// Real desktop

/// A request that reached the gateway, and the sender of its response.
pub struct Call {
    pub request: http::Request<Bytes>,
    answer: oneshot::Sender<http::Response<Body>>,
}

impl Call {
    pub fn answer(self, body: impl Into<Body>) {
        self.answer_as("application/json", body);
    }

    pub fn answer_as(self, content_type: &str, body: impl Into<Body>) {
        let response = http::Response::builder().header("content-type", content_type);
        let _ = self.answer.send(response.body(body.into()).unwrap());
    }
}

struct ScriptedGateway(mpsc::UnboundedSender<Call>);

impl CommandHandler for ScriptedGateway {
    fn call(&self, request: http::Request<Bytes>) -> BoxFuture<'_, http::Response<Body>> {
        let (answer, response) = oneshot::channel();
        let _ = self.0.send(Call { request, answer });
        Box::pin(async move { response.await.unwrap() })
    }
}

pub struct DesktopFixture {
    pub client: Arc<Client>,
    pub executor: Arc<Executor>,
    pub credentials: Arc<Credentials>,
    pub states: watch::Receiver<LinkState>,
    pub calls: mpsc::UnboundedReceiver<Call>,
    stop: CancellationToken,
    running: JoinHandle<()>,
    _directory: tempfile::TempDir,
}

/// Timing with short retry delays.
pub fn quick() -> client::ClientTiming {
    let short = Duration::from_millis(20);
    client::ClientTiming { first_retry: short, longest_retry: short * 4, ..client::ClientTiming::default() }
}

impl DesktopFixture {
    pub fn start(origin: &str) -> Self {
        Self::start_with(origin, Some(KEY), quick(), executor::ExecutorTiming::default())
    }

    pub fn start_with(
        origin: &str,
        key: Option<&str>,
        timing: client::ClientTiming,
        executor_timing: executor::ExecutorTiming,
    ) -> Self {
        Self::start_with_log(origin, key, timing, executor_timing, Arc::new(InMemoryCommandLog::default()))
    }

    pub fn start_with_log(
        origin: &str,
        key: Option<&str>,
        timing: client::ClientTiming,
        executor_timing: executor::ExecutorTiming,
        command_log: Arc<dyn CommandLog>,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(directory.path()).unwrap();
        let credentials = Arc::new(Credentials::open(&data_dir).unwrap());
        if let Some(key) = key {
            credentials.store_managed_key(key.into()).unwrap();
        }
        let (sender, calls) = mpsc::unbounded_channel();
        let executor = Executor::new(ExecutorConfig {
            gateway: Arc::new(ScriptedGateway(sender)),
            gateway_token: "token".into(),
            command_log,
            setup_complete: Box::new(|| true),
            signing: Signing {
                keys: AuthorizedKeys::of_home(directory.path()),
                required: Box::new(|| false),
                gateway_id: credentials.gateway_id(),
                on_key_request: Box::new(|_| {}),
                loop_credentials: Arc::new(NoCredentials),
            },
            timing: executor_timing,
        });
        let settings = FixedSettings {
            relay_origin: origin.to_owned(),
            hello: HelloInfo::of_this_machine(Vec::new(), None),
        };
        let client = Client::new(ClientConfig {
            settings: Arc::new(settings),
            credentials: Arc::clone(&credentials),
            executor: Arc::clone(&executor),
            timing,
        });
        let states = client.state();
        let stop = CancellationToken::new();
        let running = tokio::spawn({
            let (client, stop) = (Arc::clone(&client), stop.clone());
            async move { client.run(stop).await }
        });
        Self { client, executor, credentials, states, calls, stop, running, _directory: directory }
    }

    pub async fn online(&mut self) -> Uuid {
        let state = self.until("online", |state| matches!(state, LinkState::Online { .. })).await;
        match state {
            LinkState::Online { target_id, .. } => target_id,
            other => panic!("{other:?}"),
        }
    }

    pub async fn degraded(&mut self, text: &str) -> String {
        let state = self
            .until(text, |state| matches!(state, LinkState::Degraded { error } if error.contains(text)))
            .await;
        match state {
            LinkState::Degraded { error } => error,
            other => panic!("{other:?}"),
        }
    }

    async fn until(&mut self, what: &str, condition: impl FnMut(&LinkState) -> bool) -> LinkState {
        with_timeout(what, self.states.wait_for(condition)).await.unwrap().clone()
    }

    pub async fn call(&mut self) -> Call {
        with_timeout("a call", self.calls.recv()).await.unwrap()
    }

    pub async fn stop(self) {
        self.stop.cancel();
        with_timeout("the client to stop", self.running).await.unwrap();
        with_timeout("the executor to stop", self.executor.shutdown()).await;
    }
}

pub fn numbers(events: &[CommandEvent]) -> Vec<u64> {
    events.iter().map(|event| event.sequence).collect()
}

pub fn resumes(frame: &Frame) -> BTreeMap<String, u64> {
    frame.payload::<loopgate_api::link::HelloAck>().unwrap().resume_from_sequence
}
