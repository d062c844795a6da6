//! Lets the assistant of this machine plan and implement ten small tasks, and measures what comes of it.
//!
//! `cargo xtask evaluate` builds the binaries and starts this. It works in a temporary directory, and on the account
//! that the assistant is signed in to. Its figures can be held against those of another version of the prompts.

mod account;
mod command;
mod measure;
mod report;
mod repository;
mod task;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use clap::Parser;

use crate::report::Report;

/// Evaluate the prompts with the assistant of this machine, on your own account.
#[derive(Parser)]
struct Options {
    /// The loopgate binary.
    #[arg(long, env = "LOOPGATE_BIN")]
    binary: PathBuf,
    /// Directory of the plugin `code` whose prompts are evaluated.
    #[arg(long, env = "LOOPGATE_PLUGIN_DIR")]
    plugin: PathBuf,
    /// The assistant.
    #[arg(long, env = "LOOPGATE_ASSISTANT_BIN", default_value = "claude")]
    assistant: String,
    /// Only tasks whose name contains this.
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Name the tasks and run none.
    #[arg(long)]
    list: bool,
    /// US dollars that the plan and the implementation of a task may cost, each.
    #[arg(long, default_value = "3")]
    max_spend_usd: String,
    /// Runs of the assistant for the plan and for the implementation of a task, each.
    #[arg(long, default_value_t = 8)]
    max_iterations: u32,
    /// Where the figures are written.
    #[arg(long, default_value = "evaluation.json", value_name = "FILE")]
    output: PathBuf,
    /// Figures of an earlier run to compare with.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> anyhow::Result<()> {
    let mut tasks = task::all();
    tasks.retain(|task| options.only.as_ref().is_none_or(|part| task.name.contains(part.as_str())));
    if options.list {
        tasks.iter().for_each(|task| println!("{}", task.name));
        return Ok(());
    }
    anyhow::ensure!(!tasks.is_empty(), "no task has such a name; --list names them");
    let earlier = options.compare.as_deref().map(Report::read).transpose()?;
    let version = account::check(&options.assistant)?;
    eprintln!(
        "{} tasks on the account of {version}; each may cost ${} twice, for its plan and its implementation.",
        tasks.len(),
        options.max_spend_usd
    );
    let mut report = Report::new(&options.plugin, version)?;
    for task in &tasks {
        eprintln!("\n== {}", task.name);
        let begun = Instant::now();
        let loops = measure::LoopOptions {
            binary: &options.binary,
            plugin: &options.plugin,
            assistant: &options.assistant,
            max_spend_usd: &options.max_spend_usd,
            max_iterations: options.max_iterations,
        };
        let figures = measure::task(task, &loops).with_context(|| format!("the task {}", task.name))?;
        report.add(task.name, figures, begun.elapsed());
        // Written each time, so that an interrupted evaluation keeps what it has paid for.
        report.write(&options.output)?;
    }
    println!("\n{report}");
    if let Some(earlier) = &earlier {
        println!("{}", report.compared_with(earlier));
    }
    eprintln!("The figures are in {}.", options.output.display());
    Ok(())
}
