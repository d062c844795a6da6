//! Presence that a desktop reports while its gateway listener is unavailable. The test runs the relay itself
//! and records every frame.

use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use loopgate_api::link::{
    CommandAck, CommandEvent, Hello, HelloNack, LINK_PATH, LinkCommand, Presence, PresenceState,
    ServerCapabilities, Telemetry,
};
use loopgate_link::server::{
    self, AcceptedHello, ConnectionRegistry, DesktopSession, EventOutcome, Host, Identity,
    OutstandingCommands,
};
use loopgate_testkit::free_port;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::{Loopgate, Setup, signal};
use loopgate_testkit::wait;
use reqwest::Method;
use rustix::net::{Shutdown, shutdown, sockopt};
use rustix::process::{
    Pid, PidfdFlags, PidfdGetfdFlags, WaitId, WaitIdOptions, pidfd_getfd, pidfd_open, waitid,
};
use serde_json::Value;
use tokio::sync::watch;
use uuid::Uuid;

const API_KEY: &str = "lgk_live_0123456789abcdef0123456789abcdef";
const RECOVERING: &str = "gateway recovering: ";

/// Frames received from the desktop.
#[derive(Default)]
struct ReceivedFrames {
    target: Option<Uuid>,
    presence: Vec<Presence>,
    acks: Vec<CommandAck>,
    events: Vec<CommandEvent>,
}

/// Host that records frames and sends no commands by itself.
struct RecordingHost(watch::Sender<ReceivedFrames>);

impl Host for RecordingHost {
    async fn register(&self, _: &Identity, _: Uuid, _: Hello) -> Result<AcceptedHello, HelloNack> {
        let target_id = Uuid::new_v4();
        self.0.send_modify(|received| received.target = Some(target_id));
        Ok(AcceptedHello { target_id, server_capabilities: ServerCapabilities::default() })
    }

    async fn outstanding(&self, _: &DesktopSession) -> Result<OutstandingCommands, HelloNack> {
        Ok(OutstandingCommands::default())
    }

    async fn command_ack(&self, _: &DesktopSession, ack: CommandAck) {
        self.0.send_modify(|received| received.acks.push(ack));
    }

    async fn command_event(&self, _: &DesktopSession, event: CommandEvent) -> EventOutcome {
        self.0.send_modify(|received| received.events.push(event));
        EventOutcome::Stored
    }

    async fn presence(&self, _: &DesktopSession, presence: Presence) {
        self.0.send_modify(|received| received.presence.push(presence));
    }

    async fn telemetry(&self, _: &DesktopSession, _: Telemetry) {}

    async fn touch(&self, _: &DesktopSession) {}

    async fn disconnected(&self, _: &DesktopSession) {}
}

/// Relay with one connected desktop.
struct DesktopRelay {
    registry: Arc<ConnectionRegistry<RecordingHost>>,
    origin: String,
}

async fn upgrade(
    State(registry): State<Arc<ConnectionRegistry<RecordingHost>>>,
    request: Request,
) -> Response {
    let (mut parts, _) = request.into_parts();
    let id = Uuid::nil();
    match server::admit(&mut parts, |_| false).await {
        Ok((upgrade, _)) => {
            let identity = Identity { user_id: id, organization_id: id, key_id: id };
            server::accept(upgrade, registry, identity)
        }
        Err(refusal) => refusal.into_response(),
    }
}

impl DesktopRelay {
    async fn start() -> Result<Self> {
        let registry = ConnectionRegistry::new(RecordingHost(watch::Sender::default()));
        let app = Router::new().route(LINK_PATH, any(upgrade)).with_state(registry.clone());
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let origin = format!("http://{}", listener.local_addr()?);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Self { registry, origin })
    }

    /// Waits until `look` returns a value for the received frames.
    async fn wait_for<T>(&self, look: impl Fn(&ReceivedFrames) -> Option<T>) -> Result<T> {
        let mut received = self.registry.host().0.subscribe();
        let wait = async {
            loop {
                if let Some(value) = look(&received.borrow_and_update()) {
                    return anyhow::Ok(value);
                }
                received.changed().await?;
            }
        };
        tokio::time::timeout(wait::LIMIT, wait).await.context("the desktop did not report it")?
    }

    /// Waits until the last reported presence has this state, and returns its error.
    async fn presence_error(&self, state: PresenceState) -> Result<Option<String>> {
        let last =
            |received: &ReceivedFrames| received.presence.last().filter(|last| last.state == state).cloned();
        Ok(self.wait_for(last).await?.error)
    }

    /// Sends a health check command, and returns its acknowledgement.
    async fn send_health_check(&self, id: &str) -> Result<CommandAck> {
        let target = self.wait_for(|received| received.target).await?;
        let command = LinkCommand {
            command_id: id.to_owned(),
            operation_id: "health_check".to_owned(),
            method: "GET".to_owned(),
            path: "/api/gateway/version".to_owned(),
            ..LinkCommand::default()
        };
        self.registry.deliver(target, &command)?;
        self.wait_for(|received| received.acks.iter().find(|ack| ack.command_id == id).cloned()).await
    }
}

/// Shuts down the gateway's listening socket and binds its port. The process is stopped by SIGSTOP during the
/// exchange, so that it cannot rebind the port first.
async fn take_port(loopgate: &Loopgate) -> Result<TcpListener> {
    let pid = loopgate.pid().context("the gateway has exited")?;
    let port = loopgate.ready().gateway_port;
    signal(pid, "STOP")?;
    let held_port = tokio::task::spawn_blocking(move || take_from(pid, port)).await;
    signal(pid, "CONT")?;
    held_port?
}

fn take_from(pid: u32, port: u16) -> Result<TcpListener> {
    let process = Pid::from_raw(i32::try_from(pid)?).context("a process has an id")?;
    // SIGSTOP is asynchronous: wait until all threads of the process are stopped.
    rustix::io::retry_on_intr(|| waitid(WaitId::Pid(process), WaitIdOptions::STOPPED))?;
    shutdown(listener_of(process, port)?, Shutdown::Both)?;
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, port))?)
}

/// Duplicates the listening socket of another process by `pidfd_getfd`.
fn listener_of(process: Pid, port: u16) -> Result<OwnedFd> {
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    let listens = |socket: &OwnedFd| {
        let bound = socket.try_clone().and_then(|socket| TcpListener::from(socket).local_addr());
        bound.is_ok_and(|at| at.port() == port) && sockopt::socket_acceptconn(socket).unwrap_or(false)
    };
    for entry in std::fs::read_dir(format!("/proc/{process}/fd"))? {
        let number = entry?.file_name().to_string_lossy().parse()?;
        if let Some(socket) = pidfd_getfd(&handle, number, PidfdGetfdFlags::empty()).ok().filter(&listens) {
            return Ok(socket);
        }
    }
    anyhow::bail!("the process does not listen on port {port}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_listener_is_reported_until_rebound() -> Result<()> {
    let relay = DesktopRelay::start().await?;
    let home = UserHome::temporary()?;
    let port = free_port()?;
    let settings = format!(
        "sandbox_base_directory = \"~/src\"\ngateway_token_file = \"~/loopgate-gateway-token\"\nport = {port}\n\
         api_origin = {:?}\n",
        relay.origin
    );
    let setup = Setup::new(&home)?.binary(env!("CARGO_BIN_EXE_loopgate")).gateway_alone();
    let loopgate = setup.settings(&settings)?.env("LOOPGATE_API_KEY", API_KEY).start().await?;
    ensure!(relay.presence_error(PresenceState::Online).await?.is_none());

    // The gateway cannot rebind while the test holds the port.
    let held_port = take_port(&loopgate).await?;
    let error = relay.presence_error(PresenceState::Degraded).await?.context("no error")?;
    ensure!(error.starts_with(RECOVERING), "{error}");
    let refused = relay.send_health_check("while-degraded").await?;
    let reason = refused.reason.as_deref().unwrap_or_default();
    ensure!(!refused.accepted && reason == error, "{refused:?}");

    drop(held_port);
    ensure!(relay.presence_error(PresenceState::Online).await?.is_none());
    ensure!(relay.send_health_check("after-recovery").await?.accepted);
    let output = |received: &ReceivedFrames| {
        let events = received.events.iter().filter(|event| event.command_id == "after-recovery");
        let presence_error: Vec<String> = events.clone().map(|event| event.data.to_string()).collect();
        events.clone().any(CommandEvent::is_terminal).then_some(presence_error)
    };
    let output = relay.wait_for(output).await?;
    ensure!(
        output.iter().any(|presence_error| presence_error.contains(env!("CARGO_PKG_VERSION"))),
        "{output:?}"
    );
    let mut states = relay
        .wait_for(|received| {
            Some(received.presence.iter().map(|presence| presence.state).collect::<Vec<_>>())
        })
        .await?;
    states.dedup();
    let expected = [PresenceState::Online, PresenceState::Degraded, PresenceState::Online];
    ensure!(states == expected, "{states:?}");

    let health: Value = loopgate.gateway_bare(Method::GET, "/health").send().await?.json().await?;
    ensure!(health["status"] == "ok" && health["port"] == port, "{health}");
    ensure!(std::fs::read_to_string(home.path().join(".loopgate/gateway-port"))? == port.to_string());
    Ok(())
}
