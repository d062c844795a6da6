//! `loopgate approvals`: what waits for the owner of this machine, and the owner's decisions.

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

/// Characters of an id that are shown, from its end, and that are enough to name it.
const SHORT_ID: usize = 8;

/// List what waits for your decision, and decide.
///
/// Requests above the approval tier of the settings are held until you decide here. A page can
/// never decide about its own request: this command speaks to the running Loopgate over a socket
/// that only you can open.
#[derive(Debug, Args)]
pub struct ApprovalsArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Follow: print each request when it begins to wait, until Ctrl-C.
    #[arg(long)]
    watch: bool,
    /// Print JSON, one value a line.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Option<ApprovalsSubcommand>,
}

#[derive(Debug, Subcommand)]
enum ApprovalsSubcommand {
    /// Let a request pass. Its id, or the end of it, is in the list.
    Approve {
        id: String,
        /// Let the operation pass from now on, for its repository or for its caller.
        #[arg(long, value_enum, value_name = "WHAT")]
        remember: Option<RememberArg>,
    },
    /// Refuse a request.
    Deny {
        id: String,
        /// Refuse the operation from now on, for its repository or for its caller.
        #[arg(long, value_enum, value_name = "WHAT")]
        remember: Option<RememberArg>,
    },
    /// Let a request pass, and its like for seven days.
    Always { id: String },
    /// List the rules that `always` made.
    Rules,
    /// End such a rule.
    Forget { id: String },
    /// List what you have decided beforehand.
    Policies,
    /// Decide beforehand about an operation, or `all`.
    ///
    /// Where several policies cover a request, the narrowest counts, and of equally narrow ones the
    /// strictest.
    Set {
        /// Operation id as in the list of what waits, for example git_action, or `all`.
        #[arg(value_parser = operation)]
        operation: OperationChoice,
        /// Effect on its requests.
        effect: EffectArg,
        /// Only for requests about this directory and what is below it.
        #[arg(long, value_name = "DIR")]
        repository: Option<PathBuf>,
        /// Only for requests of this caller: the origin of a page, or cloud-socket.
        #[arg(long, value_name = "ORIGIN")]
        origin: Option<String>,
    },
    /// End a policy: by its id, or the end of it, or by its operation as `set` takes it.
    ///
    /// An operation, or `all`, ends the policies that were set for just that, whatever repository or
    /// caller they hold for.
    Unset {
        #[arg(value_name = "ID_OR_OPERATION")]
        policy: String,
    },
    /// List what was decided since the start.
    History,
}

/// What a remembered decision holds for.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum RememberArg {
    /// The directory that the request is about; to refuse, the whole repository that it belongs to.
    Repository,
    /// The page, or the control plane, that asked.
    Origin,
}

/// What a policy decides.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum EffectArg {
    /// It passes.
    Allow,
    /// You are asked.
    Ask,
    /// It is refused.
    Deny,
}

/// One operation, or `None` for all of them.
#[derive(Debug, Clone, Copy)]
struct OperationChoice(Option<OperationId>);

fn operation(word: &str) -> Result<OperationChoice, String> {
    if word == "all" {
        return Ok(OperationChoice(None));
    }
    let known = OperationId::ALL.into_iter().find(|operation| operation.as_str() == word);
    known.map(|operation| OperationChoice(Some(operation))).ok_or_else(|| {
        let all = OperationId::ALL.map(OperationId::as_str);
        format!("it is all or one of {}", all.join(", "))
    })
}

/// What is shown of a request.
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
        for problem in client.ask::<Vec<String>>("approvals.problems", &json!({}))? {
            anstream::eprintln!("{} {}", "note:".yellow(), terminal::escape_control(&problem));
        }
        match &self.action {
            None if self.watch => self.follow(&mut client)?,
            None => self.list(&mut client, "approvals.list", "Nothing waits.")?,
            Some(ApprovalsSubcommand::History) => {
                self.list(&mut client, "approvals.resolved", "Nothing was decided yet.")?;
            }
            Some(ApprovalsSubcommand::Approve { id, remember }) => {
                self.decide(
                    &mut client,
                    "approvals.approve",
                    id,
                    remember.map(|what| (what, EffectArg::Allow)),
                )?;
            }
            Some(ApprovalsSubcommand::Deny { id, remember }) => {
                self.decide(&mut client, "approvals.deny", id, remember.map(|what| (what, EffectArg::Deny)))?;
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
                self.show_policy(client.ask("approvals.set_policy", &params)?)?;
            }
            Some(ApprovalsSubcommand::Unset { policy }) => self.unset(&mut client, policy)?,
            Some(ApprovalsSubcommand::Rules) => self.rules(&mut client)?,
            Some(ApprovalsSubcommand::Forget { id }) => self.forget(&mut client, id)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn list(&self, client: &mut ControlClient, verb: &str, nothing: &str) -> anyhow::Result<()> {
        let rows: Vec<Value> = client.ask(verb, &json!({}))?;
        if rows.is_empty() && !self.json {
            anstream::println!("{nothing}");
        }
        rows.iter().try_for_each(|row| self.show(row))
    }

    /// Every change brings the whole list; what has been shown is not shown again.
    fn follow(&self, client: &mut ControlClient) -> anyhow::Result<()> {
        client.follow("approvals.watch")?;
        if !self.json {
            println!("Requests are shown as they begin to wait. Ctrl-C ends this.");
        }
        let mut shown = HashSet::new();
        loop {
            let rows: Vec<Value> = client.receive()?;
            let ids: HashSet<String> =
                rows.iter().filter_map(|row| Some(row["id"].as_str()?.to_owned())).collect();
            for row in rows.iter().rev() {
                if row["id"].as_str().is_some_and(|id| !shown.contains(id)) {
                    self.show(row)?;
                }
            }
            shown = ids;
        }
    }

    fn show(&self, row: &Value) -> anyhow::Result<()> {
        if self.json {
            anstream::println!("{row}");
            return Ok(());
        }
        let request: RequestRow =
            serde_json::from_value(row.clone()).context("a request of an unknown shape")?;
        let scope = scope(request.action.as_deref(), &request.directories);
        let state = request.decision.unwrap_or_else(|| waits(&request.waits_until, Timestamp::now()));
        anstream::println!(
            "{}  {}  {} {}{}\n          {} ({} risk), asked by {} at {}\n          {}",
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
        let waiting: Vec<Value> = client.ask("approvals.list", &json!({}))?;
        let id =
            one_of(&waiting, id).context("no request with this id waits; loopgate approvals lists them")?;
        if let Some((remember, effect)) = remember {
            let params = json!({"approvalId": id, "remember": remember, "effect": effect});
            self.show_policy(client.ask("approvals.set_policy", &params)?)?;
        }
        let decided: Value = client.ask(verb, &json!({"approvalId": id}))?;
        anyhow::ensure!(!decided.is_null(), "it does not wait any more: somebody decided, or nobody in time");
        if self.json {
            anstream::println!("{decided}");
        } else {
            let word = verb.rsplit('.').next().unwrap_or_default().replace('_', " ");
            anstream::println!("{}  {}", short(&id).bold(), word.green());
        }
        Ok(())
    }

    fn rules(&self, client: &mut ControlClient) -> anyhow::Result<()> {
        let rows: Vec<Value> = client.ask("approvals.rules", &json!({}))?;
        if rows.is_empty() && !self.json {
            anstream::println!("No rules.");
        }
        for row in rows {
            if self.json {
                anstream::println!("{row}");
                continue;
            }
            let rule: RuleRow = serde_json::from_value(row).context("a rule of an unknown shape")?;
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
        let rows: Vec<Value> = client.ask("approvals.policies", &json!({}))?;
        if rows.is_empty() && !self.json {
            anstream::println!("No policies: the tiers of the settings decide.");
        }
        rows.into_iter().try_for_each(|row| self.show_policy(row))
    }

    fn show_policy(&self, row: Value) -> anyhow::Result<()> {
        if self.json {
            anstream::println!("{row}");
            return Ok(());
        }
        let policy: Policy = serde_json::from_value(row).context("a policy of an unknown shape")?;
        let operation = policy.operation_id.as_deref().unwrap_or("all operations");
        let repository = policy.repository.map(|path| format!(" in {path}")).unwrap_or_default();
        let origin = policy.origin.map(|origin| format!(" asked by {origin}")).unwrap_or_default();
        let effect = policy.effect.yellow();
        let places = terminal::escape_control(&format!("{repository}{origin}"));
        anstream::println!("{}  {effect}  {operation}{places}", short(&policy.id).bold());
        Ok(())
    }

    fn unset(&self, client: &mut ControlClient, wanted: &str) -> anyhow::Result<()> {
        let policies: Vec<Value> = client.ask("approvals.policies", &json!({}))?;
        let ids: Vec<String> = match operation(wanted) {
            Ok(OperationChoice(operation)) => {
                let of_it = policies.iter().filter(|policy| policy["operationId"] == json!(operation));
                of_it.filter_map(|policy| Some(policy["id"].as_str()?.to_owned())).collect()
            }
            Err(_) => one_of(&policies, wanted).into_iter().collect(),
        };
        anyhow::ensure!(
            !ids.is_empty(),
            "no policy has this id or operation; loopgate approvals policies lists them"
        );
        for id in ids {
            let removed: bool = client.ask("approvals.remove_policy", &json!({"policyId": id}))?;
            anyhow::ensure!(removed, "the policy {} has ended already", short(&id));
            anstream::println!("{}  ended", short(&id).bold());
        }
        Ok(())
    }

    fn forget(&self, client: &mut ControlClient, id: &str) -> anyhow::Result<()> {
        let rules: Vec<Value> = client.ask("approvals.rules", &json!({}))?;
        let id = one_of(&rules, id).context("no rule with this id; loopgate approvals rules lists them")?;
        let removed: bool = client.ask("approvals.remove_rule", &json!({"ruleId": id}))?;
        anyhow::ensure!(removed, "the rule has ended already");
        anstream::println!("{}  forgotten", short(&id).bold());
        Ok(())
    }
}

/// What a request does, and where.
fn scope(action: Option<&str>, directories: &[String]) -> String {
    let action = action.map(|action| format!(" ({action})")).unwrap_or_default();
    match directories {
        [] => action,
        directories => format!("{action} in {}", directories.join(", ")),
    }
}

/// The one row whose id ends so.
fn one_of(rows: &[Value], end: &str) -> Option<String> {
    let mut found =
        rows.iter().filter_map(|row| row["id"].as_str()).filter(|id| !end.is_empty() && id.ends_with(end));
    let first = found.next()?;
    found.next().is_none().then(|| first.to_owned())
}

/// That a request waits, and for how long still.
fn waits(until: &str, now: Timestamp) -> String {
    match until.parse::<Timestamp>() {
        Ok(end) => format!("waits {} s more", end.duration_since(now).as_secs().max(0)),
        Err(_) => "waits".to_owned(),
    }
}

/// The end of an id that is enough to name it.
pub fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(SHORT_ID)..).unwrap_or(id)
}
