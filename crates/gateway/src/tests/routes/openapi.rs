//! The examples of the OpenAPI document: every request and response of the local routes has one that is valid
//! against its schema and has the right error code.

use crate::tests::error_codes::expected_code;
use serde_json::{Map, Value, json};

use crate::tests::test_gateway::TestGateway;

/// Prefix of the loop routes; the others are local.
const LOOPS: &str = "/api/gateway/orchestrator/";
const LOCAL_EXCEPTIONS: [&str; 2] = ["attachments", "upload"];
/// A route that exists in test builds only.
const TEST_ONLY: &str = "/api/gateway/git/panicking";

fn document() -> Value {
    serde_json::to_value(crate::openapi()).unwrap()
}

fn is_local(path: &str) -> bool {
    let is_exception = |suffix: &str| LOCAL_EXCEPTIONS.iter().any(|name| suffix.starts_with(name));
    path != TEST_ONLY && path.strip_prefix(LOOPS).is_none_or(is_exception)
}

/// Returns the local operations with their names.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter().filter(|(path, _)| is_local(path));
    let methods = |(path, item): (&String, &'_ Value)| {
        let path = path.clone();
        item.as_object().unwrap().keys().map(move |method| format!("{method} {path}")).collect::<Vec<_>>()
    };
    let with_operation = |name: String| {
        let (method, path) = name.split_once(' ').unwrap();
        let operation = &document["paths"][path][method];
        (name, operation)
    };
    paths.flat_map(methods).map(with_operation).collect()
}

/// Returns the examples of a body, or those of its schema.
fn examples(document: &Value, body: &Value) -> Vec<Value> {
    let direct = body["examples"].as_object().into_iter().flatten().map(|(_, example)| &example["value"]);
    let reference = body["schema"]["$ref"].as_str().unwrap_or_default();
    let of_type = document.pointer(reference.trim_start_matches('#')).map(|schema| &schema["example"]);
    let all = direct.chain([&body["example"]]).chain(of_type);
    let examples: Vec<_> = all.filter(|example| !example.is_null()).cloned().collect();
    examples
}

fn assert_valid(document: &Value, context: &str, body: &Value, example: &Value) {
    let mut schema: Map<String, Value> = body["schema"].as_object().unwrap().clone();
    schema.insert("components".to_owned(), document["components"].clone());
    let validator = jsonschema::validator_for(&Value::Object(schema)).unwrap();
    let problems: Vec<_> = validator.iter_errors(example).map(|problem| problem.to_string()).collect();
    assert!(problems.is_empty(), "{context}: {problems:?} in {example}");
}

/// Returns the bodies of a request or response by media type.
fn bodies(holder: &Value) -> impl Iterator<Item = (&String, &Value)> {
    holder["content"].as_object().into_iter().flatten()
}

#[test]
fn requests_and_responses_have_valid_examples() {
    let document = document();
    let operations = operations(&document);
    assert!(operations.len() > 30, "{}", operations.len());
    for (name, operation) in operations {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["example"].is_string(), "{name}: {}", parameter["name"]);
        }
        for (media_type, body) in bodies(&operation["requestBody"]) {
            let body_examples = examples(&document, body);
            assert!(!body_examples.is_empty(), "{name}: request as {media_type}");
            body_examples.iter().for_each(|example| assert_valid(&document, &name, body, example));
        }
        for (status, answer) in operation["responses"].as_object().unwrap() {
            assert!(bodies(answer).count() > 0, "{name}: response {status} has no body");
            for (media_type, body) in bodies(answer) {
                let context = format!("{name}: {status} as {media_type}");
                let body_examples = examples(&document, body);
                assert!(!body_examples.is_empty(), "{context}");
                // Binary bodies have no JSON example.
                let json_examples = body_examples.iter().filter(|_| media_type == "application/json");
                json_examples.for_each(|example| assert_valid(&document, &context, body, example));
            }
        }
    }
}

#[test]
fn example_errors_have_the_code_of_their_status() {
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
            let is_route_specific = code.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
            assert!(is_route_specific || code == expected_code(status, error), "{name}: {status} {body}");
            seen += 1;
        }
    }
    // Guards against a document in which the examples are not found.
    assert!(seen > 80, "{seen}");
}

#[test]
fn checked_in_document_is_up_to_date() {
    let mut document = document();
    document["paths"].as_object_mut().unwrap().remove(TEST_ONLY);
    let checked_in: Value =
        serde_json::from_str(include_str!("../../../../../docs/openapi/gateway.json")).unwrap();
    for part in ["info", "security", "tags"] {
        assert_eq!(document[part], checked_in[part], "run `cargo xtask openapi`");
    }
    for (part, names) in [("/paths", "path"), ("/components/schemas", "schema")] {
        let of = |document: &Value| document.pointer(part).unwrap().as_object().unwrap().clone();
        let (current, checked_in) = (of(&document), of(&checked_in));
        for name in current.keys().chain(checked_in.keys()) {
            assert_eq!(current.get(name), checked_in.get(name), "{names} {name}: run `cargo xtask openapi`");
        }
    }
}

#[tokio::test]
async fn served_document_requires_authentication() {
    let fixture = TestGateway::new().await;
    let reply = fixture.anonymous("GET", "/api/gateway/openapi.json").send().await;
    reply.assert_error(401, "unauthorized", "unauthorized");
    let reply = fixture.internal("GET", "/api/gateway/openapi.json").send().await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json(), json!(crate::openapi()));
}
