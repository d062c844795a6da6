//! `loopgate status`: which loops run, which wait for a place, and what waits for approval.

use std::process::ExitCode;

use clap::Args;
use jiff::Timestamp;
use loopgate_api::spend::Spend;
use owo_colors::OwoColorize as _;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::HomeArgs;
use crate::commands::approvals::short;
use crate::control_client::ControlClient;
use crate::terminal;

/// Show the loops that run, those that wait, in the order in which they will start, and what waits for
/// your approval.
///
/// Ended ones are shown when the control plane refused something that was reported of them; it is kept
/// in desktop.db.
///
/// `max_loops` and `min_free_memory_mb` in settings.toml say how many run at once.
#[derive(Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Print JSON, one loop a line.
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoopLine {
    loop_id: String,
    command: String,
    status: String,
    started_at: Timestamp,
    artifact_slug: Option<String>,
    live_activity: Option<String>,
    queue_place: Option<usize>,
    approval: Option<Value>,
    stillness: Option<ActivityInfo>,
    spend: Option<Spend>,
    refused_report: Option<String>,
}

/// A request that waits for its owner's approval.
#[derive(Deserialize)]
struct HeldRequest {
    id: String,
    path: String,
    action: Option<String>,
    reason: String,
}

#[derive(Deserialize)]
struct ActivityInfo {
    state: String,
    command: Option<String>,
}

impl StatusArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = ControlClient::connect(&self.home.data_dir()?)?;
        let rows: Vec<Value> = client.ask("loops.status", &json!({}))?;
        let held: Vec<HeldRequest> = client.ask("approvals.list", &json!({}))?;
        if rows.is_empty() && held.is_empty() && !self.json {
            println!("No loop runs or waits.");
        }
        for row in rows {
            if self.json {
                anstream::println!("{row}");
                continue;
            }
            anstream::println!("{}", line(&serde_json::from_value(row)?));
        }
        for HeldRequest { id, path, action, reason } in held.iter().filter(|_| !self.json) {
            let action = action.as_ref().map(|action| format!(" ({action})")).unwrap_or_default();
            anstream::println!(
                "{:<18}  {}\n{:<18}  {}\n{:<18}  {} {}",
                "a request waits".yellow(),
                terminal::escape_control(&format!("{path}{action}")),
                "",
                terminal::escape_control(reason).dimmed(),
                "",
                "loopgate approvals approve",
                short(id).bold(),
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn line(shown: &LoopLine) -> String {
    let state = match (shown.queue_place, &shown.stillness) {
        _ if shown.approval.is_some() => "waits for approval".to_owned(),
        (Some(place), _) => format!("waits, {place} in line"),
        (None, Some(ActivityInfo { state, command })) if state != "working" => {
            let command = command.as_deref().map(|command| format!(" in {command}")).unwrap_or_default();
            format!("{}{command}", state.replace('-', " "))
        }
        (None, _) => shown.status.to_lowercase().replace('_', " "),
    };
    let minutes = Timestamp::now().duration_since(shown.started_at).as_mins();
    let name = shown.artifact_slug.as_deref().unwrap_or(&shown.loop_id);
    let refused = shown.refused_report.as_ref();
    let refused = refused.map(|reason| format!("a report was refused by the control plane: {reason}"));
    let activity = refused.as_deref().or(shown.live_activity.as_deref()).unwrap_or_default();
    format!(
        "{state:<18}  {:<20}  {minutes:>4} min  {:<22}  {}  {}",
        shown.command,
        shown.spend.as_ref().map(used).unwrap_or_default(),
        name.bold(),
        activity.dimmed()
    )
}

fn used(spend: &Spend) -> String {
    let tokens = spend.tokens;
    let sum = tokens.input_tokens
        + tokens.output_tokens
        + tokens.cache_creation_input_tokens
        + tokens.cache_read_input_tokens;
    let money = spend.cost.as_ref().map(|cost| format!(", ${:.2}", cost.total_usd)).unwrap_or_default();
    format!("{sum} tokens{money}")
}
