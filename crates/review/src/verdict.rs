//! The verdict at the end of a review's text.

use loopgate_api::review::Verdict;

const OPENING: &str = "<pr_verdict>";
const CLOSING: &str = "</pr_verdict>";

/// The last valid verdict in a text: `<pr_verdict>{"verdict": …, "reason": …}</pr_verdict>` with a reason that
/// is not blank. Earlier ones may be the prompt's own example, or quoted code.
#[must_use]
pub fn parse_verdict(text: &str) -> Option<Verdict> {
    let tags = text.rmatch_indices(OPENING).map(|(start, _)| &text[start + OPENING.len()..]);
    tags.filter_map(|tag| serde_json::from_str::<Verdict>(tag.split_once(CLOSING)?.0).ok())
        .find(|verdict| !verdict.reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use loopgate_api::review::VerdictKind;
    use proptest::prelude::*;

    use super::*;

    fn tag(json: &str) -> String {
        format!("{OPENING}{json}{CLOSING}")
    }

    fn reason(text: &str) -> Option<String> {
        parse_verdict(text).map(|verdict| verdict.reason)
    }

    // RC-32
    #[test]
    fn only_the_last_valid_verdict_counts() {
        let valid = tag(r#"{"verdict":"needs_attention","reason":"two races"}"#);
        let verdict = parse_verdict(&format!("Text.\n{valid}\n")).unwrap();
        assert_eq!((verdict.verdict, verdict.reason.as_str()), (VerdictKind::NeedsAttention, "two races"));
        let example = tag(r#"{"verdict":"approve","reason":"…"}"#);
        assert_eq!(reason(&format!("{example} then {valid}")).as_deref(), Some("two races"));
        for invalid in [
            tag(r#"{"verdict":"perhaps","reason":"x"}"#),
            tag(r#"{"verdict":"approve","reason":" "}"#),
            tag(r#"{"verdict":"approve"}"#),
            tag(r#"{"verdict":"approve","reason":5}"#),
            tag("{\"verdict\":"),
            format!(r#"{OPENING}{{"verdict":"approve","reason":"x"}}"#),
            String::new(),
        ] {
            assert_eq!(parse_verdict(&invalid), None, "{invalid}");
            assert_eq!(reason(&format!("{valid}{invalid}")).as_deref(), Some("two races"), "{invalid}");
        }
    }

    proptest! {
        #[test]
        fn a_verdict_has_a_reason_in_any_text(parts in proptest::collection::vec(
            prop_oneof![Just(OPENING.to_owned()), Just(CLOSING.to_owned()), ".{0,8}",
                "\\{\"verdict\":\"(approve|decline|no)\",\"reason\":\"[ a]{0,2}\"\\}"], 0..12,
        )) {
            let verdict = parse_verdict(&parts.concat());
            prop_assert!(verdict.is_none_or(|verdict| !verdict.reason.trim().is_empty()));
        }

        #[test]
        fn a_verdict_is_found_in_any_text(before in "[^<]*", after in "[^<]*", reason in "\\PC*[a-z]") {
            let json = serde_json::json!({"verdict": "decline", "reason": reason}).to_string();
            let found = parse_verdict(&format!("{before}{}{after}", tag(&json)));
            // A reason may itself hold a tag's end.
            prop_assume!(!reason.contains(CLOSING));
            prop_assert_eq!(found.map(|verdict| verdict.reason), Some(reason));
        }
    }
}
