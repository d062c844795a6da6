//! Multipart forms as a browser sends them, assembled by hand so that tests can break them.

/// Boundary of every form in these tests.
const BOUNDARY: &str = "----a-boundary-of-these-tests";

/// Returns the `Content-Type` of a form.
pub fn content_type() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

/// A part of a form: file name, content type and content.
pub struct TestPart<'a>(pub Option<&'a str>, pub &'a str, pub &'a [u8]);

/// Returns the body of a form.
pub fn form(parts: &[TestPart<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for TestPart(name, kind, content) in parts {
        let name = name.map(|name| format!("; filename=\"{name}\"")).unwrap_or_default();
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"x\"{name}\r\nContent-Type: {kind}\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}
