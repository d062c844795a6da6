//! The orchestrator's routes about tickets: what is remembered, said, started and ended.

mod chat;
mod chat_history;
mod commit_message;
mod judges;
mod kill;
mod launch;
mod plan_loop;
mod running;
mod sessions;

use std::path::PathBuf;

use anyhow::Result;
use reqwest::Method;
use serde_json::Value;

use crate::foreign::encoded;
use crate::local::{Answer, Local, write};

/// A gateway alone, and ticket `SHOP-7` of a repository in its sandbox, without a worktree.
struct Shop {
    local: Local,
    repo: PathBuf,
    worktree: PathBuf,
    work: PathBuf,
}

impl Shop {
    async fn new() -> Result<Self> {
        Self::in_local(Local::new().await?)
    }

    fn in_local(local: Local) -> Result<Self> {
        let repo = local.repository("shop", &[("README.md", "A shop\n")])?;
        let parent = local.at("wt");
        std::fs::create_dir_all(&parent)?;
        local.manage(&[&repo], Some(&parent))?;
        let worktree = parent.join("shop-SHOP-7");
        let work = worktree.join(".loopgate/work");
        Ok(Self { local, repo, worktree, work })
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        write(&self.work.join(name), text)
    }

    /// Asks an orchestrator route about the repository; `route` may have a query.
    async fn ask(&self, method: Method, route: &str, body: &str) -> Result<Answer> {
        let separator = if route.contains('?') { '&' } else { '?' };
        let repo = encoded(&self.repo.to_string_lossy());
        let route = format!("orchestrator/{route}{separator}repo={repo}");
        self.local.send(method, &route, body.to_owned()).await
    }

    async fn get(&self, route: &str) -> Result<Answer> {
        self.ask(Method::GET, route, "").await
    }

    async fn post(&self, route: &str, body: &Value) -> Result<Answer> {
        self.ask(Method::POST, route, &body.to_string()).await
    }
}
