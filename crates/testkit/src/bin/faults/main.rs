//! Lets things go wrong at drawn moments while loops run, and looks whether anything was lost.
//!
//! Each run has a scene of its own with two repositories, the real assistant and one fault; its
//! seed draws all of it, and repeats it. `cargo xtask faults` builds the binary and starts this. Not
//! part of the tests: it goes on for as long as it is let, and waits for times.

mod check;
mod fault;
mod run;
mod script;
mod stage;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use futures_util::StreamExt as _;

use crate::fault::Drawn;

/// Let things go wrong while loops run.
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
    /// Only faults whose name begins so, for example `kill` or `cut-model`.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| rand::random::<u64>() >> 16);
    let begin = Instant::now();
    let drawn = (seed..).map(Drawn::of);
    let wanted = drawn.filter(|drawn| {
        options.only.as_ref().is_none_or(|name| drawn.fault.to_string().starts_with(name.as_str()))
    });
    let runs = wanted.take(usize::try_from(options.runs).unwrap_or(usize::MAX));
    let mut runs = futures_util::stream::iter(runs)
        .map(|drawn| async move { (drawn.clone(), tokio::spawn(run::run(drawn)).await) })
        .buffer_unordered(options.jobs.max(1));
    let (mut good, mut failed) = (0, Vec::new());
    while let Some((drawn, verdict)) = runs.next().await {
        match verdict.map_err(anyhow::Error::from).and_then(|verdict| verdict) {
            Ok(told) => {
                good += 1;
                println!("{drawn}: ok, {told}");
            }
            Err(error) => {
                println!("{drawn}: FAILED: {error:#}");
                failed.push(drawn.seed);
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
