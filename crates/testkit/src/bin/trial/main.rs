//! Runs cases in which the assistant, the model's API, git, the code host or the user misbehaves, or in which the
//! repository or the network has properties of real ones. Each case has its own `loopgate up` with the real assistant.
//! Checks the loop's status, its messages and the remaining files.
//!
//! Started by `cargo xtask trial`, which builds the binaries. `cargo xtask test` runs the quick cases.

mod case;
mod cases;
mod connection;
mod outcome;
mod run;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use futures_util::StreamExt as _;

/// Run cases in which a participant misbehaves.
#[derive(Parser)]
struct TrialOptions {
    /// Run only cases whose name contains this.
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Run only cases that take seconds.
    #[arg(long)]
    quick: bool,
    /// Number of concurrent cases.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// List the cases and exit.
    #[arg(long)]
    list: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = TrialOptions::parse();
    let mut cases = cases::all();
    cases.retain(|case| options.only.as_ref().is_none_or(|part| case.name.contains(part.as_str())));
    cases.retain(|case| !(options.quick && case.is_slow));
    if options.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return ExitCode::SUCCESS;
    }
    let (begin, count) = (Instant::now(), cases.len());
    let mut results = futures_util::stream::iter(cases)
        .map(|case| async move { (case.name, Instant::now(), run::run(case).await) })
        .buffer_unordered(options.jobs.max(1));
    let mut failed = Vec::new();
    while let Some((name, begin, verdict)) = results.next().await {
        match verdict {
            Ok(outcome) => println!("ok {:4.0} s  {name}: {outcome}", begin.elapsed().as_secs_f64()),
            Err(error) => {
                println!("FAILED  {name}: {error:#}");
                failed.push(name);
            }
        }
    }
    for name in &failed {
        println!("repeat with: cargo xtask trial --only '{name}'");
    }
    println!("{:.0} s", begin.elapsed().as_secs_f64());
    println!("{} of {count} cases passed", count - failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
