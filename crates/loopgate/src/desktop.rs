//! The desktop half, wired together: runtime, gateway, and the link to the control plane.

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
use loopgate_plugin_kit::Plugins;
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

/// Names the gateway that takes what this one cannot.
const FALLBACK_VARIABLE: &str = "ORCHESTRATOR_GATEWAY_FALLBACK_ORIGIN";
/// A token in a file must be at least this long to be worth anything.
const SHORTEST_TOKEN: usize = 32;
/// What stopping the runtime may take before the process ends without it.
const RUNTIME_STOP: Duration = Duration::from_secs(3);

/// A desktop whose gateway is bound, before it serves.
pub struct Desktop {
    gateway: Gateway,
    bound: BoundGateway,
    runtime: Arc<Runtime>,
    agents: Arc<Agents>,
    programs: Arc<Programs>,
    token: SecretString,
}

/// The providers, whose programs the runtime can stop too.
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
            "[agents.{id}]: this name is taken by a program of the settings"
        );
        let is_name = !program.program.contains(std::path::MAIN_SEPARATOR);
        anyhow::ensure!(
            is_name || Path::new(&program.program).is_absolute(),
            "[agents.{id}]: program must be an absolute path, or a name on the PATH"
        );
        providers.register(Arc::new(AcpAgent::new(id.clone(), program.clone(), loopgate_exe)));
    }
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

/// What the link asks about this desktop before each connection.
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
        let loopgate_exe = std::env::current_exe().context("cannot tell where this program lies")?;
        let runtime = Runtime::open(RuntimeConfig {
            data_dir: home.dir.path().to_owned(),
            settings: home.settings.clone(),
            sandbox: home.sandbox.clone(),
            repos: home.repos.clone(),
            credentials: home.credentials.clone(),
            programs: programs.clone(),
            api_origin: None,
            loopgate_exe: loopgate_exe.clone(),
            plugin_dirs: plugins.root().to_owned(),
            version: loopgate_api::DESKTOP_VERSION.to_owned(),
            timing: RuntimeTiming::from_environment(),
        })
        .await
        .context("cannot open the records of this desktop")?;
        let agents = Arc::new(agents(home, &programs, &runtime, &loopgate_exe)?);
        check_notify_command(&home.settings.get(), &programs).await?;
        let token = gateway_token(home, args)?;
        let gateway = Gateway::new(GatewayConfig {
            settings: home.settings.clone(),
            sandbox: home.sandbox.clone(),
            repos: home.repos.clone(),
            credentials: home.credentials.clone(),
            programs: programs.clone(),
            plugin_root: Some(plugins.root().to_owned()),
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
                "{error}\nhint: another program listens there on 127.0.0.1, perhaps another Loopgate with a data \
                 directory of its own; end it, or choose another port with --port"
            ),
            error => error.into(),
        })?;
        prepare_list(home);
        Ok(Self { gateway, bound, runtime, agents, programs, token })
    }

    /// The port that is really bound.
    pub const fn port(&self) -> u16 {
        self.bound.port()
    }

    /// Lets the owner's socket hand out sign-in links.
    pub fn offer_sign_in(&self, sign_in: SignIn) {
        self.gateway.offer_sign_in(sign_in);
    }

    /// The five programs.
    pub fn programs(&self) -> Arc<Programs> {
        self.programs.clone()
    }

    /// Serves until the stop: recovery, gateway and link, each owned here. They stop in the order in
    /// which work reaches them, and the link last: it says what the others told before they ended.
    pub async fn serve(self, home: &DesktopHome, shutdown: &Shutdown) -> anyhow::Result<()> {
        let stop = shutdown.requested();
        let browser_keys = Arc::new(BrowserKeys::new(self.runtime.clone(), user_home()?));
        let executor = self.executor(home, &browser_keys);
        let client = Client::new(ClientConfig {
            settings: Arc::new(LiveSettings {
                settings: home.settings.clone(),
                hello: HelloInfo {
                    gateway_port: Some(self.port()),
                    ..HelloInfo::of_this_machine(Vec::new())
                },
            }),
            credentials: home.credentials.clone(),
            executor: executor.clone(),
            timing: client::ClientTiming::default(),
        });
        let failed_stop = shutdown.last_failure();
        if let Some(failed) = &failed_stop {
            tracing::warn!(%failed, "how the last run ended");
        }
        let [unheard, untold, unlinked] = std::array::from_fn(|_| CancellationToken::new());
        let (mut parts, mut telling) = (JoinSet::new(), JoinSet::new());
        let (runtime, gateway) = (self.runtime.clone(), self.gateway.clone());
        let reported = [runtime.telemetry.subscribe(), self.gateway.telemetry()];
        parts.spawn(until(stop.clone(), async move {
            if let Err(error) = runtime.recovery.recover().await {
                tracing::error!(%error, "loops of an earlier run could not be taken up");
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
        parts.spawn(until(
            stop.clone(),
            prompt_user::run(approvals.events(), self.gateway.clone(), self.runtime.clone()),
        ));
        if home.settings.get().api_origin.is_some() {
            let heeding = heed_settings(home.settings.clone(), executor.clone(), client.clone());
            parts.spawn(until(stop.clone(), heeding));
            parts.spawn(until(stop.clone(), browser_keys.clone().keep_listed(client.state())));
            let presence =
                presence::keep(self.gateway.clone(), executor.clone(), client.clone(), failed_stop);
            parts.spawn(until(stop.clone(), presence));
            for reported in reported {
                telling.spawn(until(untold.clone(), reports::telemetry(reported, executor.clone())));
            }
            telling.spawn(until(untold.clone(), reports::blocked(self.gateway.blocked(), client.clone())));
            telling.spawn(until(untold.clone(), reports::approvals(approvals.events(), client.clone())));
            let unlinked = unlinked.clone();
            parts.spawn(async move { client.run(unlinked).await });
        }
        let serving = shutdown.part("server.stop", self.bound.serve(unheard.clone().cancelled_owned()));
        let executing = async {
            stop.cancelled().await;
            shutdown.phase("commandExecutor.dispose", executor.shutdown()).await;
            unheard.cancel();
        };
        tokio::join!(serving, executing);
        self.agents.runs.shutdown().await;
        let runtime = tokio::time::timeout(RUNTIME_STOP, self.runtime.shutdown());
        let _ = shutdown.phase("runtime.stop", runtime).await;
        untold.cancel();
        while telling.join_next().await.is_some() {}
        unlinked.cancel();
        shutdown.phase("cloudSocket.stop", async { while parts.join_next().await.is_some() {} }).await;
        Ok(())
    }

    fn executor(&self, home: &DesktopHome, browser_keys: &Arc<BrowserKeys>) -> Arc<Executor> {
        let (settings, credentials) = (home.settings.clone(), home.credentials.clone());
        let (signing, asked) = (home.settings.clone(), browser_keys.clone());
        let signing = Signing {
            keys: browser_keys.file(),
            required: Box::new(move || signing.get().command_signing_required),
            gateway_id: credentials.gateway_id(),
            key_asks: Box::new(move |fingerprint| asked.asks(fingerprint)),
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

/// Prepares the list of repositories in the sandbox. One that cannot be written keeps nobody from
/// starting.
fn prepare_list(home: &DesktopHome) {
    match home.repos.seed() {
        Ok(()) | Err(ReposError::NotConfigured) => {}
        Err(error) => tracing::warn!(%error, "the list of repositories could not be prepared"),
    }
}

/// Refuses a command for notifications that nobody could start.
async fn check_notify_command(settings: &Settings, programs: &Programs) -> anyhow::Result<()> {
    let Some(program) = settings.notify.command.first() else { return Ok(()) };
    let is_found = if program.contains(std::path::MAIN_SEPARATOR) {
        is_executable(Path::new(program))
    } else {
        programs.search(program).await.source == ProgramSource::Path
    };
    anyhow::ensure!(
        is_found,
        "notify.command (--notify-command) names {program}, which is no program that can be started\n\
         hint: give the absolute path of an executable file, or a name on your login shell's PATH"
    );
    Ok(())
}

/// Origin of the gateway that takes what this one cannot, if a variable names one.
fn fallback_origin() -> anyhow::Result<Option<String>> {
    let named = std::env::var(FALLBACK_VARIABLE).ok().filter(|origin| !origin.trim().is_empty());
    let origin = named.map(|origin| loopgate_home::normalize_origin(&origin, FALLBACK_VARIABLE));
    Ok(origin.transpose()?)
}

/// Whether every local caller is let in. For people who work on Loopgate itself: a release build
/// knows no such mode.
fn without_authentication() -> bool {
    let asked = cfg!(debug_assertions) && flag_variable("LOOPGATE_LOCAL_GATEWAY_NO_AUTH").is_some();
    if asked {
        tracing::warn!("the gateway lets every caller in: LOOPGATE_LOCAL_GATEWAY_NO_AUTH is set");
    }
    asked
}

/// Passes what a person changes on to the link: the pause switch, and a reason to try again now.
async fn heed_settings(settings: Arc<SettingsStore>, executor: Arc<Executor>, client: Arc<Client>) {
    let mut changes = settings.subscribe();
    loop {
        executor.set_paused(changes.borrow_and_update().cloud_commands_paused);
        if changes.changed().await.is_err() {
            return;
        }
        client.settings_changed();
    }
}

/// Runs a part until it ends by itself or is to stop, and has done what lay before it then.
async fn until(stop: CancellationToken, part: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = part => {}
        () = stop.cancelled() => {}
    }
}

/// The token of the file, else a fresh one that is kept where the user asked for it.
fn gateway_token(home: &DesktopHome, args: &DesktopArgs) -> anyhow::Result<SecretString> {
    let settings = home.settings.get();
    let fresh = || SecretString::from(hex::encode(rand::random::<[u8; 24]>()));
    match args.gateway_token_file.as_deref().or(settings.gateway_token_file.as_deref()) {
        None => Ok(fresh()),
        Some(file) => {
            let file = std::path::absolute(file).context("the gateway token's file is no usable path")?;
            secret_file::check_outside(&file, &home.sandbox).context("cannot use the gateway token")?;
            token_of_file(&file, fresh())
        }
    }
}

fn token_of_file(file: &Path, fresh: SecretString) -> anyhow::Result<SecretString> {
    let Some(bytes) = secret_file::read(file).context("cannot use the gateway token")? else {
        files::write_private(file, fresh.expose_secret().as_bytes())
            .with_context(|| format!("cannot write the gateway token to {}", file.display()))?;
        return Ok(fresh);
    };
    let text = std::str::from_utf8(&bytes)
        .with_context(|| format!("cannot read the gateway token from {}", file.display()))?;
    let token = text.trim();
    anyhow::ensure!(
        token.len() >= SHORTEST_TOKEN,
        "the gateway token in {} is too short: at least {SHORTEST_TOKEN} characters, or remove the file \
         to have one made",
        file.display()
    );
    Ok(SecretString::from(token))
}
