//! Runs the installed assistant on ten small tasks, plan and implementation, and measures the results.
//!
//! Started by `cargo xtask evaluate`, which builds the binaries. Works in temporary directories and uses the
//! account that the assistant is signed in to. Results can be compared with those of another version of the
//! prompts.

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

use crate::report::EvaluationResults;

/// Evaluate the prompts with the installed assistant, on your own account.
#[derive(Parser)]
struct EvaluateOptions {
    /// Path of the loopgate binary.
    #[arg(long, env = "LOOPGATE_BIN")]
    binary: PathBuf,
    /// Directory of the plugin `code` whose prompts are evaluated.
    #[arg(long, env = "LOOPGATE_PLUGIN_DIR")]
    plugin: PathBuf,
    /// Name or path of the assistant.
    #[arg(long, env = "LOOPGATE_ASSISTANT_BIN", default_value = "claude")]
    assistant: String,
    /// Run only tasks whose name contains this.
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// List the tasks and exit.
    #[arg(long)]
    list: bool,
    /// Spending limit in US dollars, for the plan and for the implementation of each task.
    #[arg(long, default_value = "3")]
    max_spend_usd: String,
    /// Limit of assistant runs, for the plan and for the implementation of each task.
    #[arg(long, default_value_t = 8)]
    max_iterations: u32,
    /// File for the results.
    #[arg(long, default_value = "evaluation.json", value_name = "FILE")]
    output: PathBuf,
    /// Results of an earlier run to compare with.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&EvaluateOptions::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &EvaluateOptions) -> anyhow::Result<()> {
    let mut tasks = task::all();
    tasks.retain(|task| options.only.as_ref().is_none_or(|part| task.name.contains(part.as_str())));
    if options.list {
        tasks.iter().for_each(|task| println!("{}", task.name));
        return Ok(());
    }
    anyhow::ensure!(!tasks.is_empty(), "no task matches --only; --list shows their names");
    let earlier = options.compare.as_deref().map(EvaluationResults::read).transpose()?;
    let version = account::check(&options.assistant)?;
    eprintln!(
        "{} tasks with {version} on your account; spending limit ${} for each plan and each implementation.",
        tasks.len(),
        options.max_spend_usd
    );
    let mut report = EvaluationResults::new(&options.plugin, version)?;
    for task in &tasks {
        eprintln!("\n== {}", task.name);
        let start = Instant::now();
        let loops = measure::EvaluationLoopOptions {
            binary: &options.binary,
            plugin: &options.plugin,
            assistant: &options.assistant,
            max_spend_usd: &options.max_spend_usd,
            max_iterations: options.max_iterations,
        };
        let figures = measure::task(task, &loops).with_context(|| format!("task {}", task.name))?;
        report.add(task.name, figures, start.elapsed());
        // Written after each task, so that an interrupted evaluation keeps its results.
        report.write(&options.output)?;
    }
    println!("\n{report}");
    if let Some(earlier) = &earlier {
        println!("{}", report.compared_with(earlier));
    }
    eprintln!("Results written to {}.", options.output.display());
    Ok(())
}
