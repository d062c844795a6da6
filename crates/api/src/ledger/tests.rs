use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const ONE_RUN: &str = include_str!("recorded/one-run.jsonl");
const RESUMED: &str = include_str!("recorded/resumed-with-partial-messages.jsonl");
const TWO_MESSAGES: &str = include_str!("recorded/two-messages-of-a-user.jsonl");
const AGENTS: &str = include_str!("../recorded/agents-in-background.jsonl");
const REVIEWER: &str = include_str!("recorded/reviewer-resumed.jsonl");
const MODEL: &str = "claude-opus-4-8";

fn feed(ledger: &mut Ledger, stream: &str) -> Vec<LedgerEntry> {
    stream.lines().filter_map(|line| ledger.feed(&serde_json::from_str(line).unwrap())).collect()
}

fn ledger(streams: &[&str]) -> Ledger {
    let mut ledger = Ledger::default();
    for stream in streams {
        feed(&mut ledger, stream);
    }
    ledger
}

fn tokens(input: u64, output: u64, cache_creation: u64, cache_read: u64) -> ModelTokens {
    ModelTokens { input, output, cache_creation, cache_read }
}

// Recorded output of the real programs, alone and in sequence.
#[test]
fn recorded_streams_are_summed_once() {
    type Case = (&'static str, &'static [&'static str], ModelTokens, u64, u64, f64);
    let table: [Case; 6] = [
        ("one run", &[ONE_RUN], tokens(200, 100, 14, 6), 2, 1, 0.003_591),
        ("partial messages", &[RESUMED], tokens(200, 100, 14, 6), 2, 1, 0.003_591),
        ("a resumed session", &[ONE_RUN, RESUMED], tokens(400, 200, 28, 12), 4, 2, 0.007_182),
        ("one process, two messages", &[TWO_MESSAGES], tokens(300, 150, 21, 9), 3, 1, 0.005_386),
        ("two sessions", &[ONE_RUN, TWO_MESSAGES], tokens(500, 250, 35, 15), 5, 2, 0.008_977),
        ("two and one again", &[TWO_MESSAGES, ONE_RUN], tokens(500, 250, 35, 15), 5, 2, 0.008_977),
    ];
    for (case, streams, expected, turns, runs, usd) in table {
        let ledger = ledger(streams);
        let spend = ledger.spend();
        assert_eq!(spend.tokens_by_model, BTreeMap::from([(MODEL.to_owned(), expected)]), "{case}");
        assert_eq!((spend.turns, spend.runs), (turns, runs), "{case}");
        let cost = spend.cost.unwrap();
        assert!((cost.total_usd - usd).abs() < 2e-6, "{case}: {cost:?}");
        assert!((cost.by_model[MODEL] - usd).abs() < 2e-6, "{case}: {cost:?}");
        assert_eq!(ledger.models(), [MODEL], "{case}");
    }
}

// The newest version prints several results at the end of one run, each with the totals of the process.
#[test]
fn results_in_a_row_are_summed_once() {
    let ledger = ledger(&[AGENTS]);
    assert_eq!(ledger.by_model()["claude-opus-5-5"], tokens(500, 250, 35, 15));
    assert_eq!(ledger.turns(), 5);
    assert!((ledger.cost().unwrap().total_usd - 0.007_178).abs() < 2e-6, "{:?}", ledger.cost());
}

#[test]
fn reviewer_reports_totals_per_thread() {
    let ledger = ledger(&[REVIEWER]);
    assert_eq!(ledger.by_model()[UNKNOWN_MODEL], tokens(140, 20, 0, 60));
    assert_eq!((ledger.turns(), ledger.cost()), (2, None));
}

#[test]
fn interrupted_run_counts_its_messages() {
    // Cuts the stream before its `result` record, as when the process was killed.
    let cut: String = ONE_RUN.lines().take(4).map(|line| format!("{line}\n")).collect();
    let ledger = ledger(&[&cut, TWO_MESSAGES]);
    assert_eq!(ledger.by_model()[MODEL], tokens(400, 151, 28, 12));
    assert_eq!(ledger.turns(), 4);
}

#[test]
fn responses_without_reported_cost_are_estimated() {
    assert!((ledger(&[ONE_RUN]).estimated_usd() - 0.003_591).abs() < 2e-6, "reported cost is not estimated");
    let response = json!({"type": "assistant", "message": {"id": "m", "model": MODEL,
        "usage": {"input_tokens": 100_000, "output_tokens": 1_000}}});
    let mut ledger = ledger(&[ONE_RUN]);
    ledger.feed(&response.into());
    assert!((ledger.estimated_usd() - 0.528_591).abs() < 2e-6, "{}", ledger.estimated_usd());
}

#[test]
fn new_entries_are_returned_once() {
    let mut ledger = Ledger::default();
    let entries = feed(&mut ledger, ONE_RUN);
    assert!(matches!(
        entries.as_slice(),
        [
            LedgerEntry::Turn(Turn { turn: 1, .. }),
            LedgerEntry::Turn(Turn { turn: 2, .. }),
            LedgerEntry::Run(Run { run: 1, turns: 2, cost_usd: Some(_), .. })
        ]
    ));
}

#[test]
fn synthetic_message_is_not_a_turn() {
    let mut ledger = Ledger::default();
    let record = json!({"type": "assistant", "isApiErrorMessage": true,
        "message": {"id": "x", "model": "<synthetic>", "usage": {"input_tokens": 0, "output_tokens": 0}}});
    assert_eq!(ledger.feed(&record.into()), None);
    assert_eq!((ledger.turns(), ledger.models().len()), (0, 0));
}

/// A process of the assistant: per message its tokens, its number of blocks, and whether a result follows it.
#[derive(Debug, Clone)]
struct SimulatedProcess {
    messages: Vec<(u64, u64, usize, bool)>,
    resumed: bool,
}

fn process() -> impl Strategy<Value = SimulatedProcess> {
    let message = (1u64..500, 2u64..500, 1usize..4, any::<bool>());
    (proptest::collection::vec(message, 1..6), any::<bool>())
        .prop_map(|(messages, resumed)| SimulatedProcess { messages, resumed })
}

proptest! {
    /// Each token and each cent is counted once, regardless of repeated blocks and results.
    #[test]
    fn every_token_counts_once(processes in proptest::collection::vec(process(), 1..5)) {
        let mut ledger = Ledger::default();
        let (mut input, mut output, mut usd, mut turns, mut session) = (0, 0, 0.0, 0, 0);
        for process in &processes {
            // A resumed session keeps its id, although the process is a new one.
            session += u64::from(!process.resumed);
            ledger.feed(&AssistantRecord::from(json!({"type": "system", "session_id": format!("s{session}")})));
            let (mut own_input, mut own_output, mut own_usd) = (0, 0, 0.0);
            let last = process.messages.len() - 1;
            for (at, (message_input, message_output, repeats, has_result)) in process.messages.iter().enumerate() {
                turns += 1;
                own_input += message_input;
                own_output += message_output;
                own_usd += 0.01;
                // Each block repeats the usage, with the output count at the start of the response.
                for _ in 0..*repeats {
                    ledger.feed(&AssistantRecord::from(json!({"type": "assistant", "message": {"id": format!("m{turns}"),
                        "model": "m", "usage": {"input_tokens": message_input, "output_tokens": 1}}})));
                }
                if *has_result || at == last {
                    let usage = json!({"inputTokens": own_input, "outputTokens": own_output, "costUSD": own_usd});
                    let models = json!({"m[1m]": usage});
                    let result = json!({"type": "result", "total_cost_usd": own_usd, "modelUsage": models});
                    ledger.feed(&result.into());
                }
            }
            input += own_input;
            output += own_output;
            usd += own_usd;
            let usage = ledger.usage();
            prop_assert!(usage.input_tokens <= input && usage.output_tokens <= output);
        }
        prop_assert_eq!(ledger.turns(), turns);
        // A resumed session whose new process used more than the previous one can be indistinguishable from a
        // single process. It is then counted as a single process: too low rather than too high.
        if processes.iter().all(|process| !process.resumed) {
            let usage = ledger.usage();
            prop_assert_eq!((usage.input_tokens, usage.output_tokens), (input, output));
            prop_assert!((ledger.cost().unwrap().total_usd - usd).abs() < 1e-4);
        }
    }

    #[test]
    fn malformed_record_is_accepted(text in r#"\{"type":"(assistant|result|system|turn\.completed)","message":[0-9"\{\}]{0,6}.{0,40}"#) {
        if let Ok(record) = serde_json::from_str::<Value>(&text) {
            Ledger::default().feed(&AssistantRecord::from(record));
        }
    }
}
