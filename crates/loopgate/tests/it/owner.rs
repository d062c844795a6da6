//! Client of the owner-only control socket, which lists and decides approvals.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::loopgate::Loopgate;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

/// Connection for single calls.
pub struct Owner(BufReader<UnixStream>);

impl Owner {
    pub async fn of(loopgate: &Loopgate) -> Result<Self> {
        // The socket is opened before the HTTP listener responds, so a successful health check implies that
        // it exists.
        loopgate.gateway_bare(Method::GET, "/health").send().await?;
        let socket = loopgate.setup().data_dir().join("control.sock");
        Ok(Self(BufReader::new(UnixStream::connect(socket).await?)))
    }

    /// Calls a verb and returns the `data` of its response. Fails when the response is not `ok`.
    pub async fn call(&mut self, verb: &str, params: Value) -> Result<Value> {
        self.send(verb, params).await?;
        self.receive().await
    }

    async fn send(&mut self, verb: &str, params: Value) -> Result<()> {
        let line = format!("{}\n", json!({"id": 1, "verb": verb, "params": params}));
        Ok(self.0.write_all(line.as_bytes()).await?)
    }

    async fn receive(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.0.read_line(&mut line).await?;
        let mut answer: Value = serde_json::from_str(&line).with_context(|| format!("answered {line:?}"))?;
        ensure!(answer["ok"] == true, "{answer}");
        Ok(answer["data"].take())
    }
}

/// Subscription to the list of pending approvals.
pub struct OwnerWatch {
    owner: Owner,
    pending: Vec<Value>,
}

impl OwnerWatch {
    pub async fn of(loopgate: &Loopgate) -> Result<Self> {
        let mut owner = Owner::of(loopgate).await?;
        owner.send("approvals.watch", json!({})).await?;
        let mut watch = Self { owner, pending: Vec::new() };
        // The first message is the current list, sent on subscription.
        watch.next().await?;
        Ok(watch)
    }

    /// Waits until exactly `count` requests are pending.
    pub async fn until(&mut self, count: usize) -> Result<&[Value]> {
        while self.pending.len() != count {
            self.next().await?;
        }
        Ok(&self.pending)
    }

    /// Waits until exactly one request is pending, and returns it.
    pub async fn one(&mut self) -> Result<Value> {
        Ok(self.until(1).await?[0].clone())
    }

    /// Waits until no request is pending.
    pub async fn nothing(&mut self) -> Result<()> {
        self.until(0).await.map(|_| ())
    }

    /// Waits for the next change of the list.
    pub async fn next(&mut self) -> Result<()> {
        let list = self.owner.receive().await?;
        self.pending = list.as_array().cloned().context("a list")?;
        Ok(())
    }
}
