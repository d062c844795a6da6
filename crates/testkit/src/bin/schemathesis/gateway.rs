//! Starts a gateway with a sandbox of repositories, a worktree and a pull request, so that requests pass the
//! first validation.

use std::path::Path;

use anyhow::{Context as _, ensure};
use loopgate_api::names::GATEWAY_TOKEN_HEADER;
use loopgate_testkit::code_host::TestCodeHost;
use loopgate_testkit::git::{GitRemotes, git};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::{Loopgate, Setup};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{SchemaTest, SchemathesisOptions, check_for_panics};

const REPOSITORY: &str = "acme/shop";
const FILES: [(&str, &str); 3] =
    [("README.md", "# Shop\n"), ("theme.js", "export const dark = true;\n"), ("styles.css", "body {}\n")];
/// Tickets with a worktree. Requests may remove that of the second one.
const TICKETS: [&str; 2] = ["AB-1", "AB-2"];
/// The smallest file that is recognized as a PNG image.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
/// The first check is defined in the hooks.
const CHECKS: &str = "documented_server_errors,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";

/// Runs schemathesis. Returns whether all checks passed, and fails when the gateway is damaged.
pub async fn run(options: &SchemathesisOptions) -> anyhow::Result<bool> {
    let mut desktop = SchemaDesktop::start().await?;
    let test = SchemaTest {
        origin: desktop.loopgate.gateway_origin(),
        document: "/api/gateway/openapi.json",
        hooks: "gateway",
        existing_objects: None,
        checks: CHECKS,
        headers: vec![(GATEWAY_TOKEN_HEADER, desktop.loopgate.gateway_token().to_owned())],
        excluded: &[],
    };
    let passed = crate::run(options, &test).await?;
    desktop.check_health().await?;
    desktop.loopgate.stop().await?;
    Ok(passed)
}

/// A gateway and the objects that requests refer to.
struct SchemaDesktop {
    home: UserHome,
    _remotes: GitRemotes,
    _host: TestCodeHost,
    loopgate: Loopgate,
}

impl Drop for SchemaDesktop {
    fn drop(&mut self) {
        home_processes::end(self.home.path());
    }
}

impl SchemaDesktop {
    async fn start() -> anyhow::Result<Self> {
        let mut home = UserHome::temporary()?;
        let remotes = GitRemotes::temporary()?;
        remotes.create(REPOSITORY, &FILES)?;
        let host = TestCodeHost::start(&remotes).await?;
        host.add_repository(REPOSITORY)?;
        home.reach_remotes(&remotes)?.reach_code_host(&host)?;
        let setup = Setup::new(&home)?.gateway_alone();
        std::fs::create_dir_all(setup.data_dir())?;
        std::fs::write(setup.data_dir().join("settings.toml"), "onboarding_completed = true\n")?;
        fill(setup.sandbox(), &remotes)?;
        let loopgate = setup.start().await?;
        let desktop = Self { home, _remotes: remotes, _host: host, loopgate };
        desktop.add_pull_request().await?;
        desktop.add_work().await?;
        Ok(desktop)
    }

    /// Opens pull request 1.
    async fn add_pull_request(&self) -> anyhow::Result<()> {
        let clone = self.loopgate.setup().sandbox().join("shop");
        git(&clone, &["checkout", "-q", "-b", "dark-theme"])?;
        std::fs::write(clone.join("theme.js"), "export const dark = false;\n")?;
        git(&clone, &["commit", "-q", "-a", "-m", "Begin"])?;
        let body = json!({"repoPath": clone, "title": "Add a dark theme"});
        let request = self.loopgate.gateway(Method::POST, "/api/gateway/git/pr").json(&body);
        let response: Value = request.send().await?.json().await?;
        ensure!(response["number"] == 1, "the pull request was not opened: {response}");
        std::fs::write(clone.join("README.md"), "# The shop\n").context("change a file")
    }

    /// Creates the files of a finished loop for the first ticket, and the image `screen.png`.
    async fn add_work(&self) -> anyhow::Result<()> {
        let worktree = self.loopgate.setup().sandbox().join(format!("worktrees/shop-{}", TICKETS[0]));
        let work = worktree.join(".loopgate/work");
        std::fs::create_dir_all(work.join("attachments"))?;
        std::fs::write(work.join("attachments/screen.png"), PICTURE)?;
        std::fs::write(
            work.join("plan.json"),
            json!({"title": "Add a dark theme", "tasks": []}).to_string(),
        )?;
        std::fs::write(work.join("state.json"), json!({"phase": "Done", "status": "COMPLETED"}).to_string())?;
        std::fs::write(work.join("assistant-output.jsonl"), "{\"type\":\"system\"}\n")?;
        let path = "/api/gateway/orchestrator/attachments/AB-1/screen.png?repo=~%2Fsrc%2Fshop";
        let response = self.loopgate.gateway(Method::GET, path).send().await?;
        ensure!(response.status() == 200, "the image was not found: {}", response.text().await?);
        Ok(())
    }

    /// Fails when the gateway does not respond, or when a handler panicked.
    async fn check_health(&self) -> anyhow::Result<()> {
        let response = self.loopgate.gateway_bare(Method::GET, "/health").send().await?;
        ensure!(response.status() == 200, "/health returned {}", response.status());
        check_for_panics(&self.loopgate.setup().data_dir().join("logs"))
    }
}

/// Creates repositories, worktrees of tickets, and the list of repositories.
fn fill(sandbox: &Path, remotes: &GitRemotes) -> anyhow::Result<()> {
    let clone = sandbox.join("shop");
    remotes.clone_to(REPOSITORY, &clone)?;
    let worktrees = sandbox.join("worktrees");
    std::fs::create_dir_all(&worktrees)?;
    for ticket in TICKETS {
        let worktree = worktrees.join(format!("shop-{ticket}"));
        git(&clone, &["worktree", "add", "-q", "-b", ticket, &worktree.to_string_lossy()])?;
    }
    // Unusual repositories: a bare one, one without commits, and a directory without a repository.
    git(sandbox, &["init", "-q", "--bare", "bare.git"])?;
    git(sandbox, &["init", "-q", "unborn"])?;
    std::fs::create_dir(sandbox.join("plain"))?;
    let config = sandbox.join(loopgate_api::names::STATE_DIR).join("config");
    std::fs::create_dir_all(&config)?;
    let entry = json!({"path": "~/src/shop", "addedAt": "2030-01-01T00:00:00.000Z"});
    let list = json!({"repos": [entry], "settings": {"worktreeParentDir": worktrees}});
    std::fs::write(config.join("repos.json"), list.to_string()).context("write repos.json")
}
