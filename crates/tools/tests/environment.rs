//! The guard for programs in checkouts, with the real git.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod machine;

use std::fs;

use loopgate_home::Program;
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::git::Git;
use loopgate_tools::process::Limits;
use loopgate_tools::programs::find_on_path;
use machine::{Machine, write_script};

/// Examining the content of a repository starts git, which delays the start of the program.
#[tokio::test]
async fn content_of_a_repository_without_consent_is_examined_once() {
    let machine = Machine::new(&[]);
    let real_git = find_on_path(&std::env::var("PATH").unwrap(), "git").unwrap();
    let log = machine.at("starts");
    let script = format!("echo \"$*\" >> '{}'\nexec '{}' \"$@\"", log.display(), real_git.display());
    write_script(&machine.at("bin/git"), &script);
    let clone = machine.at("widget");
    fs::create_dir(&clone).unwrap();
    let init = machine.programs.command(Program::Git).await.directory(&clone).args(["init", "-q"]);
    assert!(init.run(Limits::time(std::time::Duration::from_secs(60))).await.unwrap().status.success());
    write_script(&clone.join(".git/hooks/pre-commit"), "exit 0");

    let git = Git::new(machine.programs.clone(), machine.sandbox.clone());
    let environment = ProcessEnvironment::new(machine.programs.clone(), git.clone(), machine.sandbox.clone());
    fs::remove_file(&log).unwrap();
    assert!(!environment.guard(&[&clone]).await.is_trusted());
    // The configuration is listed, and once more if it is remembered.
    let starts = fs::read_to_string(&log).unwrap();
    assert!(
        starts.lines().count() <= 2 && starts.lines().all(|line| line.starts_with("config --list")),
        "{starts}"
    );

    machine.trust(&git, &clone).await;
    assert!(environment.guard(&[&clone]).await.is_trusted());
    // Consent to the earlier content does not cover the new one.
    write_script(&clone.join(".git/hooks/pre-commit"), "exit 1");
    assert!(!environment.guard(&[&clone]).await.is_trusted());
    assert!(!environment.guard(&[&machine.at("home")]).await.is_trusted(), "no repository");
    assert!(!environment.guard(&[]).await.is_trusted(), "no checkout");
}
