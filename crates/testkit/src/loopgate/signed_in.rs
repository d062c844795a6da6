//! A browser's view of the control plane.

use std::time::Duration;

use anyhow::{Context as _, bail};
use reqwest::{Method, RequestBuilder, Response, header};
use serde_json::{Value, json};

use super::{Loopgate, client};

/// How long a loop of a test may take.
const LOOP_LIMIT: Duration = Duration::from_mins(15);

/// A browser's view of the control plane: signed in, on its own page.
#[derive(Debug, Clone)]
pub struct SignedIn {
    http: reqwest::Client,
    api_origin: String,
    page_url: String,
    cookie: String,
    key: String,
}

/// Header in which a page sends the key of its session.
const KEY_HEADER: &str = "x-session-key";

impl SignedIn {
    /// Signs in by a one-time link, at the control plane that an origin names.
    ///
    /// # Errors
    /// When the link is refused: it works once.
    pub async fn by_link(api_origin: &str, page_url: &str, link: &str) -> anyhow::Result<Self> {
        let (token, http) = (link_token(link)?, client()?);
        let answer = http
            .post(format!("{api_origin}/auth/sign-in-link"))
            .header(header::ORIGIN, page_url)
            .json(&json!({"token": token}))
            .send()
            .await?;
        let answer = refused(answer).await?;
        let cookie = answer
            .headers()
            .get(header::SET_COOKIE)
            .and_then(|cookie| cookie.to_str().ok()?.split(';').next())
            .context("the answer to a sign-in sets a cookie")?
            .to_owned();
        let key = text_of(&answer.json::<Value>().await?["data"]["sessionKey"])?;
        Ok(Self { http, api_origin: api_origin.to_owned(), page_url: page_url.to_owned(), cookie, key })
    }

    /// A request to the control plane, as the signed-in page sends it.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.api_origin))
            .header(header::COOKIE, &self.cookie)
            .header(KEY_HEADER, &self.key)
            .header(header::ORIGIN, &self.page_url)
    }

    /// The JSON of a GET.
    ///
    /// # Errors
    /// When the answer is an error or no JSON.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        json_of(self.request(Method::GET, path).send().await?).await
    }

    /// The JSON that a POST is answered with.
    ///
    /// # Errors
    /// When the answer is an error or no JSON.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        json_of(self.request(Method::POST, path).json(body).send().await?).await
    }

    /// Writes a wish down for a repository and has it planned. Answers the ids of the document and
    /// of the loop.
    ///
    /// # Errors
    /// When the control plane refuses.
    pub async fn plan(&self, full_name: &str, wish: &str) -> anyhow::Result<(String, String)> {
        let repo = json!({"fullName": full_name, "branch": "main"});
        let body = json!({"type": "FEATURE", "title": wish, "content": wish, "repo": repo});
        let document = text_of(&self.post("/documents", &body).await?["data"]["id"])?;
        let run = self.run(&document, "plan", full_name).await?;
        Ok((document, run))
    }

    /// Runs `plan` or `execute` on a document. Answers the id of the loop.
    ///
    /// # Errors
    /// When the control plane refuses.
    pub async fn run(&self, document: &str, command: &str, full_name: &str) -> anyhow::Result<String> {
        let body = json!({"command": command, "repo": {"fullName": full_name, "branch": "main"}});
        let started = self.post(&format!("/documents/{document}/run-loop"), &body).await?;
        text_of(&started["data"]["loopId"])
    }

    /// Follows the events of a loop to its end. Answers the loop as it is then.
    ///
    /// # Errors
    /// When it does not end in a quarter of an hour, or the connection breaks.
    pub async fn wait_for_end(&self, run: &str) -> anyhow::Result<Value> {
        let stream = self
            .request(Method::GET, &format!("/loops/{run}/stream"))
            .header(header::ACCEPT, "text/event-stream")
            .timeout(LOOP_LIMIT);
        // The server ends the stream when the loop has ended.
        let seen = refused(stream.send().await?).await?.text().await;
        let events = seen.with_context(|| format!("follow the events of loop {run}"))?;
        let ended = self.get(&format!("/loops/{run}")).await?["data"].take();
        let active = ["PENDING", "CLAIMED", "RUNNING"].iter().any(|status| ended["status"] == *status);
        if active {
            bail!("the stream ended, but the loop has not: {ended}\n{events}");
        }
        Ok(ended)
    }

    /// The same session at a Loopgate that was started again.
    #[must_use]
    pub fn at(&self, loopgate: &Loopgate) -> Self {
        Self {
            api_origin: loopgate.ready.api_origin.clone(),
            page_url: loopgate.ready.page_url.clone(),
            ..self.clone()
        }
    }

    /// The session cookie, `name=value`, as a browser sends it to every port of the host.
    #[must_use]
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// The key that only the page has.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// The link carries its token as `token=` in its query or fragment.
fn link_token(link: &str) -> anyhow::Result<String> {
    let link = url::Url::parse(link).with_context(|| format!("the sign-in link is {link:?}"))?;
    let parts = [link.query(), link.fragment()];
    let pairs = parts.into_iter().flatten().flat_map(|part| url::form_urlencoded::parse(part.as_bytes()));
    let token = pairs.into_iter().find(|(name, _)| name == "token").map(|(_, token)| token.into_owned());
    token.context("the sign-in link carries no token")
}

fn text_of(value: &Value) -> anyhow::Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("expected a text, got {value}"))
}

async fn json_of(answer: Response) -> anyhow::Result<Value> {
    refused(answer).await?.json().await.map_err(Into::into)
}

async fn refused(answer: Response) -> anyhow::Result<Response> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let path = answer.url().path().to_owned();
    bail!("{path} answered {status}: {}", answer.text().await.unwrap_or_default())
}
