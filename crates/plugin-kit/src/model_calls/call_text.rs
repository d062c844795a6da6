//! Parts of prompts and answers that do not depend on the question.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Maximum size in bytes of an answer. Answers are displayed, so a longer one is of no use to a person.
pub const MAX_ANSWER: u64 = 256 * 1024;
/// Characters of a rejected answer that are sent back.
const MAX_REJECTED: usize = 16_000;
/// Hexadecimal digits in the marks around data.
const MARK_DIGITS: usize = 16;

/// Returns a mark that none of the texts contains. It depends on their content only, so that a repeated run has the same
/// prompts. `documents`: names and contents.
pub fn data_mark(documents: &[(String, String)]) -> String {
    let mut hash = Sha256::new();
    documents.iter().for_each(|(_, content)| hash.update(content));
    loop {
        let digest = hash.finalize();
        let mark = format!("document-{}", &hex::encode(digest)[..MARK_DIGITS]);
        if documents.iter().all(|(name, content)| !content.contains(&mark) && !name.contains(&mark)) {
            return mark;
        }
        hash = Sha256::new_with_prefix(digest);
    }
}

/// Appends documents to a prompt, each between two lines with the mark.
pub fn mark_data(text: &mut String, mark: &str, documents: &[(String, String)]) {
    for (name, content) in documents {
        // The name of a file can contain line breaks; in JSON it cannot imitate a mark.
        let name = Value::from(name.as_str());
        let _ = write!(text, "\n{mark} begin {name}\n{}\n{mark} end\n", content.trim_end());
    }
}

/// Builds the request that sends an answer back, with what is wrong with it. `advice`: what else to consider.
pub fn correction(request: &str, answer: &str, fault: &str, advice: &str) -> String {
    let quoted: String = answer.chars().take(MAX_REJECTED).collect();
    let quoted = Value::from(quoted);
    format!(
        "{request}\nYou have answered this (as a JSON string, shortened if long):\n{quoted}\n\nIt cannot be used as it is: \
         {fault}. Answer with the complete corrected JSON object only.{advice}\n"
    )
}

/// Removes a code fence that encloses the whole text.
pub fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.map(|inner| inner.strip_prefix("json").unwrap_or(inner));
    inner.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_depends_on_the_content_and_occurs_nowhere_in_it() {
        let documents = [("a".to_owned(), "text".to_owned())];
        let mark = data_mark(&documents);
        let containing = [documents[0].clone(), ("b".to_owned(), String::new())];
        assert_eq!(data_mark(&containing), mark, "the same content has the same hash");
        let named = [("a".to_owned(), "text".to_owned()), (mark.clone(), String::new())];
        assert_ne!(data_mark(&named), mark, "a mark that occurs is replaced");
    }

    #[test]
    fn rejected_answer_is_shortened() {
        let corrected = correction("Request", &"ä\"\n".repeat(20_000), "it is no JSON", " Omit it.");
        assert!(corrected.starts_with("Request\n") && corrected.contains("as it is: it is no JSON. Answer"));
        assert!(corrected.ends_with("only. Omit it.\n") && corrected.chars().count() < 40_000);
    }
}
