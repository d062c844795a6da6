//! Anything that an assistant, a reviewer or another agent could print, cut into lines as a run cuts it: read without a
//! panic, and into output that agrees with the events that clients are told.
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

fuzz_target!(|printed: &[u8]| {
    let Some((choice, printed)) = printed.split_first() else { return };
    let agent;
    let provider: &dyn Provider = match choice % 3 {
        0 => &Assistant,
        1 => &Reviewer,
        _ => {
            let Some(id) = ProviderId::parse("agent") else { return };
            let program = AgentProgram { program: "agent".to_owned(), args: Vec::new(), any_repository: false };
            agent = AcpAgent::new(id, program, Path::new("/loopgate"));
            &agent
        }
    };
    let mut output = TurnOutput::default();
    let mut reader = provider.reader();
    let mut told = String::new();
    for line in String::from_utf8_lossy(printed).split('\n') {
        for event in reader.read_line(line.trim_end(), &mut output) {
            assert!(serde_json::to_string(&event).is_ok());
            if let ChatEvent::Text { content } = event {
                told.push_str(&content);
            }
        }
    }
    assert_eq!(told, output.text);
});
