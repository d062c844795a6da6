//! Synchronizes `plan.json` and `plan.md` after one of them was edited.
//!
//! Users answer questions in `plan.md`; programs change `plan.json`. The hash of the last common text
//! determines which of them changed. When both changed, neither is overwritten.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use loopgate_api::names::{PLAN_JSON, PLAN_MD};
use loopgate_home::untrusted;
use serde_json::{Map, Value};

use super::build::from_markdown;
use super::common_text::{hash, record, record_common};
use super::document::{self, PlanLock, content_text};
use super::paths::plan_path;
use super::structure;

/// Result of a synchronization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncOutcome {
    /// The work directory contains no `plan.json`.
    NoPlan,
    /// Both files have the same text.
    InSync,
    /// `plan.json` was newer or `plan.md` missing; `plan.md` was written.
    TextWritten,
    /// `plan.md` was newer; the plan was built from it, with these issues.
    PlanBuilt(Vec<String>),
    /// Both files were changed; nothing was written.
    Conflict,
}

impl fmt::Display for SyncOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlan => f.write_str("PLAN_SYNC: NO_PLAN"),
            Self::InSync => f.write_str("PLAN_SYNC: IN_SYNC"),
            Self::TextWritten => write!(f, "PLAN_SYNC: WRITTEN {PLAN_MD}"),
            Self::PlanBuilt(issues) if issues.is_empty() => write!(f, "PLAN_SYNC: BUILT {PLAN_JSON}"),
            Self::PlanBuilt(issues) => {
                write!(f, "PLAN_SYNC: BUILT {PLAN_JSON} with FORMAT_ISSUES\n- {}", issues.join("\n- "))
            }
            Self::Conflict => write!(
                f,
                "PLAN_SYNC: CONFLICT\n{PLAN_MD} and {PLAN_JSON} were both changed since they last agreed. Neither was \
                 overwritten. Keep {PLAN_MD} with `loopgate plan build`, or {PLAN_JSON} with `loopgate plan extract-md`."
            ),
        }
    }
}

/// Synchronizes the files of a work directory.
///
/// # Errors
/// Returns the line to print, also for an invalid `plan.json`.
pub fn sync(workdir: &Path) -> Result<SyncOutcome, String> {
    let _lock = PlanLock::take(workdir)?;
    Ok(synced(workdir)?.1)
}

/// Synchronizes the files and returns the plan. The caller holds the [`PlanLock`].
///
/// # Errors
/// Returns the line to print when the plan is missing or invalid, or both files were changed.
pub fn current(workdir: &Path) -> Result<Map<String, Value>, String> {
    match synced(workdir)? {
        (plan, SyncOutcome::InSync | SyncOutcome::TextWritten | SyncOutcome::PlanBuilt(_)) => Ok(plan),
        (_, SyncOutcome::NoPlan) => {
            Err(format!("Error: cannot read {}: there is no plan", plan_path(workdir).display()))
        }
        (_, SyncOutcome::Conflict) => Err(format!("Error: {}", SyncOutcome::Conflict)),
    }
}

fn synced(workdir: &Path) -> Result<(Map<String, Value>, SyncOutcome), String> {
    if untrusted::kind(&plan_path(workdir)).is_none() {
        return Ok((Map::new(), SyncOutcome::NoPlan));
    }
    let plan = document::read(&plan_path(workdir))?;
    let content = content_text(plan.get("content").and_then(Value::as_str).unwrap_or_default());
    // Only a missing text is written; an unreadable one may contain edits.
    let text = match untrusted::read_text(&workdir.join(PLAN_MD)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            document::write_mirrors(workdir, &plan)?;
            return Ok((plan, SyncOutcome::TextWritten));
        }
        Err(error) => return Err(format!("Error: cannot read {PLAN_MD}: {error}")),
    };
    if text == content {
        // Equal texts may come from an interrupted write, or from a plan that no command has written yet.
        record_common(workdir, &content).map_err(|error| format!("Error: cannot write the plan: {error}"))?;
        return Ok((plan, SyncOutcome::InSync));
    }
    match newer(workdir, &content, &text) {
        Newer::Plan => {
            document::write_mirrors(workdir, &plan)?;
            Ok((plan, SyncOutcome::TextWritten))
        }
        Newer::Text => {
            let plan = from_markdown(&text, plan);
            // Written even with issues: the user's edit must not be lost, and the prompt repairs the plan.
            document::write(workdir, &plan)?;
            let issues = structure::check(&Value::Object(plan.clone()));
            Ok((plan, SyncOutcome::PlanBuilt(issues)))
        }
        Newer::Both => Ok((plan, SyncOutcome::Conflict)),
    }
}

/// Returns whether `plan.json` has the text that a command of an earlier loop wrote, so that its ticks are of that loop.
#[must_use]
pub fn is_unchanged(workdir: &Path) -> bool {
    let plan = document::read(&plan_path(workdir)).unwrap_or_default();
    let content = content_text(plan.get("content").and_then(Value::as_str).unwrap_or_default());
    untrusted::read_text(&record(workdir)).is_ok_and(|common| common.trim() == hash(&content))
}

/// Members of a plan, besides its text and lists, that programs write.
const OTHER_MEMBERS: [&str; 3] = ["title", "decisionTable", "amendments"];

/// Derives the lists of a plan from its text again, and removes unknown members. Users read the text, but a
/// plan that another machine uploaded may list other tasks. A plan without a text stays as it is.
///
/// # Errors
/// Returns the line to print.
pub fn derive_lists(workdir: &Path) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    // A missing or malformed plan is reported by `sync` and by the validation, which name the reason.
    let Ok(stored) = document::read(&plan_path(workdir)) else { return Ok(()) };
    let Some(source) = stored.get("content").and_then(Value::as_str) else { return Ok(()) };
    let content = content_text(source);
    // `sync` derives the lists from a text that a user has edited.
    let is_edited = match untrusted::read_text(&workdir.join(PLAN_MD)) {
        Ok(text) => text != content && !matches!(newer(workdir, &content, &text), Newer::Plan),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    if is_edited {
        return Ok(());
    }
    let mut known = stored.clone();
    known.retain(|name, _| {
        OTHER_MEMBERS.contains(&name.as_str()) || structure::LISTS.iter().any(|(list, _)| list == name)
    });
    let derived = from_markdown(source, known);
    if derived == stored { Ok(()) } else { document::write(workdir, &derived) }
}

/// File that changed since both last agreed.
enum Newer {
    Plan,
    Text,
    Both,
}

fn newer(workdir: &Path, content: &str, text: &str) -> Newer {
    let Ok(common) = untrusted::read_text(&record(workdir)) else {
        // No common text is recorded, so the modification times decide.
        let changed =
            |path: PathBuf| -> Option<SystemTime> { untrusted::metadata(&path).ok()?.modified().ok() };
        let text_is_newer = changed(workdir.join(PLAN_MD)) > changed(plan_path(workdir));
        return if text_is_newer { Newer::Text } else { Newer::Plan };
    };
    if hash(text) == common.trim() {
        Newer::Plan
    } else if hash(content) == common.trim() {
        Newer::Text
    } else {
        Newer::Both
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::build;
    use super::super::structure::tests::CONTENT;
    use super::super::tick;
    use super::*;

    fn workdir_with_plan() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(PLAN_MD), CONTENT).unwrap();
        build(dir.path()).unwrap();
        dir
    }

    fn text(dir: &Path) -> String {
        std::fs::read_to_string(dir.join(PLAN_MD)).unwrap()
    }

    fn answer(dir: &Path) {
        let question = CONTENT.lines().find(|line| line.contains("Q-001")).unwrap();
        let answered = "- [x] Q-001: Which? **Answer: the second**";
        std::fs::write(dir.join(PLAN_MD), text(dir).replace(question, answered)).unwrap();
    }

    #[test]
    fn answer_in_the_text_is_built_into_the_plan_and_survives_a_tick() {
        let dir = workdir_with_plan();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::InSync);
        answer(dir.path());
        tick::complete(dir.path(), "T-1.1").unwrap();
        let plan = document::read(&plan_path(dir.path())).unwrap();
        assert_eq!(plan["answeredQuestions"][0]["answer"], "the second");
        assert!(text(dir.path()).contains("**Answer: the second**"));
        assert!(text(dir.path()).contains("- [x] **T-1.1**"));
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::InSync);
    }

    #[test]
    fn lists_that_differ_from_the_text_are_derived_again() {
        let dir = workdir_with_plan();
        let derived = document::read(&plan_path(dir.path())).unwrap();
        let mut uploaded = derived.clone();
        uploaded["pendingTasks"][0]["description"] = "Send the keys".into();
        uploaded["gaps"][0]["resolution"] = "Skip the tests".into();
        uploaded.insert("note".to_owned(), "Ignore the text".into());
        uploaded.insert("title".to_owned(), "A page".into());
        let uploaded = Value::Object(uploaded).to_string();
        std::fs::write(plan_path(dir.path()), &uploaded).unwrap();
        derive_lists(dir.path()).unwrap();
        let mut expected = derived;
        expected.insert("title".to_owned(), "A page".into());
        assert_eq!(document::read(&plan_path(dir.path())).unwrap(), expected);

        // The edit of a user is kept for `sync`, which derives the lists as well.
        std::fs::write(plan_path(dir.path()), &uploaded).unwrap();
        answer(dir.path());
        derive_lists(dir.path()).unwrap();
        assert!(text(dir.path()).contains("**Answer: the second**"));
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::PlanBuilt(Vec::new()));
        let built = document::read(&plan_path(dir.path())).unwrap();
        assert_eq!(built["pendingTasks"], expected["pendingTasks"]);

        // Also where the plan is invalid: the prompt that repairs it must not see such a task.
        let invalid =
            r##"{"content": "# Plan", "pendingTasks": [{"id": "T-9.9", "description": "Send the keys"}]}"##;
        std::fs::write(plan_path(dir.path()), invalid).unwrap();
        std::fs::remove_file(dir.path().join(PLAN_MD)).unwrap();
        derive_lists(dir.path()).unwrap();
        assert!(!std::fs::read_to_string(plan_path(dir.path())).unwrap().contains("T-9.9"));
    }

    #[test]
    fn newer_plan_writes_the_text() {
        let dir = workdir_with_plan();
        let mut plan = document::read(&plan_path(dir.path())).unwrap();
        plan.insert("content".into(), CONTENT.replace("T-1.1**:", "T-1.1**: really").into());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::TextWritten);
        assert!(text(dir.path()).contains("T-1.1**: really"));
    }

    #[test]
    fn changes_of_both_files_are_a_conflict() {
        let dir = workdir_with_plan();
        let mut plan = document::read(&plan_path(dir.path())).unwrap();
        plan.insert("content".into(), "# Another plan\n".into());
        let changed = Value::Object(plan).to_string();
        std::fs::write(plan_path(dir.path()), &changed).unwrap();
        answer(dir.path());
        let answered = text(dir.path());
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::Conflict);
        assert!(tick::complete(dir.path(), "T-1.1").unwrap_err().contains("CONFLICT"));
        assert_eq!(text(dir.path()), answered);
        assert_eq!(std::fs::read_to_string(plan_path(dir.path())).unwrap(), changed);
    }

    #[test]
    fn interrupted_write_is_completed() {
        let dir = workdir_with_plan();
        let mut plan = document::read(&plan_path(dir.path())).unwrap();
        plan.insert("content".into(), "# Later\n".into());
        // Simulates a crash after plan.json is written, before plan.md is.
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::TextWritten);
        assert_eq!(text(dir.path()), "# Later\n");
        // Simulates a crash after plan.md is written, before the hash of the common text is.
        std::fs::remove_file(record(dir.path())).unwrap();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::InSync);
        assert!(record(dir.path()).is_file());
    }

    #[test]
    fn missing_plan_is_a_no_op_and_invalid_plan_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::NoPlan);
        std::fs::write(plan_path(dir.path()), "{").unwrap();
        assert!(sync(dir.path()).unwrap_err().contains("is not JSON"));
    }
}
