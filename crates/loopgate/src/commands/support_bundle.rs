//! `loopgate support-bundle`: one file about a loop that a person can attach to a report.

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

/// Time to gather: the health check asks every program for its version.
const GATHER_LIMIT: Duration = Duration::from_secs(120);

/// Pack what is known of a loop into one file that you can attach to a report.
///
/// The archive holds the loop's record, its diagnostics, what the assistant said and did, timings,
/// the health check, versions and settings. Passwords, tokens and keys that can be recognised are
/// taken out; names, paths and your code are not. Nothing is sent anywhere: look through the file
/// before you share it. Loopgate must be running.
#[derive(Debug, Args)]
pub struct SupportBundleArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Id of the loop, as the address of its page shows it.
    #[arg(value_name = "LOOP_ID", required_unless_present = "last", conflicts_with = "last")]
    loop_id: Option<LoopId>,
    /// Take the loop that was started last.
    #[arg(long)]
    last: bool,
    /// The file to write. Default: loopgate-support-<beginning of the id>.tar.gz, here.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it is there.
    #[arg(long)]
    force: bool,
}

impl SupportBundleArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = ControlClient::connect(&self.home.data_dir()?)?;
        let report: SupportReport =
            client.ask_slowly("loops.support", &json!({"loopId": self.loop_id}), GATHER_LIMIT)?;
        let name = name_of(report.about.loop_id);
        let output = self.output.unwrap_or_else(|| PathBuf::from(format!("{name}.tar.gz")));
        let bundle = Bundle::of(&report, &name).context("the bundle cannot be made")?;
        let bytes = bundle.write(&output, self.force)?;
        print_summary(&bundle, &output, bytes);
        Ok(ExitCode::SUCCESS)
    }
}

fn name_of(id: LoopId) -> String {
    let id = id.to_string();
    format!("loopgate-support-{}", id.split('-').next().unwrap_or(&id))
}

fn print_summary(bundle: &Bundle, output: &Path, bytes: u64) {
    anstream::println!("{} {}, readable by you alone:\n", output.display().bold(), size(bytes));
    for entry in bundle.entries() {
        println!("{:>10}  {:<24}  {}", size(entry.bytes.len() as u64), entry.name, entry.about);
    }
    for skipped in bundle.skipped() {
        anstream::println!("{:>10}  {:<24}  {}", "left out".yellow(), skipped.name, skipped.reason);
    }
    println!(
        "\nPasswords, tokens and keys that Loopgate recognises were taken out; names, paths and your code were not.\n\
         Unpack it with tar -xzf {} and look through it before you share it.",
        output.display()
    );
}
