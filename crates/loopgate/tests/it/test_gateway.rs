//! Fixture: a gateway without a control plane in a temporary home, its sandbox with real repositories, and
//! requests with the gateway's token.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::{GitRemotes, git};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::{Loopgate, Setup};
use reqwest::{Body, Method, header};
use serde_json::{Value, json};

/// A running gateway and its home. Remaining processes of the home are killed on drop.
pub struct TestGateway {
    pub home: UserHome,
    /// Bare repositories, reachable under the URLs of the code host.
    pub remotes: GitRemotes,
    pub loopgate: Loopgate,
}

/// Response of the gateway, with the request for error messages.
#[derive(Debug)]
pub struct Answer {
    request_line: String,
    pub status: u16,
    pub body: Value,
}

impl Drop for TestGateway {
    fn drop(&mut self) {
        home_processes::end(self.home.path());
    }
}

impl TestGateway {
    /// Starts a gateway with an empty sandbox.
    pub async fn new() -> Result<Self> {
        Self::with(|setup| setup).await
    }

    /// Starts a gateway with a changed setup.
    pub async fn with(change: impl FnOnce(Setup) -> Setup) -> Result<Self> {
        Self::in_home(UserHome::temporary()?, change).await
    }

    /// Starts a gateway in an existing home.
    pub async fn in_home(mut home: UserHome, change: impl FnOnce(Setup) -> Setup) -> Result<Self> {
        let remotes = GitRemotes::temporary()?;
        home.reach_remotes(&remotes)?;
        let setup = Setup::new(&home)?.binary(env!("CARGO_BIN_EXE_loopgate")).gateway_alone();
        std::fs::create_dir_all(setup.data_dir())?;
        std::fs::write(setup.data_dir().join("settings.toml"), "onboarding_completed = true\n")?;
        let loopgate = change(setup).start().await?;
        Ok(Self { home, remotes, loopgate })
    }

    /// Starts the gateway again in the same home, after it has ended.
    pub async fn restart(&mut self) -> Result<()> {
        self.loopgate = self.loopgate.setup().clone().start().await?;
        Ok(())
    }

    /// Returns a path in the sandbox.
    pub fn at(&self, name: &str) -> PathBuf {
        self.loopgate.setup().sandbox().join(name)
    }

    /// Creates a repository in the sandbox without a remote: these files in one commit on `main`.
    pub fn repository(&self, name: &str, files: &[(&str, &str)]) -> Result<PathBuf> {
        let dir = self.at(name);
        std::fs::create_dir_all(&dir)?;
        git(&dir, &["init", "--quiet", "--initial-branch=main"])?;
        for (path, content) in files {
            write(&dir.join(path), content)?;
        }
        git(&dir, &["add", "--all"])?;
        git(&dir, &["commit", "--quiet", "--allow-empty", "-m", "Begin"])?;
        Ok(dir)
    }

    /// Clones a repository of the code host into the sandbox; creates it with these files if it does not
    /// exist.
    pub fn clone_of(&self, full_name: &str, files: &[(&str, &str)]) -> Result<PathBuf> {
        if !self.remotes.bare(full_name).exists() {
            self.remotes.create(full_name, files)?;
        }
        let dir = self.at(full_name.rsplit('/').next().context("a full name has two parts")?);
        self.remotes.clone_to(full_name, &dir)?;
        Ok(dir)
    }

    /// Trusts the executable configuration of a repository, with `loopgate trust`.
    pub async fn trust(&self, repository: &Path) -> Result<()> {
        let data = self.loopgate.setup().data_dir();
        let arguments =
            ["trust".as_ref(), repository.as_os_str(), "--yes".as_ref(), "--home".as_ref(), data.as_os_str()];
        let output = self.home.command(env!("CARGO_BIN_EXE_loopgate")).args(arguments).output().await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Writes the list of managed repositories and the parent directory of worktrees.
    pub fn manage(&self, clones: &[&Path], worktree_parent: Option<&Path>) -> Result<()> {
        let entry = |path: &&Path| json!({"path": path, "addedAt": "2030-01-01T00:00:00.000Z"});
        let repos: Vec<Value> = clones.iter().map(entry).collect();
        let settings = worktree_parent.map_or(json!({}), |parent| json!({"worktreeParentDir": parent}));
        let file = self.at(".loopgate/config/repos.json");
        write(&file, json!({"repos": repos, "settings": settings}).to_string())
    }

    /// Sends a GET with query parameters. `route` is the path below `/api/gateway/`.
    pub async fn get(&self, route: &str, query: &[(&str, &str)]) -> Result<Answer> {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        self.send(Method::GET, &format!("{route}?{query}"), "").await
    }

    /// Sends a POST with a JSON body.
    pub async fn post(&self, route: &str, body: Value) -> Result<Answer> {
        self.send(Method::POST, route, body.to_string()).await
    }

    /// Sends a DELETE with a JSON body.
    pub async fn delete(&self, route: &str, body: Value) -> Result<Answer> {
        self.send(Method::DELETE, route, body.to_string()).await
    }

    /// Sends a request with any body; fails when the response is not JSON.
    pub async fn send(&self, method: Method, route: &str, body: impl Into<Body>) -> Result<Answer> {
        let body = body.into();
        let sent = String::from_utf8_lossy(body.as_bytes().unwrap_or_default()).into_owned();
        // Bodies can be megabytes; error messages show their beginning.
        let request_line = format!("{method} {route} {}", sent.chars().take(300).collect::<String>());
        let request = self.loopgate.gateway(method, &format!("/api/gateway/{route}")).body(body);
        let answer = request.send().await.with_context(|| request_line.clone())?;
        let status = answer.status().as_u16();
        let kind = answer.headers().get(header::CONTENT_TYPE).cloned();
        let text = answer.text().await?;
        ensure!(
            kind.is_some_and(|kind| kind == "application/json"),
            "{request_line} returned {status} {text}"
        );
        let body = serde_json::from_str(&text)
            .with_context(|| format!("{request_line} returned {status} {text}"))?;
        Ok(Answer { request_line, status, body })
    }
}

impl Answer {
    /// Returns the body of a 200; fails for any other status.
    pub fn ok(self) -> Result<Value> {
        let Self { request_line, status, body } = self;
        ensure!(status == 200, "{request_line}\n   got {status} {body}");
        Ok(body)
    }

    /// Compares status and body.
    pub fn is(self, status: u16, body: &Value) -> Result<()> {
        ensure!(
            (self.status, &self.body) == (status, body),
            "{}\n   expected {status} {body}\n   got      {} {}",
            self.request_line,
            self.status,
            self.body
        );
        Ok(())
    }

    /// Compares an error response, which has the members `error` and `code` only.
    pub fn refused(self, status: u16, error: &str, code: &str) -> Result<()> {
        self.is(status, &json!({"error": error, "code": code}))
    }
}

/// Writes a file and creates its parent directories.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, content).with_context(|| format!("write {}", path.display()))
}
