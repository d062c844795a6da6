//! Builds what is stale and becomes `loopgate up`, or its demo where no assistant can work.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::run::{become_program, build, cargo, command, is_installed, run};
use crate::{install, target, web};

/// Arguments of `up`; those it does not know go to `loopgate up`.
#[derive(Args)]
pub struct Up {
    /// Show Loopgate in a throw-away home, with a sample repository and a scripted model.
    #[arg(long)]
    demo: bool,
    /// Build with optimizations.
    #[arg(long)]
    release: bool,
    /// Arguments for `loopgate up`, for example `--sandbox ~/src`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

/// Variables that give the assistant an account.
const ACCOUNT_VARIABLES: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
];

impl Up {
    /// Runs it.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        // Cargo's flags may be behind those of `loopgate up` as well.
        let given = |flag: &str| self.arguments.iter().any(|argument| argument == flag);
        let (release, mut demo) = (self.release || given("--release"), self.demo || given("--demo"));
        let arguments: Vec<&String> =
            self.arguments.iter().filter(|word| *word != "--release" && *word != "--demo").collect();
        if !demo && let Some(reason) = no_assistant() {
            eprintln!(
                "{reason}\nStarting the demo: the same program, in a throw-away home, with a scripted model.\n"
            );
            demo = true;
        }
        web::build_if_stale()?;
        let profile = if release { "release" } else { "debug" };
        if release {
            build_release(demo)?
        } else {
            build(if demo { &["loopgate", "demo"] } else { &["loopgate"] })?
        }
        let binary = target().join(profile).join("loopgate");
        if !demo {
            return become_program(command(binary).arg("up").args(arguments));
        }
        install::programs()?;
        install::package("gh", "gh")?;
        install::needs("git", "install git")?;
        let mut demo = command(target().join(profile).join("demo"));
        become_program(demo.env("LOOPGATE_BIN", binary).args(arguments))
    }
}

/// With no feature but the program's own.
fn build_release(demo: bool) -> anyhow::Result<()> {
    let mut build = cargo();
    build.args(["build", "--release", "--package", "loopgate", "--bin", "loopgate"]);
    if demo {
        build.args(["--package", "loopgate-testkit", "--bin", "demo"]);
    }
    run(&mut build)
}

/// Why the assistant cannot work here, if it cannot.
fn no_assistant() -> Option<String> {
    if !is_installed("claude") {
        return Some("No assistant found: `claude` is not on your PATH.".to_owned());
    }
    let named =
        ACCOUNT_VARIABLES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if named || signed_in_by_file() || signed_in_by_keychain() {
        return None;
    }
    Some(
        "The assistant has no account yet: run `claude` once and sign in to work with it for real."
            .to_owned(),
    )
}

fn signed_in_by_file() -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let folder = std::env::var_os("CLAUDE_CONFIG_DIR").map_or_else(|| home.join(".claude"), PathBuf::from);
    folder.join(".credentials.json").is_file()
}

/// On macOS the account is in the keychain; only whether the entry exists is asked.
fn signed_in_by_keychain() -> bool {
    cfg!(target_os = "macos")
        && command("security")
            .args(["find-generic-password", "-s", "Claude Code-credentials"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}
