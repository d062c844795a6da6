//! A loop that is refused after its body was found good: what the sender is answered, what the
//! control plane hears of it, and that nothing is left that could hold up the next try.

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
use loopgate_testkit::model::Step;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{story, wait};
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{API_KEY, KILL, LOOP, status_and_body};
use crate::test_system::gone;

/// A gateway alone, with a control plane that writes down what it hears.
struct LaunchFixture {
    testbed: Testbed,
    clone: PathBuf,
    cloud: Cloud,
    loopgate: Loopgate,
}

impl LaunchFixture {
    async fn new() -> Result<Self> {
        let mut script = story::script();
        script.conversations[0].turns[0].0.insert(0, Step::hold("planning"));
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

    /// Orders a loop twice, so that the second shows that the first gave everything back. An
    /// `error` that ends in `…` is the beginning of the text.
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
        let fits = |text: &Value, wanted: &str| match wanted.strip_suffix('…') {
            Some(begin) => text.as_str().is_some_and(|text| text.starts_with(begin)),
            None => text == wanted,
        };
        for round in 1..=2 {
            let (got, answer) = self.order(&body).await?;
            let as_wanted = got == status && fits(&answer["error"], error) && answer["code"] == code;
            ensure!(as_wanted && answer.as_object().map(|m| m.len()) == Some(2), "{error}: {got} {answer}");
            let received: Vec<Value> = self.cloud.events(id, "error");
            let told = received.iter().all(|received| {
                event.is_some_and(|(code, text)| received["code"] == code && fits(&received["message"], text))
            });
            ensure!(
                told && received.len() == if event.is_some() { round } else { 0 },
                "{error}: {received:?}"
            );
        }
        let (status, answer) = self.kill(id).await?;
        ensure!(status == 404 && answer["error"] == "No running process found for this loop", "{answer}");
        // A supervisor that could not begin has said so, and is about to end.
        gone(&id.to_string()).await.with_context(|| format!("{error}: something runs"))
    }

    fn data(&self, name: &str) -> PathBuf {
        self.loopgate.setup().data_dir().join(name)
    }

    async fn database(&self) -> Result<DatabaseConnection> {
        Ok(Database::connect(format!("sqlite://{}", self.data("desktop.db").display())).await?)
    }

    /// No job, no token, nothing to send, no assistant.
    async fn nothing_is_left(&self) -> Result<()> {
        let db = self.database().await?;
        let sql = "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM loop_token) + \
                   (SELECT count(*) FROM outbox) AS rows";
        let row = db.query_one_raw(Statement::from_string(DbBackend::Sqlite, sql)).await?;
        let rows: i64 = row.context("a number")?.try_get("", "rows")?;
        db.close().await?;
        ensure!(rows == 0, "{rows} rows are left");
        ensure!(self.testbed.model.requests().is_empty(), "no assistant was started");
        // What git tidies up in the background ends by itself.
        let others =
            || home_processes::processes(self.testbed.home.path()).into_iter().map(|process| process.pid);
        wait::all_end(|| others().filter(|pid| Some(*pid) != self.loopgate.pid()).collect()).await
    }

    fn no_worktree_is_left(&self) -> Result<()> {
        let left = std::fs::read_dir(self.testbed.sandbox())?.flatten();
        let left: Vec<_> =
            left.filter(|entry| entry.file_name().to_string_lossy().contains("-loop-")).collect();
        ensure!(left.is_empty(), "{left:?}");
        Ok(())
    }

    /// Changes `repos.json`, as another program would.
    fn edit_list(&self, change: impl FnOnce(&mut Value)) -> Result<()> {
        let file = self.testbed.sandbox().join(".loopgate/config/repos.json");
        let mut list: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
        change(&mut list);
        Ok(std::fs::write(file, serde_json::to_vec_pretty(&list)?)?)
    }

    /// A clone outside the sandbox.
    fn outside(&self, full_name: &str) -> Result<PathBuf> {
        let place = self.testbed.home.path().join("outside").join(full_name.replace('/', "-"));
        self.testbed.add_remote(full_name, &[("README.md", "Outside\n")])?;
        self.testbed.remotes.clone_to(full_name, &place)?;
        Ok(place)
    }

    /// A repository in the sandbox that tracks a file where a loop has its own.
    fn tracking(&self, full_name: &str, file: &str) -> Result<Value> {
        self.testbed.add_repository(full_name, &[("README.md", "Odd\n"), (file, "In the way\n")])?;
        Ok(json!({"fullName": full_name, "branch": "main"}))
    }

    /// Takes a file away for as long as `during` lasts.
    async fn without(&self, path: &Path, during: impl Future<Output = Result<()>>) -> Result<()> {
        let aside = path.with_extension("aside");
        std::fs::rename(path, &aside)?;
        let result = during.await;
        std::fs::rename(&aside, path)?;
        result
    }
}
