//! Where a debate between two providers about a finding stands.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// State of a debate, as the side sees it that spoke last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"pendingIssues": [], "resolvedIssues": [{"id": "1", "summary": "The cache is never cleared", "resolution": "It is, in close()"}], "outcome": "concession"}))]
pub struct DebateStatus {
    /// What is still open.
    #[serde(default)]
    pub pending_issues: Vec<DebateIssue>,
    /// What is settled.
    #[serde(default)]
    pub resolved_issues: Vec<DebateIssue>,
    /// Whether the side that spoke gives up its position.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conceded: bool,
    /// How the debate ended, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<DebateOutcome>,
}

/// A point of a debate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DebateIssue {
    /// The same in every turn.
    #[serde(default)]
    pub id: String,
    /// What it is about.
    #[serde(default)]
    pub summary: String,
    /// How it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
}

/// How a debate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DebateOutcome {
    /// Nothing is open any more.
    Agreement,
    /// One side gave up its position.
    Concession,
    /// Both sides repeat themselves.
    Stalemate,
    /// The rounds are used up.
    Limit,
}

impl DebateStatus {
    const OPENING: &str = "<debate-status>";
    const CLOSING: &str = "</debate-status>";

    /// The status in an answer: its last well-formed block.
    #[must_use]
    pub fn in_text(text: &str) -> Option<Self> {
        let blocks = text.rmatch_indices(Self::OPENING).map(|(start, tag)| &text[start + tag.len()..]);
        blocks.filter_map(|block| serde_json::from_str(block.split_once(Self::CLOSING)?.0).ok()).next()
    }

    /// Whether one side gave up, or nothing is open.
    #[must_use]
    pub fn settlement(&self) -> Option<DebateOutcome> {
        match (self.conceded, self.pending_issues.is_empty()) {
            (true, _) => Some(DebateOutcome::Concession),
            (false, true) => Some(DebateOutcome::Agreement),
            (false, false) => None,
        }
    }

    /// Whether a later status of the same side has neither settled anything nor raised anything.
    #[must_use]
    pub fn is_repeated_by(&self, later: &Self) -> bool {
        let ids = |issues: &[DebateIssue]| {
            issues.iter().map(|issue| issue.id.clone()).collect::<std::collections::BTreeSet<_>>()
        };
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
    fn debate_ends_when_nothing_is_open_or_a_side_gives_up() {
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
        fn no_text_breaks_the_parser(parts in proptest::collection::vec(
            prop_oneof![Just("<debate-status>".to_owned()), Just("</debate-status>".to_owned()), ".{0,8}"], 0..9,
        )) {
            let _ = DebateStatus::in_text(&parts.concat());
        }
    }
}
