//! The scene of one run: two repositories, a control plane and a model behind wires, a Loopgate, and
//! a home on a disk of its own where that disk is to be filled.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::leftovers::{self, Process};
use loopgate_testkit::loopgate::{Loopgate, signal};
use loopgate_testkit::scene::Scene;
use loopgate_testkit::signs::{self, Changes};
use loopgate_testkit::wire::Wire;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::fault::{Fault, Line, Who};
use crate::run::QUIET;
use crate::script::{REPOSITORIES, script};

/// Secrets of a run: none may lie on the disk in plain text.
pub const API_KEY: &str = "lgk_live_0123456789abcdef0123456789abcdef";
pub const RUNNER_TOKEN: &str = "a-runner-token-that-nobody-may-find";
/// Size of a disk that is to be filled, in bytes.
const DISK: u64 = 96 * 1024 * 1024;

/// A folder, on a disk of its own when it is to be filled. It goes with this value.
struct Place {
    dir: tempfile::TempDir,
    mounted: bool,
}

impl Place {
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

impl Drop for Place {
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

/// Everything of one run. Fields are dropped in this order: processes, parts, place.
pub struct Stage {
    pub loopgate: Loopgate,
    pub scene: Scene,
    pub cloud: Cloud,
    to_cloud: Wire,
    to_model: Wire,
    pub loop_id: Uuid,
    command_id: String,
    place: Place,
}

impl Stage {
    pub async fn new(fault: Fault) -> Result<Self> {
        let place = Place::new(fault == Fault::Disk)?;
        let mut scene = Scene::at(place.dir.path(), script()).await?;
        let cloud = Cloud::start().await?;
        let to_cloud = Wire::to(cloud.port()).await?;
        let to_model = Wire::to(scene.model.port()).await?;
        scene.home.set("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", to_model.port()));
        for name in REPOSITORIES {
            scene.add_repository(name, &[("README.md", "Something\n")])?;
        }
        let setup = scene.loopgate()?.gateway_alone().env("LOOPGATE_API_KEY", API_KEY);
        let setup = setup.env("LOOPGATE_TAILER_AUTH_RETRY_BASE_MS", "50");
        let setup = setup.env("LOOPGATE_TAILER_AUTH_RETRY_MAX_MS", "500");
        let setup = setup.arg("--api-origin").arg(format!("http://127.0.0.1:{}", to_cloud.port()));
        let loopgate = setup.start().await?;
        let (loop_id, command_id) = (Uuid::new_v4(), Uuid::new_v4().to_string());
        Ok(Self { loopgate, scene, cloud, to_cloud, to_model, loop_id, command_id, place })
    }

    /// The order, as the link hands it over; it may be given twice and counts once.
    pub fn order(&self, executes: bool) -> reqwest::RequestBuilder {
        let repo = |name: &str| json!({"fullName": name, "branch": "main"});
        let body = json!({"loopId": self.loop_id, "command": if executes { "EXECUTE" } else { "PLAN" },
            "loopgateAuthToken": RUNNER_TOKEN, "artifacts": [], "prompt": "Add a file",
            "artifactSlug": "SHOP-7", "repo": repo(REPOSITORIES[0]), "additionalRepos": [repo(REPOSITORIES[1])]});
        let request = self.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop").json(&body);
        request.header("x-desktop-source", "cloud-socket").header("x-desktop-command-id", &self.command_id)
    }

    /// The last word of the loop, if it was said.
    pub fn last(&self) -> Option<Value> {
        let id = self.loop_id.to_string().parse().ok()?;
        let said = |kind: &str| self.cloud.events(id, kind).pop();
        said("completed").or_else(|| said("error"))
    }

    /// The home's processes that a fault speaks of.
    fn processes(&self, who: Who) -> Vec<Process> {
        let own = self.loopgate.pid();
        let mut found = leftovers::processes(self.scene.home.path());
        found.retain(|process| {
            let program = process.command.split(' ').next().unwrap_or_default();
            let named = |name: &str| Path::new(program).file_name().is_some_and(|file| file == name);
            match who {
                Who::Loopgate => Some(process.pid) == own,
                Who::Shim => process.command.contains(" shim "),
                Who::Driver => process.command.contains(" loop run "),
                Who::Assistant => named("claude"),
                Who::Git => named("git"),
                Who::Everything => true,
            }
        });
        found
    }

    /// Lets the fault happen; `false` when there is nobody whom it could hit.
    pub fn strike(&self, fault: Fault) -> Result<bool> {
        let (who, act): (Who, fn(u32) -> Result<()>) = match fault {
            Fault::Kill(who) => (who, |pid| signal(pid, "KILL")),
            Fault::Stop(who) => (who, |pid| signal(pid, "STOP")),
            Fault::Memory(who) => (who, starve),
            Fault::Disk => return self.fill().map(|()| true),
            Fault::Cut(line) => return self.cut(line).map(|()| true),
        };
        let hit = self.processes(who);
        // One that has just ended is none.
        Ok(hit.iter().filter(|process| act(process.pid).is_ok()).count() > 0)
    }

    /// Lets what is away come back.
    pub fn mend(&self, fault: Fault) -> Result<()> {
        match fault {
            Fault::Kill(_) | Fault::Memory(_) => {}
            Fault::Stop(who) => {
                for process in self.processes(who) {
                    // It may have been ended meanwhile.
                    let _ = signal(process.pid, "CONT");
                }
            }
            Fault::Disk => std::fs::remove_file(self.filler())?,
            Fault::Cut(Line::ControlPlane) => self.to_cloud.mend(),
            Fault::Cut(Line::Model) => self.to_model.mend(),
            Fault::Cut(Line::CodeHost) => std::fs::rename(self.aside(), self.scene.host.socket())?,
            Fault::Cut(Line::Remote) => std::fs::rename(self.aside(), self.scene.remotes.root())?,
        }
        Ok(())
    }

    /// Starts Loopgate again when it has ended.
    pub async fn revive(mut self) -> Result<Self> {
        if self.loopgate.is_running()? {
            return Ok(self);
        }
        let Self { loopgate, scene, cloud, to_cloud, to_model, loop_id, command_id, place } = self;
        let loopgate = loopgate.start_again().await?;
        Ok(Self { loopgate, scene, cloud, to_cloud, to_model, loop_id, command_id, place })
    }

    fn cut(&self, line: Line) -> Result<()> {
        match line {
            Line::ControlPlane => self.to_cloud.cut(),
            Line::Model => self.to_model.cut(),
            Line::CodeHost => std::fs::rename(self.scene.host.socket(), self.aside())?,
            Line::Remote => std::fs::rename(self.scene.remotes.root(), self.aside())?,
        }
        Ok(())
    }

    /// Where something is while it is away.
    fn aside(&self) -> PathBuf {
        self.place.dir.path().join("away")
    }

    fn filler(&self) -> PathBuf {
        self.place.dir.path().join("filler")
    }

    /// Takes all the room that the disk has left.
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
            // A sign may come a moment before what it stands for can be read.
            let _ = timeout(QUIET, changes.next()).await;
        }
        signs::all_end(|| self.others().iter().map(|process| process.pid).collect()).await
    }

    /// Processes of the home besides Loopgate.
    pub fn others(&self) -> Vec<Process> {
        let mut found = leftovers::processes(self.scene.home.path());
        found.retain(|process| Some(process.pid) != self.loopgate.pid());
        found
    }

    /// The desktop's record of the loop; `None` when it has none.
    pub async fn record(&self) -> Result<Option<Record>> {
        let file = self.loopgate.setup().data_dir().join("desktop.db");
        Record::read(&file, &self.loop_id.to_string()).await
    }
}

/// What the desktop has on disk about the loop.
#[derive(Debug)]
pub struct Record {
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

impl Record {
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

/// Leaves a process no more memory than it has.
fn starve(pid: u32) -> Result<()> {
    run("prlimit", &["--pid", &pid.to_string(), "--as=1048576"])
}
