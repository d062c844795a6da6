//! `loopgate trust`: seeing what a repository brings along to be run, and agreeing to it.

use std::path::Path;
use std::process::Output;

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;

use crate::cli::run;
use crate::local::write;
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

    async fn trust(&self, more: &[&str]) -> Result<(Output, String)> {
        let data = self.home.path().join("data");
        let mut words = vec!["trust", "--home", data.to_str().unwrap_or_default()];
        words.extend(more);
        let output = run(&self.home, &words, &[]).await?;
        let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
        Ok((output, text))
    }
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

#[tokio::test]
async fn person_sees_it_and_agrees_until_it_changes() -> Result<()> {
    let desktop = TrustFixture::new()?;
    let clone = shown(&desktop.clone);
    let (output, text) = desktop.trust(&[clone]).await?;
    ensure!(output.status.success() && text.contains("brings nothing along"), "{text}");

    desktop.hook("#!/bin/sh\necho \u{1b}[2Jhidden\u{202e}\n")?;
    let (output, text) = desktop.trust(&[clone]).await?;
    ensure!(output.status.code() == Some(1) && text.contains("there is nobody to ask"), "{text}");
    ensure!(text.contains("hook pre-commit") && text.contains(r"echo \u{1b}[2Jhidden\u{202e}"), "{text}");
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("No repository may run anything"), "{text}");

    let (output, text) = desktop.trust(&[clone, "--yes"]).await?;
    ensure!(output.status.success() && text.contains("may run this from now on"), "{text}");
    // A worktree is the same clone.
    git(
        &desktop.clone,
        &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--allow-empty", "-m", "Begin"],
    )?;
    let worktree = desktop.home.path().join("tree");
    git(&desktop.clone, &["worktree", "add", "--quiet", shown(&worktree)])?;
    for place in [clone, shown(&worktree)] {
        let (output, text) = desktop.trust(&[place]).await?;
        ensure!(output.status.success() && text.contains("You have agreed to all of it"), "{text}");
    }
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains(clone) && text.contains("hook pre-commit"), "{text}");

    desktop.hook("#!/bin/sh\necho something else\n")?;
    let (output, _) = desktop.trust(&[clone]).await?;
    ensure!(output.status.code() == Some(1), "it changed");
    desktop.trust(&[clone, "--yes"]).await?;
    for said in ["is trusted no longer", "was not trusted"] {
        let (output, text) = desktop.trust(&[clone, "--revoke"]).await?;
        ensure!(output.status.success() && text.contains(said), "{text}");
    }
    let (output, text) = desktop.trust(&["/nowhere"]).await?;
    ensure!(output.status.code() == Some(1) && text.contains("/nowhere"), "{text}");
    Ok(())
}

#[tokio::test]
async fn tests_are_agreed_to_by_their_command_and_apart_from_the_rest() -> Result<()> {
    let desktop = TrustFixture::new()?;
    let clone = shown(&desktop.clone);
    write(&desktop.clone.join("package.json"), r#"{"scripts":{"test":"node --test"}}"#)?;
    desktop.hook("#!/bin/sh\n")?;
    let (output, text) = desktop.trust(&[clone, "--yes"]).await?;
    let hint =
        format!("Loops do not run its tests. Let them with: loopgate trust {clone} --tests 'npm test'");
    ensure!(output.status.success() && text.contains(&hint), "{text}");
    ensure!(text.contains("Its tests: npm test") && text.contains("    node --test"), "{text}");
    let (output, text) = desktop.trust(&[clone, "--tests", ""]).await?;
    ensure!(!output.status.success(), "{text}");

    let (output, text) = desktop.trust(&[clone, "--tests", "npm test"]).await?;
    ensure!(output.status.success() && text.contains("from now on: npm test"), "{text}");
    let (_, text) = desktop.trust(&[clone]).await?;
    ensure!(text.contains("Loops run its tests: npm test") && text.contains("agreed to all of it"), "{text}");
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("hook pre-commit") && text.contains("    tests: npm test"), "{text}");

    let (output, text) = desktop.trust(&[clone, "--no-tests"]).await?;
    ensure!(output.status.success() && text.contains("Loops do not run the tests of"), "{text}");
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("hook pre-commit") && !text.contains("tests:"), "{text}");
    desktop.trust(&[clone, "--tests", "npm test"]).await?;
    desktop.trust(&[clone, "--revoke"]).await?;
    let (_, text) = desktop.trust(&["--list"]).await?;
    ensure!(text.contains("No repository may run anything"), "{text}");
    Ok(())
}

#[tokio::test]
async fn banner_names_missing_services() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    let clone = testbed.add_story()?;
    write(&clone.join(".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n")?;
    let loopgate = setup(&testbed)?.start().await?;
    let hint = format!("do not run: loopgate trust {}", clone.display());
    ensure!(loopgate.output().contains(&hint), "{}", loopgate.output());
    Ok(())
}
