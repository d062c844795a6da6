use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(event: Value) -> Value {
    let Value::Object(mut members) = event else { panic!("not an object") };
    let kind = members.remove("type").unwrap();
    let (kind, mut members) = EventBody::read(kind.as_str().unwrap(), &members).into_members();
    members.insert("type".to_owned(), kind.into());
    Value::Object(members)
}

/// Events as runners and the control plane create them.
fn events() -> Vec<Value> {
    let usage = json!({"inputTokens": 1, "outputTokens": 2, "cacheCreationInputTokens": 3, "cacheReadInputTokens": 4});
    let model = json!({"input": 1, "output": 2, "cacheCreation": 0, "cacheRead": 0});
    vec![
        json!({"type": "started", "sessionId": "s", "baseBranch": "main"}),
        json!({"type": "progress", "percent": 40.0, "stage": "build", "tasks": {"completed": 2, "total": 5, "current": "T-3"}}),
        json!({"type": "output", "chunk": "Tool: Read(a)\nTool result"}),
        json!({"type": "output", "chunk": "hi", "role": "assistant", "parentId": "t0", "tokenUsage": usage}),
        json!({"type": "usage", "tokenUsage": usage, "turns": [{"turn": 1, "model": "m", "input": 1, "output": 2,
            "cacheCreation": 0, "cacheRead": 0}], "cost": {"totalUsd": 0.5, "byModel": {"m": 0.5}}}),
        json!({"type": "tool_call", "status": "start", "tool": "Bash", "callId": "t", "category": "command",
            "input": {"command": "ls"}, "summary": "ls", "parentId": "t0", "isInternal": true}),
        json!({"type": "tool_call", "status": "end", "tool": "Bash", "callId": "t", "output": "a", "isError": true,
            "exitCode": 1, "durationMs": 5, "size": 1}),
        json!({"type": "tool_call", "status": "end", "tool": "X", "output": {"any": [1]}}),
        json!({"type": "question", "text": "Which colour?"}),
        json!({"type": "limit", "text": "until 15:00"}),
        json!({"type": "approval", "chunk": "Waiting", "approval": {"id": "a", "command": "c", "waitsUntil": "2030-01-01"}}),
        json!({"type": "approval_decision", "chunk": "Denied", "approvalDecision": {"id": "a", "outcome": "denied"}}),
        json!({"type": "queue", "chunk": "1 of 2", "queue": {"place": 1, "waiting": 2}}),
        json!({"type": "stall", "stall": {"state": "waiting-for-limit", "since": "2030-01-01", "until": "2030-01-02"}}),
        json!({"type": "artifact_created", "artifactId": "1", "artifactType": "PRD"}),
        json!({"type": "support_bundle_uploaded", "keys": ["a"], "files": [{"name": "n", "key": "a", "sizeBytes": 1}]}),
        json!({"type": "completed", "result": {"exitCode": 0, "any": true}, "tokensUsed": {"input": 1, "output": 2,
            "cacheCreationInputTokens": 0, "cacheReadInputTokens": 0, "turns": 3, "models": ["m"]},
            "tokensByModel": {"m": model}, "warnings": ["GIT_PUSH_FAILED"]}),
        json!({"type": "error", "code": "PROCESS_FAILED", "message": "Exit code 3", "logTail": "x",
            "result": {"subcode": "Y"}, "reaper": {"reason": "z"}}),
        json!({"type": "cancelled", "reason": "Cancelled by user"}),
        json!({"type": "tokens_cleared", "status": "FAILED"}),
        json!({"type": "token_refreshed", "prevJti": "a", "newJti": "b", "exp": 5, "idempotencyKey": "k"}),
        json!({"type": "reap_reversed"}),
    ]
}

#[test]
fn every_kind_is_unchanged_by_a_round_trip() {
    for event in events() {
        assert_eq!(read(event.clone()), event);
    }
}

#[test]
fn output_of_a_runner_is_what_it_reports() {
    for (member, value, kind) in [
        ("queue", json!({"place": 1, "waiting": 2}), "queue"),
        ("approval", json!({"id": "a", "command": "c", "waitsUntil": "t"}), "approval"),
        ("approvalDecision", json!({"id": "a", "outcome": "approved"}), "approval_decision"),
        ("stall", json!({"state": "stuck"}), "stall"),
        ("stillness", json!({"state": "working"}), "stall"),
        ("queue", json!({"place": "first"}), "output"),
        ("stall", json!("stuck"), "output"),
    ] {
        let event = read(json!({"type": "output", "chunk": "text", member: value}));
        assert_eq!((&event["type"], &event["chunk"]), (&json!(kind), &json!("text")), "{member} {value}");
    }
}

#[test]
fn unexpected_members_do_not_hide_the_end_of_a_loop() {
    let event = read(json!({"type": "error", "code": "X", "message": "m", "logTail": 5, "results": "none"}));
    assert_eq!(event, json!({"type": "error", "code": "X", "message": "m"}));
    let event = read(json!({"type": "completed", "result": {"a": 1}, "tokensUsed": "many", "results": [{}]}));
    assert_eq!((&event["type"], &event["result"]), (&json!("completed"), &json!({"a": 1})));
}

#[test]
fn unknown_and_invalid_events_are_unreadable() {
    for (event, kind) in [
        (json!({"type": "teleported"}), "teleported"),
        (json!({"type": "output", "chunk": 5}), "output"),
        (json!({"type": "tool_call", "tool": "Read", "status": "paused"}), "tool_call"),
    ] {
        assert_eq!(read(event), json!({"type": "unreadable", "kind": kind}));
    }
}

#[test]
fn parts_contain_no_terminal_events() {
    for event in events() {
        let allowed = ["output", "tool_call", "limit"].contains(&event["type"].as_str().unwrap());
        let part = EventBody::read_part(event.clone());
        assert_eq!(!matches!(part, EventBody::Unreadable(_)), allowed, "{event}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{1,6}", inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_a_known_event_or_unreadable(kind in ".{0,8}", value in any_json()) {
        let mut candidates = vec![json!({"type": kind, "any": value})];
        // Every known event with any value in place of each of its members.
        for event in events() {
            for name in event.as_object().unwrap().keys().filter(|name| *name != "type") {
                let mut changed = event.clone();
                changed[name] = value.clone();
                candidates.push(changed);
            }
        }
        for event in candidates {
            let once = read(event.clone());
            prop_assert_eq!(read(once.clone()), once, "{}", event);
        }
    }
}
