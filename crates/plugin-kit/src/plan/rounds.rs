//! Counts the rounds of repeated steps across iterations. A model cannot: each iteration is a new session
//! without memory of the previous ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;

use super::document::PlanLock;

/// Starts a round of a step. Returns `ROUND n of max`, or `LIMIT_REACHED` when all rounds are used up.
///
/// # Errors
/// Returns the line to print.
pub fn next(workdir: &Path, step: &str, max: u32) -> Result<String, String> {
    let _lock = PlanLock::take(workdir)?;
    // A malformed record restarts the count: a few rounds too many are better than a loop that cannot
    // continue.
    let mut rounds: BTreeMap<String, u32> = untrusted::read_json(&record(workdir)).unwrap_or_default();
    let count = rounds.entry(step.to_owned()).or_default();
    if *count >= max {
        return Ok(format!("LIMIT_REACHED: all {max} rounds of {step} are used up"));
    }
    *count += 1;
    let answer = format!("ROUND {count} of {max}");
    let text = serde_json::to_vec(&rounds).map_err(|error| format!("Error: {error}"))?;
    untrusted::write(&record(workdir), &text)
        .map_err(|error| format!("Error: cannot count the round: {error}"))?;
    Ok(answer)
}

/// Returns the path of the record; a new loop deletes it.
#[must_use]
pub fn record(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join("rounds.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_counted_per_step_up_to_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(next(dir.path(), "validation", 2).unwrap(), "ROUND 1 of 2");
        assert_eq!(next(dir.path(), "review", 2).unwrap(), "ROUND 1 of 2");
        assert_eq!(next(dir.path(), "validation", 2).unwrap(), "ROUND 2 of 2");
        let over = "LIMIT_REACHED: all 2 rounds of validation are used up";
        assert_eq!(next(dir.path(), "validation", 2).unwrap(), over);
        std::fs::write(record(dir.path()), "rubbish").unwrap();
        assert_eq!(next(dir.path(), "validation", 2).unwrap(), "ROUND 1 of 2");
    }
}
