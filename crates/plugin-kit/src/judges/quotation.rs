//! Looks up the words that a judge quotes in the texts that it has read. A model can describe a fault that does not
//! exist; its words then occur nowhere.

use serde_json::Value;

/// Minimum number of characters, without white space, in each part of a quotation. Shorter words occur in most texts.
const MIN_CHARS: usize = 8;

/// The texts that judges read, with normalized white space.
#[derive(Debug, Default)]
pub struct ArtifactTexts(Vec<String>);

impl ArtifactTexts {
    /// Adds the text of an artifact. JSON counts as it is written and with its strings decoded, also JSON in a string, and
    /// a diff also without the first column of its lines: models quote the code and not its encoding.
    pub fn add(&mut self, text: &str) {
        if text.starts_with("@@ ") || text.contains("\n@@ ") {
            let lines = text.lines().map(|line| line.strip_prefix(['+', '-', ' ']).unwrap_or(line));
            self.0.push(normalized(&lines.collect::<Vec<_>>().join("\n")));
        }
        self.0.push(normalized(text));
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
            self.add_strings(&value);
        }
    }

    /// Returns whether the words occur in one of the texts. An ellipsis, `…` or `...`, stands for any words between the
    /// parts around it.
    pub fn contain(&self, quote: &str) -> bool {
        let whole = normalized(quote);
        if is_long_enough(&whole) && self.0.iter().any(|text| text.contains(&whole)) {
            return true;
        }
        let parts = quote.split('…').flat_map(|part| part.split("...")).map(normalized);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        !parts.is_empty()
            && parts.iter().all(|part| is_long_enough(part))
            && self.0.iter().any(|text| contains_in_order(text, &parts))
    }

    fn add_strings(&mut self, value: &Value) {
        match value {
            Value::String(text) if is_long_enough(text) => self.add(text),
            Value::Array(items) => items.iter().for_each(|item| self.add_strings(item)),
            Value::Object(members) => members.values().for_each(|item| self.add_strings(item)),
            _ => {}
        }
    }
}

fn normalized(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_long_enough(text: &str) -> bool {
    text.chars().filter(|letter| !letter.is_whitespace()).nth(MIN_CHARS - 1).is_some()
}

fn contains_in_order(text: &str, parts: &[String]) -> bool {
    let mut remaining = text;
    parts.iter().all(|part| {
        let Some(at) = remaining.find(part.as_str()) else { return false };
        remaining = &remaining[at + part.len()..];
        true
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn texts(text: &str) -> ArtifactTexts {
        let mut texts = ArtifactTexts::default();
        texts.add(text);
        texts
    }

    #[test]
    fn quotation_matches_with_other_white_space_and_the_same_case() {
        let texts = texts("The parser\n  reads each\tline.\nIt never   fails.");
        assert!(texts.contain("parser reads each line. It"));
        assert!(texts.contain("  never\n\nfails. "));
        assert!(!texts.contain("The Parser reads"));
        assert!(!texts.contain("reads every line"));
    }

    #[test]
    fn short_quotation_shows_nothing() {
        let texts = texts("a parser reads each line");
        for quote in ["", "a", "reads", "each li", "…", "... …", "a … line", "parser reads … e"] {
            assert!(!texts.contain(quote), "{quote}");
        }
        assert!(texts.contain("each line"));
    }

    #[test]
    fn ellipsis_joins_parts_in_order() {
        let texts = texts("first sentence here. second sentence there. third sentence.");
        assert!(texts.contain("first sentence … sentence there"));
        assert!(texts.contain("...first sentence...third sentence."));
        assert!(!texts.contain("second sentence … first sentence"));
        assert!(!texts.contain("first sentence … fourth sentence"));
        // The parts must not overlap.
        assert!(!texts.contain("third sentence … sentence."));
    }

    #[test]
    fn literal_dots_are_part_of_the_words() {
        let texts = texts("call(...args); other(x);");
        assert!(texts.contain("call(...args)"));
    }

    #[test]
    fn parts_of_one_quotation_are_from_one_text() {
        let mut texts = texts("the first document");
        texts.add("the second document");
        assert!(!texts.contain("the first document … the second document"));
    }

    #[test]
    fn code_in_json_and_in_diffs_is_found() {
        let diff = "@@ -1,2 +1,3 @@\n fn main() {\n+    run(\"fast\");\n+    stop();\n }";
        for texts in [texts(diff), texts(&json!({"artifacts": [{"content": diff}]}).to_string())] {
            assert!(texts.contain("run(\"fast\"); stop();"));
            assert!(texts.contain("fn main() { + run(\"fast\");"));
            assert!(!texts.contain("run(\"slow\");"));
        }
        let plan = json!({"tasks": [{"text": "Print \"done\" at\nthe end"}]}).to_string();
        assert!(texts(&json!({"content": plan}).to_string()).contain("\"done\" at the end"));
    }

    proptest! {
        #[test]
        fn each_passage_of_a_text_is_found(text in "\\PC{20,200}", from in 0..100usize, len in 10..60usize) {
            let passage: String = text.chars().skip(from).take(len).collect();
            if is_long_enough(&passage) {
                prop_assert!(texts(&text).contain(&passage));
            }
        }
    }
}
