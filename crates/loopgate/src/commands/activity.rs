//! `loopgate activity`: recent requests to the gateway.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use owo_colors::OwoColorize as _;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::HomeArgs;
use crate::control_client::ControlClient;

/// Show recent requests to the gateway, newest first.
///
/// The log contains the last 200 requests and their outcome, but no bodies, headers or tokens. Requests that
/// were rejected for security reasons are marked.
#[derive(Debug, Args)]
pub struct ActivityArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Show only requests that were rejected for security reasons.
    #[arg(long)]
    security: bool,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    /// Delete all entries of the log.
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
            client.call::<Value>("activity.clear", &json!({}))?;
            println!("The activity log was cleared.");
            return Ok(ExitCode::SUCCESS);
        }
        let rows: Vec<Value> = client.call("activity.list", &json!({}))?;
        let rows: Vec<Value> =
            rows.into_iter().filter(|row| !self.security || row["type"] == "security").collect();
        if rows.is_empty() && !self.json {
            println!(
                "{}",
                if self.security {
                    "No requests were rejected for security reasons."
                } else {
                    "No requests yet."
                }
            );
        }
        for row in rows {
            if self.json {
                anstream::println!("{row}");
                continue;
            }
            let is_security = row["type"] == "security";
            let event: ActivityRow =
                serde_json::from_value(row).context("unexpected format of a log entry")?;
            let status = event.status_code.to_string();
            let status = if is_security { status.red().to_string() } else { status };
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
