//! Forms as a browser sends them, written by hand so that they can be wrong.

/// The boundary of every form here.
const BOUNDARY: &str = "----a-boundary-of-these-tests";

/// `Content-Type` of a form.
pub fn content_type() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

/// One part: the name of its file, its type, its content.
pub struct TestPart<'a>(pub Option<&'a str>, pub &'a str, pub &'a [u8]);

/// A whole form.
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
