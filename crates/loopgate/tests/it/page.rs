//! What a person does on the page, and what the page reads: wishes, loops, their events.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::loopgate::SignedIn;
use loopgate_testkit::story;
use reqwest::{Method, Response, header};
use serde_json::{Value, json};

/// How long a stream of events may last.
const STREAM_LIMIT: Duration = Duration::from_secs(150);

/// A signed-in page.
#[derive(Debug, Clone)]
pub struct Page(pub SignedIn);

impl Page {
    /// Writes the story's wish down. Answers the document's id.
    pub async fn wish(&self) -> Result<String> {
        let repo = json!({"fullName": story::REPOSITORY, "branch": "main"});
        let body = json!({"title": story::WISH, "type": "FEATURE", "content": story::WISH, "repo": repo});
        let made = self.0.post("/documents", &body).await?;
        text(&made["data"]["id"])
    }

    /// Presses a button of a document. Answers the loop's id.
    pub async fn press(&self, document: &str, command: &str) -> Result<String> {
        let path = format!("/documents/{document}/run-loop");
        text(&self.0.post(&path, &json!({"command": command})).await?["data"]["loopId"])
    }

    /// A wish with its plan, as it is before somebody presses Execute. Answers the wish's id.
    pub async fn planned(&self) -> Result<String> {
        let document = self.wish().await?;
        let plan = self.press(&document, "plan").await?;
        let ended = self.ended(&plan).await?;
        ensure!(ended["status"] == "COMPLETED", "the plan's loop: {ended}");
        Ok(document)
    }

    /// A document.
    pub async fn document(&self, id: &str) -> Result<Value> {
        Ok(self.0.get(&format!("/documents/{id}")).await?["data"].take())
    }

    /// A loop.
    pub async fn read(&self, loop_id: &str) -> Result<Value> {
        Ok(self.0.get(&format!("/loops/{loop_id}")).await?["data"].take())
    }

    /// Every stored event of a loop.
    pub async fn events(&self, loop_id: &str) -> Result<Vec<Value>> {
        let list = self.0.get(&format!("/loops/{loop_id}/events")).await?["data"].take();
        list.as_array().cloned().context("events are a list")
    }

    /// Follows a loop's events, from the beginning or from after a known one.
    pub async fn follow(&self, loop_id: &str, after: Option<&str>) -> Result<Events> {
        self.stream(&format!("/loops/{loop_id}/stream"), after).await
    }

    /// Follows the desktops, which go on and off line.
    pub async fn presence(&self) -> Result<Events> {
        self.stream("/compute-targets/status-stream", None).await
    }

    async fn stream(&self, path: &str, after: Option<&str>) -> Result<Events> {
        let mut request = self.0.request(Method::GET, path).timeout(STREAM_LIMIT);
        if let Some(id) = after {
            request = request.header("last-event-id", id);
        }
        let answer = request.send().await?.error_for_status()?;
        let kind = answer.headers().get(header::CONTENT_TYPE).context("a stream says what it is")?;
        ensure!(kind == "text/event-stream", "{kind:?}");
        Ok(Events { answer, unread: String::new() })
    }

    /// Follows a loop until its stream closes, and answers the loop as it then is.
    pub async fn ended(&self, loop_id: &str) -> Result<Value> {
        self.follow(loop_id, None).await?.rest().await?;
        self.read(loop_id).await
    }
}

/// A stream of events that is being read.
pub struct Events {
    answer: Response,
    unread: String,
}

impl Events {
    /// The next event; `None` when the stream has closed.
    pub async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some((record, rest)) = self.unread.split_once("\n\n") {
                let (record, rest) = (record.to_owned(), rest.to_owned());
                self.unread = rest;
                if let Some(event) = parsed(&record)? {
                    return Ok(Some(event));
                }
                continue;
            }
            match self.answer.chunk().await? {
                Some(bytes) => self.unread.push_str(std::str::from_utf8(&bytes)?),
                None => return Ok(None),
            }
        }
    }

    /// Everything up to the end of the stream.
    pub async fn rest(mut self) -> Result<Vec<Value>> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await? {
            events.push(event);
        }
        Ok(events)
    }
}

/// An event of a record; the id of the record must be the event's. Comments are no events.
fn parsed(record: &str) -> Result<Option<Value>> {
    let field = |name: &str| record.lines().find_map(|line| line.strip_prefix(name));
    let Some(data) = field("data: ") else { return Ok(None) };
    let event: Value = serde_json::from_str(data)?;
    ensure!(event["id"].as_str() == field("id: "), "{record}");
    Ok(Some(event))
}

/// The text of a JSON value.
pub fn text(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("{value} is no text"))
}
