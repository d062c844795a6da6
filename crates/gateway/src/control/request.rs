//! Requests of the control socket: the verbs and their parameters.
//!
//! Unknown members are rejected. If a misspelled restriction were ignored, the request would apply to more
//! than intended.

use loopgate_api::operation::OperationId;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use uuid::Uuid;

use super::error::ControlError;
use crate::approval::{Coverage, Effect, Remember};

/// One line with a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ControlLine<P> {
    id: i64,
    verb: String,
    params: Option<P>,
}

/// Error of a malformed line, and the id for the response.
#[derive(Debug)]
pub(crate) struct RequestError {
    pub(crate) id: i64,
    pub(crate) error: ControlError,
}

macro_rules! requests {
    ($($verb:literal => $variant:ident($params:ty),)*) => {
        /// A request with the parameters of its verb.
        #[derive(Debug, Clone)]
        pub(crate) enum ControlRequest {
            $($variant($params),)*
        }

        impl ControlRequest {
            #[cfg(test)]
            pub(crate) const VERBS: &[&str] = &[$($verb),*];

            fn of_verb(verb: &str, line: &[u8]) -> Result<Self, ControlError> {
                match verb {
                    $($verb => params(line).map(Self::$variant),)*
                    unknown => Err(ControlError::invalid(format!("unknown verb: {}", unknown.chars().take(64).collect::<String>()))),
                }
            }
        }
    };
}

requests! {
    "approvals.list" => Pending(NoParams),
    "approvals.problems" => Problems(NoParams),
    "approvals.resolved" => Resolved(NoParams),
    "approvals.clear_resolved" => ClearResolved(NoParams),
    "approvals.approve" => Approve(ApprovalParams),
    "approvals.deny" => Deny(ApprovalParams),
    "approvals.always_allow" => AlwaysAllow(ApprovalParams),
    "approvals.clear" => ClearPending(NoParams),
    "approvals.watch" => Watch(NoParams),
    "approvals.rules" => Rules(NoParams),
    "approvals.remove_rule" => RemoveRule(RuleParams),
    "approvals.policies" => Policies(NoParams),
    "approvals.set_policy" => SetPolicy(SetPolicyParams),
    "approvals.remove_policy" => RemovePolicy(PolicyParams),
    "activity.list" => RequestRecord(NoParams),
    "activity.clear" => ClearActivity(NoParams),
    "page.sign_in" => SignIn(NoParams),
    "loops.status" => Loops(NoParams),
    "inbox.list" => Inbox(NoParams),
    "loops.support" => Support(SupportParams),
    "worktrees.list" => Worktrees(NoParams),
    "worktrees.tidy" => TidyWorktrees(CleanUpParams),
    "worktrees.saved" => SavedWork(NoParams),
    "worktrees.restore" => RestoreSaved(RestoreParams),
    "worktrees.delete_saved" => DeleteSaved(DeleteParams),
}

impl ControlRequest {
    /// Parses a line. Returns the id for the response and the request.
    pub(crate) fn read(line: &[u8]) -> Result<(i64, Self), RequestError> {
        // Two passes: the id is needed for the response even when the parameters are invalid.
        let ControlLine { id, verb, params: _ } = serde_json::from_slice::<ControlLine<IgnoredAny>>(line)
            .map_err(|error| RequestError { id: 0, error: reason(&error) })?;
        let request = Self::of_verb(&verb, line).map_err(|error| RequestError { id, error })?;
        Ok((id, request))
    }
}

/// Parses the parameters of a verb. Absent `params` are equal to `{}`.
fn params<P: DeserializeOwned + Default>(line: &[u8]) -> Result<P, ControlError> {
    let line: ControlLine<P> = serde_json::from_slice(line).map_err(|error| reason(&error))?;
    Ok(line.params.unwrap_or_default())
}

fn reason(error: &serde_json::Error) -> ControlError {
    if error.is_data() { ControlError::invalid(error.to_string()) } else { ControlError::invalid_json() }
}

/// Parameters of a verb that takes none.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// Identifies a pending request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ApprovalParams {
    approval_id: Option<String>,
}

impl ApprovalParams {
    pub(crate) fn id(&self) -> Result<Option<Uuid>, ControlError> {
        parse_id(self.approval_id.as_deref(), "approvalId is required")
    }
}

/// Identifies an always-allow rule.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RuleParams {
    rule_id: Option<String>,
}

impl RuleParams {
    pub(crate) fn id(&self) -> Result<Option<Uuid>, ControlError> {
        parse_id(self.rule_id.as_deref(), "ruleId is required")
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PolicyParams {
    policy_id: Option<String>,
}

impl PolicyParams {
    pub(crate) fn id(&self) -> Result<Option<Uuid>, ControlError> {
        parse_id(self.policy_id.as_deref(), "policyId is required")
    }
}

/// A policy to set: for the named members, or for requests like a pending one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SetPolicyParams {
    effect: Option<Effect>,
    operation_id: Option<OperationId>,
    repository: Option<String>,
    origin: Option<String>,
    approval_id: Option<String>,
    remember: Option<Remember>,
}

/// Source of a policy's coverage.
pub(crate) enum PolicyTarget {
    /// Coverage by operation, repository and origin.
    Coverage(Coverage),
    /// A pending request; `None` for a malformed id, which matches no request.
    LikeRequest(Option<Uuid>, Remember),
}

impl SetPolicyParams {
    pub(crate) fn effect(&self) -> Result<Effect, ControlError> {
        self.effect.ok_or_else(|| ControlError::missing_field("effect is required"))
    }

    pub(crate) fn target(&self) -> Result<PolicyTarget, ControlError> {
        let coverage = Coverage {
            operation_id: self.operation_id,
            repository: self.repository.clone(),
            origin: self.origin.clone(),
        };
        match (self.remember, &self.approval_id) {
            (None, None) => Ok(PolicyTarget::Coverage(coverage)),
            (None, Some(_)) => Err(ControlError::missing_field("remember is required with approvalId")),
            (Some(_), _) if coverage != Coverage::default() => Err(ControlError::invalid(
                "a policy covers either the named members or a pending request (approvalId), not both",
            )),
            (Some(remember), id) => {
                Ok(PolicyTarget::LikeRequest(parse_id(id.as_deref(), "approvalId is required")?, remember))
            }
        }
    }
}

/// Loop of a support report; the most recently started one when absent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SupportParams {
    pub(crate) loop_id: Option<String>,
}

/// Selects the worktrees to remove.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct CleanUpParams {
    /// Minimum days since the last use. The settings apply when absent.
    pub(crate) older_than_days: Option<u32>,
    /// Dry run: only report what would be removed.
    pub(crate) pretend: bool,
}

/// Saved work to restore to a branch.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RestoreParams {
    pub(crate) name: String,
}

/// Saved work to delete.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct DeleteParams {
    pub(crate) names: Vec<String>,
}

/// Parses an id. A malformed one is `None` like an unknown id; a missing one is an error.
fn parse_id(id: Option<&str>, otherwise: &str) -> Result<Option<Uuid>, ControlError> {
    let id = id.map(str::trim).filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| ControlError::missing_field(otherwise))?;
    Ok(id.parse().ok())
}
