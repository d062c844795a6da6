//! `loopgate activity`: what was asked of the gateway lately.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use owo_colors::OwoColorize as _;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::HomeArgs;
use crate::control_client::ControlClient;

/// Show what was asked of the gateway lately, newest first.
///
/// The log keeps the last 200 requests with their outcome, never a body, a header or a token.
/// Refusals that protect the machine are marked.
#[derive(Debug, Args)]
pub struct ActivityArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Only refusals that protect the machine.
    #[arg(long)]
    security: bool,
    /// Print JSON, one value a line.
    #[arg(long)]
    json: bool,
    /// Forget everything.
    #[arg(long, conflicts_with_all = ["security", "json"])]
    clear: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ActivityRow {
    timestamp: String,
    method: String,
    path: String,
    status_code: u16,
    duration_ms: u64,
    detail: Option<String>,
}

impl ActivityArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = ControlClient::connect(&self.home.data_dir()?)?;
        if self.clear {
            client.ask::<Value>("activity.clear", &json!({}))?;
            println!("The log is empty now.");
            return Ok(ExitCode::SUCCESS);
        }
        let rows: Vec<Value> = client.ask("activity.list", &json!({}))?;
        let rows: Vec<Value> =
            rows.into_iter().filter(|row| !self.security || row["type"] == "security").collect();
        if rows.is_empty() && !self.json {
            println!("{}", if self.security { "Nothing was refused." } else { "Nothing was asked yet." });
        }
        for row in rows {
            if self.json {
                anstream::println!("{row}");
                continue;
            }
            let protects = row["type"] == "security";
            let event: ActivityRow = serde_json::from_value(row).context("an event of an unknown shape")?;
            let status = event.status_code.to_string();
            let status = if protects { status.red().to_string() } else { status };
            anstream::println!(
                "{}  {status}  {:>6} ms  {} {}{}",
                event.timestamp.dimmed(),
                event.duration_ms,
                event.method,
                event.path,
                event.detail.map(|detail| format!("  ({detail})")).unwrap_or_default()
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
