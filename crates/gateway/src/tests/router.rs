//! The route table against the specified routes, and every route without a credential.

use std::collections::{BTreeMap, BTreeSet};

use loopgate_api::operation::OperationId;

use super::specified_routes::SPECIFIED;
use super::test_gateway::TestGateway;
use crate::route::{Auth, Route};
use crate::router::{all_routes, all_schemas};

/// Routes beyond the specified ones.
const OWN: [&str; 10] = [
    "/api/gateway/openapi.json",
    "/api/gateway/approvals",
    "/api/gateway/git/loop-changes/{loopId}",
    "/api/gateway/git/repository",
    "/api/gateway/learnings/decision",
    "/api/gateway/git/pr/review",
    "/api/gateway/git/panicking",
    "/api/gateway/git/pr/merge",
    "/api/gateway/git/pr/standing",
    "/api/gateway/git/pr/update-branch",
];

fn routes_for_clients() -> Vec<Route> {
    all_routes().into_iter().filter(|route| !OWN.contains(&route.path)).collect()
}

/// Converts `:name` and `*name` to the router's syntax with braces.
fn braced(path: &str) -> String {
    let segment = |segment: &str| match segment.split_at_checked(1) {
        Some((":", name)) => format!("{{{name}}}"),
        Some(("*", name)) => format!("{{*{name}}}"),
        _ => segment.to_owned(),
    };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

#[test]
fn table_contains_each_specified_route_once() {
    let specified: BTreeSet<_> =
        SPECIFIED.iter().map(|(method, path, _)| (method.to_string(), braced(path))).collect();
    let routed: Vec<_> = routes_for_clients()
        .into_iter()
        .map(|route| (route.method.to_string(), route.path.to_owned()))
        .collect();
    assert_eq!(routed.iter().cloned().collect::<BTreeSet<_>>(), specified);
    assert_eq!(routed.len(), specified.len(), "no route twice");
}

#[test]
fn every_route_has_the_operation_of_its_path() {
    for route in all_routes() {
        assert_eq!(route.operation, OperationId::of_path(route.path), "{}", route.path);
    }
    for (_, path, operation) in SPECIFIED {
        let mapped = OperationId::of_path(&braced(path)).map_or("-", OperationId::as_str);
        assert_eq!(mapped, *operation, "{path}");
    }
}

#[test]
fn schema_names_are_unique() {
    let mut schemas = BTreeMap::new();
    for (name, schema) in all_schemas() {
        let schema = serde_json::to_value(schema).unwrap();
        let first = schemas.entry(name.clone()).or_insert_with(|| schema.clone());
        assert_eq!(*first, schema, "two schemas are named {name}; only one would be described");
    }
    // Guards against a document without schemas.
    assert!(schemas.len() > 50, "{}", schemas.len());
}

#[test]
fn document_describes_every_route() {
    let document = serde_json::to_value(crate::openapi()).unwrap();
    for route in all_routes() {
        let operation =
            &document["paths"][route.path.replace("{*", "{")][route.method.as_str().to_lowercase()];
        assert!(operation.is_object(), "{} {}", route.method, route.path);
        assert!(!document.to_string().contains("\"path\":\"\""));
    }
    let described: usize =
        document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len()).sum();
    assert_eq!(described, all_routes().len());
}

#[tokio::test]
async fn only_health_is_served_without_a_credential() {
    let fixture = TestGateway::new().await;
    for route in all_routes() {
        let path = route.path.replace(['{', '}', '*'], "");
        let reply = fixture.anonymous(route.method.as_str(), &path).send().await;
        match route.auth {
            Auth::Public => assert_eq!(reply.status, 200),
            Auth::Loopback => {
                reply.assert_error(400, "Origin header required", "invalid_request");
            }
            Auth::Gateway => {
                let body = reply.assert_error(401, "unauthorized", "unauthorized");
                assert_eq!(body["reason"], "no credential provided", "{path}");
            }
        }
    }
}
