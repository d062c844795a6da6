//! A running Loopgate with page, code host and model, which can be killed and restarted.
//!
//! Progress is observed by events and files only, never by sleeping.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home_processes::{self, HomeProcess};
use loopgate_testkit::loopgate::{Loopgate, Setup};
use loopgate_testkit::model::Script;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{free_port, story, wait};
use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement};
use serde_json::Value;

use crate::page::Page;

/// State of a loop in the desktop's database.
#[derive(Debug, PartialEq, Eq)]
pub struct JobRow {
    pub status: String,
    /// Whether the terminal status was reported to the control plane.
    pub reported: bool,
    /// Number of unsent events and uploads in the outbox.
    pub unsent: i64,
    /// Number of stored runner tokens.
    pub tokens: i64,
}

impl JobRow {
    /// Reads the state of a loop. Fails without a job record.
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

/// Testbed with the story's repository and a running Loopgate.
pub struct TestSystem {
    pub testbed: Testbed,
    /// Path of the user's clone.
    pub clone: PathBuf,
    pub loopgate: Loopgate,
    pub page: Page,
}

impl TestSystem {
    /// Starts a system with the story's script.
    pub async fn story() -> Result<Self> {
        Self::playing(story::script()).await
    }

    /// Starts a system with another script.
    pub async fn playing(script: Script) -> Result<Self> {
        let testbed = Testbed::new(script).await?;
        Self::start(setup(&testbed)?, testbed).await
    }

    /// Adds the story's repository to a testbed and starts Loopgate with this setup.
    pub async fn start(setup: Setup, testbed: Testbed) -> Result<Self> {
        let clone = testbed.add_story()?;
        let loopgate = setup.start().await?;
        let page = Page(loopgate.sign_in().await?);
        Ok(Self { testbed, clone, loopgate, page })
    }

    /// Kills only Loopgate and restarts it with the same home. The page's session remains valid.
    pub async fn kill_and_restart(mut self) -> Result<Self> {
        self.loopgate.kill().await?;
        self.restart().await
    }

    /// Restarts Loopgate after it has exited.
    pub async fn restart(self) -> Result<Self> {
        let Self { testbed, clone, loopgate, page } = self;
        let loopgate = loopgate.start_again().await?;
        Ok(Self { testbed, clone, loopgate, page })
    }

    /// Reads the state of a loop in the database.
    pub async fn record(&self, loop_id: &str) -> Result<JobRow> {
        JobRow::read(&self.loopgate, loop_id).await
    }

    /// Waits until `look` returns a value for Loopgate's log.
    pub async fn logged<T>(&self, look: impl Fn(&str) -> Option<T>) -> Result<T> {
        let dir = self.loopgate.setup().data_dir().join("logs");
        wait::until(&dir, async || look(&log_in(&dir))).await
    }

    /// Waits until a change request satisfies a condition. Loopgate logs each report about it after that has arrived.
    pub async fn change_request(&self, document: &str, condition: impl Fn(&Value) -> bool) -> Result<Value> {
        let log = self.loopgate.setup().data_dir().join("logs");
        let path = format!("/change-requests/{document}");
        let mut last = Value::Null;
        let reached = wait::until(&log, async || {
            last = self.page.0.get(&path).await.ok()?["data"].take();
            condition(&last).then(|| last.clone())
        });
        let reached = reached.await;
        reached.with_context(|| format!("the change request remains {last}\n{}", self.loopgate.output()))
    }

    /// Waits until the desktop has completed all work for a loop with this terminal status, including reports
    /// and the removal of tokens.
    pub async fn settled(&self, loop_id: &str, status: &str) -> Result<()> {
        let expected = JobRow { status: status.to_owned(), reported: true, unsent: 0, tokens: 0 };
        let mut last = None;
        let log = self.loopgate.setup().data_dir().join("logs");
        // Loopgate logs after the last change of the record, so a change of the log directory is enough to
        // wake up.
        let settled = wait::until(&log, async || {
            let record = self.record(loop_id).await;
            let matches = record.as_ref().map_or(true, |record| *record == expected);
            last = Some(record);
            matches.then_some(())
        });
        let settled = settled.await;
        let record = last.context("the record was never read")??;
        settled.with_context(|| format!("the record remains {record:?}\n{}", self.loopgate.output()))?;
        ensure!(record == expected, "the record is {record:?}");
        Ok(())
    }

    /// Returns all processes of this home except Loopgate.
    pub fn other_processes(&self) -> Vec<HomeProcess> {
        let mut processes = home_processes::processes(self.testbed.home.path());
        processes.retain(|process| Some(process.pid) != self.loopgate.pid());
        processes
    }

    /// Waits until Loopgate is the only process of this home, and no process of the loop remains.
    pub async fn no_processes_remain(&self, loop_id: &str) -> Result<()> {
        let others = || self.other_processes().into_iter().map(|process| process.pid);
        // Processes of the loop are searched by environment variable as well, because their home may differ.
        let outcome = wait::all_end(|| others().chain(processes_of_loop(loop_id)).collect()).await;
        outcome.with_context(|| {
            format!(
                "still running: {:?}, of the loop: {:?}",
                self.other_processes(),
                processes_of_loop(loop_id)
            )
        })
    }
}

/// Returns the contents of all log files in a directory.
pub fn log_in(dir: &Path) -> String {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect()
}

/// Returns a setup with a fixed API port, so that the page's address survives a restart.
pub fn setup(testbed: &Testbed) -> Result<Setup> {
    let origin = format!("http://127.0.0.1:{}", free_port()?);
    Ok(testbed.loopgate()?.binary(env!("CARGO_BIN_EXE_loopgate")).arg("--api-origin").arg(origin))
}

/// Returns the processes whose environment contains the loop's id, regardless of their parent.
pub fn processes_of_loop(loop_id: &str) -> Vec<u32> {
    let variable_of_loop = format!("LOOPGATE_LOOP_ID={loop_id}");
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == variable_of_loop.as_bytes())
    })
    .collect()
}

/// Waits until all processes of a loop have exited.
pub async fn wait_for_loop_processes(loop_id: &str) -> Result<()> {
    wait::all_end(|| processes_of_loop(loop_id)).await
}

/// Runs git in a directory, and returns its trimmed stdout.
pub fn git(dir: &Path, args: &[&str]) -> Result<String> {
    Ok(loopgate_testkit::git::git(dir, args)?.trim().to_owned())
}
