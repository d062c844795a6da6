//! The pull-request routes, with the real git and the real code-host CLI against a code host on
//! this machine. A script replaces the CLI only where it has to fail in its own ways.

mod comments;
mod failures;
mod leaving;
mod open;
mod read;
mod replies;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use loopgate_testkit::code_host::CodeHost;
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use crate::local::{Local, write};

const WIDGET: &str = "acme/widget";

/// A clone of `acme/widget`, and the code host that it comes from.
pub struct PullsFixture {
    pub local: Local,
    pub host: CodeHost,
    pub clone: PathBuf,
}

impl PullsFixture {
    pub async fn new() -> Result<Self> {
        let mut local = Local::new().await?;
        let clone = local.clone_of(WIDGET, &[("README.md", "A widget\n"), ("src/a.rs", "one\ntwo\n")])?;
        let host = CodeHost::start(&local.remotes).await?;
        host.add_repository(WIDGET)?;
        local.home.reach_code_host(&host)?;
        Ok(Self { local, host, clone })
    }

    /// With pull request 1, of the branch `gear`, which is checked out.
    pub async fn with_pull() -> Result<Self> {
        let desktop = Self::new().await?;
        desktop.branch("gear")?;
        desktop.open("Add gear").await?;
        Ok(desktop)
    }

    /// Checks out a new branch with one commit.
    pub fn branch(&self, name: &str) -> Result<()> {
        git(&self.clone, &["checkout", "-q", "-b", name])?;
        write(&self.clone.join("src/gear.rs"), format!("{name}\nthree\nfour\n"))?;
        git(&self.clone, &["add", "--all"])?;
        git(&self.clone, &["commit", "-q", "-m", &format!("Begin {name}")])?;
        Ok(())
    }

    /// Opens a pull request for what is checked out.
    pub async fn open(&self, title: &str) -> Result<Value> {
        let body = json!({"repoPath": self.clone, "title": title});
        self.local.post("git/pr", body).await?.ok()
    }

    /// The clone's path, for queries.
    pub fn path(&self) -> &str {
        self.clone.to_str().unwrap_or_default()
    }

    /// Replaces the CLI by a script.
    pub async fn replace_gh(&self, name: &str, script: &str) -> Result<()> {
        let path = self.local.home.script(name, &format!("#!/bin/sh\n{script}\n"))?;
        self.set("codeHost", json!(path)).await
    }

    /// Sets the path of a program.
    pub async fn set(&self, program: &str, path: Value) -> Result<()> {
        let body = json!({program: path}).to_string();
        let route = "settings/binary-paths";
        self.local.send(reqwest::Method::PATCH, route, body).await?.ok().map(drop)
    }

    /// Questions about this that the host got.
    pub fn asked(&self, what: &str) -> usize {
        self.host.calls().iter().filter(|call| call.what.contains(what)).count()
    }
}

/// Where a program is on this machine.
pub fn found(program: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").context("PATH is set")?;
    let mut places = std::env::split_paths(&path).map(|place| place.join(program));
    places.find(|place| place.is_file()).with_context(|| format!("{program} is not installed"))
}
