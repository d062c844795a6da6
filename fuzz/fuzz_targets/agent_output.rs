//! Arbitrary output of the assistant, the reviewer or another agent, split into lines: the readers never
//! panic, and the collected output equals the text of the emitted events.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use loopgate_agents::provider::acp::AcpAgent;
use loopgate_agents::provider::assistant::Assistant;
use loopgate_agents::provider::reviewer::Reviewer;
use loopgate_agents::{Provider, TurnOutput};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::provider::ProviderId;
use loopgate_home::AgentProgram;

fuzz_target!(|output_bytes: &[u8]| {
    // The first byte selects the provider, so that one corpus covers all of them.
    let Some((choice, output_bytes)) = output_bytes.split_first() else { return };
    let agent;
    let provider: &dyn Provider = match choice % 3 {
        0 => &Assistant,
        1 => &Reviewer,
        _ => {
            let Some(id) = ProviderId::parse("agent") else { return };
            let program =
                AgentProgram { program: "agent".to_owned(), args: Vec::new(), any_repository: false };
            agent = AcpAgent::new(id, program, Path::new("/loopgate"));
            &agent
        }
    };
    let mut output = TurnOutput::default();
    let mut reader = provider.reader();
    let mut event_text = String::new();
    // Invalid UTF-8 is replaced, as the product does when it reads lines.
    for line in String::from_utf8_lossy(output_bytes).split('\n') {
        for event in reader.read_line(line.trim_end(), &mut output) {
            assert!(serde_json::to_string(&event).is_ok());
            if let ChatEvent::Text { content } = event {
                event_text.push_str(&content);
            }
        }
    }
    assert_eq!(event_text, output.text);
});
