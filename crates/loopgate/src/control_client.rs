//! The owner's side of `control.sock`: questions to the Loopgate that runs on a data directory.
#![cfg(unix)]

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use loopgate_gateway::CONTROL_SOCKET;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Time for one answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// A connection to the owner's socket.
pub struct ControlClient(BufReader<UnixStream>);

#[derive(Deserialize)]
struct ControlResponse {
    data: Option<Value>,
    error: Option<String>,
}

impl ControlClient {
    /// Connects to the Loopgate that has the data directory.
    ///
    /// # Errors
    /// None runs there, or it belongs to another user.
    pub fn connect(data_dir: &Path) -> anyhow::Result<Self> {
        let stream = UnixStream::connect(data_dir.join(CONTROL_SOCKET)).map_err(|error| {
            let (data_dir, kind) = (data_dir.display(), error.kind());
            if matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) {
                anyhow::anyhow!(
                    "no Loopgate runs with the data directory {data_dir}; start it with loopgate up"
                )
            } else {
                anyhow::anyhow!("cannot reach the Loopgate of the data directory {data_dir}: {error}")
            }
        })?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Asks one question.
    ///
    /// # Errors
    /// The words of a refusal, or an answer of another shape.
    pub fn ask<T: DeserializeOwned>(&mut self, verb: &str, params: &Value) -> anyhow::Result<T> {
        self.send(verb, params)?;
        self.receive()
    }

    /// Asks a question whose answer takes its time.
    ///
    /// # Errors
    /// See [`Self::ask`].
    pub fn ask_slowly<T: DeserializeOwned>(
        &mut self,
        verb: &str,
        params: &Value,
        limit: Duration,
    ) -> anyhow::Result<T> {
        self.0.get_ref().set_read_timeout(Some(limit))?;
        self.ask(verb, params)
    }

    /// Subscribes to changes, without a time limit.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn follow(&mut self, verb: &str) -> anyhow::Result<()> {
        self.send(verb, &json!({}))?;
        Ok(self.0.get_ref().set_read_timeout(None)?)
    }

    /// The next answer.
    ///
    /// # Errors
    /// See [`Self::ask`].
    pub fn receive<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let mut line = String::new();
        let length = self.0.read_line(&mut line).context("Loopgate does not answer")?;
        anyhow::ensure!(length > 0, "Loopgate has stopped");
        let answer: ControlResponse = serde_json::from_str(&line).context("the answer cannot be read")?;
        if let Some(error) = answer.error {
            anyhow::bail!(error);
        }
        serde_json::from_value(answer.data.unwrap_or_default()).context("the answer has an unknown shape")
    }

    fn send(&mut self, verb: &str, params: &Value) -> anyhow::Result<()> {
        let line = format!("{}\n", json!({"id": 1, "verb": verb, "params": params}));
        Ok(self.0.get_mut().write_all(line.as_bytes())?)
    }
}

/// A fresh page address that signs the owner in once.
///
/// # Errors
/// Nobody answers, or the one that runs serves no page.
pub fn sign_in_link(data_dir: &Path) -> anyhow::Result<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Link {
        sign_in_url: String,
    }
    let link: Link = ControlClient::connect(data_dir)?.ask("page.sign_in", &json!({}))?;
    Ok(link.sign_in_url)
}
