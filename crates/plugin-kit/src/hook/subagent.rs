//! Hooks for the start and the end of a subagent: its settings, its rounds, its timing event.

use std::fmt::Write as _;

use loopgate_home::untrusted;
use serde_json::{Value, json};

use super::agents::{self, LoopAgent};
use super::answers;
use super::input::{HookInput, Loop};
use super::learnings;
use super::transcript::{self, Transcript};
use crate::clock::now;
use crate::perf::Perf;
use crate::quoting::quote;
use crate::variables as var;

/// Settings that are passed to a subagent, in order.
const PASSED_SETTINGS: [&str; 8] = [
    var::WORKDIR,
    var::PRD_FILE,
    var::PLAN_FILE,
    var::MAX_ITERATIONS,
    var::PLUGIN_ROOT,
    var::ADD_DIRS,
    var::ADD_DIR_NAMES,
    var::REPO_MAP,
];

/// Records the subagent and passes the loop's settings to it.
pub fn start(input: &HookInput) -> Option<Value> {
    let context = input.loop_context()?;
    let note = context.agent_note(&input.agent_id)?;
    let name = short_name(&input.agent_type);
    let _ = untrusted::write(&note, format!("{}|{name}|{}", input.agent_type, now()).as_bytes());
    if let Some(agent) = agents::find(&input.agent_type) {
        agents::create_state(&context, agent, input);
    }
    write_env(input, &context);
    // Learnings come first: they are the same for all agents of a kind.
    let notes = learnings::for_agent(&context, input).map(|notes| notes + "\n\n").unwrap_or_default();
    Some(json!({"hookSpecificOutput": {
        "hookEventName": "SubagentStart",
        "additionalContext": notes + &environment(&context, &input.agent_id),
    }}))
}

fn short_name(agent_type: &str) -> &str {
    agent_type.rsplit(':').next().unwrap_or(agent_type)
}

/// Writes the settings for shells. Repeated for each subagent, because the project may have a new work
/// directory.
fn write_env(input: &HookInput, context: &Loop) {
    let names = [var::WORKDIR, var::PLUGIN_ROOT, var::PRD_FILE, var::MAX_ITERATIONS, var::PLAN_FILE];
    let lines: String = names
        .iter()
        .map(|name| format!("{name}={}\n", quote(context.config.get(name).unwrap_or_default())))
        .collect();
    let _ = untrusted::write(&input.state_dir().join("env"), lines.as_bytes());
}

fn environment(context: &Loop, agent_id: &str) -> String {
    let value = |name: &str| context.config.get(name).unwrap_or_default().to_owned();
    let mut values: Vec<(&str, String)> = PASSED_SETTINGS.iter().map(|name| (*name, value(name))).collect();
    values.insert(1, ("LOOPGATE_AGENT_ID", agent_id.to_owned()));
    let mut text = "<loopgate-environment>\n".to_owned();
    for (name, value) in &values {
        let _ = writeln!(text, "{name}={value}");
    }
    text.push_str("\nWhere an instruction names one of these variables, use its value. For a shell:\n");
    for (name, value) in &values {
        let _ = writeln!(text, "export {name}={}", quote(value));
    }
    text.push_str("</loopgate-environment>");
    text
}

/// Sends a looping subagent back to work, or records its end.
pub fn stop(input: &HookInput) -> Option<Value> {
    let context = input.loop_context()?;
    let note = context.agent_note(&input.agent_id)?;
    let note_text = untrusted::read_text(&note).unwrap_or_default();
    let fields: Vec<&str> = note_text.trim().split('|').collect();
    // The input of the stop hook may lack the type. It takes precedence, because an agent could change the note.
    let agent_type = match input.agent_type.as_str() {
        "" => fields.first().copied().unwrap_or_default(),
        agent_type => agent_type,
    };
    let record = input
        .agent_transcript_path
        .as_deref()
        .or(input.transcript_path.as_deref())
        .and_then(transcript::read);
    let message = input.last_assistant_message.clone().or_else(|| record.as_ref()?.last_message.clone());
    if let Some(agent) = agents::find(agent_type)
        && let Some(answer) = back_to_work(&context, agent, &input.agent_id, message.as_deref())
    {
        return Some(answer);
    }
    if let Some(answer) =
        learnings::at_stop(&context, input, agent_type, message.as_deref().unwrap_or_default())
    {
        return Some(answer);
    }
    answers::store(&context.workdir, agent_type, &input.agent_id, message.as_deref().unwrap_or_default());
    let started_at = fields.get(2).copied().unwrap_or_default();
    record_end(&context, input, agent_type, started_at, record.as_ref());
    let _ = untrusted::remove(&note);
    Some(json!({}))
}

/// Returns the answer that makes a subagent continue. `None` when it may stop; then its state file is
/// deleted.
fn back_to_work(context: &Loop, agent: &LoopAgent, agent_id: &str, message: Option<&str>) -> Option<Value> {
    let path = agents::state_file(context, agent, agent_id);
    let answer = decide(context, agent, &path, message);
    if answer.is_none() {
        let _ = untrusted::remove(&path);
    }
    answer
}

fn decide(context: &Loop, agent: &LoopAgent, path: &std::path::Path, message: Option<&str>) -> Option<Value> {
    let (rounds, prompt) = agents::read(path)?;
    let message = message?;
    // At the limit, or when the agent reports that it is stuck, the orchestrator decides what to do.
    if (rounds.max > 0 && rounds.iteration >= rounds.max) || crate::plan::says_stuck(message) {
        return None;
    }
    let promised = transcript::promise(message).as_deref() == Some(agent.promise);
    let report = agent.checks_plan.then(|| crate::plan::check(&context.prd(), &context.workdir));
    let passed = report.as_ref().map(|report| report.starts_with("VALIDATION: PASS"));
    // Where the plan can be checked, the check decides, not the claim of the subagent.
    if passed.unwrap_or(promised) {
        return None;
    }
    agents::next_round(path, rounds);
    let status = format!(
        "Round {} of {}.\n{}\nEnd with <promise>{}</promise> only when every check passes.",
        rounds.iteration + 1,
        rounds.max,
        report.unwrap_or_default(),
        agent.promise
    );
    // The subagent reads `reason`; the assistant shows `systemMessage` to the user.
    Some(json!({"decision": "block", "reason": format!("{prompt}\n\n{status}"), "systemMessage": status}))
}

fn iteration() -> u64 {
    var::text(var::ITERATION).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn record_end(
    context: &Loop,
    input: &HookInput,
    agent_type: &str,
    started_at: &str,
    record: Option<&Transcript>,
) {
    let command = var::text(var::COMMAND).unwrap_or_else(|| "interactive".to_owned());
    // The hook runs in a process of its own, so the event's context comes from the environment.
    let v2 = var::text(var::PERF_V2).as_deref() == Some("1");
    let ended_at = now();
    let mut event = json!({
        "iteration": iteration(),
        "agent_id": input.agent_id,
        "agent_type": agent_type,
        "agent_name": short_name(agent_type),
        "started_at": started_at,
        "ended_at": ended_at,
        "duration_s": seconds_between(started_at, &ended_at),
        "parent_session_id": input.session_id,
    });
    if let (Some(record), Some(event)) = (record, event.as_object_mut()) {
        let ledger = &record.summary.ledger;
        let usage = ledger.usage();
        event.extend([
            ("model".to_owned(), ledger.models().last().cloned().unwrap_or_default().into()),
            ("input_tokens".to_owned(), usage.input_tokens.into()),
            ("output_tokens".to_owned(), usage.output_tokens.into()),
            ("cache_creation_input_tokens".to_owned(), usage.cache_creation_input_tokens.into()),
            ("cache_read_input_tokens".to_owned(), usage.cache_read_input_tokens.into()),
        ]);
    }
    let run_id = var::text(var::RUN_ID).unwrap_or_default();
    Perf::new(&context.workdir, &run_id, &command, v2).agent(event);
}

fn seconds_between(from: &str, to: &str) -> i64 {
    let instant = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
    instant(to).zip(instant(from)).map_or(0, |(to, from)| (to - from).max(0))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    struct SubagentFixture {
        dir: tempfile::TempDir,
        workdir: PathBuf,
    }

    impl SubagentFixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let workdir = dir.path().join(".loopgate/work");
            std::fs::create_dir_all(workdir.join(".loopgate")).unwrap();
            std::fs::write(dir.path().join(".loopgate/session-s.workdir"), workdir.display().to_string())
                .unwrap();
            let config = format!(
                "LOOPGATE_WORKDIR=\"{}\"\nLOOPGATE_MAX_ITERATIONS=\"10\"\nLOOPGATE_REPO_MAP=\"api=/x\"\n",
                workdir.display()
            );
            std::fs::write(workdir.join(".loopgate/config.env"), config).unwrap();
            Self { dir, workdir }
        }

        fn input(&self, agent_type: &str, message: &str) -> HookInput {
            HookInput {
                session_id: "s".into(),
                cwd: self.dir.path().to_owned(),
                agent_id: "a1".into(),
                agent_type: agent_type.into(),
                last_assistant_message: Some(message.to_owned()),
                ..HookInput::default()
            }
        }

        fn state(&self) -> PathBuf {
            self.workdir.join(".loopgate/a1-implementation-subagent-loop.local.md")
        }
    }

    // PL-25
    #[test]
    fn subagent_receives_the_settings_of_its_loop() {
        let fixture = SubagentFixture::new();
        let answer = start(&fixture.input("code:pre-explorer", "")).unwrap();
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(text.contains(&format!("LOOPGATE_WORKDIR={}", fixture.workdir.display())));
        assert!(text.contains("LOOPGATE_REPO_MAP=api=/x") && text.contains("LOOPGATE_AGENT_ID=a1"));
        let note = std::fs::read_to_string(fixture.workdir.join(".agent-types/a1")).unwrap();
        assert!(note.starts_with("code:pre-explorer|pre-explorer|"));
        let mut stranger = fixture.input("code:pre-explorer", "");
        stranger.session_id = "other".into();
        assert_eq!(start(&stranger), None);
    }

    // PL-26
    #[test]
    fn implementer_without_its_promise_is_sent_back_up_to_its_limit() {
        let fixture = SubagentFixture::new();
        let input = fixture.input("code:implementation-subagent", "I think it works");
        start(&input);
        for round in 2..=4 {
            let answer = stop(&input).unwrap();
            assert_eq!(answer["decision"], "block");
            assert_eq!(
                agents::read(&fixture.state()).unwrap().0,
                agents::Rounds { iteration: round, max: 4 }
            );
        }
        assert_eq!(stop(&input), Some(json!({})));
        assert!(!fixture.state().exists() && !fixture.workdir.join(".agent-types/a1").exists());
    }

    #[test]
    fn kept_promise_ends_the_subagent_and_is_timed() {
        let fixture = SubagentFixture::new();
        let input =
            fixture.input("code:implementation-subagent", "done <promise>IMPLEMENTATION_VERIFIED</promise>");
        start(&input);
        assert_eq!(stop(&input), Some(json!({})));
        let perf = std::fs::read_to_string(fixture.workdir.join("perf.jsonl")).unwrap();
        assert!(
            perf.contains("\"event\":\"agent\"")
                && perf.contains("\"agent_name\":\"implementation-subagent\"")
        );
    }

    // PL-27
    #[test]
    fn draft_that_fails_its_check_is_sent_back_with_the_report() {
        let fixture = SubagentFixture::new();
        let input = fixture.input("code:plan-draft-writer", "<promise>PLAN_VALIDATED</promise>");
        start(&input);
        let plan = json!({"content": "## Tasks\n- [ ] **T-1.1**: TODO\n## Open Questions\n"});
        std::fs::write(fixture.workdir.join("plan.json"), plan.to_string()).unwrap();
        let answer = stop(&input).unwrap();
        assert!(answer["reason"].as_str().unwrap().contains("VALIDATION: FAIL"));
        let plan = json!({"content": "## Tasks\n- [ ] **T-1.1**: Add it\n## Open Questions\n"});
        std::fs::write(fixture.workdir.join("plan.json"), plan.to_string()).unwrap();
        assert_eq!(stop(&input), Some(json!({})));
    }
}
