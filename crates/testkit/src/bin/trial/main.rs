//! Tries the cases in which an assistant, its model's service, git, the code host or a person misbehaves,
//! each in a `loopgate up` of its own with the real assistant, and looks at what the loop says of it and at
//! what is left.
//!
//! `cargo xtask trial` builds the binaries and starts this. `cargo xtask test` tries the cases that are quick.

mod case;
mod cases;
mod outcome;
mod run;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use futures_util::StreamExt as _;

/// Try the cases in which others misbehave.
#[derive(Parser)]
struct Options {
    /// Only cases whose name holds this.
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Only cases that take seconds.
    #[arg(long)]
    quick: bool,
    /// How many at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Name the cases and try none.
    #[arg(long)]
    list: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let mut cases = cases::all();
    cases.retain(|case| options.only.as_ref().is_none_or(|part| case.name.contains(part.as_str())));
    cases.retain(|case| !(options.quick && case.is_slow));
    if options.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return ExitCode::SUCCESS;
    }
    let (begin, count) = (Instant::now(), cases.len());
    let mut tried = futures_util::stream::iter(cases)
        .map(|case| async move { (case.name, Instant::now(), run::run(case).await) })
        .buffer_unordered(options.jobs.max(1));
    let mut failed = Vec::new();
    while let Some((name, begin, verdict)) = tried.next().await {
        match verdict {
            Ok(outcome) => println!("ok {:4.0} s  {name}: {outcome}", begin.elapsed().as_secs_f64()),
            Err(error) => {
                println!("FAILED  {name}: {error:#}");
                failed.push(name);
            }
        }
    }
    for name in &failed {
        println!("again with: cargo xtask trial --only '{name}'");
    }
    println!("{:.0} s", begin.elapsed().as_secs_f64());
    println!("{} of {count}", count - failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
