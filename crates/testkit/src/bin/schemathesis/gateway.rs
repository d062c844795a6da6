//! A gateway in a throw-away home with a sandbox of repositories, a worktree and a pull request, so that questions
//! reach beyond the first refusal.

use std::path::Path;

use anyhow::{Context as _, ensure};
use loopgate_api::names::GATEWAY_TOKEN_HEADER;
use loopgate_testkit::code_host::CodeHost;
use loopgate_testkit::git::{GitRemotes, git};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::{Loopgate, Setup};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{Options, Questions, check_for_panics};

const REPOSITORY: &str = "acme/shop";
const FILES: [(&str, &str); 3] =
    [("README.md", "# Shop\n"), ("theme.js", "export const dark = true;\n"), ("styles.css", "body {}\n")];
/// A ticket with a worktree, and one whose worktree may go.
const TICKETS: [&str; 2] = ["AB-1", "AB-2"];
/// The smallest picture that is one.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
/// The first is a check of the hooks.
const CHECKS: &str = "documented_server_errors,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";
/// Whether nothing was found and the gateway is unharmed.
pub async fn ask(options: &Options) -> anyhow::Result<bool> {
    let mut desktop = SchemaDesktop::start().await?;
    let questions = Questions {
        origin: desktop.loopgate.gateway_origin(),
        document: "/api/gateway/openapi.json",
        hooks: "gateway",
        known: None,
        checks: CHECKS,
        headers: vec![(GATEWAY_TOKEN_HEADER, desktop.loopgate.gateway_token().to_owned())],
        excluded: &[],
    };
    let passed = crate::ask(options, &questions).await?;
    desktop.check_health().await?;
    desktop.loopgate.stop().await?;
    Ok(passed)
}

/// A gateway with everything that it is asked about.
struct SchemaDesktop {
    home: UserHome,
    _remotes: GitRemotes,
    _host: CodeHost,
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
        let host = CodeHost::start(&remotes).await?;
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

    /// Pull request 1.
    async fn add_pull_request(&self) -> anyhow::Result<()> {
        let clone = self.loopgate.setup().sandbox().join("shop");
        git(&clone, &["checkout", "-q", "-b", "dark-theme"])?;
        std::fs::write(clone.join("theme.js"), "export const dark = false;\n")?;
        git(&clone, &["commit", "-q", "-a", "-m", "Begin"])?;
        let body = json!({"repoPath": clone, "title": "Add a dark theme"});
        let request = self.loopgate.gateway(Method::POST, "/api/gateway/git/pr").json(&body);
        let answer: Value = request.send().await?.json().await?;
        ensure!(answer["number"] == 1, "the pull request was not opened: {answer}");
        std::fs::write(clone.join("README.md"), "# The shop\n").context("change a file")
    }

    /// What a loop leaves behind for the first ticket, and the picture `screen.png`.
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
        let answer = self.loopgate.gateway(Method::GET, path).send().await?;
        ensure!(answer.status() == 200, "the picture is not there: {}", answer.text().await?);
        Ok(())
    }

    /// Whether the gateway still answers and no handler gave up on the way.
    async fn check_health(&self) -> anyhow::Result<()> {
        let answer = self.loopgate.gateway_bare(Method::GET, "/health").send().await?;
        ensure!(answer.status() == 200, "/health answers {}", answer.status());
        check_for_panics(&self.loopgate.setup().data_dir().join("logs"))
    }
}

/// Repositories, worktrees of tickets, and the list that names them.
fn fill(sandbox: &Path, remotes: &GitRemotes) -> anyhow::Result<()> {
    let clone = sandbox.join("shop");
    remotes.clone_to(REPOSITORY, &clone)?;
    let worktrees = sandbox.join("worktrees");
    std::fs::create_dir_all(&worktrees)?;
    for ticket in TICKETS {
        let place = worktrees.join(format!("shop-{ticket}"));
        git(&clone, &["worktree", "add", "-q", "-b", ticket, &place.to_string_lossy()])?;
    }
    git(sandbox, &["init", "-q", "--bare", "bare.git"])?;
    git(sandbox, &["init", "-q", "unborn"])?;
    std::fs::create_dir(sandbox.join("plain"))?;
    let config = sandbox.join(loopgate_api::names::STATE_DIR).join("config");
    std::fs::create_dir_all(&config)?;
    let entry = json!({"path": "~/src/shop", "addedAt": "2030-01-01T00:00:00.000Z"});
    let list = json!({"repos": [entry], "settings": {"worktreeParentDir": worktrees}});
    std::fs::write(config.join("repos.json"), list.to_string()).context("write repos.json")
}
