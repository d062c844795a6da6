//! Injects faults at random times into running loops and checks that no work is lost.
//!
//! Each run uses two repositories, the real assistant and one fault, and is determined by its seed. Started
//! by `cargo xtask faults`, which builds the binary. Not part of the test suite: it runs for as long as
//! requested and depends on timing.

mod check;
mod fault;
mod fixture;
mod report;
mod run;
mod script;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use futures_util::StreamExt as _;

use crate::fault::Scenario;

/// Inject faults into running loops.
#[derive(Parser)]
struct FaultsOptions {
    /// Number of runs to execute.
    #[arg(long, default_value_t = 200)]
    runs: u64,
    /// Seed of the first run, incremented for each further run. Random by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Number of concurrent runs.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Inject only faults whose name starts with this, for example `kill` or `cut-model`.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = FaultsOptions::parse();
    let seed = options.seed.unwrap_or_else(|| rand::random::<u64>() >> 16);
    let begin = Instant::now();
    let scenarios = (seed..).map(|seed| Scenario::draw(seed, script::WRITTEN.len())).filter(|scenario| {
        options.only.as_ref().is_none_or(|name| scenario.fault.to_string().starts_with(name.as_str()))
    });
    let runs = scenarios.take(usize::try_from(options.runs).unwrap_or(usize::MAX));
    let mut runs = futures_util::stream::iter(runs)
        .map(|scenario| async move { (scenario.clone(), tokio::spawn(run::run(scenario)).await) })
        .buffer_unordered(options.jobs.max(1));
    let (mut passed, mut failed) = (0, Vec::new());
    while let Some((scenario, verdict)) = runs.next().await {
        match verdict.map_err(anyhow::Error::from).and_then(|verdict| verdict) {
            Ok(report) => {
                passed += 1;
                println!("{scenario}: ok, {report}");
            }
            Err(error) => {
                println!("{scenario}: FAILED: {error:#}");
                failed.push(scenario.seed);
            }
        }
    }
    for seed in &failed {
        println!("repeat with: cargo xtask faults --runs 1 --seed {seed}");
    }
    println!("{:.0} s", begin.elapsed().as_secs_f64());
    println!("{passed} of {} runs passed", options.runs);
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
