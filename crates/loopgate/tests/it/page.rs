//! Client of the control plane, as the web page uses it: documents, loops and their events.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::loopgate::BrowserSession;
use loopgate_testkit::story;
use reqwest::{Method, Response, header};
use serde_json::{Value, json};

/// Upper bound of one event stream; a whole loop with its tests and delivery fits into it.
const STREAM_LIMIT: Duration = Duration::from_secs(150);

/// Signed-in session of the web page.
#[derive(Debug, Clone)]
pub struct Page(pub BrowserSession);

impl Page {
    /// Creates a document with the request of the story. Returns its id.
    pub async fn create_document(&self) -> Result<String> {
        let repo = json!({"fullName": story::REPOSITORY, "branch": "main"});
        let body =
            json!({"title": story::REQUEST, "type": "FEATURE", "content": story::REQUEST, "repo": repo});
        let created = self.0.post("/documents", &body).await?;
        text(&created["data"]["id"])
    }

    /// Starts a loop command on a document, like the page's button. Returns the loop's id.
    pub async fn start_loop(&self, document: &str, command: &str) -> Result<String> {
        self.run_loop(document, &json!({"command": command})).await
    }

    /// Starts a loop with these options, and returns its id.
    pub async fn run_loop(&self, document: &str, options: &Value) -> Result<String> {
        let path = format!("/documents/{document}/run-loop");
        text(&self.0.post(&path, options).await?["data"]["loopId"])
    }

    /// Creates a document and runs PLAN on it to completion, so that EXECUTE can follow. Returns the
    /// document's id.
    pub async fn create_plan(&self) -> Result<String> {
        let document = self.create_document().await?;
        let plan = self.start_loop(&document, "plan").await?;
        let ended = self.wait_for_end(&plan).await?;
        ensure!(ended["status"] == "COMPLETED", "the plan's loop: {ended}");
        Ok(document)
    }

    pub async fn document(&self, id: &str) -> Result<Value> {
        Ok(self.0.get(&format!("/documents/{id}")).await?["data"].take())
    }

    pub async fn read(&self, loop_id: &str) -> Result<Value> {
        Ok(self.0.get(&format!("/loops/{loop_id}")).await?["data"].take())
    }

    /// Returns all stored events of a loop.
    pub async fn events(&self, loop_id: &str) -> Result<Vec<Value>> {
        let list = self.0.get(&format!("/loops/{loop_id}/events")).await?["data"].take();
        list.as_array().cloned().context("events are a list")
    }

    /// Streams the events of a loop, from the first one or after the event with the id `after`.
    pub async fn follow(&self, loop_id: &str, after: Option<&str>) -> Result<Events> {
        self.stream(&format!("/loops/{loop_id}/stream"), after).await
    }

    /// Streams the presence changes of all desktops.
    pub async fn presence(&self) -> Result<Events> {
        self.stream("/compute-targets/status-stream", None).await
    }

    async fn stream(&self, path: &str, after: Option<&str>) -> Result<Events> {
        let mut request = self.0.request(Method::GET, path).timeout(STREAM_LIMIT);
        if let Some(id) = after {
            request = request.header("last-event-id", id);
        }
        let answer = request.send().await?.error_for_status()?;
        let content_type = answer.headers().get(header::CONTENT_TYPE).context("no content type")?;
        ensure!(content_type == "text/event-stream", "{content_type:?}");
        Ok(Events { answer, unread: Vec::new() })
    }

    /// Follows a loop until its stream closes, and returns the loop.
    pub async fn wait_for_end(&self, loop_id: &str) -> Result<Value> {
        self.follow(loop_id, None).await?.remaining().await?;
        self.read(loop_id).await
    }
}

/// Open stream of server-sent events.
pub struct Events {
    answer: Response,
    unread: Vec<u8>,
}

impl Events {
    /// Returns the next event, or `None` when the stream has closed.
    pub async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some(end) = self.unread.windows(2).position(|bytes| bytes == b"\n\n") {
                let record: Vec<u8> = self.unread.drain(..end + 2).collect();
                if let Some(event) = parsed(str::from_utf8(&record)?)? {
                    return Ok(Some(event));
                }
                continue;
            }
            match self.answer.chunk().await? {
                // A chunk may end within a character.
                Some(bytes) => self.unread.extend_from_slice(&bytes),
                None => return Ok(None),
            }
        }
    }

    /// Returns all events up to the end of the stream.
    pub async fn remaining(mut self) -> Result<Vec<Value>> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await? {
            events.push(event);
        }
        Ok(events)
    }
}

/// Parses a record. Returns `None` for a comment (keep-alive). Fails when the record's id differs from the
/// event's.
fn parsed(record: &str) -> Result<Option<Value>> {
    let field = |name: &str| record.lines().find_map(|line| line.strip_prefix(name));
    let Some(data) = field("data: ") else { return Ok(None) };
    let event: Value = serde_json::from_str(data)?;
    ensure!(event["id"].as_str() == field("id: "), "{record}");
    Ok(Some(event))
}

/// Returns the string in a JSON value.
pub fn text(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("{value} is not a string"))
}
