//! State of a debate, in a file beside its plan, so that it can be resumed.

use std::path::{Path, PathBuf};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The person reads the plan.
    UserReview,
    /// The reviewer is asked.
    ReviewerReview,
    /// The assistant takes the findings.
    AssistantRevision,
}

impl Phase {
    const fn name(self) -> &'static str {
        match self {
            Self::UserReview => "user_review",
            Self::ReviewerReview => "reviewer_review",
            Self::AssistantRevision => "assistant_revision",
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "user_review" => Self::UserReview,
            "assistant_revision" => Self::AssistantRevision,
            _ => Self::ReviewerReview,
        }
    }
}

/// State of a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebateState {
    /// Session of the assistant.
    pub session: String,
    /// Session of the reviewer.
    pub reviewer_session: Option<String>,
    /// The present round, from 1.
    pub round: u32,
    /// What comes next.
    pub phase: Phase,
    /// Log of the reviewer.
    pub log_id: Option<String>,
}

impl DebateState {
    /// Reads the lines `KEY=value`; absent ones have their defaults. `None` without the assistant's session.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
            Some(line.trim().to_owned()).filter(|value| !value.is_empty())
        };
        Some(Self {
            session: value("SESSION_ID")?,
            reviewer_session: value("REVIEWER_SESSION_ID"),
            round: value("ROUND").and_then(|round| round.parse().ok()).unwrap_or(1),
            phase: Phase::named(&value("PHASE").unwrap_or_default()),
            log_id: value("LOG_ID"),
        })
    }

    /// The lines.
    #[must_use]
    pub fn render(&self) -> String {
        format!(
            "SESSION_ID={}\nREVIEWER_SESSION_ID={}\nROUND={}\nPHASE={}\nLOG_ID={}\n",
            self.session,
            self.reviewer_session.as_deref().unwrap_or_default(),
            self.round,
            self.phase.name(),
            self.log_id.as_deref().unwrap_or_default(),
        )
    }
}

/// A file beside the plan, with another ending.
#[must_use]
pub fn sidecar(plan: &Path, ending: &str) -> PathBuf {
    let mut name = plan.with_extension("").into_os_string();
    if plan.extension().is_some_and(|own| own != "md") {
        name = plan.as_os_str().to_owned();
    }
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_survives_its_file_and_absent_lines_have_defaults() {
        let state = DebateState {
            session: "s".into(),
            reviewer_session: Some("r".into()),
            round: 3,
            phase: Phase::AssistantRevision,
            log_id: None,
        };
        assert_eq!(DebateState::parse(&state.render()), Some(state));
        let bare = DebateState::parse("SESSION_ID=s\n").unwrap();
        assert_eq!((bare.round, bare.phase), (1, Phase::ReviewerReview));
        assert_eq!(DebateState::parse("ROUND=2\n"), None);
    }

    #[test]
    fn sidecars_lie_beside_the_plan() {
        assert_eq!(sidecar(Path::new("/a/plan.md"), ".state"), Path::new("/a/plan.state"));
        assert_eq!(sidecar(Path::new("/a/plan.v2"), ".state"), Path::new("/a/plan.v2.state"));
    }
}
