//! `loopgate inbox`: change requests that need the owner of this machine.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use loopgate_control_plane::Attention;
use owo_colors::OwoColorize as _;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::HomeArgs;
use crate::control_client::ControlClient;
use crate::terminal;

/// Timeout of the list, above that of the running Loopgate's request to the control plane.
const LIST_TIMEOUT: Duration = Duration::from_secs(15);

/// List the change requests that need you, most recently changed first.
///
/// The control plane decides what needs you, as for the page "Needs you": a plan to judge, a question, an approval,
/// changes to review, comments, failed checks, findings, work that was not delivered, a limit, a failure, a machine that
/// is offline. Snoozed change requests are not
/// listed. Loopgate must be running.
#[derive(Debug, Args)]
pub struct InboxArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Print JSON, one change request a line.
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct InboxEntry {
    document: EntryDocument,
    attention: String,
}

#[derive(Deserialize)]
struct EntryDocument {
    slug: String,
    title: String,
    repo: Option<EntryRepo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntryRepo {
    full_name: String,
}

impl InboxArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = ControlClient::connect(&self.home.data_dir()?)?;
        let rows: Vec<Value> = client.call_with_timeout("inbox.list", &json!({}), LIST_TIMEOUT)?;
        if rows.is_empty() && !self.json {
            println!("Nothing needs you.");
        }
        for row in rows {
            if self.json {
                anstream::println!("{row}");
                continue;
            }
            anstream::println!("{}", line(&serde_json::from_value(row)?));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn line(InboxEntry { document, attention }: &InboxEntry) -> String {
    let EntryDocument { slug, title, repo } = document;
    let repo = repo.as_ref().map(|repo| repo.full_name.as_str()).unwrap_or_default();
    format!(
        "{:<22}  {slug:<14}  {}  {}",
        need(attention).yellow(),
        terminal::escape_control(title).bold(),
        terminal::escape_control(repo).dimmed(),
    )
}

/// Returns what a person has to do. An attention of a later control plane is returned as it is.
fn need(attention: &str) -> &str {
    let Ok(known) = serde_json::from_value(json!(attention)) else { return attention };
    match known {
        Attention::Plan => "judge the plan",
        Attention::Question | Attention::Blocked => "answer a question",
        Attention::Approval => "approve the loop",
        Attention::Delivery => "deliver the work",
        Attention::Changes => "review the changes",
        Attention::Findings => "decide the findings",
        Attention::Checks => "fix the checks",
        Attention::Conflicts => "resolve the conflicts",
        Attention::Comments => "answer the comments",
        Attention::Limit => "raise a limit, or stop",
        Attention::MachineOffline => "start the machine",
        Attention::Failure => "see the failure",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_names_what_to_do_and_escapes_texts() {
        let row = json!({"attention": "plan",
            "document": {"slug": "feature-3", "title": "Cart\u{1b}[31m", "repo": {"fullName": "acme/shop"}}});
        let line = line(&serde_json::from_value(row).unwrap());
        let plain = anstream::adapter::strip_str(&line).to_string();
        assert!(plain.starts_with("judge the plan          feature-3       Cart"), "{plain}");
        assert!(plain.ends_with("acme/shop") && !plain.contains('\u{1b}'), "{plain}");
        assert_eq!(need("new_kind"), "new_kind");
    }
}
