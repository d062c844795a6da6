//! Tests the contracts with the newest published assistant, reviewer and ACP agent.
//!
//! `xtask/compat.toml` assigns tests to contracts. The programs are installed into a folder of their own; the
//! pinned ones, which `cargo xtask test` runs, are never changed.

mod contract;
mod program;
mod report;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use loopgate_test_programs as pinned;

use crate::count::TestCase;
use crate::install;
use crate::run::{binary, cargo, command, junit, nextest, run, run_and_read};
use contract::Contract;
use program::{NewestPrograms, RequestedVersion};
use report::{CompatReport, ContractOutcome};

/// Check the contracts with the newest published assistant, reviewer and opencode.
///
/// Exits with 1 if a contract is broken, and with 2 if none is broken but some could not be checked.
#[derive(Args)]
pub struct Compat {
    /// Check only this contract; may be repeated.
    #[arg(long, value_name = "CONTRACT")]
    only: Vec<String>,
    /// Use this version of a program, for example `claude=2.1.300`; may be repeated.
    #[arg(long = "program", value_name = "PROGRAM=VERSION")]
    versions: Vec<RequestedVersion>,
    /// List the contracts, each with its program, and exit.
    #[arg(long)]
    list: bool,
}

impl Compat {
    /// Installs the programs, runs the checks of the contracts, and prints which contracts are broken.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let contracts = contract::read_contracts(&self.only)?;
        if self.list {
            contracts.iter().for_each(|contract| println!("{} ({})", contract.name, contract.program));
            return Ok(ExitCode::SUCCESS);
        }
        let programs = NewestPrograms::install(&self.versions)?;
        println!("{programs}");
        let can_run = |contract: &&Contract| programs.version(contract.program).obstacle.is_none();
        let checkable: Vec<&Contract> = contracts.iter().filter(can_run).collect();
        if !checkable.is_empty() {
            set_up()?;
        }
        let cases = run_tests(&checkable, programs.folder())?;
        let mut report = CompatReport::default();
        for contract in &contracts {
            let version = programs.version(contract.program);
            let outcome = match &version.obstacle {
                Some(obstacle) => ContractOutcome::NotChecked(obstacle.clone()),
                None if contract.trial => run_trial(programs.folder())?,
                None => contract.outcome(&cases),
            };
            report.add(&contract.name, version, outcome);
        }
        println!("\n{report}");
        Ok(ExitCode::from(report.exit_code()))
    }
}

fn set_up() -> anyhow::Result<()> {
    install::nextest()?;
    install::package("gh", "gh")?;
    install::package("git-lfs", "git-lfs")?;
    install::package("faketime", "faketime")?;
    // The example, which tests start, enables the features of the tests, so that dependencies are built only
    // once. Cargo does not build it when tests are selected with `--test`.
    let programs = ["--bin", "loopgate", "--bin", "trial", "--example", "loopgate"];
    run(cargo().args(["build", "--workspace"]).args(programs))
}

/// Runs the tests of all contracts at once: they share one build and the machine's cores.
fn run_tests(contracts: &[&Contract], programs: &Path) -> anyhow::Result<Vec<TestCase>> {
    let Some(filter) = contract::test_filter(contracts) else { return Ok(Vec::new()) };
    let mut tests = nextest();
    for target in contract::test_targets(contracts) {
        tests.args(["--test", target]);
    }
    tests.args(["--filterset", &filter]).env(pinned::FOLDER_VARIABLE, programs);
    // A report of an earlier run must not be read. An error is ignored: usually there is no report.
    let _ = std::fs::remove_file(junit());
    let result = run(&mut tests);
    let cases = TestCase::of_junit(&junit()).context("the tests did not run")?;
    match result {
        // A run that fails without a failed test, for example at compilation, must not count as passed.
        Err(error) if cases.iter().all(|case| case.passed) => Err(error),
        _ => Ok(cases),
    }
}

fn run_trial(programs: &Path) -> anyhow::Result<ContractOutcome> {
    let mut trial = command(binary("trial"));
    trial.env("LOOPGATE_BIN", binary("loopgate")).env(pinned::FOLDER_VARIABLE, programs);
    let (status, output) = run_and_read(&mut trial)?;
    let outcome = ContractOutcome::of_trial(&output);
    if status.success() == outcome.is_broken() {
        bail!("the trial ended with {status}, and reported: {outcome}");
    }
    Ok(outcome)
}
