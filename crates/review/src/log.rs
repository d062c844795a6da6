//! Converts the log of a review into readable text.

use loopgate_agents::provider::reviewer::strip_noise;
use loopgate_api::chat_event::ChatEvent;

/// Bytes shown from the end of a log: 100 KiB.
pub(crate) const LOG_SHOWN: u64 = 102_400;

/// Returns the text of the end of a log. Lines are JSON events or plain text; of events, only text and errors
/// are shown. With `cut`, the log was truncated at the front: the first line is partial and is omitted,
/// unless it is the only one.
pub(crate) fn readable(end: &[u8], cut: bool) -> String {
    let end = String::from_utf8_lossy(end);
    let whole = if cut { end.split_once('\n').map_or(&*end, |(_, lines)| lines) } else { &*end };
    let mut text = String::new();
    for line in whole.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str::<ChatEvent>(line) {
            Ok(ChatEvent::Text { content }) => text.push_str(&content),
            Ok(ChatEvent::Error { error, .. }) => add_line(&mut text, &error),
            Ok(_) => {}
            Err(_) => add_line(&mut text, line),
        }
    }
    strip_noise(&text)
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOISE: &str = "2026-01-01T00:00:00Z ERROR codex_core::session: failed to record rollout items: thread 0123abcd-0123-0123-0123-0123456789ab not found";

    // RC-08
    #[test]
    fn text_and_errors_of_events_are_shown() {
        let log = concat!(
            "{\"type\":\"text\",\"content\":\"One \"}\n",
            "{\"type\":\"thinking\",\"content\":\"hm\"}\n",
            "{\"type\":\"text\",\"content\":\"two.\"}\n",
            "{\"type\":\"error\",\"error\":\"boom\"}\n",
        );
        assert_eq!(readable(log.as_bytes(), false), "One two.\nboom");
    }

    // RC-09
    #[test]
    fn plain_lines_are_kept_and_noise_is_removed() {
        let log = format!("one\n{NOISE}\n{{\"severity\":\"high\"}}\ntwo");
        assert_eq!(readable(log.as_bytes(), false), "one\n{\"severity\":\"high\"}\ntwo");
    }

    // RC-10
    #[test]
    fn partial_first_line_of_a_truncated_log_is_omitted() {
        assert_eq!(readable(b"rtial\nwhole", true), "whole");
        assert_eq!(readable(b"only", true), "only");
    }

    proptest! {
        #[test]
        fn readable_accepts_any_log(bytes: Vec<u8>, cut: bool) {
            readable(&bytes, cut);
        }
    }
}
