//! The examples of the OpenAPI document: every request and every answer of the local routes has
//! one, and each of them is what its schema and the error codes say.

use crate::tests::contract_codes::contract_code;
use serde_json::{Map, Value, json};

use crate::tests::test_gateway::TestGateway;

/// Routes of loops; the others are local.
const LOOPS: &str = "/api/gateway/orchestrator/";
const LOCAL_BESIDE_LOOPS: [&str; 2] = ["attachments", "upload"];
/// A route that only tests have.
const OF_TESTS: &str = "/api/gateway/git/panicking";

fn document() -> Value {
    serde_json::to_value(crate::openapi()).unwrap()
}

fn is_local(path: &str) -> bool {
    let among_loops = |rest: &str| LOCAL_BESIDE_LOOPS.iter().any(|name| rest.starts_with(name));
    path != OF_TESTS && path.strip_prefix(LOOPS).is_none_or(among_loops)
}

/// The local operations with their names.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter().filter(|(path, _)| is_local(path));
    let methods = |(path, item): (&String, &'_ Value)| {
        let path = path.clone();
        item.as_object().unwrap().keys().map(move |method| format!("{method} {path}")).collect::<Vec<_>>()
    };
    let named = |name: String| {
        let (method, path) = name.split_once(' ').unwrap();
        let operation = &document["paths"][path][method];
        (name, operation)
    };
    paths.flat_map(methods).map(named).collect()
}

/// The examples of a body: its own, else those of its type.
fn examples(document: &Value, body: &Value) -> Vec<Value> {
    let own = body["examples"].as_object().into_iter().flatten().map(|(_, example)| &example["value"]);
    let reference = body["schema"]["$ref"].as_str().unwrap_or_default();
    let of_type = document.pointer(reference.trim_start_matches('#')).map(|schema| &schema["example"]);
    let all = own.chain([&body["example"]]).chain(of_type);
    let found: Vec<_> = all.filter(|example| !example.is_null()).cloned().collect();
    found
}

fn assert_valid(document: &Value, what: &str, body: &Value, example: &Value) {
    let mut schema: Map<String, Value> = body["schema"].as_object().unwrap().clone();
    schema.insert("components".to_owned(), document["components"].clone());
    let validator = jsonschema::validator_for(&Value::Object(schema)).unwrap();
    let problems: Vec<_> = validator.iter_errors(example).map(|problem| problem.to_string()).collect();
    assert!(problems.is_empty(), "{what}: {problems:?} in {example}");
}

/// Bodies with their media types, from the `content` of a request or an answer.
fn bodies(holder: &Value) -> impl Iterator<Item = (&String, &Value)> {
    holder["content"].as_object().into_iter().flatten()
}

#[test]
fn every_request_and_answer_has_examples_that_are_right() {
    let document = document();
    let operations = operations(&document);
    assert!(operations.len() > 30, "{}", operations.len());
    for (name, operation) in operations {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["example"].is_string(), "{name}: {}", parameter["name"]);
        }
        for (media_type, body) in bodies(&operation["requestBody"]) {
            let found = examples(&document, body);
            assert!(!found.is_empty(), "{name}: request as {media_type}");
            found.iter().for_each(|example| assert_valid(&document, &name, body, example));
        }
        for (status, answer) in operation["responses"].as_object().unwrap() {
            assert!(bodies(answer).count() > 0, "{name}: nothing is said of what {status} carries");
            for (media_type, body) in bodies(answer) {
                let what = format!("{name}: {status} as {media_type}");
                let found = examples(&document, body);
                assert!(!found.is_empty(), "{what}");
                // Bytes cannot be written down here.
                let found = found.iter().filter(|_| media_type == "application/json");
                found.for_each(|example| assert_valid(&document, &what, body, example));
            }
        }
    }
}

#[test]
fn errors_of_the_examples_carry_the_code_of_their_status() {
    let document = document();
    let mut seen = 0;
    for (name, operation) in operations(&document) {
        for (status, answer) in operation["responses"].as_object().unwrap() {
            let Ok(status) = status.parse::<u16>() else { continue };
            if status < 400 {
                continue;
            }
            let body = &answer["content"]["application/json"]["example"];
            let (error, code) = (body["error"].as_str().unwrap(), body["code"].as_str().unwrap());
            let own = code.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
            assert!(own || code == contract_code(status, error), "{name}: {status} {body}");
            seen += 1;
        }
    }
    assert!(seen > 80, "{seen}");
}

#[test]
fn document_is_the_one_that_is_checked_in() {
    let mut document = document();
    document["paths"].as_object_mut().unwrap().remove(OF_TESTS);
    let checked_in: Value =
        serde_json::from_str(include_str!("../../../../../docs/openapi/gateway.json")).unwrap();
    for part in ["info", "security", "tags"] {
        assert_eq!(document[part], checked_in[part], "run `cargo xtask openapi`");
    }
    for (part, names) in [("/paths", "path"), ("/components/schemas", "schema")] {
        let of = |document: &Value| document.pointer(part).unwrap().as_object().unwrap().clone();
        let (now, before) = (of(&document), of(&checked_in));
        for name in now.keys().chain(before.keys()) {
            assert_eq!(now.get(name), before.get(name), "{names} {name}: run `cargo xtask openapi`");
        }
    }
}

#[tokio::test]
async fn document_is_served_to_whoever_is_signed_in() {
    let fixture = TestGateway::new().await;
    let reply = fixture.ask("GET", "/api/gateway/openapi.json").send().await;
    reply.assert_error(401, "unauthorized", "unauthorized");
    let reply = fixture.internal("GET", "/api/gateway/openapi.json").send().await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json(), json!(crate::openapi()));
}
