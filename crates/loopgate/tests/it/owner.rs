//! The person at this machine, who decides over a socket of their own.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::loopgate::Loopgate;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

/// A connection that asks.
pub struct Owner(BufReader<UnixStream>);

impl Owner {
    pub async fn of(loopgate: &Loopgate) -> Result<Self> {
        // An answer shows that the gateway serves, and so does its socket.
        loopgate.gateway_bare(Method::GET, "/health").send().await?;
        let socket = loopgate.setup().data_dir().join("control.sock");
        Ok(Self(BufReader::new(UnixStream::connect(socket).await?)))
    }

    /// The data of an answer.
    pub async fn ask(&mut self, verb: &str, params: Value) -> Result<Value> {
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

/// A connection that is told of every change.
pub struct OwnerWatch {
    owner: Owner,
    waiting: Vec<Value>,
}

impl OwnerWatch {
    pub async fn of(loopgate: &Loopgate) -> Result<Self> {
        let mut owner = Owner::of(loopgate).await?;
        owner.send("approvals.watch", json!({})).await?;
        let mut watch = Self { owner, waiting: Vec::new() };
        watch.next().await?;
        Ok(watch)
    }

    /// Waits until so many requests are held.
    pub async fn until(&mut self, count: usize) -> Result<&[Value]> {
        while self.waiting.len() != count {
            self.next().await?;
        }
        Ok(&self.waiting)
    }

    /// Waits for the one request that is held.
    pub async fn one(&mut self) -> Result<Value> {
        Ok(self.until(1).await?[0].clone())
    }

    /// Waits until nothing is held any more.
    pub async fn nothing(&mut self) -> Result<()> {
        self.until(0).await.map(|_| ())
    }

    /// Waits for the next change.
    pub async fn next(&mut self) -> Result<()> {
        let list = self.owner.receive().await?;
        self.waiting = list.as_array().cloned().context("a list")?;
        Ok(())
    }
}
