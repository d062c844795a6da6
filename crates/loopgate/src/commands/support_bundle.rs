//! `loopgate support-bundle`: collects everything about a loop in one file for a bug report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use loopgate_api::ids::LoopId;
use loopgate_gateway::SupportReport;
use owo_colors::OwoColorize as _;
use serde_json::json;

use crate::args::HomeArgs;
use crate::bundle::Bundle;
use crate::commands::size;
use crate::control_client::ControlClient;

/// Timeout of collecting the report: the health check starts every program to query its version.
const REPORT_TIMEOUT: Duration = Duration::from_secs(120);

/// Pack everything about a loop into one file for a bug report.
///
/// The archive contains the loop's record, diagnostics, the output of the assistant, timings, the health
/// check, versions and settings. Recognized passwords, tokens and keys are redacted; names, paths and your
/// code are not. Nothing is uploaded: review the file before you share it. Loopgate must be running.
#[derive(Debug, Args)]
pub struct SupportBundleArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Id of the loop, as in the address of its page.
    #[arg(value_name = "LOOP_ID", required_unless_present = "last", conflicts_with = "last")]
    loop_id: Option<LoopId>,
    /// Use the loop that was started last.
    #[arg(long)]
    last: bool,
    /// File to write. Default: loopgate-support-<first part of the id>.tar.gz in the current directory.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long)]
    force: bool,
}

impl SupportBundleArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = ControlClient::connect(&self.home.data_dir()?)?;
        let report: SupportReport =
            client.call_with_timeout("loops.support", &json!({"loopId": self.loop_id}), REPORT_TIMEOUT)?;
        let name = name_of(report.about.loop_id);
        let output = self.output.unwrap_or_else(|| PathBuf::from(format!("{name}.tar.gz")));
        let bundle = Bundle::of(&report, &name).context("cannot create the bundle")?;
        let bytes = bundle.write(&output, self.force)?;
        print_summary(&bundle, &output, bytes);
        Ok(ExitCode::SUCCESS)
    }
}

fn name_of(id: LoopId) -> String {
    // The first group of the UUID is distinctive enough, and keeps the file name short.
    let id = id.to_string();
    format!("loopgate-support-{}", id.split('-').next().unwrap_or(&id))
}

fn print_summary(bundle: &Bundle, output: &Path, bytes: u64) {
    anstream::println!("{} {}, readable by you only:\n", output.display().bold(), size(bytes));
    for entry in bundle.entries() {
        println!("{:>10}  {:<24}  {}", size(entry.bytes.len() as u64), entry.name, entry.about);
    }
    for skipped in bundle.skipped() {
        anstream::println!("{:>10}  {:<24}  {}", "skipped".yellow(), skipped.name, skipped.reason);
    }
    println!(
        "\nRecognized passwords, tokens and keys were redacted; names, paths and your code were not.\n\
         Unpack it with tar -xzf {} and review it before you share it.",
        output.display()
    );
}
