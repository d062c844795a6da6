//! Environment of one run: two repositories, a control plane and a model server behind proxies, a Loopgate,
//! and a separate file system for the home when the disk is to be filled.

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

use crate::fault::{Fault, FaultTarget, LinkToCut, Scenario};
use crate::script::{REPOSITORIES, script};

/// Secrets of a run. None may be written to disk in plain text.
pub const API_KEY: &str = "lgk_live_0123456789abcdef0123456789abcdef";
pub const RUNNER_TOKEN: &str = "a-runner-token-that-must-stay-secret";
/// Upper bound for the desktop to detect that the machine was suspended.
const RESUME_LIMIT: Duration = Duration::from_secs(60);
/// Timeout of a wait for a change that may never come because the loop has finished.
pub const CHANGE_TIMEOUT: Duration = Duration::from_millis(1500);
/// File in the home that marks the first push attempt.
const PUSH_MARKER: &str = "pushed";
/// Size of the file system that is to be filled, in bytes.
const DISK_BYTES: u64 = 96 * 1024 * 1024;

/// A temporary directory, optionally on its own file system.
struct FixtureDirectory {
    dir: tempfile::TempDir,
    is_mounted: bool,
}

impl FixtureDirectory {
    fn new(own_disk: bool) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("loopgate-faults-").tempdir()?;
        if own_disk {
            let size = format!("size={DISK_BYTES}");
            let at = dir.path().to_string_lossy();
            run("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", &at])?;
        }
        Ok(Self { dir, is_mounted: own_disk })
    }
}

impl Drop for FixtureDirectory {
    fn drop(&mut self) {
        if self.is_mounted
            // Lazy: a process may still have an open file there.
            && let Err(error) = run("umount", &["-l", &self.dir.path().to_string_lossy()])
        {
            eprintln!("error: {error:#}");
        }
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "part of the test tool, not of the product")]
    let status = std::process::Command::new(program).args(arguments).status();
    let status = status.with_context(|| format!("start {program}"))?;
    ensure!(status.success(), "`{program} {}` failed ({status})", arguments.join(" "));
    Ok(())
}

/// Environment of one run. The order of the fields is the order in which they are dropped: processes,
/// servers, directory.
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
        // Shorter retry delays keep a run within seconds.
        let mut setup = testbed.loopgate()?.gateway_alone();
        for (name, value) in
            [("LOOPGATE_TAILER_AUTH_RETRY_BASE_MS", "50"), ("LOOPGATE_TAILER_AUTH_RETRY_MAX_MS", "500")]
        {
            setup = setup.env(name, value);
        }
        match scenario.fault {
            Fault::Sleep => {
                for (name, value) in clock::environment(&testbed.home)? {
                    setup = setup.env(name, value);
                }
            }
            Fault::Push => cut_at_push(&testbed)?,
            Fault::Refresh => setup = setup.env("LOOPGATE_HEARTBEAT_INTERVAL_MS", "1000"),
            _ => {}
        }
        // A desktop that is connected to its control plane has an API key, with which it revives timed-out
        // loops.
        let credentials = Credentials::open(&DataDir::open(&setup.data_dir())?)?;
        credentials.store_managed_key(API_KEY.to_owned().into())?;
        let setup = setup.arg("--api-origin").arg(format!("http://127.0.0.1:{}", to_cloud.port()));
        let loopgate = setup.start().await?;
        let (loop_id, command_id) = (Uuid::new_v4(), Uuid::new_v4().to_string());
        Ok(Self { loopgate, testbed, cloud, to_cloud, to_model, loop_id, command_id, directory })
    }

    /// Builds the launch request as the link forwards it. Idempotent through its command id, so it can be
    /// sent twice.
    pub fn request(&self, executes: bool) -> reqwest::RequestBuilder {
        let repo = |name: &str| json!({"fullName": name, "branch": "main"});
        let body = json!({"loopId": self.loop_id, "command": if executes { "EXECUTE" } else { "PLAN" },
            "loopgateAuthToken": RUNNER_TOKEN, "artifacts": [], "prompt": "Add a file",
            "artifactSlug": "SHOP-7", "repo": repo(REPOSITORIES[0]), "additionalRepos": [repo(REPOSITORIES[1])]});
        let request = self.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop").json(&body);
        request.header("x-desktop-source", "cloud-socket").header("x-desktop-command-id", &self.command_id)
    }

    pub const fn loop_id(&self) -> LoopId {
        LoopId(self.loop_id)
    }

    /// Returns the terminal event of the loop, if it was sent.
    pub fn last_event(&self) -> Option<Value> {
        let event = |kind: &str| self.cloud.events(self.loop_id(), kind).pop();
        event("completed").or_else(|| event("error"))
    }

    /// Returns whether a tool call of a conversation printed a text.
    pub fn has_result(&self, conversation: &str, text: &str) -> bool {
        let requests = self.testbed.model.requests_of(conversation);
        requests.iter().any(|request| request.tool_results().contains(text))
    }

    /// Returns whether [`Fault::Push`] has intercepted a push.
    pub fn has_pushed(&self) -> bool {
        self.testbed.home.path().join(PUSH_MARKER).exists()
    }

    /// Returns the home's processes that match a target.
    fn processes(&self, target: FaultTarget) -> Vec<HomeProcess> {
        let loopgate_pid = self.loopgate.pid();
        let mut processes = home_processes::processes(self.testbed.home.path());
        processes.retain(|process| {
            let program = process.command.split(' ').next().unwrap_or_default();
            let has_name = |name: &str| Path::new(program).file_name().is_some_and(|file| file == name);
            match target {
                FaultTarget::Loopgate => Some(process.pid) == loopgate_pid,
                FaultTarget::Shim => process.command.contains(" shim "),
                FaultTarget::Driver => process.command.contains(" loop run "),
                FaultTarget::Assistant => has_name("claude"),
                FaultTarget::Git => has_name("git"),
                FaultTarget::Everything => true,
            }
        });
        processes
    }

    /// Injects the fault. Returns `false` when no process matches its target.
    pub fn strike(&self, scenario: &Scenario) -> Result<bool> {
        let (target, act): (FaultTarget, fn(u32) -> Result<()>) = match scenario.fault {
            Fault::Kill(target) => (target, |pid| signal(pid, "KILL")),
            Fault::Stop(target) => (target, |pid| signal(pid, "STOP")),
            Fault::Memory(target) => (target, starve),
            Fault::Disk => return self.fill().map(|()| true),
            Fault::Cut(connection) => return self.cut(connection).map(|()| true),
            Fault::Assistant(_) | Fault::Push => return Ok(false),
            Fault::Refresh => {
                if self.loop_has_started() {
                    self.cloud.lose_answers("refresh-token", scenario.lost_responses);
                    self.cloud.require_refresh(self.loop_id(), RUNNER_TOKEN);
                }
                return Ok(self.loop_has_started());
            }
            Fault::Sleep => (FaultTarget::Everything, |pid| signal(pid, "STOP")),
        };
        if scenario.fault == Fault::Sleep {
            if !self.loop_has_started() {
                return Ok(false);
            }
            // While the assistant waits for the model, the loop reports nothing. The desktop has to detect
            // the suspension from the clock alone.
            self.to_model.cut();
        }
        let processes = self.processes(target);
        // A process that has exited since it was listed does not count.
        let count = processes.iter().filter(|process| act(process.pid).is_ok()).count();
        if scenario.fault == Fault::Sleep {
            clock::advance(self.testbed.home.path(), 24)?;
            self.cloud.time_out(self.loop_id(), RUNNER_TOKEN);
        }
        Ok(count > 0)
    }

    /// Returns whether the control plane has received the `started` event.
    fn loop_has_started(&self) -> bool {
        !self.cloud.events(self.loop_id(), "started").is_empty()
    }

    /// Ends a fault of limited duration. Others are left as they are.
    pub async fn repair(&self, fault: Fault) -> Result<()> {
        match fault {
            Fault::Kill(_) | Fault::Memory(_) | Fault::Assistant(_) | Fault::Refresh => {}
            Fault::Stop(target) => self.resume(target),
            Fault::Sleep => {
                self.resume(FaultTarget::Everything);
                let has_new_token =
                    |cloud: &Cloud| cloud.tokens(self.loop_id()).len() > 1 || self.last_event().is_some();
                let result =
                    timeout(RESUME_LIMIT, self.cloud.wait_for(|cloud| has_new_token(cloud).then_some(())))
                        .await;
                result.context("the desktop did not detect that the machine was suspended")?;
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

    fn resume(&self, target: FaultTarget) {
        for process in self.processes(target) {
            // It may have been killed.
            let _ = signal(process.pid, "CONT");
        }
    }

    /// Restarts Loopgate if it has exited.
    pub async fn restart_if_exited(mut self) -> Result<Self> {
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

    /// Returns the path of the remotes during an outage.
    fn moved_remotes(&self) -> PathBuf {
        self.directory.dir.path().join("moved-remotes")
    }

    fn filler(&self) -> PathBuf {
        self.directory.dir.path().join("filler")
    }

    /// Fills the disk completely.
    fn fill(&self) -> Result<()> {
        use std::io::Write as _;
        let mut filler = std::fs::File::create(self.filler())?;
        filler.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        // Decreasing sizes, because a write that does not fit fails as a whole.
        for size in [64 * 1024, 512, 1] {
            while filler.write_all(&vec![0; size]).is_ok() {}
        }
        Ok(())
    }

    /// Waits until the desktop has finished all work for the loop and all of its processes have exited.
    pub async fn wait_until_settled(&self) -> Result<()> {
        let data_dir = self.loopgate.setup().data_dir();
        let mut changes = Changes::of(&[&data_dir])?;
        while self.record().await?.is_some_and(|record| !record.is_settled()) {
            // The database may not be readable yet when the change is reported, so the wait is bounded and
            // the record read again.
            let _ = timeout(CHANGE_TIMEOUT, changes.next()).await;
        }
        wait::all_end(|| self.others().iter().map(|process| process.pid).collect()).await
    }

    /// Returns the processes of the home except Loopgate.
    pub fn others(&self) -> Vec<HomeProcess> {
        let mut processes = home_processes::processes(self.testbed.home.path());
        processes.retain(|process| Some(process.pid) != self.loopgate.pid());
        processes
    }

    /// Returns the desktop's record of the loop, or `None` without one.
    pub async fn record(&self) -> Result<Option<StoredJob>> {
        let file = self.loopgate.setup().data_dir().join("desktop.db");
        StoredJob::read(&file, &self.loop_id.to_string()).await
    }
}

/// State of the loop in the desktop's database.
#[derive(Debug)]
pub struct StoredJob {
    pub status: String,
    terminal: bool,
    reported: bool,
    /// Number of events and files that are not sent yet.
    unsent: i64,
    /// Number of stored runner tokens.
    tokens: i64,
    /// Whether directories remain to be removed.
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

    const fn is_settled(&self) -> bool {
        self.terminal && self.reported && self.unsent == 0 && self.tokens == 0 && !self.to_clear
    }
}

/// Replaces the ssh command by one that fails from the first push on, as when the network fails at that
/// moment.
fn cut_at_push(testbed: &Testbed) -> Result<()> {
    let (root, marker) = (testbed.remotes.root().display(), testbed.home.path().join(PUSH_MARKER));
    let text = format!(
        // git-receive-pack is the server side of a push.
        "#!/bin/sh\nfor last; do :; done\ncase \"$last\" in git-receive-pack*) touch '{marker}';; esac\n\
         if [ -e '{marker}' ]; then\n\
         echo 'ssh: connect to host github.com port 22: Connection refused' >&2; exit 255\nfi\n\
         cd '{root}' && exec sh -c \"$last\"\n",
        marker = marker.display()
    );
    testbed.home.script("code-host-ssh", &text)?;
    Ok(())
}

/// Limits the address space of a process to less than it uses, so that every further allocation fails.
fn starve(pid: u32) -> Result<()> {
    run("prlimit", &["--pid", &pid.to_string(), "--as=1048576"])
}
