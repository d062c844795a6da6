//! State of a debate between two providers about a finding.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// State of a debate, as reported by the side that spoke last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"pendingIssues": [], "resolvedIssues": [{"id": "1", "summary": "The cache is never cleared", "resolution": "It is, in close()"}], "outcome": "concession"}))]
pub struct DebateStatus {
    /// Points that are not settled yet.
    #[serde(default)]
    pub pending_issues: Vec<DebateIssue>,
    /// Points that both sides settled.
    #[serde(default)]
    pub resolved_issues: Vec<DebateIssue>,
    /// Whether the side that spoke last concedes; absent when false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conceded: bool,
    /// Outcome of the debate; absent while it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<DebateOutcome>,
}

/// A point under debate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DebateIssue {
    /// Identifier, the same in all turns.
    #[serde(default)]
    pub id: String,
    /// Summary of the point.
    #[serde(default)]
    pub summary: String,
    /// How the point was settled; absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
}

/// Outcome of a finished debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DebateOutcome {
    /// All points are settled.
    Agreement,
    /// One side conceded its position.
    Concession,
    /// Both sides repeat their positions.
    Stalemate,
    /// The maximum number of rounds is reached.
    Limit,
}

impl DebateStatus {
    const OPENING: &str = "<debate-status>";
    const CLOSING: &str = "</debate-status>";

    /// Returns the last well-formed status block of a response.
    #[must_use]
    pub fn in_text(text: &str) -> Option<Self> {
        // Providers quote the format in examples and may be cut off within a block, so the first or the very
        // last block need not be the status.
        let blocks = text.rmatch_indices(Self::OPENING).map(|(start, tag)| &text[start + tag.len()..]);
        blocks.filter_map(|block| serde_json::from_str(block.split_once(Self::CLOSING)?.0).ok()).next()
    }

    /// Returns the outcome when one side conceded or no point is open.
    #[must_use]
    pub fn settlement(&self) -> Option<DebateOutcome> {
        match (self.conceded, self.pending_issues.is_empty()) {
            (true, _) => Some(DebateOutcome::Concession),
            (false, true) => Some(DebateOutcome::Agreement),
            (false, false) => None,
        }
    }

    /// Returns whether `later`, of the same side, has the same open and the same settled points.
    #[must_use]
    pub fn is_repeated_by(&self, later: &Self) -> bool {
        let ids = |issues: &[DebateIssue]| {
            issues.iter().map(|issue| issue.id.clone()).collect::<std::collections::BTreeSet<_>>()
        };
        // Only ids are compared: providers reword the summaries in each turn.
        ids(&self.pending_issues) == ids(&later.pending_issues)
            && ids(&self.resolved_issues) == ids(&later.resolved_issues)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn last_well_formed_block_counts() {
        let text = r#"Example: <debate-status>{"pendingIssues":[]}</debate-status>
            <debate-status>{"pendingIssues":[{"id":"1","summary":"s"}]}</debate-status> <debate-status>{</debate-status>"#;
        let status = DebateStatus::in_text(text).unwrap();
        assert_eq!((status.pending_issues[0].id.as_str(), status.settlement()), ("1", None));
        assert_eq!(DebateStatus::in_text("<debate-status>{}"), None);
    }

    #[test]
    fn debate_ends_when_no_point_is_open_or_a_side_concedes() {
        let issue = DebateIssue { id: "1".to_owned(), ..DebateIssue::default() };
        let open = DebateStatus { pending_issues: vec![issue.clone()], ..DebateStatus::default() };
        let conceded = DebateStatus { conceded: true, ..open.clone() };
        let settled = DebateStatus { resolved_issues: vec![issue], ..DebateStatus::default() };
        assert_eq!(conceded.settlement(), Some(DebateOutcome::Concession));
        assert_eq!(settled.settlement(), Some(DebateOutcome::Agreement));
        assert!(open.is_repeated_by(&open) && !open.is_repeated_by(&settled));
    }

    proptest! {
        #[test]
        fn any_text_is_accepted(parts in proptest::collection::vec(
            prop_oneof![Just("<debate-status>".to_owned()), Just("</debate-status>".to_owned()), ".{0,8}"], 0..9,
        )) {
            let _ = DebateStatus::in_text(&parts.concat());
        }
    }
}
