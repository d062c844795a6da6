//! `loopgate status`: running and queued loops, and requests that wait for approval.

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

/// Show running loops, queued loops in the order of their start, and requests that wait for your approval.
///
/// A finished loop is shown if the control plane rejected one of its reports; the report is kept in
/// desktop.db.
///
/// `max_loops` and `min_free_memory_mb` in settings.toml limit how many loops run at once.
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
    // The running gateway may be older than this program.
    #[serde(alias = "stillness")]
    stall: Option<ActivityInfo>,
    spend: Option<Spend>,
    refused_report: Option<String>,
}

/// A request that waits for the owner's approval.
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
        let rows: Vec<Value> = client.call("loops.status", &json!({}))?;
        let requests: Vec<HeldRequest> = client.call("approvals.list", &json!({}))?;
        if rows.is_empty() && requests.is_empty() && !self.json {
            println!("No loops are running or queued.");
        }
        for row in rows {
            if self.json {
                anstream::println!("{row}");
                continue;
            }
            anstream::println!("{}", line(&serde_json::from_value(row)?));
        }
        for HeldRequest { id, path, action, reason } in requests.iter().filter(|_| !self.json) {
            let action = action.as_ref().map(|action| format!(" ({action})")).unwrap_or_default();
            anstream::println!(
                "{:<18}  {}\n{:<18}  {}\n{:<18}  {} {}",
                "request pending".yellow(),
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

fn line(row: &LoopLine) -> String {
    let state = match (row.queue_place, &row.stall) {
        // A loop that waits for approval has no position in the queue.
        _ if row.approval.is_some() => "needs approval".to_owned(),
        (Some(place), _) => format!("queued, position {place}"),
        // "working" is the normal state; the status below is more informative.
        (None, Some(ActivityInfo { state, command })) if state != "working" => {
            let command = command.as_deref().map(|command| format!(" in {command}")).unwrap_or_default();
            format!("{}{command}", state.replace('-', " "))
        }
        (None, _) => row.status.to_lowercase().replace('_', " "),
    };
    let minutes = Timestamp::now().duration_since(row.started_at).as_mins();
    let name = row.artifact_slug.as_deref().unwrap_or(&row.loop_id);
    let rejected = row.refused_report.as_ref();
    let rejected = rejected.map(|reason| format!("the control plane rejected a report: {reason}"));
    let activity = rejected.as_deref().or(row.live_activity.as_deref()).unwrap_or_default();
    format!(
        "{state:<18}  {:<20}  {minutes:>4} min  {:<22}  {}  {}",
        row.command,
        row.spend.as_ref().map(spend_text).unwrap_or_default(),
        name.bold(),
        activity.dimmed()
    )
}

fn spend_text(spend: &Spend) -> String {
    let tokens = spend.tokens;
    let total = tokens.input_tokens
        + tokens.output_tokens
        + tokens.cache_creation_input_tokens
        + tokens.cache_read_input_tokens;
    let cost = spend.cost.as_ref().map(|cost| format!(", ${:.2}", cost.total_usd)).unwrap_or_default();
    format!("{total} tokens{cost}")
}
