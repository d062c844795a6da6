//! `loopgate approvals`: requests that wait for the owner's approval, and the owner's decisions.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use loopgate_api::operation::OperationId;
use owo_colors::OwoColorize as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::args::HomeArgs;
use crate::control_client::ControlClient;
use crate::terminal;

/// Number of characters shown of an id, from its end. Arguments may be any suffix that is unique.
const SHORT_ID: usize = 8;

/// List requests that wait for your approval, and decide.
///
/// Requests above the approval tier of the settings are held until you decide here. A page cannot approve its
/// own requests: this command connects to a socket that only you can open.
#[derive(Debug, Args)]
pub struct ApprovalsArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Print each new request as it arrives, until Ctrl-C.
    #[arg(long)]
    watch: bool,
    /// Print one JSON object per line.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Option<ApprovalsSubcommand>,
}

#[derive(Debug, Subcommand)]
enum ApprovalsSubcommand {
    /// Approve a request, given by its id or the end of the id.
    Approve {
        id: String,
        /// Also approve the operation from now on, for this repository or this caller.
        #[arg(long, value_enum, value_name = "SCOPE")]
        remember: Option<RememberArg>,
    },
    /// Deny a request, given by its id or the end of the id.
    Deny {
        id: String,
        /// Also deny the operation from now on, for this repository or this caller.
        #[arg(long, value_enum, value_name = "SCOPE")]
        remember: Option<RememberArg>,
    },
    /// Approve a request, and equal requests for seven days.
    Always { id: String },
    /// List the rules that `always` created.
    Rules,
    /// Delete a rule that `always` created.
    Forget { id: String },
    /// List the policies that decide requests in advance.
    Policies,
    /// Set a policy that decides requests of an operation, or of `all`, in advance.
    ///
    /// When several policies match a request, the most specific one applies; of equally specific ones, the
    /// strictest.
    Set {
        /// Operation id as in the list of waiting requests, for example git_action, or `all`.
        #[arg(value_parser = operation)]
        operation: OperationChoice,
        /// Effect on matching requests.
        effect: EffectArg,
        /// Match only requests for this directory or a directory below it.
        #[arg(long, value_name = "DIR")]
        repository: Option<PathBuf>,
        /// Match only requests of this caller: the origin of a page, or cloud-socket for the control plane.
        #[arg(long, value_name = "ORIGIN")]
        origin: Option<String>,
    },
    /// Delete a policy by its id or the end of the id, or all policies of an operation.
    ///
    /// An operation, or `all`, deletes every policy that was set for exactly that, regardless of repository
    /// and caller.
    Unset {
        #[arg(value_name = "ID_OR_OPERATION")]
        policy: String,
    },
    /// List the decisions since Loopgate was started.
    History,
}

/// Scope of a remembered decision.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum RememberArg {
    /// The directory of the request; for a denial, the repository that contains it.
    Repository,
    /// The page or control plane that sent the request.
    Origin,
}

/// Effect of a policy.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum EffectArg {
    /// Approve requests without asking.
    Allow,
    /// Hold requests until you decide.
    Ask,
    /// Deny requests without asking.
    Deny,
}

/// One operation, or `None` for all operations.
#[derive(Debug, Clone, Copy)]
struct OperationChoice(Option<OperationId>);

fn operation(value: &str) -> Result<OperationChoice, String> {
    if value == "all" {
        return Ok(OperationChoice(None));
    }
    let operation = OperationId::ALL.into_iter().find(|operation| operation.as_str() == value);
    operation.map(|operation| OperationChoice(Some(operation))).ok_or_else(|| {
        let all = OperationId::ALL.map(OperationId::as_str);
        format!("expected `all` or one of {}", all.join(", "))
    })
}

/// A waiting or decided request, as listed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestRow {
    id: String,
    created_at: String,
    operation_id: String,
    risk_tier: String,
    method: String,
    path: String,
    action: Option<String>,
    #[serde(default)]
    directories: Vec<String>,
    location: String,
    reason: String,
    waits_until: String,
    decision: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Policy {
    id: String,
    operation_id: Option<String>,
    repository: Option<String>,
    origin: Option<String>,
    effect: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleRow {
    id: String,
    operation_id: String,
    method: String,
    path: String,
    action: Option<String>,
    #[serde(default)]
    directories: Vec<String>,
    expires_at: String,
}

impl ApprovalsArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = ControlClient::connect(&self.home.data_dir()?)?;
        // Problems of the policy and rule files. With an unreadable policy file every request is held, which
        // the list alone does not explain.
        for problem in client.call::<Vec<String>>("approvals.problems", &json!({}))? {
            anstream::eprintln!("{} {}", "note:".yellow(), terminal::escape_control(&problem));
        }
        match &self.action {
            None if self.watch => self.follow(&mut client)?,
            None => self.list(&mut client, "approvals.list", "No requests are waiting for approval.")?,
            Some(ApprovalsSubcommand::History) => {
                self.list(&mut client, "approvals.resolved", "No decisions yet.")?;
            }
            Some(ApprovalsSubcommand::Approve { id, remember }) => {
                self.decide(
                    &mut client,
                    "approvals.approve",
                    id,
                    remember.map(|scope| (scope, EffectArg::Allow)),
                )?;
            }
            Some(ApprovalsSubcommand::Deny { id, remember }) => {
                self.decide(
                    &mut client,
                    "approvals.deny",
                    id,
                    remember.map(|scope| (scope, EffectArg::Deny)),
                )?;
            }
            Some(ApprovalsSubcommand::Always { id }) => {
                self.decide(&mut client, "approvals.always_allow", id, None)?
            }
            Some(ApprovalsSubcommand::Policies) => self.policies(&mut client)?,
            Some(ApprovalsSubcommand::Set { operation, effect, repository, origin }) => {
                let repository = repository.as_ref().map(std::path::absolute).transpose()?;
                let params = json!({
                    "operationId": operation.0,
                    "repository": repository,
                    "origin": origin,
                    "effect": effect,
                });
                self.show_policy(client.call("approvals.set_policy", &params)?)?;
            }
            Some(ApprovalsSubcommand::Unset { policy }) => self.unset(&mut client, policy)?,
            Some(ApprovalsSubcommand::Rules) => self.rules(&mut client)?,
            Some(ApprovalsSubcommand::Forget { id }) => self.forget(&mut client, id)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn list(&self, client: &mut ControlClient, verb: &str, empty: &str) -> anyhow::Result<()> {
        let rows: Vec<Value> = client.call(verb, &json!({}))?;
        if rows.is_empty() && !self.json {
            anstream::println!("{empty}");
        }
        rows.iter().try_for_each(|row| self.show(row))
    }

    /// Prints new requests. Each message of the server contains the full list, so requests that were printed
    /// before are skipped.
    fn follow(&self, client: &mut ControlClient) -> anyhow::Result<()> {
        client.follow("approvals.watch")?;
        if !self.json {
            println!("Listening for requests that need approval. Press Ctrl-C to stop.");
        }
        let mut printed_ids = HashSet::new();
        loop {
            let rows: Vec<Value> = client.receive()?;
            let ids: HashSet<String> =
                rows.iter().filter_map(|row| Some(row["id"].as_str()?.to_owned())).collect();
            // The list is ordered newest first, the output oldest first.
            for row in rows.iter().rev() {
                if row["id"].as_str().is_some_and(|id| !printed_ids.contains(id)) {
                    self.show(row)?;
                }
            }
            printed_ids = ids;
        }
    }

    fn show(&self, row: &Value) -> anyhow::Result<()> {
        if self.json {
            anstream::println!("{row}");
            return Ok(());
        }
        let request: RequestRow =
            serde_json::from_value(row.clone()).context("unexpected format of a request")?;
        let scope = scope(request.action.as_deref(), &request.directories);
        let state = request.decision.unwrap_or_else(|| waiting_state(&request.waits_until, Timestamp::now()));
        anstream::println!(
            "{}  {}  {} {}{}\n          {} ({} risk), requested by {} at {}\n          {}",
            short(&request.id).bold(),
            state.yellow(),
            request.method,
            terminal::escape_control(&request.path),
            terminal::escape_control(&scope),
            request.operation_id,
            request.risk_tier,
            terminal::escape_control(&request.location),
            request.created_at,
            terminal::escape_control(&request.reason).dimmed(),
        );
        Ok(())
    }

    fn decide(
        &self,
        client: &mut ControlClient,
        verb: &str,
        id: &str,
        remember: Option<(RememberArg, EffectArg)>,
    ) -> anyhow::Result<()> {
        let pending: Vec<Value> = client.call("approvals.list", &json!({}))?;
        let id = one_of(&pending, id)
            .context("no pending request has this id; list them with: loopgate approvals")?;
        // The policy first: if it cannot be stored, the request is still undecided and the command can be
        // repeated.
        if let Some((remember, effect)) = remember {
            let params = json!({"approvalId": id, "remember": remember, "effect": effect});
            self.show_policy(client.call("approvals.set_policy", &params)?)?;
        }
        let decision: Value = client.call(verb, &json!({"approvalId": id}))?;
        // Another `approvals` command may have decided, or the request expired, since the list was read.
        anyhow::ensure!(
            !decision.is_null(),
            "this request is no longer pending (already decided or expired)"
        );
        if self.json {
            anstream::println!("{decision}");
        } else {
            let word = verb.rsplit('.').next().unwrap_or_default().replace('_', " ");
            anstream::println!("{}  {}", short(&id).bold(), word.green());
        }
        Ok(())
    }

    fn rules(&self, client: &mut ControlClient) -> anyhow::Result<()> {
        let rows: Vec<Value> = client.call("approvals.rules", &json!({}))?;
        if rows.is_empty() && !self.json {
            anstream::println!("No rules.");
        }
        for row in rows {
            if self.json {
                anstream::println!("{row}");
                continue;
            }
            let rule: RuleRow = serde_json::from_value(row).context("unexpected format of a rule")?;
            let scope = scope(rule.action.as_deref(), &rule.directories);
            anstream::println!(
                "{}  {} {}{}  {}, until {}",
                short(&rule.id).bold(),
                rule.method,
                terminal::escape_control(&rule.path),
                terminal::escape_control(&scope),
                rule.operation_id,
                rule.expires_at
            );
        }
        Ok(())
    }

    fn policies(&self, client: &mut ControlClient) -> anyhow::Result<()> {
        let rows: Vec<Value> = client.call("approvals.policies", &json!({}))?;
        if rows.is_empty() && !self.json {
            anstream::println!("No policies. The approval tiers of the settings apply.");
        }
        rows.into_iter().try_for_each(|row| self.show_policy(row))
    }

    fn show_policy(&self, row: Value) -> anyhow::Result<()> {
        if self.json {
            anstream::println!("{row}");
            return Ok(());
        }
        let policy: Policy = serde_json::from_value(row).context("unexpected format of a policy")?;
        let operation = policy.operation_id.as_deref().unwrap_or("all operations");
        let repository = policy.repository.map(|path| format!(" in {path}")).unwrap_or_default();
        let origin = policy.origin.map(|origin| format!(" requested by {origin}")).unwrap_or_default();
        let effect = policy.effect.yellow();
        let conditions = terminal::escape_control(&format!("{repository}{origin}"));
        anstream::println!("{}  {effect}  {operation}{conditions}", short(&policy.id).bold());
        Ok(())
    }

    fn unset(&self, client: &mut ControlClient, id_or_operation: &str) -> anyhow::Result<()> {
        let policies: Vec<Value> = client.call("approvals.policies", &json!({}))?;
        let ids: Vec<String> = match operation(id_or_operation) {
            Ok(OperationChoice(operation)) => {
                let matches = policies.iter().filter(|policy| policy["operationId"] == json!(operation));
                matches.filter_map(|policy| Some(policy["id"].as_str()?.to_owned())).collect()
            }
            Err(_) => one_of(&policies, id_or_operation).into_iter().collect(),
        };
        anyhow::ensure!(
            !ids.is_empty(),
            "no policy has this id or operation; list them with: loopgate approvals policies"
        );
        for id in ids {
            let removed: bool = client.call("approvals.remove_policy", &json!({"policyId": id}))?;
            anyhow::ensure!(removed, "the policy {} was already deleted", short(&id));
            anstream::println!("{}  deleted", short(&id).bold());
        }
        Ok(())
    }

    fn forget(&self, client: &mut ControlClient, id: &str) -> anyhow::Result<()> {
        let rules: Vec<Value> = client.call("approvals.rules", &json!({}))?;
        let id =
            one_of(&rules, id).context("no rule has this id; list them with: loopgate approvals rules")?;
        let removed: bool = client.call("approvals.remove_rule", &json!({"ruleId": id}))?;
        anyhow::ensure!(removed, "the rule was already deleted");
        anstream::println!("{}  deleted", short(&id).bold());
        Ok(())
    }
}

/// Formats the action and the directories of a request.
fn scope(action: Option<&str>, directories: &[String]) -> String {
    let action = action.map(|action| format!(" ({action})")).unwrap_or_default();
    match directories {
        [] => action,
        directories => format!("{action} in {}", directories.join(", ")),
    }
}

/// Returns the id with this suffix, if it is unique.
fn one_of(rows: &[Value], suffix: &str) -> Option<String> {
    let mut matches = rows
        .iter()
        .filter_map(|row| row["id"].as_str())
        .filter(|id| !suffix.is_empty() && id.ends_with(suffix));
    let first = matches.next()?;
    matches.next().is_none().then(|| first.to_owned())
}

/// Formats the state of a waiting request, with the seconds until it expires.
fn waiting_state(until: &str, now: Timestamp) -> String {
    match until.parse::<Timestamp>() {
        Ok(end) => format!("waiting, expires in {} s", end.duration_since(now).as_secs().max(0)),
        Err(_) => "waiting".to_owned(),
    }
}

/// Returns the part of an id that is shown.
pub fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(SHORT_ID)..).unwrap_or(id)
}
