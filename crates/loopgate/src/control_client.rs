//! Client of `control.sock`, the owner-only socket of a running Loopgate.
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

/// Read timeout of a response. Verbs that take longer are called with [`ControlClient::call_with_timeout`].
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to the control socket.
pub struct ControlClient(BufReader<UnixStream>);

#[derive(Deserialize)]
struct ControlResponse {
    data: Option<Value>,
    error: Option<String>,
}

impl ControlClient {
    /// Connects to the Loopgate that runs with a data directory.
    ///
    /// # Errors
    /// Fails when none is running there, or when it belongs to another user.
    pub fn connect(data_dir: &Path) -> anyhow::Result<Self> {
        let stream = UnixStream::connect(data_dir.join(CONTROL_SOCKET)).map_err(|error| {
            let (data_dir, kind) = (data_dir.display(), error.kind());
            // A socket file without a listener is left behind by a process that was killed.
            if matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) {
                anyhow::anyhow!(
                    "no Loopgate runs with the data directory {data_dir}; start it with loopgate up"
                )
            } else {
                anyhow::anyhow!("cannot connect to the Loopgate with the data directory {data_dir}: {error}")
            }
        })?;
        stream.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request and returns the data of its response.
    ///
    /// # Errors
    /// Fails with the server's message when it rejects the request, and when the response cannot be parsed.
    pub fn call<T: DeserializeOwned>(&mut self, verb: &str, params: &Value) -> anyhow::Result<T> {
        self.send(verb, params)?;
        self.receive()
    }

    /// Like [`Self::call`], with a longer read timeout.
    ///
    /// # Errors
    /// See [`Self::call`].
    pub fn call_with_timeout<T: DeserializeOwned>(
        &mut self,
        verb: &str,
        params: &Value,
        timeout: Duration,
    ) -> anyhow::Result<T> {
        self.0.get_ref().set_read_timeout(Some(timeout))?;
        self.call(verb, params)
    }

    /// Subscribes to changes, which are read by [`Self::receive`]. Removes the read timeout.
    ///
    /// # Errors
    /// Fails when the connection is closed.
    pub fn follow(&mut self, verb: &str) -> anyhow::Result<()> {
        self.send(verb, &json!({}))?;
        Ok(self.0.get_ref().set_read_timeout(None)?)
    }

    /// Reads the next response.
    ///
    /// # Errors
    /// See [`Self::call`].
    pub fn receive<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let mut line = String::new();
        let length = self.0.read_line(&mut line).context("no response from Loopgate")?;
        anyhow::ensure!(length > 0, "Loopgate closed the connection; it may have stopped");
        let response: ControlResponse =
            serde_json::from_str(&line).context("cannot parse the response of Loopgate")?;
        if let Some(error) = response.error {
            anyhow::bail!(error);
        }
        serde_json::from_value(response.data.unwrap_or_default())
            .context("unexpected response of Loopgate; is it of the same version as this command?")
    }

    fn send(&mut self, verb: &str, params: &Value) -> anyhow::Result<()> {
        // The id is constant: this client never has two requests in flight.
        let line = format!("{}\n", json!({"id": 1, "verb": verb, "params": params}));
        Ok(self.0.get_mut().write_all(line.as_bytes())?)
    }
}

/// Requests a new one-time sign-in URL from the running Loopgate.
///
/// # Errors
/// Fails when none is running, or when it does not serve the web app.
pub fn sign_in_link(data_dir: &Path) -> anyhow::Result<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Link {
        sign_in_url: String,
    }
    let link: Link = ControlClient::connect(data_dir)?.call("page.sign_in", &json!({}))?;
    Ok(link.sign_in_url)
}
