use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn command() -> Value {
    json!({
        "commandId": "c", "operationId": "git_action", "method": "post", "path": "/api/gateway/git",
        "headers": {"a": "b", "c": 1}, "query": {"one": "1", "many": ["1", "2"], "wrong": {}},
        "body": {"x": 1}, "timeoutMs": "soon", "lockKey": 7,
    })
}

#[test]
fn command_members_of_wrong_type_are_dropped() {
    let command: LinkCommand = serde_json::from_value(command()).unwrap();
    assert_eq!(command.headers.len(), 1);
    assert_eq!(command.query["many"].values(), ["1", "2"]);
    assert!(!command.query.contains_key("wrong"));
    assert_eq!((command.timeout_ms, command.lock_key), (None, None));
    assert_eq!(command.body, Some(json!({"x": 1})));
}

#[test]
fn envelope_comes_first_and_payload_overrides_it() {
    let telemetry = Telemetry { timestamp: "then".into(), ..Telemetry::new(Severity::Info, "c", "m") };
    let frame = Frame::event(event::TELEMETRY, &telemetry);
    let names: Vec<&str> = frame.data.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names[..3], ["protocolVersion", "messageId", "timestamp"]);
    assert_eq!(frame.data["timestamp"], "then");
    assert!(!frame.to_text().contains("\"id\""));
}

#[test]
fn acknowledgement_has_no_envelope() {
    let text = Frame::acknowledging(event::ANALYTICS, "a17", &ReportAck::accepted()).to_text();
    assert_eq!(text, r#"{"event":"desktop.analytics","ack":"a17","data":{"accepted":true}}"#);
}

#[test]
fn frame_must_be_object_with_event() {
    for text in ["[]", "", "null", "{}", r#"{"event":1}"#, r#"{"data":{}}"#, "{\"event\":\"x\""] {
        assert_eq!(Frame::parse(text), Err(InvalidFrame), "{text}");
    }
    let frame = Frame::parse(r#"{"event":"x","id":"","ack":7}"#).unwrap();
    assert_eq!((frame.id, frame.ack, frame.data), (None, None, json!({})));
}

#[test]
fn hello_is_rejected_without_required_member() {
    let complete = json!({
        "machineName": "m", "platform": "linux", "pluginVersion": "1.0.0", "supportedOperations": ["git_pr", 1],
        "maxInFlightCommands": 2, "gatewayId": "not a uuid", "capabilities": [],
    });
    let hello = Hello::parse(&complete).unwrap();
    assert_eq!(hello.gateway_id, None);
    assert_eq!(hello.supported_operations, ["git_pr"]);
    assert_eq!(hello.stored_capabilities()["desktopClientVersion"], Value::Null);
    for member in ["machineName", "platform", "pluginVersion", "supportedOperations", "maxInFlightCommands"] {
        let mut without = complete.clone();
        without.as_object_mut().unwrap().remove(member);
        assert!(Hello::parse(&without).unwrap_err().to_string().contains(member), "{member}");
    }
    let mut idle = complete;
    idle["maxInFlightCommands"] = json!(0);
    assert!(Hello::parse(&idle).is_err());
}

#[test]
fn unknown_nack_reason_is_an_internal_error() {
    let nack: HelloNack = serde_json::from_value(json!({"reason": "solar_flare"})).unwrap();
    assert_eq!(nack.reason, NackReason::InternalError);
}

#[test]
fn server_capability_requires_literal_true() {
    let ack = json!({
        "computeTargetId": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718",
        "serverCapabilities": {"computeTargetSigning": "true", "agentSessionSync": true},
        "resumeFromSequence": {"a": 3, "b": -1, "c": "x"},
    });
    let ack: HelloAck = serde_json::from_value(ack).unwrap();
    assert!(!ack.server_capabilities.compute_target_signing && ack.server_capabilities.agent_session_sync);
    assert_eq!(ack.resume_from_sequence.into_iter().collect::<Vec<_>>(), [("a".to_owned(), 3)]);
}

#[test]
fn terminal_event_is_determined_by_type_and_data() {
    assert!(EventType::Done.is_terminal(&Value::Null));
    assert!(EventType::Error.is_terminal(&json!({"terminal": true})));
    assert!(!EventType::Error.is_terminal(&json!({"terminal": "true"})));
    assert!(!EventType::Chunk.is_terminal(&json!({"terminal": true})));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-zA-Z]{0,12}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Parses a payload as every payload type; none of them may panic.
fn parse_as_all_types(frame: &Frame) {
    let _ = Hello::parse(&frame.data);
    let _ = frame.payload::<HelloAck>();
    let _ = frame.payload::<HelloNack>();
    let _ = frame.payload::<LinkCommand>();
    let _ = frame.payload::<CommandAck>();
    let _ = frame.payload::<CommandEvent>();
    let _ = frame.payload::<CommandEventAck>();
    let _ = frame.payload::<Cancel>();
    let _ = frame.payload::<Presence>();
    let _ = frame.payload::<Telemetry>();
    let _ = frame.payload::<Analytics>();
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in ".{0,200}", data in any_json()) {
        let _ = Frame::parse(&text);
        let frame = Frame { event: text, id: None, ack: None, data };
        parse_as_all_types(&Frame::parse(&frame.to_text()).unwrap());
    }

    #[test]
    fn damaged_command_never_panics(member in 0_usize..9, value in any_json()) {
        let mut data = command();
        let name = data.as_object().unwrap().keys().nth(member).unwrap().clone();
        data[&name] = value;
        parse_as_all_types(&Frame { event: event::COMMAND.into(), id: None, ack: None, data });
    }

    #[test]
    fn unknown_members_are_ignored(name in "x[a-zA-Z]{1,10}", value in any_json()) {
        let mut data = command();
        let plain: LinkCommand = serde_json::from_value(data.clone()).unwrap();
        data.as_object_mut().unwrap().insert(name, value);
        let frame = Frame::parse(&json!({"event": "e", "data": data, "more": 1}).to_string()).unwrap();
        prop_assert_eq!(frame.payload::<LinkCommand>().unwrap(), plain);
    }

    #[test]
    fn events_survive_round_trip(sequence in 1_u64.., data in any_json(), id in ".{0,20}") {
        let sent = CommandEvent { command_id: id, sequence, event_type: EventType::Chunk, data };
        let text = Frame::event(event::COMMAND_EVENT, &sent).to_text();
        let received: CommandEvent = Frame::parse(&text).unwrap().payload().unwrap();
        // `data` is not compared: floating-point numbers may lose their last digit.
        prop_assert_eq!(received.command_id, sent.command_id);
        prop_assert_eq!(received.sequence, sent.sequence);
    }
}
