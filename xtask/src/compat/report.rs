//! The outcomes of contracts, and the tables that show them.

use std::fmt;

use super::program::ProgramVersion;

/// Outcome of the checks of one contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContractOutcome {
    /// Number of passed checks, and a description of each failed one.
    Checked { passed: usize, failures: Vec<String> },
    /// The reason why the contract could not be checked, which never counts as passed.
    NotChecked(String),
}

impl ContractOutcome {
    /// Reads the lines that the trial prints.
    pub fn of_trial(lines: &[String]) -> Self {
        // The trial ends with the names of its failed cases. The error of a case may have several lines.
        let name = |line: &String| {
            let (_, name) = line.strip_suffix('\'')?.split_once("repeat with: cargo xtask trial --only '")?;
            Some(name.to_owned())
        };
        Self::Checked {
            passed: lines.iter().filter(|line| line.starts_with("ok ")).count(),
            failures: lines.iter().filter_map(name).collect(),
        }
    }

    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Checked { failures, .. } if !failures.is_empty())
    }
}

impl fmt::Display for ContractOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checked { passed, failures } if self.is_broken() => {
                write!(f, "BROKEN, {} of {} failed", failures.len(), passed + failures.len())
            }
            Self::Checked { passed, .. } => write!(f, "{passed} passed"),
            Self::NotChecked(reason) => write!(f, "not checked: {reason}"),
        }
    }
}

/// The outcomes of a run.
#[derive(Default)]
pub struct CompatReport(Vec<CompatRow>);

struct CompatRow {
    contract: String,
    /// Name and version of the program.
    program: String,
    outcome: ContractOutcome,
}

impl CompatReport {
    pub fn add(&mut self, contract: &str, program: &ProgramVersion, outcome: ContractOutcome) {
        let program = format!("{} {}", program.program, program.version);
        self.0.push(CompatRow { contract: contract.to_owned(), program, outcome });
    }

    /// Returns 1 if a contract is broken, 2 if none is but some were not checked, and 0 otherwise.
    pub fn exit_code(&self) -> u8 {
        if self.count(ContractOutcome::is_broken) > 0 {
            1
        } else if self.count(|outcome| matches!(outcome, ContractOutcome::NotChecked(_))) > 0 {
            2
        } else {
            0
        }
    }

    fn count(&self, has_property: impl Fn(&ContractOutcome) -> bool) -> usize {
        self.0.iter().filter(|row| has_property(&row.outcome)).count()
    }
}

impl fmt::Display for CompatReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows =
            self.0.iter().map(|row| [row.contract.clone(), row.program.clone(), row.outcome.to_string()]);
        writeln!(f, "{}", table(["contract", "program", "outcome"], rows))?;
        let mut failures = Vec::new();
        for row in &self.0 {
            if let ContractOutcome::Checked { failures: of_row, .. } = &row.outcome {
                failures.extend(
                    of_row.iter().map(|failure| [row.contract.clone(), row.program.clone(), failure.clone()]),
                );
            }
        }
        if !failures.is_empty() {
            writeln!(f, "{}", table(["broken contract", "program", "failure"], failures))?;
        }
        let broken = self.count(ContractOutcome::is_broken);
        let not_checked = self.count(|outcome| matches!(outcome, ContractOutcome::NotChecked(_)));
        let kept = self.0.len() - broken - not_checked;
        write!(f, "{kept} contracts passed, {broken} broken, {not_checked} not checked")
    }
}

/// Aligns the columns of a table below their titles; each line ends with a line feed.
pub fn table<const N: usize>(titles: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(titles.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSED: ContractOutcome = ContractOutcome::Checked { passed: 3, failures: Vec::new() };

    fn report(outcomes: &[ContractOutcome]) -> CompatReport {
        let row = |outcome: &ContractOutcome| CompatRow {
            contract: "hooks".to_owned(),
            program: "claude 2.1.332".to_owned(),
            outcome: outcome.clone(),
        };
        CompatReport(outcomes.iter().map(row).collect())
    }

    fn broken() -> ContractOutcome {
        ContractOutcome::Checked { passed: 2, failures: vec!["loopgate::it story::plan".to_owned()] }
    }

    fn not_checked() -> ContractOutcome {
        ContractOutcome::NotChecked("it requires Node >=22".to_owned())
    }

    #[test]
    fn contract_that_is_not_checked_does_not_count_as_passed() {
        assert_eq!(report(&[PASSED]).exit_code(), 0);
        assert_eq!(report(&[PASSED, not_checked()]).exit_code(), 2);
        assert_eq!(report(&[not_checked(), broken(), PASSED]).exit_code(), 1);
    }

    #[test]
    fn report_names_the_contract_and_program_of_each_failure() {
        assert_eq!(
            report(&[PASSED, broken(), not_checked()]).to_string(),
            "contract  program         outcome\n\
             hooks     claude 2.1.332  3 passed\n\
             hooks     claude 2.1.332  BROKEN, 1 of 3 failed\n\
             hooks     claude 2.1.332  not checked: it requires Node >=22\n\
             \n\
             broken contract  program         failure\n\
             hooks            claude 2.1.332  loopgate::it story::plan\n\
             \n\
             1 contracts passed, 1 broken, 1 not checked"
        );
    }

    #[test]
    fn cases_of_the_trial_are_read_from_its_output() {
        let lines = [
            "ok    3 s  a detached worktree: COMPLETED; 1 pull requests",
            "FAILED  a push: ",
            "the status is FAILED, expected COMPLETED",
            "repeat with: cargo xtask trial --only 'a push'",
            "1 of 2 cases passed",
        ];
        let outcome = ContractOutcome::of_trial(&lines.map(str::to_owned));
        let failures = vec!["a push".to_owned()];
        assert_eq!(outcome, ContractOutcome::Checked { passed: 1, failures });
    }
}
