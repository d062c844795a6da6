//! Wires the desktop together: runtime, gateway, and the link to the control plane.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use loopgate_agents::provider::acp::AcpAgent;
use loopgate_agents::{AgentRunsConfig, Agents, ProviderRegistry};
use loopgate_api::names::GATEWAY_PORTS;
use loopgate_gateway::{BindError, BoundGateway, Gateway, GatewayConfig, ServerLimits, SignIn};
use loopgate_home::{ReposError, Settings, SettingsStore, files, secret_file};
use loopgate_link::client::{self, Client, ClientConfig, HelloInfo, LinkSettings};
use loopgate_link::executor::{self, Executor, ExecutorConfig, InProcess, Signing};
use loopgate_plugin_kit::plugins::{Plugins, embedded_version};
use loopgate_runtime::{ProcessServices, Runtime, RuntimeConfig, RuntimeTiming};
use loopgate_tools::programs::{ProgramSource, Programs, is_executable};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::args::DesktopArgs;
use crate::browser_keys::{BrowserKeys, DesktopLoopCredentials, user_home};
use crate::command_log::DesktopCommandLog;
use crate::home::{DesktopHome, flag_variable};
use crate::presence;
use crate::prompt_user;
use crate::reports;
use crate::shutdown::Shutdown;

/// Origin of another gateway to which requests without a matching route are forwarded.
const FALLBACK_VARIABLE: &str = "ORCHESTRATOR_GATEWAY_FALLBACK_ORIGIN";
/// Minimum length of a token read from a file, in characters, as a guard against guessable tokens.
const MIN_TOKEN_LENGTH: usize = 32;
/// Timeout of the runtime's shutdown. Below the limit of all shutdown phases (5 s), so that the link can
/// still deliver the last reports afterwards.
const RUNTIME_STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// A desktop whose gateway is bound but not serving yet.
pub struct Desktop {
    gateway: Gateway,
    bound: BoundGateway,
    runtime: Arc<Runtime>,
    agents: Arc<Agents>,
    programs: Arc<Programs>,
    token: SecretString,
}

/// Creates the agents service with the configured agents as providers.
fn agents(
    home: &DesktopHome,
    programs: &Arc<Programs>,
    runtime: &Runtime,
    loopgate_exe: &Path,
) -> anyhow::Result<Agents> {
    let mut providers = ProviderRegistry::default();
    for (id, program) in &home.settings.get().agents {
        anyhow::ensure!(
            providers.get(id).is_none(),
            "[agents.{id}]: this name is reserved for a built-in program; choose another one"
        );
        let is_name = !program.program.contains(std::path::MAIN_SEPARATOR);
        anyhow::ensure!(
            is_name || Path::new(&program.program).is_absolute(),
            "[agents.{id}]: program must be an absolute path, or a name on the PATH"
        );
        providers.register(Arc::new(AcpAgent::new(id.clone(), program.clone(), loopgate_exe)));
    }
    // Shared with the runtime, which can therefore also stop the programs of agents.
    let ProcessServices { environment, shims, processes, directory_watch } = runtime.process_services.clone();
    let config = AgentRunsConfig {
        programs: programs.clone(),
        sandbox: home.sandbox.clone(),
        environment,
        shims,
        processes,
        directory_watch,
        poll: RuntimeTiming::from_environment().tail_poll,
    };
    Ok(Agents::new(config, providers))
}

/// Settings that the link reads before each connection attempt.
struct LiveSettings {
    settings: Arc<SettingsStore>,
    hello: HelloInfo,
}

impl LinkSettings for LiveSettings {
    fn relay_origin(&self) -> String {
        self.settings.get().relay_origin.clone().unwrap_or_default()
    }

    fn hello(&self) -> HelloInfo {
        let allowed_directories = self.settings.get().sandbox_base_directory.clone().into_iter().collect();
        let mut hello = HelloInfo { allowed_directories, ..self.hello.clone() };
        if self.settings.get().command_signing_required {
            hello.capabilities.push("commandSigningRequired");
        }
        hello
    }

    fn enabled(&self) -> bool {
        self.settings.get().cloud_connection_enabled
    }
}

impl Desktop {
    /// Opens the runtime and binds the gateway.
    pub async fn open(home: &DesktopHome, args: &DesktopArgs) -> anyhow::Result<Self> {
        let programs = Arc::new(Programs::new(home.settings.clone()));
        Plugins::remove_leftovers(home.dir.path());
        let plugins = Plugins::unpack(home.dir.path()).context("cannot unpack the assistant's plugins")?;
        let loopgate_exe = std::env::current_exe().context("cannot determine the path of this executable")?;
        let runtime = Runtime::open(RuntimeConfig {
            data_dir: home.dir.path().to_owned(),
            settings: home.settings.clone(),
            sandbox: home.sandbox.clone(),
            repos: home.repos.clone(),
            credentials: home.credentials.clone(),
            programs: programs.clone(),
            api_origin: None,
            loopgate_exe: loopgate_exe.clone(),
            plugin_dirs: plugins.root(),
            timing: RuntimeTiming::from_environment(),
        })
        .await
        .context("cannot open the database of this desktop")?;
        let agents = Arc::new(agents(home, &programs, &runtime, &loopgate_exe)?);
        check_notify_command(&home.settings.get(), &programs).await?;
        let token = gateway_token(home, args)?;
        let gateway = Gateway::new(GatewayConfig {
            settings: home.settings.clone(),
            sandbox: home.sandbox.clone(),
            repos: home.repos.clone(),
            credentials: home.credentials.clone(),
            programs: programs.clone(),
            plugin_root: Some(plugins.root()),
            runtime: Some(runtime.clone()),
            agents: Some(agents.clone()),
            gateway_token: (!without_authentication()).then(|| token.clone()),
            version: loopgate_api::DESKTOP_VERSION.to_owned(),
            data_dir: home.dir.path().to_owned(),
            state_dir: etcetera::home_dir().ok().map(|home| home.join(loopgate_api::names::STATE_DIR)),
            fallback_origin: fallback_origin()?,
            production_origins_only: home.settings.get().prod_origins_only,
            limits: ServerLimits::default(),
        });
        let ports = match args.port.or(home.settings.get().port) {
            Some(port) => vec![port],
            None => GATEWAY_PORTS.to_vec(),
        };
        let bound = gateway.bind(&ports).await.map_err(|error| match error {
            BindError::AllTaken { .. } => anyhow::anyhow!(
                "{error}\nhint: another program is listening there on 127.0.0.1, perhaps another Loopgate with a different \
                 data directory; stop it, or choose another port with --port"
            ),
            error => error.into(),
        })?;
        seed_repositories(home);
        Ok(Self { gateway, bound, runtime, agents, programs, token })
    }

    /// Returns the port that the gateway is bound to.
    pub const fn port(&self) -> u16 {
        self.bound.port()
    }

    /// Enables sign-in links over the control socket.
    pub fn offer_sign_in(&self, sign_in: SignIn) {
        self.gateway.offer_sign_in(sign_in);
    }

    pub fn programs(&self) -> Arc<Programs> {
        self.programs.clone()
    }

    /// Serves until shutdown is requested. Components stop in the order in which work reaches them: executor,
    /// gateway, agents, runtime. The link stops last, because it delivers their final reports.
    pub async fn serve(self, home: &DesktopHome, shutdown: &Shutdown) -> anyhow::Result<()> {
        let stop = shutdown.requested();
        let browser_keys = Arc::new(BrowserKeys::new(self.runtime.clone(), user_home()?));
        let executor = self.executor(home, &browser_keys);
        let client = Client::new(ClientConfig {
            settings: Arc::new(LiveSettings {
                settings: home.settings.clone(),
                hello: HelloInfo {
                    gateway_port: Some(self.port()),
                    ..HelloInfo::of_this_machine(Vec::new(), embedded_version("code"))
                },
            }),
            credentials: home.credentials.clone(),
            executor: executor.clone(),
            timing: client::ClientTiming::default(),
        });
        let failed_shutdown = shutdown.last_failure();
        if let Some(failed) = &failed_shutdown {
            tracing::warn!(%failed, "previous shutdown failed");
        }
        let [gateway_stop, reports_stop, link_stop] = std::array::from_fn(|_| CancellationToken::new());
        let (mut tasks, mut reporters) = (JoinSet::new(), JoinSet::new());
        let (runtime, gateway) = (self.runtime.clone(), self.gateway.clone());
        let telemetry =
            [runtime.telemetry.subscribe(), self.gateway.telemetry(), self.gateway.approval_telemetry()];
        tasks.spawn(until(stop.clone(), async move {
            // Recovered loops count against the concurrency limit, so recovery precedes the queue.
            if let Err(error) = runtime.recovery.recover().await {
                tracing::error!(%error, "failed to recover loops of an earlier run");
            }
            gateway.recover_agents();
            tokio::join!(
                runtime.launcher.run_queue(),
                runtime.stall_detector.run(),
                runtime.notifications.run(),
                runtime.worktree_gc.run(),
                runtime.recovery.run_watch()
            );
        }));
        let approvals = self.gateway.approvals();
        tasks.spawn(until(
            stop.clone(),
            prompt_user::run(approvals.events(), self.gateway.clone(), self.runtime.clone()),
        ));
        // Without a control plane there is no link, and nothing to report to.
        if home.settings.get().api_origin.is_some() {
            let settings = apply_settings(home.settings.clone(), executor.clone(), client.clone());
            tasks.spawn(until(stop.clone(), settings));
            tasks.spawn(until(stop.clone(), browser_keys.clone().run(client.state())));
            let pull_requests = reports::pull_requests(self.runtime.pull_requests.clone(), client.state());
            tasks.spawn(until(stop.clone(), pull_requests));
            let deployments = reports::deployments(
                self.runtime.worktree_reports.clone(),
                self.gateway.deploys(),
                client.state(),
            );
            tasks.spawn(until(stop.clone(), deployments));
            if let Some(reviews) = self.gateway.reviews() {
                let reports = self.runtime.worktree_reports.clone();
                tasks.spawn(until(stop.clone(), reports::findings(reports, reviews, client.state())));
            }
            let presence =
                presence::run(self.gateway.clone(), executor.clone(), client.clone(), failed_shutdown);
            tasks.spawn(until(stop.clone(), presence));
            for telemetry in telemetry {
                reporters.spawn(until(reports_stop.clone(), reports::telemetry(telemetry, executor.clone())));
            }
            reporters
                .spawn(until(reports_stop.clone(), reports::blocked(self.gateway.blocked(), client.clone())));
            reporters
                .spawn(until(reports_stop.clone(), reports::approvals(approvals.events(), client.clone())));
            let link_stop = link_stop.clone();
            // Not bound to `stop`: the link has to outlive the components that report through it.
            tasks.spawn(async move { client.run(link_stop).await });
        }
        let serve = shutdown.part("server.stop", self.bound.serve(gateway_stop.clone().cancelled_owned()));
        // The executor stops before the gateway, because its commands are requests to the gateway.
        let stop_executor = async {
            stop.cancelled().await;
            shutdown.phase("commandExecutor.dispose", executor.shutdown()).await;
            gateway_stop.cancel();
        };
        tokio::join!(serve, stop_executor);
        self.agents.runs.shutdown().await;
        // After the timeout, loops that are still running continue under their shims. The next start recovers
        // them.
        let runtime = tokio::time::timeout(RUNTIME_STOP_TIMEOUT, self.runtime.shutdown());
        let _ = shutdown.phase("runtime.stop", runtime).await;
        // Reporters forward what is already queued before they return, then the link sends it.
        reports_stop.cancel();
        while reporters.join_next().await.is_some() {}
        link_stop.cancel();
        shutdown.phase("cloudSocket.stop", async { while tasks.join_next().await.is_some() {} }).await;
        Ok(())
    }

    fn executor(&self, home: &DesktopHome, browser_keys: &Arc<BrowserKeys>) -> Arc<Executor> {
        let (settings, credentials) = (home.settings.clone(), home.credentials.clone());
        let (signing, requests) = (home.settings.clone(), browser_keys.clone());
        let signing = Signing {
            keys: browser_keys.file(),
            required: Box::new(move || signing.get().command_signing_required),
            gateway_id: credentials.gateway_id(),
            on_key_request: Box::new(move |fingerprint| requests.on_request(fingerprint)),
            loop_credentials: Arc::new(DesktopLoopCredentials(self.runtime.control_plane.clone())),
        };
        Executor::new(ExecutorConfig {
            gateway: Arc::new(InProcess(self.gateway.service())),
            gateway_token: self.token.clone(),
            command_log: Arc::new(DesktopCommandLog(self.runtime.command_log.clone())),
            setup_complete: Box::new(move || settings.get().setup_complete(credentials.api_key().is_some())),
            signing,
            timing: executor::ExecutorTiming::default(),
        })
    }
}

/// Sets the worktree parent directory in the list of repositories. Best-effort: an error does not prevent the
/// start.
fn seed_repositories(home: &DesktopHome) {
    match home.repos.seed() {
        Ok(()) | Err(ReposError::NotConfigured) => {}
        Err(error) => tracing::warn!(%error, "failed to initialize the list of repositories"),
    }
}

/// Rejects a notification command that cannot be started, instead of failing at the first notification.
async fn check_notify_command(settings: &Settings, programs: &Programs) -> anyhow::Result<()> {
    let Some(program) = settings.notify.command.first() else { return Ok(()) };
    let is_executable_file = if program.contains(std::path::MAIN_SEPARATOR) {
        is_executable(Path::new(program))
    } else {
        programs.search(program).await.source == ProgramSource::Path
    };
    anyhow::ensure!(
        is_executable_file,
        "notify.command (--notify-command) names {program}, which is not an executable program\n\
         hint: give the absolute path of an executable file, or a name on your login shell's PATH"
    );
    Ok(())
}

/// Returns the origin of the fallback gateway, if [`FALLBACK_VARIABLE`] sets one.
fn fallback_origin() -> anyhow::Result<Option<String>> {
    let origin = std::env::var(FALLBACK_VARIABLE).ok().filter(|origin| !origin.trim().is_empty());
    let origin = origin.map(|origin| loopgate_home::normalize_origin(&origin, FALLBACK_VARIABLE));
    Ok(origin.transpose()?)
}

/// Returns whether every local caller is let in without authentication, for development of Loopgate. Always
/// false in release builds.
fn without_authentication() -> bool {
    let is_disabled = cfg!(debug_assertions) && flag_variable("LOOPGATE_LOCAL_GATEWAY_NO_AUTH").is_some();
    if is_disabled {
        tracing::warn!("gateway authentication is disabled: LOOPGATE_LOCAL_GATEWAY_NO_AUTH is set");
    }
    is_disabled
}

/// Applies changed settings to the link: pauses or resumes commands, and reconnects without backoff.
async fn apply_settings(settings: Arc<SettingsStore>, executor: Arc<Executor>, client: Arc<Client>) {
    let mut changes = settings.subscribe();
    loop {
        executor.set_paused(changes.borrow_and_update().cloud_commands_paused);
        if changes.changed().await.is_err() {
            return;
        }
        client.settings_changed();
    }
}

/// Runs a future until it completes or `stop` is cancelled.
async fn until(stop: CancellationToken, task: impl Future<Output = ()>) {
    // Biased: events that were ready at the cancellation are still processed.
    tokio::select! {
        biased;
        () = task => {}
        () = stop.cancelled() => {}
    }
}

/// Returns the token of the configured file, or a new token, which is stored in that file if there is one.
fn gateway_token(home: &DesktopHome, args: &DesktopArgs) -> anyhow::Result<SecretString> {
    let settings = home.settings.get();
    // 192 bits: every local user can reach the port, so the token must not be guessable.
    let fresh = || SecretString::from(hex::encode(rand::random::<[u8; 24]>()));
    match args.gateway_token_file.as_deref().or(settings.gateway_token_file.as_deref()) {
        None => Ok(fresh()),
        Some(file) => {
            let file = std::path::absolute(file).context("the path of the gateway token file is invalid")?;
            // Loops and pages can read files in the sandbox, and the token authorizes every request.
            secret_file::check_outside(&file, &home.sandbox).context("cannot use the gateway token")?;
            token_from_file(&file, fresh())
        }
    }
}

fn token_from_file(file: &Path, fresh: SecretString) -> anyhow::Result<SecretString> {
    let Some(bytes) = secret_file::read(file).context("cannot use the gateway token")? else {
        files::write_private(file, fresh.expose_secret().as_bytes())
            .with_context(|| format!("cannot write the gateway token to {}", file.display()))?;
        return Ok(fresh);
    };
    let text = std::str::from_utf8(&bytes)
        .with_context(|| format!("cannot read the gateway token from {}", file.display()))?;
    let token = text.trim();
    anyhow::ensure!(
        token.len() >= MIN_TOKEN_LENGTH,
        "the gateway token in {} is too short: use at least {MIN_TOKEN_LENGTH} characters, or remove the file \
         to have one generated",
        file.display()
    );
    Ok(SecretString::from(token))
}
