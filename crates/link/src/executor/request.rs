//! Converts a command into a request to the gateway: method, target, headers, body.
//!
//! Headers of a command are untrusted: they cannot replace the gateway's credentials, the caller's identity
//! or connection-level headers.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use loopgate_api::link::LinkCommand;
use loopgate_api::names::{
    APPROVAL_REASON_HEADER, CLOUD_SOURCE, COMMAND_ID_HEADER, FORCE_APPROVAL_HEADER, GATEWAY_TOKEN_HEADER,
    OPERATION_ID_HEADER, REQUESTER_HEADER, SOURCE_HEADER,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use thiserror::Error;
use uuid::Uuid;

/// Methods that a command may use.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Headers that a command may not set, in addition to all `X-Desktop-*`.
const FORBIDDEN: [&str; 15] = [
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Error of a command whose target is not a valid URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("malformed request target")]
pub(crate) struct InvalidCommandTarget;

/// Returns the method in upper case, or `None` if it is not in [`METHODS`].
pub(crate) fn method(command: &LinkCommand) -> Option<Method> {
    let name = command.method.to_ascii_uppercase();
    METHODS.contains(&name.as_str()).then(|| Method::from_bytes(name.as_bytes()).ok()).flatten()
}

/// Returns the path without a query string or fragment.
pub(crate) fn path(command: &LinkCommand) -> &str {
    command.path.split(['?', '#']).next().unwrap_or_default()
}

/// Builds the request. Fails when the target is not a valid URI.
pub(crate) fn build(
    command: &LinkCommand,
    method: Method,
    gateway_token: &SecretString,
) -> Result<Request<Bytes>, InvalidCommandTarget> {
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = target(command)?;
    let headers = request.headers_mut();
    for (name, value) in &command.headers {
        if let Some((name, value)) = permitted(name, value) {
            headers.append(name, value);
        }
    }
    add_gateway_headers(headers, command, gateway_token);
    if method != Method::GET
        && let Some(body) = &command.body
    {
        let bytes = match body {
            Value::String(text) => text.clone().into_bytes(),
            json => {
                let json_type = HeaderValue::from_static("application/json");
                request.headers_mut().entry(CONTENT_TYPE).or_insert(json_type);
                json.to_string().into_bytes()
            }
        };
        *request.body_mut() = Bytes::from(bytes);
    }
    *request.method_mut() = method;
    Ok(request)
}

fn permitted(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name: HeaderName = name.parse().ok()?;
    let forbidden = FORBIDDEN.contains(&name.as_str()) || name.as_str().starts_with("x-desktop-");
    (!forbidden).then_some(())?;
    Some((name, HeaderValue::from_str(value).ok()?))
}

fn add_gateway_headers(headers: &mut HeaderMap, command: &LinkCommand, gateway_token: &SecretString) {
    headers.insert(HOST, HeaderValue::from_static("127.0.0.1"));
    headers.insert(SOURCE_HEADER, HeaderValue::from_static(CLOUD_SOURCE));
    if let Ok(mut token) = HeaderValue::from_str(gateway_token.expose_secret()) {
        token.set_sensitive(true);
        headers.insert(GATEWAY_TOKEN_HEADER, token);
    }
    if Uuid::try_parse(&command.command_id).is_ok() {
        insert(headers, COMMAND_ID_HEADER, &command.command_id);
    }
    insert(headers, OPERATION_ID_HEADER, &command.operation_id);
    if let Some(requester) = &command.requester {
        // Percent-encoded, because a header that is not ASCII would be skipped, and the request would count as
        // the owner's.
        let name: String = url::form_urlencoded::byte_serialize(requester.to_string().as_bytes()).collect();
        insert(headers, REQUESTER_HEADER, &name);
    }
    if command.requires_approval == Some(true) {
        headers.insert(FORCE_APPROVAL_HEADER, HeaderValue::from_static("1"));
        insert(headers, APPROVAL_REASON_HEADER, command.approval_reason.as_deref().unwrap_or_default());
    }
}

/// Sets a header if the value is printable ASCII; skips it otherwise.
fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) {
    let printable = !value.is_empty() && value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if printable && let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn target(command: &LinkCommand) -> Result<Uri, InvalidCommandTarget> {
    let (path, query) = command.path.split_once('?').unwrap_or((&command.path, ""));
    let mut target = escape(path);
    let mut query = escape(query.split('#').next().unwrap_or_default());
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for (name, values) in &command.query {
        for value in values.values() {
            pairs.append_pair(name, value);
        }
    }
    let pairs = pairs.finish();
    if !query.is_empty() && !pairs.is_empty() {
        query.push('&');
    }
    query.push_str(&pairs);
    if !query.is_empty() {
        target.push('?');
        target.push_str(&query);
    }
    target.parse().map_err(|_| InvalidCommandTarget)
}

/// Percent-encodes characters that are not allowed in a request target. Leaves existing escapes unchanged.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if (0x21..0x7f).contains(&byte) && !b"\"#<>\\^`{|}".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use loopgate_api::link::QueryValue;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn command() -> LinkCommand {
        LinkCommand {
            command_id: "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718".into(),
            operation_id: "git_action".into(),
            method: "post".into(),
            path: "/api/gateway/git".into(),
            ..LinkCommand::default()
        }
    }

    fn request(command: &LinkCommand) -> Request<Bytes> {
        build(command, method(command).unwrap(), &"token".into()).unwrap()
    }

    #[test]
    fn command_cannot_override_protected_headers() {
        let mut hostile = command();
        for name in
            ["Host", "Origin", "Cookie", "Authorization", "X-Desktop-Source", "x-desktop-gateway-token"]
        {
            hostile.headers.insert(name.into(), "evil".into());
        }
        hostile.headers.insert("Transfer-Encoding".into(), "chunked".into());
        hostile.headers.insert("bad name".into(), "x".into());
        hostile.headers.insert("X-Fine".into(), "yes".into());
        hostile.headers.insert("X-Injected".into(), "a\r\nX-Desktop-Source: b".into());
        let request = request(&hostile);
        let headers = request.headers();
        assert!(headers.values().all(|value| value != "evil"));
        assert_eq!(headers[GATEWAY_TOKEN_HEADER], "token");
        assert_eq!(headers[SOURCE_HEADER], CLOUD_SOURCE);
        assert_eq!(headers["x-fine"], "yes");
        assert!(!headers.contains_key("x-injected") && !headers.contains_key("transfer-encoding"));
    }

    // CL-24, CL-25
    #[test]
    fn ids_are_sent_only_if_they_are_valid() {
        let mut odd = command();
        assert_eq!(request(&odd).headers()[COMMAND_ID_HEADER], odd.command_id.as_str());
        odd.command_id = "abc".into();
        odd.operation_id = "git\r\nX-Desktop-Source: me".into();
        let request = request(&odd);
        assert!(!request.headers().contains_key(COMMAND_ID_HEADER));
        assert!(!request.headers().contains_key(OPERATION_ID_HEADER));
    }

    #[test]
    fn required_approval_is_sent_in_headers() {
        let mut guarded = command();
        assert!(!request(&guarded).headers().contains_key(FORCE_APPROVAL_HEADER));
        guarded.requires_approval = Some(true);
        guarded.approval_reason = Some("deploys".into());
        let request = request(&guarded);
        assert_eq!(request.headers()[FORCE_APPROVAL_HEADER], "1");
        assert_eq!(request.headers()[APPROVAL_REASON_HEADER], "deploys");
    }

    // CL-23
    #[test]
    fn only_get_is_sent_without_a_body() {
        let mut with_body = LinkCommand { body: Some(json!({"a": 1})), ..command() };
        for (name, body) in [("DELETE", "{\"a\":1}"), ("GET", "")] {
            with_body.method = name.into();
            assert_eq!(request(&with_body).body(), body, "{name}");
        }
        with_body.method = "PUT".into();
        with_body.body = Some(json!("raw"));
        let raw = request(&with_body);
        assert_eq!(raw.body(), "raw");
        assert!(!raw.headers().contains_key(CONTENT_TYPE));
        with_body.body = Some(json!([1]));
        with_body.headers.insert("Content-Type".into(), "text/x".into());
        assert_eq!(request(&with_body).headers()[CONTENT_TYPE], "text/x");
    }

    #[test]
    fn query_is_encoded_once() {
        let mut guarded = command();
        guarded.path = "/api/gateway/git?a=%20b".into();
        guarded.query.insert("q".into(), QueryValue::Many(vec!["x y".into(), "&".into()]));
        assert_eq!(request(&guarded).uri(), "/api/gateway/git?a=%20b&q=x+y&q=%26");
        assert_eq!(path(&guarded), "/api/gateway/git");
    }

    proptest! {
        #[test]
        fn building_a_request_never_panics(
            path in ".{0,40}", name in ".{0,10}", value in ".{0,10}", method_name in ".{0,8}", id in ".{0,10}",
        ) {
            let mut any = command();
            any.path = format!("/api/gateway/{path}");
            any.headers.insert(name.clone(), value.clone());
            any.query.insert(name, QueryValue::One(value));
            any.operation_id = id.clone();
            any.approval_reason = Some(id);
            any.requires_approval = Some(true);
            any.method = method_name;
            let method = method(&any).unwrap_or(Method::POST);
            prop_assert!(build(&any, method, &"token".into()).is_ok());
        }
    }
}
