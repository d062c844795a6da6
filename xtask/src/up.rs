//! Builds what is stale and runs `loopgate up`, or the demo when the assistant cannot work.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::run::{become_program, build, cargo, command, is_installed, run};
use crate::{install, target, web};

/// Options of `up`. Unknown arguments are passed on to `loopgate up`.
#[derive(Args)]
pub struct Up {
    /// Run the demo: a throw-away home with a sample repository and a scripted model.
    #[arg(long)]
    demo: bool,
    /// Build an optimized release binary.
    #[arg(long)]
    release: bool,
    /// Arguments of `loopgate up`, for example `--sandbox ~/src`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

/// Environment variables that provide the assistant with an account.
const ACCOUNT_VARIABLES: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
];

impl Up {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        // `trailing_var_arg` also captures flags of this command that follow an argument of `loopgate up`.
        let has_flag = |flag: &str| self.arguments.iter().any(|argument| argument == flag);
        let (release, mut demo) = (self.release || has_flag("--release"), self.demo || has_flag("--demo"));
        let arguments: Vec<&String> = self
            .arguments
            .iter()
            .filter(|argument| *argument != "--release" && *argument != "--demo")
            .collect();
        if !demo && let Some(reason) = missing_assistant() {
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
        install::require("git", "install git")?;
        let mut demo = command(target().join(profile).join("demo"));
        become_program(demo.env("LOOPGATE_BIN", binary).args(arguments))
    }
}

fn build_release(demo: bool) -> anyhow::Result<()> {
    // Only this package: `--workspace` would enable features that tests add to its dependencies.
    let mut build = cargo();
    build.args(["build", "--release", "--package", "loopgate", "--bin", "loopgate"]);
    if demo {
        build.args(["--package", "loopgate-testkit", "--bin", "demo"]);
    }
    run(&mut build)
}

/// Returns the reason why the assistant cannot work on this machine, if any.
fn missing_assistant() -> Option<String> {
    if !is_installed("claude") {
        return Some("No assistant found: `claude` is not on your PATH.".to_owned());
    }
    let has_variable =
        ACCOUNT_VARIABLES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if has_variable || signed_in_by_file() || signed_in_by_keychain() {
        return None;
    }
    Some("The assistant is not signed in: run `claude` once and sign in to use it.".to_owned())
}

fn signed_in_by_file() -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let folder = std::env::var_os("CLAUDE_CONFIG_DIR").map_or_else(|| home.join(".claude"), PathBuf::from);
    folder.join(".credentials.json").is_file()
}

/// Returns whether the macOS keychain has an account of the assistant.
fn signed_in_by_keychain() -> bool {
    // Without `-w` the secret is not read, so macOS shows no permission prompt.
    cfg!(target_os = "macos")
        && command("security")
            .args(["find-generic-password", "-s", "Claude Code-credentials"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}
