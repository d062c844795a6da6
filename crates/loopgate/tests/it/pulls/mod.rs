//! Pull request routes, with the real git and the real code-host CLI (`gh`) against a local code host.
//! Scripts replace the CLI only to simulate its failures.

mod comments;
mod disconnects;
mod failures;
mod merge;
mod open;
mod read;
mod replies;
mod standing;

use std::path::PathBuf;

use anyhow::Result;
use loopgate_testkit::code_host::TestCodeHost;
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use crate::test_gateway::{TestGateway, write};

const WIDGET: &str = "acme/widget";

/// Clone of `acme/widget`, and its code host.
pub struct PullsFixture {
    pub local: TestGateway,
    pub host: TestCodeHost,
    pub clone: PathBuf,
}

impl PullsFixture {
    pub async fn new() -> Result<Self> {
        let mut local = TestGateway::new().await?;
        let clone = local.clone_of(WIDGET, &[("README.md", "A widget\n"), ("src/a.rs", "one\ntwo\n")])?;
        let host = TestCodeHost::start(&local.remotes).await?;
        host.add_repository(WIDGET)?;
        local.home.reach_code_host(&host)?;
        Ok(Self { local, host, clone })
    }

    /// Creates a fixture with pull request 1 of the checked-out branch `gear`.
    pub async fn with_pull() -> Result<Self> {
        let desktop = Self::new().await?;
        desktop.branch("gear")?;
        desktop.open("Add gear").await?;
        Ok(desktop)
    }

    /// Creates and checks out a branch with one commit.
    pub fn branch(&self, name: &str) -> Result<()> {
        git(&self.clone, &["checkout", "-q", "-b", name])?;
        write(&self.clone.join("src/gear.rs"), format!("{name}\nthree\nfour\n"))?;
        git(&self.clone, &["add", "--all"])?;
        git(&self.clone, &["commit", "-q", "-m", &format!("Begin {name}")])?;
        Ok(())
    }

    /// Opens a pull request for the checked-out branch.
    pub async fn open(&self, title: &str) -> Result<Value> {
        let body = json!({"repoPath": self.clone, "title": title});
        self.local.post("git/pr", body).await?.ok()
    }

    /// Returns the clone's path, for queries.
    pub fn path(&self) -> &str {
        self.clone.to_str().unwrap_or_default()
    }

    /// Replaces the CLI by a script.
    pub async fn replace_gh(&self, name: &str, script: &str) -> Result<()> {
        let path = self.local.home.script(name, &format!("#!/bin/sh\n{script}\n"))?;
        self.set_program("codeHost", json!(path)).await
    }

    /// Configures the path of a program.
    pub async fn set_program(&self, program: &str, path: Value) -> Result<()> {
        let body = json!({program: path}).to_string();
        let route = "settings/binary-paths";
        self.local.send(reqwest::Method::PATCH, route, body).await?.ok().map(drop)
    }

    /// Returns the number of requests to the code host whose description contains `what`.
    pub fn request_count(&self, what: &str) -> usize {
        self.host.calls().iter().filter(|call| call.what.contains(what)).count()
    }
}
