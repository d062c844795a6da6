//! Tries the ways in which an assistant, its model's service, git, the code host or a person misbehaves,
//! each in a `loopgate up` of its own with the real assistant, and looks at what the loop says of it and at
//! what is left.
//!
//! `cargo xtask trial` builds the binaries and starts this. `cargo xtask test` tries the ways that are quick.

mod outcome;
mod run;
mod way;
mod ways;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use futures_util::StreamExt as _;

/// Try the ways in which others misbehave.
#[derive(Parser)]
struct Options {
    /// Only ways whose name holds this.
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Only ways that take seconds.
    #[arg(long)]
    quick: bool,
    /// How many at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Name the ways and try none.
    #[arg(long)]
    list: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let mut ways = ways::all();
    ways.retain(|way| options.only.as_ref().is_none_or(|part| way.name.contains(part.as_str())));
    ways.retain(|way| !(options.quick && way.is_slow));
    if options.list {
        ways.iter().for_each(|way| println!("{}", way.name));
        return ExitCode::SUCCESS;
    }
    let (begin, count) = (Instant::now(), ways.len());
    let mut tried = futures_util::stream::iter(ways)
        .map(|way| async move { (way.name, Instant::now(), run::run(way).await) })
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
