//! A browser session at the control plane.

use std::time::Duration;

use anyhow::{Context as _, bail};
use reqwest::{Method, RequestBuilder, Response, header};
use serde_json::{Value, json};

use super::{Loopgate, client};

/// Upper bound for one loop. Loops with the real assistant take minutes on a loaded machine.
const LOOP_LIMIT: Duration = Duration::from_mins(15);

/// A signed-in browser session, with the origin of the page.
#[derive(Debug, Clone)]
pub struct BrowserSession {
    http: reqwest::Client,
    api_origin: String,
    page_url: String,
    cookie: String,
    key: String,
}

/// Header that carries the session key, which browsers do not send by themselves as they do cookies.
const KEY_HEADER: &str = "x-session-key";

impl BrowserSession {
    /// Signs in with a one-time link at the control plane of this origin. Fails when the link was used
    /// before.
    pub async fn by_link(api_origin: &str, page_url: &str, link: &str) -> anyhow::Result<Self> {
        let (token, http) = (link_token(link)?, client()?);
        let response = http
            .post(format!("{api_origin}/auth/sign-in-link"))
            // The control plane rejects state-changing requests without a matching origin.
            .header(header::ORIGIN, page_url)
            .json(&json!({"token": token}))
            .send()
            .await?;
        let response = require_success(response).await?;
        let cookie = response
            .headers()
            .get(header::SET_COOKIE)
            .and_then(|cookie| cookie.to_str().ok()?.split(';').next())
            .context("the response to the sign-in has no cookie")?
            .to_owned();
        let key = text_of(&response.json::<Value>().await?["data"]["sessionKey"])?;
        Ok(Self { http, api_origin: api_origin.to_owned(), page_url: page_url.to_owned(), cookie, key })
    }

    /// Builds a request with the session's credentials and the page's origin.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.api_origin))
            .header(header::COOKIE, &self.cookie)
            .header(KEY_HEADER, &self.key)
            .header(header::ORIGIN, &self.page_url)
    }

    /// Sends a GET and parses the JSON response. Fails on an error status.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        json_of(self.request(Method::GET, path).send().await?).await
    }

    /// Sends a POST and parses the JSON response. Fails on an error status.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        json_of(self.request(Method::POST, path).json(body).send().await?).await
    }

    /// Creates a document with this request for a repository and starts PLAN on it. Returns the ids of the
    /// document and of the loop.
    pub async fn plan(&self, full_name: &str, request: &str) -> anyhow::Result<(String, String)> {
        let repo = json!({"fullName": full_name, "branch": "main"});
        let body = json!({"type": "FEATURE", "title": request, "content": request, "repo": repo});
        let document = text_of(&self.post("/documents", &body).await?["data"]["id"])?;
        let run = self.run(&document, "plan", full_name).await?;
        Ok((document, run))
    }

    /// Starts the command `plan` or `execute` on a document. Returns the id of the loop.
    pub async fn run(&self, document: &str, command: &str, full_name: &str) -> anyhow::Result<String> {
        let body = json!({"command": command, "repo": {"fullName": full_name, "branch": "main"}});
        let started = self.post(&format!("/documents/{document}/run-loop"), &body).await?;
        text_of(&started["data"]["loopId"])
    }

    /// Reads the loop's event stream to its end and returns the finished loop. Fails after [`LOOP_LIMIT`].
    pub async fn wait_for_end(&self, run: &str) -> anyhow::Result<Value> {
        let stream = self
            .request(Method::GET, &format!("/loops/{run}/stream"))
            .header(header::ACCEPT, "text/event-stream")
            .timeout(LOOP_LIMIT);
        // The server closes the stream when the loop finishes, so reading the body waits for that.
        let body = require_success(stream.send().await?).await?.text().await;
        let events = body.with_context(|| format!("follow the events of loop {run}"))?;
        let finished = self.get(&format!("/loops/{run}")).await?["data"].take();
        // A stream also ends when the server shuts down; then the loop is still active.
        let active = ["PENDING", "CLAIMED", "RUNNING"].iter().any(|status| finished["status"] == *status);
        if active {
            bail!("the stream ended, but the loop is not finished: {finished}\n{events}");
        }
        Ok(finished)
    }

    /// Returns the same session for a restarted Loopgate, whose ports have changed.
    #[must_use]
    pub fn at(&self, loopgate: &Loopgate) -> Self {
        Self {
            api_origin: loopgate.ready.api_origin.clone(),
            page_url: loopgate.ready.page_url.clone(),
            ..self.clone()
        }
    }

    /// Returns the session cookie as `name=value`. Browsers send it to every port of the host.
    #[must_use]
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Returns the session key, which is available to scripts of the page's origin only.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// Extracts `token=` from the query or the fragment of a sign-in link.
fn link_token(link: &str) -> anyhow::Result<String> {
    let link = url::Url::parse(link).with_context(|| format!("the sign-in link {link:?} is not a URL"))?;
    let parts = [link.query(), link.fragment()];
    let pairs = parts.into_iter().flatten().flat_map(|part| url::form_urlencoded::parse(part.as_bytes()));
    let token = pairs.into_iter().find(|(name, _)| name == "token").map(|(_, token)| token.into_owned());
    token.context("the sign-in link has no token")
}

fn text_of(value: &Value) -> anyhow::Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("expected a string, got {value}"))
}

async fn json_of(response: Response) -> anyhow::Result<Value> {
    require_success(response).await?.json().await.map_err(Into::into)
}

async fn require_success(response: Response) -> anyhow::Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let path = response.url().path().to_owned();
    bail!("{path} returned {status}: {}", response.text().await.unwrap_or_default())
}
