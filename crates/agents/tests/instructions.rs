//! Instructions of an untrusted checkout that lead out of it, for the reviewer and agents of the Agent Client Protocol.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_agents::acp::{AcpTurn, AcpTurnError};
use loopgate_agents::provider::acp::AcpAgent;
use loopgate_agents::provider::reviewer::Reviewer;
use loopgate_agents::provider::{FileAccess, Provider, TurnOutput, TurnRequest};
use loopgate_api::provider::ProviderId;
use loopgate_home::{AgentProgram, Overrides, Sandbox, SettingsStore, TrustStore};
use loopgate_testkit::git::git;
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::git::{Git, instruction_part};
use loopgate_tools::process::{Command, Limits, Stdin};
use loopgate_tools::programs::Programs;

const SECRET: &str = "SECRET OF THE USER";
/// Reads instructions as the reviewer does: of its directory, or else of the root of the repository, unless their size is
/// limited to nothing.
const REVIEWER: &str = r#"#!/bin/sh
text=none
case "$*" in
  *project_doc_max_bytes=0*) ;;
  *) text=$(cat AGENTS.md 2>&- || cat "$(git rev-parse --show-toplevel)/AGENTS.md");;
esac
cat > /dev/null
printf '{"type":"item.completed","item":{"type":"agent_message","text":"%s"}}\n' "$text"
"#;

struct Desktop {
    directory: tempfile::TempDir,
    git: Git,
    environment: ProcessEnvironment,
}

impl Desktop {
    /// Creates a sandbox `box` with the clone `box/shop`, which is not trusted, and a secret next to the sandbox.
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().canonicalize().unwrap().join(name);
        for name in ["box/shop/packages/web", "data", "bin"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("secret.md"), SECRET).unwrap();
        for (name, script) in
            [("codex", REVIEWER.to_owned()), ("agent", format!("#!/bin/sh\n: > {}\n", at("ran").display()))]
        {
            fs::write(at("bin").join(name), script).unwrap();
            fs::set_permissions(at("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        git(&at("box/shop"), &["init", "--quiet", "--initial-branch=main"]).unwrap();
        let settings = SettingsStore::open(&at("settings.toml"), Overrides::default()).unwrap();
        settings.update(|settings| settings.sandbox_base_directory = Some(at("box"))).unwrap();
        let settings = Arc::new(settings);
        let programs = Arc::new(Programs::new(settings.clone()));
        let sandbox = Arc::new(Sandbox::new(settings, &at("data")));
        let git = Git::new(programs.clone(), sandbox.clone());
        let environment = ProcessEnvironment::new(programs, git.clone(), sandbox);
        Self { directory, git, environment }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
    }

    fn link(&self, name: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        symlink(self.at("secret.md"), self.at(name)).unwrap();
    }

    /// Agrees to everything that `loopgate trust` shows.
    async fn trust(&self, clone: &str) {
        let mut content = self.git.executable_content(&self.at(clone)).await.unwrap();
        let leaving = self.git.instructions(&self.at(clone)).await.unwrap().leaving;
        content.parts.extend(leaving.iter().map(|(name, target)| instruction_part(name, target)));
        TrustStore::new(&self.at("data")).trust(&content.clone, content.entries()).unwrap();
    }

    /// Runs a turn of the reviewer in a directory, and returns its answer.
    async fn review(&self, directory: &str) -> String {
        let turn = TurnRequest { prompt: "Review".to_owned(), ..TurnRequest::default() };
        let cwd = self.at(directory);
        let (environment, guard) = self.environment.guarded(&[&cwd]).await;
        let command = Reviewer.command(&turn, &guard);
        let process = Command::new(self.at("bin/codex"))
            .args(command.args)
            .environment(environment)
            .directory(cwd)
            .stdin(Stdin::Bytes(command.stdin.into_bytes()));
        let output = process.run(Limits::time(Duration::from_secs(60))).await.unwrap();
        let (mut turn, mut reader) = (TurnOutput::default(), Reviewer.reader());
        for line in output.stdout_text().lines() {
            reader.read_line(line, &mut turn);
        }
        turn.text
    }

    /// Starts a turn of an agent that may work in any repository, and returns why it was refused.
    async fn refusal(&self, directory: &str) -> Option<String> {
        let program = AgentProgram {
            program: self.at("bin/agent").display().to_string(),
            args: Vec::new(),
            any_repository: true,
        };
        let cwd = self.at(directory);
        let id = ProviderId::parse("opencode").unwrap();
        let agent = AcpAgent::new(id, program, Path::new("/usr/bin/loopgate"));
        let guard = self.environment.guard(&[&cwd]).await;
        let args = agent.command(&TurnRequest::default(), &guard).args;
        let has = |flag: &str| args.contains(&OsString::from(flag));
        let turn = AcpTurn {
            program: self.at("bin/agent"),
            args: Vec::new(),
            cwd,
            session: None,
            access: FileAccess::ReadOnly,
            outside_repositories: has("--outside-repositories"),
            has_leaving_instructions: has("--leaving-instructions"),
            prompt: "Hello".to_owned(),
        };
        let _ = fs::remove_file(self.at("ran"));
        let error = turn.run().await.unwrap_err();
        let is_refused = matches!(error, AcpTurnError::LeavingInstructions(_) | AcpTurnError::NotTrusted(_));
        // Without a refusal, the scripted agent starts and closes the connection.
        assert_eq!(is_refused, !self.at("ran").exists(), "{error}");
        is_refused.then(|| error.to_string())
    }
}

#[tokio::test]
async fn reviewer_reads_no_instructions_that_lead_out_of_an_untrusted_repository() {
    let desktop = Desktop::new();
    desktop.write("box/shop/AGENTS.md", "Be kind.");
    assert_eq!(desktop.review("box/shop").await, "Be kind.");
    fs::remove_file(desktop.at("box/shop/AGENTS.md")).unwrap();
    desktop.link("box/shop/AGENTS.md");
    for directory in ["box/shop", "box/shop/packages/web"] {
        assert_eq!(desktop.review(directory).await, "none", "{directory}");
    }
    desktop.trust("box/shop").await;
    assert_eq!(desktop.review("box/shop").await, SECRET);
    // Another link is not what the user agreed to.
    desktop.link("box/shop/packages/web/AGENTS.md");
    assert_eq!(desktop.review("box/shop").await, "none");
    desktop.trust("box/shop").await;
    assert_eq!(desktop.review("box/shop/packages/web").await, SECRET);
}

#[tokio::test]
async fn agents_do_not_start_where_instructions_lead_out() {
    let desktop = Desktop::new();
    desktop.write("box/shop/AGENTS.md", "Be kind.");
    assert_eq!(desktop.refusal("box/shop").await, None);
    let import = format!("@{}\n", desktop.at("secret.md").display());
    for (name, text) in [
        ("AGENTS.md", None),
        ("packages/web/GEMINI.md", None),
        (".claude/rules/own.md", None),
        (".claude/CLAUDE.md", Some(&import)),
    ] {
        let path = format!("box/shop/{name}");
        let _ = fs::remove_file(desktop.at(&path));
        text.map_or_else(|| desktop.link(&path), |text| desktop.write(&path, text));
        for directory in ["box/shop", "box/shop/packages/web"] {
            let refusal = desktop.refusal(directory).await.unwrap_or_else(|| panic!("{name} in {directory}"));
            assert!(refusal.contains("loopgate trust"), "{refusal}");
        }
        fs::remove_file(desktop.at(&path)).unwrap();
    }
    // A directory without a repository, such as an unpacked archive.
    desktop.write("box/archive/CLAUDE.md", &import);
    assert!(desktop.refusal("box/archive").await.unwrap().contains("lead out"));
    desktop.write("box/archive/CLAUDE.md", "Be kind.");
    assert_eq!(desktop.refusal("box/archive").await, None);
}
