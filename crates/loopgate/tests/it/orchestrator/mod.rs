//! Orchestrator routes for tickets: sessions, chats, launches, plans and their termination.

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

use crate::origin_checks::percent_encode;
use crate::test_gateway::{Answer, TestGateway, write};

/// A gateway without control plane, and ticket `SHOP-7` of a repository in its sandbox. The worktree does not
/// exist yet.
struct Shop {
    local: TestGateway,
    repo: PathBuf,
    worktree: PathBuf,
    work_dir: PathBuf,
}

impl Shop {
    async fn new() -> Result<Self> {
        Self::with_gateway(TestGateway::new().await?)
    }

    fn with_gateway(local: TestGateway) -> Result<Self> {
        let repo = local.repository("shop", &[("README.md", "A shop\n")])?;
        let parent = local.at("wt");
        std::fs::create_dir_all(&parent)?;
        local.manage(&[&repo], Some(&parent))?;
        let worktree = parent.join("shop-SHOP-7");
        let work_dir = worktree.join(".loopgate/work");
        Ok(Self { local, repo, worktree, work_dir })
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        write(&self.work_dir.join(name), text)
    }

    /// Sends a request about the repository. `route` may contain a query.
    async fn send(&self, method: Method, route: &str, body: &str) -> Result<Answer> {
        let separator = if route.contains('?') { '&' } else { '?' };
        let repo = percent_encode(&self.repo.to_string_lossy());
        let route = format!("orchestrator/{route}{separator}repo={repo}");
        self.local.send(method, &route, body.to_owned()).await
    }

    async fn get(&self, route: &str) -> Result<Answer> {
        self.send(Method::GET, route, "").await
    }

    async fn post(&self, route: &str, body: &Value) -> Result<Answer> {
        self.send(Method::POST, route, &body.to_string()).await
    }
}
