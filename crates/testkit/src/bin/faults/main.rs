//! Injects faults at random moments while loops run, and checks that nothing was lost.
//!
//! Each run has two repositories, the real assistant and one fault of its own; its seed determines all of
//! it, and repeats it. `cargo xtask faults` builds the binary and starts this. Not part of the tests: it
//! takes as long as it is asked to, and waits for times.

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

/// Inject faults while loops run.
#[derive(Parser)]
struct Options {
    /// How many runs.
    #[arg(long, default_value_t = 200)]
    runs: u64,
    /// Seed of the first run; each further run has the next one. Drawn when it is not given.
    #[arg(long)]
    seed: Option<u64>,
    /// How many runs at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Only faults whose name begins with this, for example `kill` or `cut-model`.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| rand::random::<u64>() >> 16);
    let begin = Instant::now();
    let scenarios = (seed..).map(|seed| Scenario::draw(seed, script::WRITTEN.len())).filter(|scenario| {
        options.only.as_ref().is_none_or(|name| scenario.fault.to_string().starts_with(name.as_str()))
    });
    let runs = scenarios.take(usize::try_from(options.runs).unwrap_or(usize::MAX));
    let mut runs = futures_util::stream::iter(runs)
        .map(|scenario| async move { (scenario.clone(), tokio::spawn(run::run(scenario)).await) })
        .buffer_unordered(options.jobs.max(1));
    let (mut good, mut failed) = (0, Vec::new());
    while let Some((scenario, verdict)) = runs.next().await {
        match verdict.map_err(anyhow::Error::from).and_then(|verdict| verdict) {
            Ok(report) => {
                good += 1;
                println!("{scenario}: ok, {report}");
            }
            Err(error) => {
                println!("{scenario}: FAILED: {error:#}");
                failed.push(scenario.seed);
            }
        }
    }
    for seed in &failed {
        println!("again with: cargo xtask faults --runs 1 --seed {seed}");
    }
    println!("{:.0} s", begin.elapsed().as_secs_f64());
    println!("{good} of {}", options.runs);
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
