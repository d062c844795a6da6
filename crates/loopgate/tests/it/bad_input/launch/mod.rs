//! Launches that are refused after their body was accepted: the response, the event for the control plane,
//! and that nothing remains that would block the next attempt.

mod callbacks;
mod repositories;
mod start;
mod worktree;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::Loopgate;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{story, wait};
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{API_KEY, KILL, LOOP, status_and_body};
use crate::test_system::wait_for_loop_processes;

/// A gateway without an embedded control plane, and a control plane that records all requests.
struct LaunchFixture {
    testbed: Testbed,
    clone: PathBuf,
    cloud: Cloud,
    loopgate: Loopgate,
}

impl LaunchFixture {
    async fn new() -> Result<Self> {
        let mut script = story::script();
        script.hold(story::PLAN, "planning");
        let testbed = Testbed::new(script).await?;
        let clone = testbed.add_story()?;
        let cloud = Cloud::start().await?;
        let setup = testbed.loopgate()?.binary(env!("CARGO_BIN_EXE_loopgate")).gateway_alone();
        let setup = setup.env("LOOPGATE_API_KEY", API_KEY).arg("--api-origin").arg(cloud.origin());
        let loopgate = setup.start().await?;
        Ok(Self { testbed, clone, cloud, loopgate })
    }

    async fn order(&self, body: &Value) -> Result<(u16, Value)> {
        status_and_body(self.loopgate.gateway(Method::POST, LOOP).json(body).send().await?).await
    }

    async fn kill(&self, id: LoopId) -> Result<(u16, Value)> {
        status_and_body(self.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": id})).send().await?)
            .await
    }

    /// Sends a loop request twice and expects the same refusal; the second shows that the first released
    /// everything. An `error` that ends in `…` is a prefix.
    async fn refuses(
        &self,
        change: impl FnOnce(&mut Value),
        status: u16,
        error: &str,
        code: &str,
        event: Option<(&str, &str)>,
    ) -> Result<()> {
        let id = LoopId(Uuid::new_v4());
        let mut body = json!({"loopId": id, "command": "EXECUTE", "loopgateAuthToken": "a-runner-token",
            "artifacts": [], "prompt": "Do it", "repo": {"fullName": story::REPOSITORY, "branch": "main"}});
        change(&mut body);
        let matches = |text: &Value, expected: &str| match expected.strip_suffix('…') {
            Some(prefix) => text.as_str().is_some_and(|text| text.starts_with(prefix)),
            None => text == expected,
        };
        for round in 1..=2 {
            let (actual, answer) = self.order(&body).await?;
            let is_expected = actual == status && matches(&answer["error"], error) && answer["code"] == code;
            ensure!(
                is_expected && answer.as_object().map(|m| m.len()) == Some(2),
                "{error}: {actual} {answer}"
            );
            let received: Vec<Value> = self.cloud.events(id, "error");
            let events_match = received.iter().all(|received| {
                event.is_some_and(|(code, text)| {
                    let subcode = received["result"]["subcode"].as_str();
                    let subcode = subcode.map(|subcode| format!("/{subcode}")).unwrap_or_default();
                    let reported = format!("{}{subcode}", received["code"].as_str().unwrap_or_default());
                    reported == code && matches(&received["message"], text)
                })
            });
            ensure!(
                events_match && received.len() == if event.is_some() { round } else { 0 },
                "{error}: {received:?}"
            );
        }
        let (status, answer) = self.kill(id).await?;
        ensure!(status == 404 && answer["error"] == "No running process found for this loop", "{answer}");
        // A shim that failed to start the loop has reported it and is about to exit.
        wait_for_loop_processes(&id.to_string()).await.with_context(|| format!("{error}: a process remains"))
    }

    fn data(&self, name: &str) -> PathBuf {
        self.loopgate.setup().data_dir().join(name)
    }

    async fn database(&self) -> Result<DatabaseConnection> {
        Ok(Database::connect(format!("sqlite://{}", self.data("desktop.db").display())).await?)
    }

    /// Checks that the database has no row, no assistant was started, and no process remains.
    async fn nothing_remains(&self) -> Result<()> {
        let db = self.database().await?;
        let sql = "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM loop_token) + \
                   (SELECT count(*) FROM outbox) AS rows";
        let row = db.query_one_raw(Statement::from_string(DbBackend::Sqlite, sql)).await?;
        let rows: i64 = row.context("a number")?.try_get("", "rows")?;
        db.close().await?;
        ensure!(rows == 0, "{rows} rows remain");
        ensure!(self.testbed.model.requests().is_empty(), "an assistant was started");
        // `git gc --auto` may run in the background and ends by itself.
        let others =
            || home_processes::processes(self.testbed.home.path()).into_iter().map(|process| process.pid);
        wait::all_end(|| others().filter(|pid| Some(*pid) != self.loopgate.pid()).collect()).await
    }

    fn no_worktree_remains(&self) -> Result<()> {
        let entries = std::fs::read_dir(self.testbed.sandbox())?.flatten();
        let worktrees: Vec<_> =
            entries.filter(|entry| entry.file_name().to_string_lossy().contains("-loop-")).collect();
        ensure!(worktrees.is_empty(), "{worktrees:?}");
        Ok(())
    }

    /// Changes `repos.json`, as another program might.
    fn edit_list(&self, change: impl FnOnce(&mut Value)) -> Result<()> {
        let file = self.testbed.sandbox().join(".loopgate/config/repos.json");
        let mut list: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
        change(&mut list);
        Ok(std::fs::write(file, serde_json::to_vec_pretty(&list)?)?)
    }

    /// Creates a clone outside the sandbox.
    fn outside(&self, full_name: &str) -> Result<PathBuf> {
        let clone = self.testbed.home.path().join("outside").join(full_name.replace('/', "-"));
        self.testbed.add_remote(full_name, &[("README.md", "Outside\n")])?;
        self.testbed.remotes.clone_to(full_name, &clone)?;
        Ok(clone)
    }

    /// Creates a repository in the sandbox that tracks a file at a path that Loopgate writes to.
    fn tracking(&self, full_name: &str, file: &str) -> Result<Value> {
        self.testbed.add_repository(full_name, &[("README.md", "Odd\n"), (file, "Tracked\n")])?;
        Ok(json!({"fullName": full_name, "branch": "main"}))
    }

    /// Moves a file away while a future runs.
    async fn without(&self, path: &Path, during: impl Future<Output = Result<()>>) -> Result<()> {
        let moved = path.with_extension("aside");
        std::fs::rename(path, &moved)?;
        let result = during.await;
        std::fs::rename(&moved, path)?;
        result
    }
}
