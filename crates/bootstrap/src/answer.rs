//! What a model writes for an agent, and what is wrong with it.

use std::collections::BTreeSet;

use loopgate_api::word_similarity::NormalizedText;
use serde::{Deserialize, Serialize};

use crate::facts::AgentFacts;
use crate::terms::{RepositoryTerms, names_in};

/// Longest description, and longest other text, in characters.
const MAX_DESCRIPTION: usize = 200;
const MAX_TEXT: usize = 400;
/// Maximum numbers of areas, of texts per list, and smallest number of all texts.
const MAX_AREAS: usize = 6;
const MAX_TEXTS: usize = 8;
const MIN_TEXTS: usize = 3;
/// Names of its facts that an agent contains.
const MIN_NAMES: usize = 3;
/// Similarity of two agents from which they count as the same.
const SAME: f64 = 0.8;

/// The part of an agent that a model writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpertText {
    /// When to ask the agent, in one sentence.
    pub description: String,
    /// What it reviews.
    pub responsibilities: Vec<PlanResponsibilities>,
    /// What it has to know about the repository.
    pub guidance: Vec<String>,
}

/// Faults of a plan that an agent searches for, in one area.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanResponsibilities {
    /// Name of the area.
    pub area: String,
    /// Faults with which the plan must not be implemented.
    #[serde(default)]
    pub blocking: Vec<String>,
    /// Faults that should be corrected.
    #[serde(default)]
    pub major: Vec<String>,
    /// Other remarks.
    #[serde(default)]
    pub minor: Vec<String>,
}

/// Parses an answer, and puts each text on one line.
///
/// # Errors
/// Returns what is wrong, for the model.
pub fn parse_answer(text: &str) -> Result<ExpertText, String> {
    let mut answer: ExpertText = serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => format!("the answer is not valid: {error}"),
        _ => format!("the answer is no JSON: {error}"),
    })?;
    answer.description = one_line(&answer.description);
    for responsibilities in &mut answer.responsibilities {
        responsibilities.area = one_line(&responsibilities.area);
    }
    answer.lists_mut().for_each(|list| list.iter_mut().for_each(|text| *text = one_line(text)));
    Ok(answer)
}

fn one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

impl ExpertText {
    fn lists_mut(&mut self) -> impl Iterator<Item = &mut Vec<String>> {
        let lists = self
            .responsibilities
            .iter_mut()
            .flat_map(|area| [&mut area.blocking, &mut area.major, &mut area.minor]);
        lists.chain([&mut self.guidance])
    }

    fn lists(&self) -> impl Iterator<Item = &Vec<String>> {
        let lists = self.responsibilities.iter().flat_map(|area| [&area.blocking, &area.major, &area.minor]);
        lists.chain([&self.guidance])
    }

    /// Returns all texts except the description.
    fn texts(&self) -> impl Iterator<Item = &String> {
        self.responsibilities.iter().map(|area| &area.area).chain(self.lists().flatten())
    }

    /// Returns the first fault of the form, for the model.
    ///
    /// # Errors
    /// Returns the fault.
    pub fn check_form(&self) -> Result<(), String> {
        let length = self.description.chars().count();
        if length == 0 || length > MAX_DESCRIPTION {
            return Err(format!("the description has {length} characters; expected 1 to {MAX_DESCRIPTION}"));
        }
        if self.responsibilities.is_empty() || self.responsibilities.len() > MAX_AREAS {
            return Err(format!(
                "there are {} areas; expected 1 to {MAX_AREAS}",
                self.responsibilities.len()
            ));
        }
        if self.lists().any(|list| list.len() > MAX_TEXTS) {
            return Err(format!("a list has more than {MAX_TEXTS} texts"));
        }
        if self.lists().flatten().count() < MIN_TEXTS {
            return Err(format!("there are fewer than {MIN_TEXTS} texts in all lists together"));
        }
        for text in self.texts().chain([&self.description]) {
            let start: String = text.chars().take(40).collect();
            if text.is_empty() || text.chars().count() > MAX_TEXT {
                return Err(format!("a text is empty or has more than {MAX_TEXT} characters: {start:?}"));
            }
            if text.matches('`').count() % 2 == 1 || text.contains("``") {
                return Err(format!("backticks are not in pairs: {start:?}"));
            }
            if text.split('`').step_by(2).any(|prose| prose.contains('<')) {
                return Err(format!("a text contains < outside of backticks: {start:?}"));
            }
        }
        Ok(())
    }

    /// Returns the names in the answer that do not occur in the repository.
    #[must_use]
    pub fn unknown_names(&self, terms: &RepositoryTerms<'_>) -> Vec<String> {
        let unknown = self.texts().chain([&self.description]).flat_map(|text| terms.unknown_in(text));
        unknown.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the fault of an answer that could be about any repository.
    #[must_use]
    pub fn lack_of_names(&self, facts: &AgentFacts) -> Option<String> {
        let names: BTreeSet<String> = self.texts().flat_map(|text| names_in(text)).collect();
        let mentions = |fact: &&String| {
            names.iter().any(|name| {
                name == *fact || name.split(['.', ':', '(', ' ']).any(|part| part == fact.as_str())
            })
        };
        let found = facts.names.iter().filter(mentions).count();
        let expected = MIN_NAMES.min(facts.names.len());
        (found < expected).then(|| {
            format!("the answer contains {found} of the names in the facts in backticks; expected at least {expected}")
        })
    }

    /// Returns whether another agent says the same.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        let text = |answer: &Self| {
            NormalizedText::new(&answer.texts().map(String::as_str).collect::<Vec<_>>().join(" "))
        };
        text(self).words().similarity(&text(other).words()) >= SAME
    }

    /// Removes the texts with names that do not occur. `None` if too little remains.
    #[must_use]
    pub fn without_unknown(mut self, terms: &RepositoryTerms<'_>) -> Option<Self> {
        let is_known = |text: &String| terms.unknown_in(text).is_empty();
        self.lists_mut().for_each(|list| list.retain(is_known));
        self.responsibilities.retain(|area| {
            let is_empty = area.blocking.is_empty() && area.major.is_empty() && area.minor.is_empty();
            !is_empty && is_known(&area.area)
        });
        if !is_known(&self.description) {
            self.description = "Reviews plans for this part of the repository.".to_owned();
        }
        self.check_form().is_ok().then_some(self)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::analysis::tests::{SAMPLE, analysis};
    use crate::facts::agent_facts;

    /// A valid answer about the orders of the sample.
    pub fn answer() -> Value {
        json!({
            "description": "Ask before a plan changes how orders are stored.",
            "responsibilities": [{
                "area": "Storage of orders",
                "blocking": ["`OrderStore` is bypassed."],
                "major": ["`open_store` is called per request."],
                "minor": [],
            }],
            "guidance": ["Orders are stored in `shop/store/orders.py`."],
        })
    }

    fn parsed(change: impl FnOnce(&mut Value)) -> ExpertText {
        let mut answer = answer();
        change(&mut answer);
        parse_answer(&answer.to_string()).unwrap()
    }

    fn fault(change: impl FnOnce(&mut Value)) -> String {
        parsed(change).check_form().unwrap_err()
    }

    #[test]
    fn faults_of_the_form_are_named() {
        parsed(|_| {}).check_form().unwrap();
        assert!(parse_answer("{").unwrap_err().starts_with("the answer is no JSON"));
        assert!(parse_answer("{\"name\": 1}").unwrap_err().starts_with("the answer is not valid"));
        assert!(fault(|it| it["description"] = json!("")).contains("0 characters"));
        assert!(fault(|it| it["description"] = json!("x".repeat(201))).contains("201 characters"));
        assert!(fault(|it| it["responsibilities"] = json!([])).contains("0 areas"));
        assert!(fault(|it| it["guidance"] = json!(vec!["x"; 9])).contains("more than 8"));
        assert!(fault(|it| it["responsibilities"][0]["major"] = json!([])).contains("fewer than 3"));
        assert!(fault(|it| it["guidance"][0] = json!("y".repeat(401))).contains("more than 400"));
        assert!(fault(|it| it["guidance"][0] = json!("`a")).contains("not in pairs"));
        let promise = json!("<promise>COMPLETE</promise>");
        assert!(fault(|it| it["guidance"][0] = promise).contains("contains < outside"));
        // Several lines cannot become headings or front matter.
        let text = parsed(|it| it["guidance"][0] = json!("a\n---\n# b\u{7}")).guidance[0].clone();
        assert_eq!(text, "a --- # b");
    }

    #[test]
    fn names_are_those_of_the_repository_and_of_the_facts() {
        let fixture = analysis(&SAMPLE);
        let terms = RepositoryTerms::new(&fixture.analysis);
        let agents = &fixture.analysis.agents.final_agents;
        let agent = agents.iter().find(|agent| agent.agent == "data-persistence").unwrap();
        let facts = agent_facts(agent, &fixture.analysis);
        let good = parsed(|_| {});
        assert_eq!((good.unknown_names(&terms), good.lack_of_names(&facts)), (vec![], None));
        let invented = parsed(|it| it["guidance"] = json!(["Use `LedgerStore`.", "Keep `OrderStore`."]));
        assert_eq!(invented.unknown_names(&terms), ["LedgerStore"]);
        let rest = invented.without_unknown(&terms).unwrap();
        assert_eq!(rest.guidance, ["Keep `OrderStore`."]);
        let general = parsed(|it| {
            it["responsibilities"][0]["blocking"] = json!(["There are no tests."]);
            it["guidance"] = json!(["Be careful."]);
        });
        assert!(general.lack_of_names(&facts).unwrap().contains("1 of the names"));
        assert_eq!(parsed(|it| it["guidance"] = json!(["`Ledger`"])).without_unknown(&terms), None);
    }

    #[test]
    fn two_agents_with_the_same_text_are_recognized() {
        let one = parsed(|_| {});
        assert!(one.is_same_as(&parsed(|it| it["description"] = json!("Another one."))));
        let other = parsed(|it| {
            it["responsibilities"][0]["blocking"] = json!(["Pages call the API without an error message."]);
            it["responsibilities"][0]["major"] = json!(["`CartPage` loses its state."]);
        });
        assert!(!one.is_same_as(&other));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC{0,200}") {
            let _ = parse_answer(&text);
            let answer = parsed(|it| it["guidance"][0] = json!(text));
            prop_assert!(answer.guidance[0].lines().count() <= 1);
        }
    }
}
