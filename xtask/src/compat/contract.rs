//! The contracts of `compat.toml`, and the tests that check them.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;

use super::program::VendorProgram;
use super::report::ContractOutcome;
use crate::count::TestCase;
use crate::root;

const CONFIG: &str = "xtask/compat.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompatConfig {
    contract: Vec<Contract>,
}

/// Behavior of a vendor's program that Loopgate relies on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    pub name: String,
    pub program: VendorProgram,
    #[serde(default)]
    tests: Vec<TestPrefix>,
    /// Whether the cases of `cargo xtask trial` check this contract, instead of tests.
    #[serde(default)]
    pub trial: bool,
}

/// Tests of a binary whose names begin with a text, written as `loopgate::it story::`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct TestPrefix {
    /// Nextest's id of the binary, `package::target`.
    binary: String,
    prefix: String,
    /// Longer prefixes of the same binary: their tests belong to them only.
    except: Vec<String>,
}

impl TryFrom<String> for TestPrefix {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // Both become parts of nextest's filters, the prefix of a regular expression.
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-:".contains(c));
        match text.split_once(' ') {
            Some((binary, prefix)) if binary.contains("::") && is_name(binary) && is_name(prefix) => {
                Ok(Self { binary: binary.to_owned(), prefix: prefix.to_owned(), except: Vec::new() })
            }
            _ => Err(format!(
                "{text:?} is not a test binary and the beginning of test names, for example \"loopgate::it story::\""
            )),
        }
    }
}

impl TestPrefix {
    fn matches(&self, case: &TestCase) -> bool {
        case.binary == self.binary
            && case.name.starts_with(&self.prefix)
            && !self.except.iter().any(|longer| case.name.starts_with(longer))
    }

    /// Returns nextest's filter for these tests.
    fn filter(&self) -> String {
        let except: String = self.except.iter().map(|longer| format!(" - test(/^{longer}/)")).collect();
        format!("(binary_id(={}) & test(/^{}/){except})", self.binary, self.prefix)
    }

    /// Returns the test target of cargo.
    fn target(&self) -> &str {
        self.binary.rsplit("::").next().unwrap_or(&self.binary)
    }
}

impl Contract {
    /// Returns the outcome of this contract's tests, which may be among other tests.
    pub fn outcome(&self, cases: &[TestCase]) -> ContractOutcome {
        let (mut passed, mut failures) = (0, Vec::new());
        for prefix in &self.tests {
            let mut is_empty = true;
            for case in cases.iter().filter(|case| prefix.matches(case)) {
                is_empty = false;
                if case.passed {
                    passed += 1
                } else {
                    failures.push(format!("{} {}", case.binary, case.name))
                }
            }
            if is_empty {
                let entry = format!("{} {}", prefix.binary, prefix.prefix);
                failures.push(format!("{entry}: no such test, update {CONFIG}"));
            }
        }
        ContractOutcome::Checked { passed, failures }
    }
}

/// Returns nextest's filter for the tests of the contracts, or none if they have no tests.
pub fn test_filter(contracts: &[&Contract]) -> Option<String> {
    let filters: Vec<String> =
        contracts.iter().flat_map(|contract| &contract.tests).map(TestPrefix::filter).collect();
    (!filters.is_empty()).then(|| filters.join(" | "))
}

/// Returns the test targets of cargo that contain the tests of the contracts.
pub fn test_targets<'a>(contracts: &[&'a Contract]) -> BTreeSet<&'a str> {
    contracts.iter().flat_map(|contract| &contract.tests).map(TestPrefix::target).collect()
}

/// Reads the contracts with the given names, or all.
///
/// # Errors
/// Fails when the file is invalid, or when no contract has one of the names.
pub fn read_contracts(names: &[String]) -> anyhow::Result<Vec<Contract>> {
    let text =
        std::fs::read_to_string(root().join(CONFIG)).with_context(|| format!("cannot read {CONFIG}"))?;
    select(parse(&text).with_context(|| format!("{CONFIG} is invalid"))?, names)
}

fn parse(text: &str) -> anyhow::Result<Vec<Contract>> {
    let CompatConfig { contract: mut contracts } = toml_edit::de::from_str(text)?;
    let mut names = BTreeSet::new();
    for contract in &contracts {
        ensure!(names.insert(&contract.name), "two contracts are named {:?}", contract.name);
        let has_one_kind = contract.trial == contract.tests.is_empty();
        ensure!(has_one_kind, "the contract {:?} needs either tests or the trial", contract.name);
    }
    let prefixes: Vec<TestPrefix> =
        contracts.iter().flat_map(|contract| contract.tests.iter().cloned()).collect();
    for prefix in contracts.iter_mut().flat_map(|contract| &mut contract.tests) {
        let same_binary = prefixes.iter().filter(|other| other.binary == prefix.binary);
        let (equal, other): (Vec<_>, Vec<_>) = same_binary.partition(|other| other.prefix == prefix.prefix);
        ensure!(equal.len() == 1, "the tests {} {} are listed twice", prefix.binary, prefix.prefix);
        let longer = other.into_iter().filter(|other| other.prefix.starts_with(&prefix.prefix));
        prefix.except = longer.map(|other| other.prefix.clone()).collect();
    }
    Ok(contracts)
}

fn select(mut contracts: Vec<Contract>, names: &[String]) -> anyhow::Result<Vec<Contract>> {
    let is_unknown = |name: &&String| contracts.iter().all(|contract| contract.name != **name);
    if let Some(unknown) = names.iter().find(is_unknown) {
        let known: Vec<String> = contracts.iter().map(|contract| format!("{:?}", contract.name)).collect();
        bail!("no contract is named {unknown:?}; {CONFIG} contains {}", known.join(", "));
    }
    contracts.retain(|contract| names.is_empty() || names.contains(&contract.name));
    Ok(contracts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACTS: &str = r#"
        [[contract]]
        name = "hooks"
        program = "claude"
        tests = ["loopgate::it loops::", "loopgate-testkit::up "]

        [[contract]]
        name = "sessions"
        program = "codex"
        tests = ["loopgate::it loops::resume"]

        [[contract]]
        name = "faults"
        program = "claude"
        trial = true
    "#;

    fn case(binary: &str, name: &str, passed: bool) -> TestCase {
        TestCase { binary: binary.to_owned(), name: name.to_owned(), passed }
    }

    #[test]
    fn test_belongs_to_the_contract_with_the_longest_prefix() {
        let contracts = parse(CONTRACTS).unwrap();
        let contracts: Vec<&Contract> = contracts.iter().collect();
        assert_eq!(
            test_filter(&contracts).unwrap(),
            "(binary_id(=loopgate::it) & test(/^loops::/) - test(/^loops::resume/)) \
             | (binary_id(=loopgate-testkit::up) & test(/^/)) \
             | (binary_id(=loopgate::it) & test(/^loops::resume/))"
        );
        assert_eq!(test_targets(&contracts).into_iter().collect::<Vec<_>>(), ["it", "up"]);
        let cases = [
            case("loopgate::it", "loops::start", true),
            case("loopgate::it", "loops::resume_after_kill", false),
            case("loopgate::it", "other::resume", false),
            case("loopgate-testkit::up", "start", true),
        ];
        let passed = ContractOutcome::Checked { passed: 2, failures: Vec::new() };
        assert_eq!(contracts[0].outcome(&cases), passed);
        let failures = vec!["loopgate::it loops::resume_after_kill".to_owned()];
        assert_eq!(contracts[1].outcome(&cases), ContractOutcome::Checked { passed: 0, failures });
    }

    #[test]
    fn entry_that_matches_no_test_is_a_failure() {
        let contracts = parse(CONTRACTS).unwrap();
        let ContractOutcome::Checked { passed, failures } =
            contracts[0].outcome(&[case("loopgate::it", "loops::resume_after_kill", true)])
        else {
            panic!("the tests ran");
        };
        assert_eq!(passed, 0);
        assert_eq!(
            failures,
            [
                "loopgate::it loops::: no such test, update xtask/compat.toml",
                "loopgate-testkit::up : no such test, update xtask/compat.toml"
            ]
        );
    }

    #[test]
    fn invalid_contracts_are_refused() {
        for (from, to, reason) in [
            (r#"name = "sessions""#, r#"name = "hooks""#, "two contracts are named"),
            ("loops::resume", "loops::", "are listed twice"),
            ("loopgate::it loops::resume", "loops::resume", "is not a test binary"),
            ("loops::resume", "loops::.*", "is not a test binary"),
            (r#"program = "codex""#, r#"program = "emacs""#, "unknown variant"),
            (r#"tests = ["loopgate::it loops::resume"]"#, "filter = \"all()\"", "unknown field"),
            ("trial = true", "", "needs either tests or the trial"),
            (
                "trial = true",
                "trial = true\ntests = [\"loopgate::it chats::\"]",
                "needs either tests or the trial",
            ),
        ] {
            let text = CONTRACTS.replace(from, to);
            let error = format!("{:#}", parse(&text).unwrap_err());
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn contracts_are_selected_by_name() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let selection = select(parse(CONTRACTS).unwrap(), &names(&["faults"])).unwrap();
        assert!(selection.len() == 1 && selection[0].trial);
        let error = select(parse(CONTRACTS).unwrap(), &names(&["session"])).unwrap_err().to_string();
        assert!(
            error.contains(r#""session""#) && error.contains(r#""hooks", "sessions", "faults""#),
            "{error}"
        );
    }

    #[test]
    fn contracts_of_this_repository_are_valid() {
        let contracts = read_contracts(&[]).unwrap();
        for program in VendorProgram::ALL {
            assert!(
                contracts.iter().any(|contract| contract.program == program),
                "{program} has no contract"
            );
        }
    }
}
