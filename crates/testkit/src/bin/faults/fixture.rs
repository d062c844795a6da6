//! The surroundings of one run: two repositories, a control plane and a model behind connections that can
//! be cut, a Loopgate, and a home on a disk of its own where that disk is to be filled.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_home::{Credentials, DataDir};
use loopgate_testkit::clock;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::home_processes::{self, HomeProcess};
use loopgate_testkit::loopgate::{Loopgate, signal};
use loopgate_testkit::tcp_proxy::TcpProxy;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::wait::{self, Changes};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::fault::{Fault, LinkToCut, Scenario, Target};
use crate::script::{REPOSITORIES, script};

/// Secrets of a run: none may be on the disk in plain text.
pub const API_KEY: &str = "lgk_live_0123456789abcdef0123456789abcdef";
pub const RUNNER_TOKEN: &str = "a-runner-token-that-nobody-may-find";
/// Within what time a desktop notices that it slept.
const WAKE: Duration = Duration::from_secs(60);
/// How long to wait for a change that may never come because the loop is over.
pub const QUIET: Duration = Duration::from_millis(1500);
/// File in the home that says that a push was attempted.
const PUSHED: &str = "pushed";
/// Size of a disk that is to be filled, in bytes.
const DISK: u64 = 96 * 1024 * 1024;

/// A temporary directory, on a disk of its own when that is to be filled.
struct FixtureDirectory {
    dir: tempfile::TempDir,
    mounted: bool,
}

impl FixtureDirectory {
    fn new(own_disk: bool) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("loopgate-faults-").tempdir()?;
        if own_disk {
            let size = format!("size={DISK}");
            let at = dir.path().to_string_lossy();
            run("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", &at])?;
        }
        Ok(Self { dir, mounted: own_disk })
    }
}

impl Drop for FixtureDirectory {
    fn drop(&mut self) {
        if self.mounted
            && let Err(error) = run("umount", &["-l", &self.dir.path().to_string_lossy()])
        {
            eprintln!("error: {error:#}");
        }
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a testing program of its own, outside the product")]
    let status = std::process::Command::new(program).args(arguments).status();
    let status = status.with_context(|| format!("start {program}"))?;
    ensure!(status.success(), "`{program} {}` failed ({status})", arguments.join(" "));
    Ok(())
}

/// Everything of one run. Fields are dropped in this order: processes, parts, directory.
pub struct FaultFixture {
    pub loopgate: Loopgate,
    pub testbed: Testbed,
    pub cloud: Cloud,
    to_cloud: TcpProxy,
    to_model: TcpProxy,
    pub loop_id: Uuid,
    command_id: String,
    directory: FixtureDirectory,
}

impl FaultFixture {
    pub async fn new(scenario: &Scenario) -> Result<Self> {
        let directory = FixtureDirectory::new(scenario.fault == Fault::Disk)?;
        let mut testbed = Testbed::at(directory.dir.path(), script(scenario)).await?;
        let cloud = Cloud::start().await?;
        let to_cloud = TcpProxy::to(cloud.port()).await?;
        let to_model = TcpProxy::to(testbed.model.port()).await?;
        testbed.home.set("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", to_model.port()));
        for name in REPOSITORIES {
            testbed.add_repository(name, &[("README.md", "Something\n")])?;
        }
        let mut setup = testbed.loopgate()?.gateway_alone();
        for (name, value) in
            [("LOOPGATE_TAILER_AUTH_RETRY_BASE_MS", "50"), ("LOOPGATE_TAILER_AUTH_RETRY_MAX_MS", "500")]
        {
            setup = setup.env(name, value);
        }
        match scenario.fault {
            Fault::Sleep => {
                for (name, value) in clock::environment(testbed.home.path())? {
                    setup = setup.env(name, value);
                }
            }
            Fault::Push => cut_at_push(&testbed)?,
            Fault::Refresh => setup = setup.env("LOOPGATE_HEARTBEAT_INTERVAL_MS", "1000"),
            _ => {}
        }
        // The key of a desktop that was connected to its control plane.
        let credentials = Credentials::open(&DataDir::open(&setup.data_dir())?)?;
        credentials.store_managed_key(API_KEY.to_owned().into())?;
        let setup = setup.arg("--api-origin").arg(format!("http://127.0.0.1:{}", to_cloud.port()));
        let loopgate = setup.start().await?;
        let (loop_id, command_id) = (Uuid::new_v4(), Uuid::new_v4().to_string());
        Ok(Self { loopgate, testbed, cloud, to_cloud, to_model, loop_id, command_id, directory })
    }

    /// The request for the loop, as the link passes it on; it may be sent twice and counts once.
    pub fn request(&self, executes: bool) -> reqwest::RequestBuilder {
        let repo = |name: &str| json!({"fullName": name, "branch": "main"});
        let body = json!({"loopId": self.loop_id, "command": if executes { "EXECUTE" } else { "PLAN" },
            "loopgateAuthToken": RUNNER_TOKEN, "artifacts": [], "prompt": "Add a file",
            "artifactSlug": "SHOP-7", "repo": repo(REPOSITORIES[0]), "additionalRepos": [repo(REPOSITORIES[1])]});
        let request = self.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop").json(&body);
        request.header("x-desktop-source", "cloud-socket").header("x-desktop-command-id", &self.command_id)
    }

    /// Id of the loop.
    pub const fn loop_id(&self) -> LoopId {
        LoopId(self.loop_id)
    }

    /// The last event of the loop, once it has ended.
    pub fn last_event(&self) -> Option<Value> {
        let event = |kind: &str| self.cloud.events(self.loop_id(), kind).pop();
        event("completed").or_else(|| event("error"))
    }

    /// Whether a tool that a conversation called printed a text.
    pub fn has_result(&self, conversation: &str, text: &str) -> bool {
        let requests = self.testbed.model.requests_of(conversation);
        requests.iter().any(|request| request.tool_results().contains(text))
    }

    /// Whether a push was attempted of those that [`Fault::Push`] lets fail.
    pub fn has_pushed(&self) -> bool {
        self.testbed.home.path().join(PUSHED).exists()
    }

    /// The home's processes that are a target.
    fn processes(&self, target: Target) -> Vec<HomeProcess> {
        let own = self.loopgate.pid();
        let mut found = home_processes::processes(self.testbed.home.path());
        found.retain(|process| {
            let program = process.command.split(' ').next().unwrap_or_default();
            let named = |name: &str| Path::new(program).file_name().is_some_and(|file| file == name);
            match target {
                Target::Loopgate => Some(process.pid) == own,
                Target::Shim => process.command.contains(" shim "),
                Target::Driver => process.command.contains(" loop run "),
                Target::Assistant => named("claude"),
                Target::Git => named("git"),
                Target::Everything => true,
            }
        });
        found
    }

    /// Lets the fault happen; `false` when there is no process that it could hit.
    pub fn strike(&self, scenario: &Scenario) -> Result<bool> {
        let (target, act): (Target, fn(u32) -> Result<()>) = match scenario.fault {
            Fault::Kill(target) => (target, |pid| signal(pid, "KILL")),
            Fault::Stop(target) => (target, |pid| signal(pid, "STOP")),
            Fault::Memory(target) => (target, starve),
            Fault::Disk => return self.fill().map(|()| true),
            Fault::Cut(connection) => return self.cut(connection).map(|()| true),
            Fault::Assistant(_) | Fault::Push => return Ok(false),
            Fault::Refresh => {
                if self.loop_has_started() {
                    self.cloud.lose_answers("refresh-token", scenario.lost);
                    self.cloud.require_refresh(self.loop_id(), RUNNER_TOKEN);
                }
                return Ok(self.loop_has_started());
            }
            Fault::Sleep => (Target::Everything, |pid| signal(pid, "STOP")),
        };
        if scenario.fault == Fault::Sleep {
            if !self.loop_has_started() {
                return Ok(false);
            }
            // Until the desktop has noticed that it slept, nothing happens in the loop that would tell it.
            self.to_model.cut();
        }
        let hit = self.processes(target);
        // A process that has just ended does not count.
        let count = hit.iter().filter(|process| act(process.pid).is_ok()).count();
        if scenario.fault == Fault::Sleep {
            clock::advance(self.testbed.home.path(), 24)?;
            self.cloud.give_up(self.loop_id(), RUNNER_TOKEN);
        }
        Ok(count > 0)
    }

    /// Whether the control plane has heard of the loop.
    fn loop_has_started(&self) -> bool {
        !self.cloud.events(self.loop_id(), "started").is_empty()
    }

    /// Ends what the fault brought about, where that can be.
    pub async fn repair(&self, fault: Fault) -> Result<()> {
        match fault {
            Fault::Kill(_) | Fault::Memory(_) | Fault::Assistant(_) | Fault::Refresh => {}
            Fault::Stop(target) => self.resume(target),
            Fault::Sleep => {
                self.resume(Target::Everything);
                let renewed =
                    |cloud: &Cloud| cloud.tokens(self.loop_id()).len() > 1 || self.last_event().is_some();
                let noticed = timeout(WAKE, self.cloud.seen(|cloud| renewed(cloud).then_some(()))).await;
                noticed.context("the desktop did not notice that it slept")?;
                self.to_model.mend();
            }
            Fault::Disk => std::fs::remove_file(self.filler())?,
            Fault::Push => {
                let remotes = self.testbed.remotes.clone();
                self.testbed.home.clone().reach_remotes(&remotes)?;
            }
            Fault::Cut(LinkToCut::ControlPlane) => self.to_cloud.mend(),
            Fault::Cut(LinkToCut::Model) => self.to_model.mend(),
            Fault::Cut(LinkToCut::CodeHost) => self.testbed.host.reconnect()?,
            Fault::Cut(LinkToCut::Remote) => {
                std::fs::rename(self.moved_remotes(), self.testbed.remotes.root())?
            }
        }
        Ok(())
    }

    fn resume(&self, target: Target) {
        for process in self.processes(target) {
            // It may have been ended meanwhile.
            let _ = signal(process.pid, "CONT");
        }
    }

    /// Starts Loopgate again when it has ended.
    pub async fn revive(mut self) -> Result<Self> {
        if self.loopgate.is_running()? {
            return Ok(self);
        }
        let Self { loopgate, testbed, cloud, to_cloud, to_model, loop_id, command_id, directory } = self;
        let loopgate = loopgate.start_again().await?;
        Ok(Self { loopgate, testbed, cloud, to_cloud, to_model, loop_id, command_id, directory })
    }

    fn cut(&self, connection: LinkToCut) -> Result<()> {
        match connection {
            LinkToCut::ControlPlane => self.to_cloud.cut(),
            LinkToCut::Model => self.to_model.cut(),
            LinkToCut::CodeHost => self.testbed.host.disconnect()?,
            LinkToCut::Remote => std::fs::rename(self.testbed.remotes.root(), self.moved_remotes())?,
        }
        Ok(())
    }

    /// Where the remotes are while they are away.
    fn moved_remotes(&self) -> PathBuf {
        self.directory.dir.path().join("moved-remotes")
    }

    fn filler(&self) -> PathBuf {
        self.directory.dir.path().join("filler")
    }

    /// Fills the disk.
    fn fill(&self) -> Result<()> {
        use std::io::Write as _;
        let mut filler = std::fs::File::create(self.filler())?;
        filler.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        for size in [64 * 1024, 512, 1] {
            while filler.write_all(&vec![0; size]).is_ok() {}
        }
        Ok(())
    }

    /// Waits until the desktop has nothing left to do for the loop, and everything of it is gone.
    pub async fn settled(&self) -> Result<()> {
        let data_dir = self.loopgate.setup().data_dir();
        let mut changes = Changes::of(&[&data_dir])?;
        while self.record().await?.is_some_and(|record| !record.is_over()) {
            // A change may be reported a moment before it can be read.
            let _ = timeout(QUIET, changes.next()).await;
        }
        wait::all_end(|| self.others().iter().map(|process| process.pid).collect()).await
    }

    /// Processes of the home besides Loopgate.
    pub fn others(&self) -> Vec<HomeProcess> {
        let mut found = home_processes::processes(self.testbed.home.path());
        found.retain(|process| Some(process.pid) != self.loopgate.pid());
        found
    }

    /// The desktop's record of the loop; `None` when it has none.
    pub async fn record(&self) -> Result<Option<StoredJob>> {
        let file = self.loopgate.setup().data_dir().join("desktop.db");
        StoredJob::read(&file, &self.loop_id.to_string()).await
    }
}

/// What the desktop has on disk about the loop.
#[derive(Debug)]
pub struct StoredJob {
    pub status: String,
    terminal: bool,
    reported: bool,
    /// Events and files that are still to be sent.
    unsent: i64,
    /// Runner tokens that are kept.
    tokens: i64,
    /// Whether directories are still to be removed.
    to_clear: bool,
}

impl StoredJob {
    async fn read(file: &Path, loop_id: &str) -> Result<Option<Self>> {
        use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement};
        let db = Database::connect(format!("sqlite://{}", file.display())).await?;
        let sql = "SELECT status, terminal, reported, to_clear, \
                   (SELECT count(*) FROM outbox WHERE loop_id = $1) AS unsent, \
                   (SELECT count(*) FROM loop_token WHERE loop_id = $1) AS tokens FROM job WHERE loop_id = $1";
        let query = Statement::from_sql_and_values(DbBackend::Sqlite, sql, [loop_id.into()]);
        let row = db.query_one_raw(query).await?;
        let record = row.map(|row| {
            anyhow::Ok(Self {
                status: row.try_get("", "status")?,
                terminal: row.try_get("", "terminal")?,
                reported: row.try_get("", "reported")?,
                unsent: row.try_get("", "unsent")?,
                tokens: row.try_get("", "tokens")?,
                to_clear: row.try_get("", "to_clear")?,
            })
        });
        let record = record.transpose();
        db.close().await?;
        record
    }

    const fn is_over(&self) -> bool {
        self.terminal && self.reported && self.unsent == 0 && self.tokens == 0 && !self.to_clear
    }
}

/// Lets every push fail, and everything after the first one, as when the network goes at that moment.
fn cut_at_push(testbed: &Testbed) -> Result<()> {
    let (root, pushed) = (testbed.remotes.root().display(), testbed.home.path().join(PUSHED));
    let text = format!(
        "#!/bin/sh\nfor last; do :; done\ncase \"$last\" in git-receive-pack*) touch '{pushed}';; esac\n\
         if [ -e '{pushed}' ]; then\n\
         echo 'ssh: connect to host github.com port 22: Connection refused' >&2; exit 255\nfi\n\
         cd '{root}' && exec sh -c \"$last\"\n",
        pushed = pushed.display()
    );
    testbed.home.script("code-host-ssh", &text)?;
    Ok(())
}

/// Leaves a process no more memory than it has.
fn starve(pid: u32) -> Result<()> {
    run("prlimit", &["--pid", &pid.to_string(), "--as=1048576"])
}
