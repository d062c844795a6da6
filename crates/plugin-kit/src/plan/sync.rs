//! Brings `plan.json` and `plan.md` together when one of them was changed alone.
//!
//! People answer questions in `plan.md`; programs change `plan.json`. The hash of the text that both had
//! last tells which of them is newer. When both were changed, neither is overwritten.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use loopgate_api::names::{PLAN_JSON, PLAN_MD};
use loopgate_home::untrusted;
use serde_json::{Map, Value};

use super::build::from_markdown;
use super::common_text::{hash, record, remember};
use super::document::{self, PlanLock, content_text};
use super::paths::plan_path;
use super::structure;

/// How the two files stood to each other, and what was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncOutcome {
    /// There is no `plan.json`.
    NoPlan,
    /// They agree.
    InSync,
    /// `plan.json` was newer, or alone: the text was written.
    TextWritten,
    /// `plan.md` was newer: the plan was built from it, with these issues.
    PlanBuilt(Vec<String>),
    /// Both were changed; nothing was written.
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
                "PLAN_SYNC: CONFLICT\n{PLAN_MD} and {PLAN_JSON} were both changed, each in its own way. Neither was \
                 overwritten. Keep {PLAN_MD} with `loopgate plan build`, or {PLAN_JSON} with `loopgate plan extract-md`."
            ),
        }
    }
}

/// Brings the files of a work directory together.
///
/// # Errors
/// The line to print, also for a `plan.json` that cannot be read.
pub fn sync(workdir: &Path) -> Result<SyncOutcome, String> {
    let _lock = PlanLock::take(workdir)?;
    Ok(synced(workdir)?.1)
}

/// The plan as it is after both files were brought together. The caller holds the [`PlanLock`].
///
/// # Errors
/// The line to print: no plan, one that cannot be read, or a conflict.
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
    let text = match untrusted::read_text(&workdir.join(PLAN_MD)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            document::write_mirrors(workdir, &plan)?;
            return Ok((plan, SyncOutcome::TextWritten));
        }
        Err(error) => return Err(format!("Error: cannot read {PLAN_MD}: {error}")),
    };
    if text == content {
        remember(workdir, &content).map_err(|error| format!("Error: cannot write the plan: {error}"))?;
        return Ok((plan, SyncOutcome::InSync));
    }
    match newer(workdir, &content, &text) {
        Newer::Plan => {
            document::write_mirrors(workdir, &plan)?;
            Ok((plan, SyncOutcome::TextWritten))
        }
        Newer::Text => {
            let plan = from_markdown(&text, plan);
            document::write(workdir, &plan)?;
            let issues = structure::check(&Value::Object(plan.clone()));
            Ok((plan, SyncOutcome::PlanBuilt(issues)))
        }
        Newer::Both => Ok((plan, SyncOutcome::Conflict)),
    }
}

/// Which of two files was changed since they agreed.
enum Newer {
    Plan,
    Text,
    Both,
}

fn newer(workdir: &Path, content: &str, text: &str) -> Newer {
    let Ok(common) = untrusted::read_text(&record(workdir)) else {
        // They never agreed as far as anybody knows: the file that was written last counts.
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

    fn planned() -> tempfile::TempDir {
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
    fn answer_in_the_text_reaches_the_plan_and_survives_a_tick() {
        let dir = planned();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::InSync);
        answer(dir.path());
        tick::tick(dir.path(), "T-1.1").unwrap();
        let plan = document::read(&plan_path(dir.path())).unwrap();
        assert_eq!(plan["answeredQuestions"][0]["answer"], "the second");
        assert!(text(dir.path()).contains("**Answer: the second**"));
        assert!(text(dir.path()).contains("- [x] **T-1.1**"));
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::InSync);
    }

    #[test]
    fn newer_plan_writes_the_text() {
        let dir = planned();
        let mut plan = document::read(&plan_path(dir.path())).unwrap();
        plan.insert("content".into(), CONTENT.replace("T-1.1**:", "T-1.1**: really").into());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::TextWritten);
        assert!(text(dir.path()).contains("T-1.1**: really"));
    }

    #[test]
    fn two_changes_are_a_conflict_and_stay() {
        let dir = planned();
        let mut plan = document::read(&plan_path(dir.path())).unwrap();
        plan.insert("content".into(), "# Another plan\n".into());
        let changed = Value::Object(plan).to_string();
        std::fs::write(plan_path(dir.path()), &changed).unwrap();
        answer(dir.path());
        let answered = text(dir.path());
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::Conflict);
        assert!(tick::tick(dir.path(), "T-1.1").unwrap_err().contains("CONFLICT"));
        assert_eq!(text(dir.path()), answered);
        assert_eq!(std::fs::read_to_string(plan_path(dir.path())).unwrap(), changed);
    }

    #[test]
    fn write_that_was_cut_off_is_finished() {
        let dir = planned();
        let mut plan = document::read(&plan_path(dir.path())).unwrap();
        plan.insert("content".into(), "# Later\n".into());
        // Killed after plan.json, before plan.md.
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::TextWritten);
        assert_eq!(text(dir.path()), "# Later\n");
        // Killed after plan.md, before the record of the common text.
        std::fs::remove_file(record(dir.path())).unwrap();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::InSync);
        assert!(record(dir.path()).is_file());
    }

    #[test]
    fn without_a_plan_there_is_nothing_to_do() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(sync(dir.path()).unwrap(), SyncOutcome::NoPlan);
        std::fs::write(plan_path(dir.path()), "{").unwrap();
        assert!(sync(dir.path()).unwrap_err().contains("is not JSON"));
    }
}
