//! `loopgate trust`: shows hooks and programs that a repository configures, and records the user's consent.

use std::path::Path;
use std::process::Output;

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;

use crate::cli::run;
use crate::test_gateway::write;
use crate::test_system::setup;

struct TrustFixture {
    home: UserHome,
    clone: std::path::PathBuf,
}

impl TrustFixture {
    fn new() -> Result<Self> {
        let home = UserHome::temporary()?;
        let clone = home.path().join("shop");
        std::fs::create_dir(&clone)?;
        git(&clone, &["init", "--quiet"])?;
        Ok(Self { home, clone })
    }

    fn hook(&self, text: &str) -> Result<()> {
        write(&self.clone.join(".git/hooks/pre-commit"), text)
    }

    async fn trust(&self, arguments: &[&str]) -> Result<(Output, String)> {
        let data = self.home.path().join("data");
        let mut words = vec!["trust", "--home", data.to_str().unwrap_or_default()];
        words.extend(arguments);
        let output = run(&self.home, &words, &[]).await?;
        let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
        Ok((output, text))
    }
}

fn as_str(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

#[tokio::test]
async fn hooks_are_trusted_after_consent_until_changed() -> Result<()> {
    let desktop = TrustFixture::new()?;
    let clone = as_str(&desktop.clone);
    let (output, text) = desktop.trust(&[clone]).await?;
    ensure!(output.status.success() && text.contains("has no executable content"), "{text}");

    // Control and bidirectional characters could hide a part of the hook on a terminal.
    desktop.hook("#!/bin/sh\necho \u{1b}[2Jhidden\u{202e}\n")?;
    let (output, text) = desktop.trust(&[clone]).await?;
    ensure!(output.status.code() == Some(1) && text.contains("pass --yes to confirm"), "{text}");
    ensure!(text.contains("hook pre-commit") && text.contains(r"echo \u{1b}[2Jhidden\u{202e}"), "{text}");
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("No repositories are trusted"), "{text}");

    let (output, text) = desktop.trust(&[clone, "--yes"]).await?;
    ensure!(output.status.success() && text.contains("is now trusted"), "{text}");
    // A worktree shares the trust of its clone.
    git(
        &desktop.clone,
        &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--allow-empty", "-m", "Begin"],
    )?;
    let worktree = desktop.home.path().join("tree");
    git(&desktop.clone, &["worktree", "add", "--quiet", as_str(&worktree)])?;
    for path in [clone, as_str(&worktree)] {
        let (output, text) = desktop.trust(&[path]).await?;
        ensure!(output.status.success() && text.contains("All of it is trusted"), "{text}");
    }
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains(clone) && text.contains("hook pre-commit"), "{text}");

    desktop.hook("#!/bin/sh\necho something else\n")?;
    let (output, _) = desktop.trust(&[clone]).await?;
    ensure!(output.status.code() == Some(1), "a changed hook is still trusted");
    desktop.trust(&[clone, "--yes"]).await?;
    for expected in ["is no longer trusted", "was not trusted"] {
        let (output, text) = desktop.trust(&[clone, "--revoke"]).await?;
        ensure!(output.status.success() && text.contains(expected), "{text}");
    }
    let (output, text) = desktop.trust(&["/nowhere"]).await?;
    ensure!(output.status.code() == Some(1) && text.contains("/nowhere"), "{text}");
    Ok(())
}

#[tokio::test]
async fn test_command_is_trusted_separately() -> Result<()> {
    let desktop = TrustFixture::new()?;
    let clone = as_str(&desktop.clone);
    write(&desktop.clone.join("package.json"), r#"{"scripts":{"test":"node --test"}}"#)?;
    desktop.hook("#!/bin/sh\n")?;
    let (output, text) = desktop.trust(&[clone, "--yes"]).await?;
    let hint = format!("Loops do not run its tests. To let them: loopgate trust {clone} --tests 'npm test'");
    ensure!(output.status.success() && text.contains(&hint), "{text}");
    ensure!(text.contains("Its tests: npm test") && text.contains("    node --test"), "{text}");
    let (output, text) = desktop.trust(&[clone, "--tests", ""]).await?;
    ensure!(!output.status.success(), "{text}");

    let (output, text) = desktop.trust(&[clone, "--tests", "npm test"]).await?;
    ensure!(output.status.success() && text.contains("with: npm test"), "{text}");
    let (_, text) = desktop.trust(&[clone]).await?;
    ensure!(
        text.contains("Loops run its tests: npm test") && text.contains("All of it is trusted"),
        "{text}"
    );
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("hook pre-commit") && text.contains("    tests: npm test"), "{text}");

    let (output, text) = desktop.trust(&[clone, "--no-tests"]).await?;
    ensure!(output.status.success() && text.contains("Loops do not run the tests of"), "{text}");
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("hook pre-commit") && !text.contains("tests:"), "{text}");
    desktop.trust(&[clone, "--tests", "npm test"]).await?;
    desktop.trust(&[clone, "--revoke"]).await?;
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("No repositories are trusted"), "{text}");
    Ok(())
}

#[tokio::test]
async fn deploy_commands_are_trusted_separately() -> Result<()> {
    let desktop = TrustFixture::new()?;
    let clone = as_str(&desktop.clone);
    write(&desktop.clone.join("package.json"), r#"{"scripts":{"dev":"node server.js"}}"#)?;
    desktop.hook("#!/bin/sh\n")?;
    let (output, text) = desktop.trust(&[clone, "--yes"]).await?;
    let hint = format!("To let them: loopgate trust {clone} --deploy 'npm install' --deploy 'npm run dev'");
    ensure!(output.status.success() && text.contains(&hint), "{text}");
    let (output, text) =
        desktop.trust(&[clone, "--deploy", "npm install", "--deploy", "npm run dev"]).await?;
    ensure!(output.status.success() && text.contains("may run: npm install, npm run dev"), "{text}");
    let (_, text) = desktop.trust(&[clone]).await?;
    ensure!(text.contains("Deployments run: npm install, npm run dev"), "{text}");
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("    deployment: npm run dev") && text.contains("hook pre-commit"), "{text}");
    let (output, text) = desktop.trust(&[clone, "--no-deploy"]).await?;
    ensure!(output.status.success() && text.contains("Deployments run no command of"), "{text}");
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("hook pre-commit") && !text.contains("deployment:"), "{text}");
    Ok(())
}

#[tokio::test]
async fn instructions_are_shown_and_links_out_of_the_repository_are_parts() -> Result<()> {
    let desktop = TrustFixture::new()?;
    let clone = as_str(&desktop.clone);
    write(&desktop.clone.join(".claude/rules/style.md"), "Indent with tabs.\n")?;
    write(&desktop.home.path().join("notes.md"), "NOTES OF THE USER")?;
    std::os::unix::fs::symlink(desktop.home.path().join("notes.md"), desktop.clone.join("CLAUDE.md"))?;
    let (output, text) = desktop.trust(&[clone]).await?;
    ensure!(output.status.code() == Some(1) && text.contains("    Indent with tabs."), "{text}");
    ensure!(
        text.contains("CLAUDE.md leads out of the repository, to ") && text.contains("link CLAUDE.md"),
        "{text}"
    );
    ensure!(!text.contains("NOTES OF THE USER"), "{text}");
    let (output, text) = desktop.trust(&[clone, "--yes"]).await?;
    ensure!(output.status.success() && text.contains("is now trusted"), "{text}");
    Ok(())
}

#[tokio::test]
async fn start_banner_names_untrusted_repositories() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    let clone = testbed.add_story()?;
    write(&clone.join(".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n")?;
    let loopgate = setup(&testbed)?.start().await?;
    let hint = format!("review them: loopgate trust {}", clone.display());
    ensure!(loopgate.output().contains(&hint), "{}", loopgate.output());
    Ok(())
}
