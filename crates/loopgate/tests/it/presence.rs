//! What the control plane is told while nobody can reach the gateway. The relay is the test's own, so
//! that it hears every word of the desktop.

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

/// What the desktop said so far.
#[derive(Default)]
struct ReceivedFrames {
    target: Option<Uuid>,
    presence: Vec<Presence>,
    acks: Vec<CommandAck>,
    events: Vec<CommandEvent>,
}

/// A control plane that only listens.
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

/// The relay of one desktop.
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

    /// Waits until there is something to see in what was heard.
    async fn seen<T>(&self, look: impl Fn(&ReceivedFrames) -> Option<T>) -> Result<T> {
        let mut received = self.registry.host().0.subscribe();
        let looking = async {
            loop {
                if let Some(found) = look(&received.borrow_and_update()) {
                    return anyhow::Ok(found);
                }
                received.changed().await?;
            }
        };
        tokio::time::timeout(wait::LIMIT, looking).await.context("the desktop says nothing of it")?
    }

    /// Waits until the desktop last said that it feels so; answers with which error.
    async fn presence_error(&self, state: PresenceState) -> Result<Option<String>> {
        let last =
            |received: &ReceivedFrames| received.presence.last().filter(|last| last.state == state).cloned();
        Ok(self.seen(last).await?.error)
    }

    /// Sends a command; answers whether it is taken, or why not.
    async fn order(&self, id: &str) -> Result<CommandAck> {
        let target = self.seen(|received| received.target).await?;
        let command = LinkCommand {
            command_id: id.to_owned(),
            operation_id: "health_check".to_owned(),
            method: "GET".to_owned(),
            path: "/api/gateway/version".to_owned(),
            ..LinkCommand::default()
        };
        self.registry.deliver(target, &command)?;
        self.seen(|received| received.acks.iter().find(|ack| ack.command_id == id).cloned()).await
    }
}

/// Ends the listener of a Loopgate behind its back and takes its port, in one moment for the program.
async fn take_port(loopgate: &Loopgate) -> Result<TcpListener> {
    let pid = loopgate.pid().context("it runs")?;
    let port = loopgate.ready().gateway_port;
    signal(pid, "STOP")?;
    let taken = tokio::task::spawn_blocking(move || take_from(pid, port)).await;
    signal(pid, "CONT")?;
    taken?
}

fn take_from(pid: u32, port: u16) -> Result<TcpListener> {
    let process = Pid::from_raw(i32::try_from(pid)?).context("a process has an id")?;
    waitid(WaitId::Pid(process), WaitIdOptions::STOPPED)?;
    shutdown(listener_of(process, port)?, Shutdown::Both)?;
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, port))?)
}

/// A process's own listening socket.
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
    anyhow::bail!("nothing of it listens on port {port}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_listener_is_reported_until_it_is_back() -> Result<()> {
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

    // Whoever has the port keeps the gateway from coming back.
    let taken = take_port(&loopgate).await?;
    let error = relay.presence_error(PresenceState::Degraded).await?.context("it says why")?;
    ensure!(error.starts_with(RECOVERING), "{error}");
    let refused = relay.order("meanwhile").await?;
    let reason = refused.reason.as_deref().unwrap_or_default();
    ensure!(!refused.accepted && reason == error, "{refused:?}");

    drop(taken);
    ensure!(relay.presence_error(PresenceState::Online).await?.is_none());
    ensure!(relay.order("afterwards").await?.accepted);
    let answered = |received: &ReceivedFrames| {
        let events = received.events.iter().filter(|event| event.command_id == "afterwards");
        let presence_error: Vec<String> = events.clone().map(|event| event.data.to_string()).collect();
        events.clone().any(CommandEvent::is_terminal).then_some(presence_error)
    };
    let answered = relay.seen(answered).await?;
    ensure!(
        answered.iter().any(|presence_error| presence_error.contains(env!("CARGO_PKG_VERSION"))),
        "{answered:?}"
    );
    let mut states = relay
        .seen(|received| Some(received.presence.iter().map(|presence| presence.state).collect::<Vec<_>>()))
        .await?;
    states.dedup();
    let wanted = [PresenceState::Online, PresenceState::Degraded, PresenceState::Online];
    ensure!(states == wanted, "{states:?}");

    let health: Value = loopgate.gateway_bare(Method::GET, "/health").send().await?.json().await?;
    ensure!(health["status"] == "ok" && health["port"] == port, "{health}");
    ensure!(std::fs::read_to_string(home.path().join(".loopgate/gateway-port"))? == port.to_string());
    Ok(())
}
