//! The second reviewer, which tries to disprove the findings that decide about the verdict. It does not know their author.

use std::fmt::Write as _;

use loopgate_code_review::finding::{Finding, FindingSide};
use loopgate_code_review::hygiene::HygieneCheck;
use loopgate_code_review::validation::{DiscardReason, MIN_CONFIDENCE, Validation};
use loopgate_code_review::verdict::decides;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model_calls::{mark_data, without_fence};

const TASK: &str = include_str!("../../../../plugins/code-review/reviewers/challenge.md");
/// Model of the second reviewer: also that of the reviewer of small changes, whose prompt cache it uses.
pub const MODEL: &str = "sonnet";
/// Claims of one question.
pub const MAX_CLAIMS: usize = 8;
/// Lines of the file around a claim, on each side, and largest line.
const EXCERPT_LINES: usize = 120;
const MAX_LINE: usize = 500;
/// Member of a finding with the result.
pub const MEMBER: &str = "challenge";

/// What the second reviewer thinks of a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    pub confidence: f64,
    pub reasoning: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChallengeAnswer {
    results: Vec<AnsweredClaim>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredClaim {
    claim: usize,
    confidence: f64,
    reasoning: String,
}

/// Returns whether a finding is given to the second reviewer: it decides about the verdict, and a model reported it.
pub fn is_claim(finding: &Finding) -> bool {
    decides(finding) && HygieneCheck::of(finding).is_none()
}

/// Builds the question about claims. `excerpts`: the files of the claims, by path.
pub fn request(claims: &[&Finding], excerpts: &[(String, String)], mark: &str) -> String {
    let mut text =
        format!("{}\n\nEverything said above about findings of your own does not apply.\n", TASK.trim());
    let mut list = String::new();
    for (index, claim) in claims.iter().enumerate() {
        let title = claim.issue.split_once("] ").map_or(claim.issue.as_str(), |(_, title)| title);
        // Without severity, confidence and author, which would tell how sure the first reviewer was.
        let document = json!({
            "claim": index + 1,
            "file": claim.file,
            "line": claim.line,
            "side": if claim.side == Some(FindingSide::Left) { "old file" } else { "new file" },
            "code": claim.code_snippet,
            "title": title,
            "explanation": claim.explanation,
        });
        let _ = writeln!(list, "{document}");
    }
    let mut documents = vec![("claims".to_owned(), list)];
    documents.extend_from_slice(excerpts);
    mark_data(&mut text, mark, &documents);
    text
}

/// Returns the lines of a file around a line, with their numbers.
pub fn excerpt(path: &str, content: &str, line: u64) -> (String, String) {
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    let first = line.saturating_sub(EXCERPT_LINES + 1);
    let mut text = String::new();
    for (index, line) in content.lines().enumerate().skip(first).take(2 * EXCERPT_LINES + 1) {
        let shown: String = line.chars().take(MAX_LINE).collect();
        let _ = writeln!(text, "{:>6} {shown}", index + 1);
    }
    (format!("{path} after the change, from line {}", first + 1), text)
}

/// Parses an answer about a number of claims.
///
/// # Errors
/// Returns the reason for which it cannot be used, for the model.
pub fn parse(text: &str, count: usize) -> Result<Vec<ClaimResult>, String> {
    let answer: ChallengeAnswer = serde_json::from_str(without_fence(text))
        .map_err(|error| format!("the answer is not valid: {error}"))?;
    let mut results = vec![None; count];
    for AnsweredClaim { claim, confidence, reasoning } in answer.results {
        let place = claim.checked_sub(1).and_then(|index| results.get_mut(index));
        let place = place.ok_or_else(|| format!("there is no claim {claim}"))?;
        if place.is_some() {
            return Err(format!("claim {claim} has two results"));
        }
        if !(0.0..=1.0).contains(&confidence) {
            return Err(format!("the confidence of claim {claim} is not between 0 and 1"));
        }
        if reasoning.trim().is_empty() {
            return Err(format!("claim {claim} has no reasoning"));
        }
        *place = Some(ClaimResult { confidence, reasoning });
    }
    let missing = results.iter().position(Option::is_none);
    match missing {
        Some(index) => Err(format!("claim {} has no result", index + 1)),
        None => Ok(results.into_iter().flatten().collect()),
    }
}

/// Applies the results to the claims, in their order; the reason for a claim without one. The confidence of the second
/// reviewer replaces that of the first, and a disproved claim is left out.
pub fn apply(validation: &mut Validation, results: &[Result<ClaimResult, String>]) {
    let claims = validation.validated.iter_mut().filter(|finding| is_claim(finding));
    for (finding, result) in claims.zip(results) {
        let member = match result {
            Ok(result) => {
                let first = finding.confidence.replace(result.confidence);
                finding.more.insert("reviewer_confidence".to_owned(), json!(first));
                json!(result)
            }
            Err(reason) => json!({"error": reason}),
        };
        finding.more.insert(MEMBER.to_owned(), member);
    }
    validation.reject(|finding| {
        let is_disproved = finding.more.contains_key(MEMBER)
            && finding.confidence.is_some_and(|confidence| confidence < MIN_CONFIDENCE);
        is_disproved.then_some(DiscardReason::Disproved)
    });
}

/// Returns whether a finding is confirmed: a program reported it, or the second reviewer could not disprove it.
pub fn is_confirmed(finding: &Finding) -> bool {
    HygieneCheck::of(finding).is_some()
        || finding.more.get(MEMBER).and_then(|result| result.get("confidence")).is_some_and(Value::is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(line: u64) -> Finding {
        serde_json::from_value(json!({"file": "a.rs", "line": line, "severity": "HIGH", "category": "Security",
            "issue": "[P1] Open door", "confidence": 0.91, "agent": "bha_p3", "code_snippet": "open()", "priority": 1}))
        .unwrap()
    }

    #[test]
    fn question_names_neither_author_nor_confidence() {
        let (one, two) = (claim(1), claim(2));
        let text = request(&[&one, &two], &[excerpt("a.rs", "open()\n", 1)], "document-1");
        assert!(text.contains("\"claim\":2") && text.contains("     1 open()"), "{text}");
        for word in ["bha_p3", "0.91", "HIGH", "[P1]"] {
            assert!(!text.contains(word), "{word}");
        }
    }

    #[test]
    fn each_claim_needs_one_result() {
        let result =
            |claim: usize| json!({"claim": claim, "confidence": 0.2, "reasoning": "There is a guard."});
        let of = |results: Value| parse(&json!({"results": results}).to_string(), 2);
        assert_eq!(of(json!([result(2), result(1)])).unwrap().len(), 2);
        for (results, fault) in [
            (json!([result(1)]), "claim 2 has no result"),
            (json!([result(1), result(1)]), "claim 1 has two results"),
            (json!([result(1), result(3)]), "there is no claim 3"),
            (json!([result(0)]), "there is no claim 0"),
            (json!([{"claim": 1, "confidence": 2, "reasoning": "x"}]), "not between 0 and 1"),
            (json!([{"claim": 1, "confidence": 1, "reasoning": ""}]), "no reasoning"),
        ] {
            assert!(of(results).unwrap_err().contains(fault), "{fault}");
        }
        assert!(parse("{}", 0).is_err());
    }

    #[test]
    fn confidence_of_the_second_reviewer_decides() {
        let mut validation =
            Validation { validated: vec![claim(1), claim(2), claim(3)], ..Validation::default() };
        let result = |confidence| Ok(ClaimResult { confidence, reasoning: "x".to_owned() });
        apply(&mut validation, &[result(0.49), result(0.5), Err("no answer".to_owned())]);
        let lines: Vec<_> = validation.validated.iter().map(|finding| finding.line.unwrap()).collect();
        assert_eq!(lines, [2, 3]);
        assert_eq!(validation.validated[0].confidence, Some(0.5));
        assert!(is_confirmed(&validation.validated[0]) && !is_confirmed(&validation.validated[1]));
        assert_eq!(validation.discarded[0].reason, DiscardReason::Disproved);
        assert_eq!((validation.stats.validated, validation.stats.discarded_disproved), (2, 1));
    }
}
