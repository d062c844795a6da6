//! One Loopgate in a testbed of its own, which can be killed and started again.
//!
//! It owns the surroundings and knows what must hold when a loop is over; it never looks at a
//! clock to find out how far a loop is.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home_processes::{self, HomeProcess};
use loopgate_testkit::loopgate::{Loopgate, Setup};
use loopgate_testkit::model::Script;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{free_port, story, wait};
use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement};

use crate::page::Page;

/// What the desktop has on disk about a loop.
#[derive(Debug, PartialEq, Eq)]
pub struct JobRow {
    pub status: String,
    /// Whether the control plane knows how it ended.
    pub reported: bool,
    /// Events and files that are still to be sent.
    pub unsent: i64,
    /// Runner tokens that are kept.
    pub tokens: i64,
}

impl JobRow {
    /// The record of a loop in the database of a desktop.
    pub async fn read(desktop: &Loopgate, loop_id: &str) -> Result<Self> {
        let file = desktop.setup().data_dir().join("desktop.db");
        let db = Database::connect(format!("sqlite://{}", file.display())).await?;
        let sql = "SELECT status, reported, (SELECT count(*) FROM outbox WHERE loop_id = $1) AS unsent, \
                   (SELECT count(*) FROM loop_token WHERE loop_id = $1) AS tokens FROM job WHERE loop_id = $1";
        let query = Statement::from_sql_and_values(DbBackend::Sqlite, sql, [loop_id.into()]);
        let row = db.query_one_raw(query).await?.context("no record")?;
        let record = Self {
            status: row.try_get("", "status")?,
            reported: row.try_get("", "reported")?,
            unsent: row.try_get("", "unsent")?,
            tokens: row.try_get("", "tokens")?,
        };
        db.close().await?;
        Ok(record)
    }
}

/// A testbed with the story's repository and a running Loopgate.
pub struct TestSystem {
    pub testbed: Testbed,
    /// The user's clone.
    pub clone: PathBuf,
    pub loopgate: Loopgate,
    pub page: Page,
}

impl TestSystem {
    /// The story, fast.
    pub async fn story() -> Result<Self> {
        Self::playing(story::script()).await
    }

    /// Another script in the story's testbed.
    pub async fn playing(script: Script) -> Result<Self> {
        let testbed = Testbed::new(script).await?;
        Self::start(setup(&testbed)?, testbed).await
    }

    /// A testbed without the story's repository as yet, in which Loopgate is started so.
    pub async fn start(setup: Setup, testbed: Testbed) -> Result<Self> {
        let clone = testbed.add_story()?;
        let loopgate = setup.start().await?;
        let page = Page(loopgate.sign_in().await?);
        Ok(Self { testbed, clone, loopgate, page })
    }

    /// Kills Loopgate and nothing else, and starts it again on the same home. The page stays
    /// signed in.
    pub async fn kill_and_restart(mut self) -> Result<Self> {
        self.loopgate.kill().await?;
        self.restart().await
    }

    /// Starts it again after its end.
    pub async fn restart(self) -> Result<Self> {
        let Self { testbed, clone, loopgate, page } = self;
        let loopgate = loopgate.start_again().await?;
        Ok(Self { testbed, clone, loopgate, page })
    }

    /// The desktop's record of a loop, and what it still has to tell of it, as they are on disk.
    pub async fn record(&self, loop_id: &str) -> Result<JobRow> {
        JobRow::read(&self.loopgate, loop_id).await
    }

    /// Waits until there is something to see in Loopgate's log.
    pub async fn logged<T>(&self, look: impl Fn(&str) -> Option<T>) -> Result<T> {
        let dir = self.loopgate.setup().data_dir().join("logs");
        wait::seen(&dir, async || look(&log_in(&dir))).await
    }

    /// Waits until the desktop has nothing left to do for a loop that ended so. It writes that into
    /// its log, after which the record is as it will stay.
    pub async fn settled(&self, loop_id: &str, status: &str) -> Result<()> {
        let wanted = JobRow { status: status.to_owned(), reported: true, unsent: 0, tokens: 0 };
        let mut last = None;
        let log = self.loopgate.setup().data_dir().join("logs");
        let settled = wait::seen(&log, async || {
            let record = self.record(loop_id).await;
            let is_it = record.as_ref().map_or(true, |record| *record == wanted);
            last = Some(record);
            is_it.then_some(())
        });
        let settled = settled.await;
        let record = last.context("nobody looked")??;
        settled
            .with_context(|| format!("the desktop's record stays {record:?}\n{}", self.loopgate.output()))?;
        ensure!(record == wanted, "the desktop's record is {record:?}");
        Ok(())
    }

    /// Processes of this home besides Loopgate itself.
    pub fn others(&self) -> Vec<HomeProcess> {
        let mut found = home_processes::processes(self.testbed.home.path());
        found.retain(|process| Some(process.pid) != self.loopgate.pid());
        found
    }

    /// Waits until nothing but Loopgate runs.
    pub async fn alone(&self, loop_id: &str) -> Result<()> {
        let others = || self.others().into_iter().map(|process| process.pid);
        let left = wait::all_end(|| others().chain(of_loop(loop_id)).collect()).await;
        left.with_context(|| {
            format!("still running: {:?}, of the loop: {:?}", self.others(), of_loop(loop_id))
        })
    }
}

/// Everything in the log files of a directory.
pub fn log_in(dir: &Path) -> String {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect()
}

/// How Loopgate is started here: on an API port of its own that survives a restart.
pub fn setup(testbed: &Testbed) -> Result<Setup> {
    let origin = format!("http://127.0.0.1:{}", free_port()?);
    Ok(testbed.loopgate()?.binary(env!("CARGO_BIN_EXE_loopgate")).arg("--api-origin").arg(origin))
}

/// Living processes that carry the loop's id, wherever they came from.
pub fn of_loop(loop_id: &str) -> Vec<u32> {
    let mark = format!("LOOPGATE_LOOP_ID={loop_id}");
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    })
    .collect()
}

/// Waits until no process of a loop lives.
pub async fn gone(loop_id: &str) -> Result<()> {
    wait::all_end(|| of_loop(loop_id)).await
}

/// Git's answer in a directory of the testbed.
pub fn git(dir: &Path, args: &[&str]) -> Result<String> {
    Ok(loopgate_testkit::git::git(dir, args)?.trim().to_owned())
}
