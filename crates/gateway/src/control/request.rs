//! Requests of the owner's socket: each verb with the members that it takes.
//!
//! A member that a verb does not know is refused. A misspelt restriction would otherwise be dropped,
//! and the request would mean more than its sender wrote.

use loopgate_api::operation::OperationId;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use uuid::Uuid;

use super::error::ControlError;
use crate::approval::{Coverage, Effect, Remember};

/// The whole of a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ControlLine<P> {
    id: i64,
    verb: String,
    params: Option<P>,
}

/// Why a line is no request, and the id that it is answered under.
#[derive(Debug)]
pub(crate) struct RequestError {
    pub(crate) id: i64,
    pub(crate) error: ControlError,
}

macro_rules! requests {
    ($($verb:literal => $variant:ident($params:ty),)*) => {
        /// A request, read.
        #[derive(Debug, Clone)]
        pub(crate) enum ControlRequest {
            $($variant($params),)*
        }

        impl ControlRequest {
            /// Every verb.
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
    "loops.support" => Support(SupportParams),
    "worktrees.list" => Worktrees(NoParams),
    "worktrees.tidy" => TidyWorktrees(CleanUpParams),
    "worktrees.saved" => SavedWork(NoParams),
    "worktrees.restore" => RestoreSaved(RestoreParams),
    "worktrees.delete_saved" => DeleteSaved(DeleteParams),
}

impl ControlRequest {
    /// Reads a line: the id to answer under, and what is asked.
    pub(crate) fn read(line: &[u8]) -> Result<(i64, Self), RequestError> {
        let ControlLine { id, verb, params: _ } = serde_json::from_slice::<ControlLine<IgnoredAny>>(line)
            .map_err(|error| RequestError { id: 0, error: reason(&error) })?;
        let request = Self::of_verb(&verb, line).map_err(|error| RequestError { id, error })?;
        Ok((id, request))
    }
}

/// The members for a verb; absent ones are those of an empty object.
fn params<P: DeserializeOwned + Default>(line: &[u8]) -> Result<P, ControlError> {
    let line: ControlLine<P> = serde_json::from_slice(line).map_err(|error| reason(&error))?;
    Ok(line.params.unwrap_or_default())
}

fn reason(error: &serde_json::Error) -> ControlError {
    if error.is_data() { ControlError::invalid(error.to_string()) } else { ControlError::invalid_json() }
}

/// A verb that takes no members.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// Names a waiting request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ApprovalParams {
    approval_id: Option<String>,
}

impl ApprovalParams {
    pub(crate) fn id(&self) -> Result<Option<Uuid>, ControlError> {
        named(self.approval_id.as_deref(), "approvalId is required")
    }
}

/// Names an always-allow rule.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RuleParams {
    rule_id: Option<String>,
}

impl RuleParams {
    pub(crate) fn id(&self) -> Result<Option<Uuid>, ControlError> {
        named(self.rule_id.as_deref(), "ruleId is required")
    }
}

/// Names a policy.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PolicyParams {
    policy_id: Option<String>,
}

impl PolicyParams {
    pub(crate) fn id(&self) -> Result<Option<Uuid>, ControlError> {
        named(self.policy_id.as_deref(), "policyId is required")
    }
}

/// A policy to set: for what is named, or for the like of a waiting request.
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

/// What a policy is to cover.
pub(crate) enum PolicyTarget {
    /// What is named.
    Coverage(Coverage),
    /// The like of a waiting request; an id that is none names nothing.
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
            (None, Some(_)) => Err(ControlError::missing_field("remember is required beside approvalId")),
            (Some(_), _) if coverage != Coverage::default() => Err(ControlError::invalid(
                "a policy is for what is named, or for the like of a request, not for both",
            )),
            (Some(remember), id) => {
                Ok(PolicyTarget::LikeRequest(named(id.as_deref(), "approvalId is required")?, remember))
            }
        }
    }
}

/// Which loop a report is about; the last one when none is named.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SupportParams {
    pub(crate) loop_id: Option<String>,
}

/// Which worktrees go.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct CleanUpParams {
    /// Days since the last use; those of the settings when absent.
    pub(crate) older_than_days: Option<u32>,
    /// Only says what would go.
    pub(crate) pretend: bool,
}

/// Which saved work is put on a branch.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RestoreParams {
    pub(crate) name: String,
}

/// Which saved work is deleted.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct DeleteParams {
    pub(crate) names: Vec<String>,
}

/// An id that is none names nothing; a missing one is an error.
fn named(id: Option<&str>, otherwise: &str) -> Result<Option<Uuid>, ControlError> {
    let id = id.map(str::trim).filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| ControlError::missing_field(otherwise))?;
    Ok(id.parse().ok())
}
