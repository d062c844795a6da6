//! A real OpenID provider on loopback, and people who sign in there.

use std::collections::BTreeMap;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use loopgate_test_programs as programs;
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use reqwest::{Client, Response, Url};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// The provider; it ends with this value.
#[derive(Debug)]
pub struct OpenIdProvider {
    /// Its issuer URL.
    pub issuer: String,
    /// The id of its one client.
    pub client_id: &'static str,
    /// The secret of its one client.
    pub client_secret: &'static str,
    process: Child,
    /// It would die of a line that nobody can read.
    _output: Lines<BufReader<ChildStdout>>,
}

impl OpenIdProvider {
    /// Starts a provider that sends browsers back to a URL. `accounts` has the claims of each person by its subject.
    ///
    /// # Errors
    /// It is not installed, or does not start.
    pub async fn start(redirect_uri: &str, accounts: &Value) -> anyhow::Result<Self> {
        let (client_id, client_secret) = ("loopgate", "s3cret-of-the-client");
        let options = json!({"redirectUri": redirect_uri, "clientId": client_id, "clientSecret": client_secret,
            "accounts": accounts});
        let script = programs::openid_provider()?;
        #[expect(
            clippy::disallowed_methods,
            reason = "starts what tests talk to, not what the product starts"
        )]
        let mut process = Command::new("node")
            .arg("--input-type=module")
            .arg("--eval")
            .arg(programs::OPENID_PROVIDER)
            .arg(script)
            .arg(options.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .context("start node")?;
        let output = process.stdout.take().context("its output")?;
        let mut lines = BufReader::new(output).lines();
        let issuer = lines.next_line().await?.context("the OpenID provider ended at once")?;
        Ok(Self { issuer, client_id, client_secret, process, _output: lines })
    }

    /// Signs a person in, from the URL to which a client has sent its browser, and answers the URL to which the
    /// provider sends it back.
    ///
    /// # Errors
    /// The provider answers otherwise than with its form and a way back.
    pub async fn sign_in(&self, authorize_url: &str, subject: &str) -> anyhow::Result<Url> {
        let mut browser = Browser {
            http: Client::builder().redirect(reqwest::redirect::Policy::none()).build()?,
            cookies: BTreeMap::new(),
        };
        let form = browser.get(&Url::parse(authorize_url)?).await?;
        if !self.owns(&form) {
            return Ok(form);
        }
        let fields = format!("prompt=login&login={subject}&password=any");
        let resumed = browser.post(&form, fields).await?;
        let back = browser.get(&resumed).await?;
        ensure!(!self.owns(&back), "still at the provider: {back}");
        Ok(back)
    }

    /// Ends it.
    ///
    /// # Errors
    /// It cannot be ended.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        Ok(self.process.kill().await?)
    }

    fn owns(&self, url: &Url) -> bool {
        url.as_str().starts_with(&self.issuer)
    }
}

/// Keeps cookies, and stops at each redirect.
struct Browser {
    http: Client,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    async fn get(&mut self, url: &Url) -> anyhow::Result<Url> {
        let request = self.http.get(url.clone()).header(COOKIE, self.cookie());
        self.redirected(url, request.send().await?)
    }

    async fn post(&mut self, url: &Url, fields: String) -> anyhow::Result<Url> {
        let request = self.http.post(url.clone()).header(COOKIE, self.cookie());
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(fields);
        self.redirected(url, request.send().await?)
    }

    fn cookie(&self) -> String {
        self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    fn redirected(&mut self, from: &Url, answer: Response) -> anyhow::Result<Url> {
        for cookie in answer.headers().get_all(SET_COOKIE) {
            let pair = cookie.to_str()?.split(';').next().unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let location =
            answer.headers().get(LOCATION).with_context(|| format!("{from}: {}", answer.status()))?;
        Ok(from.join(location.to_str()?)?)
    }
}
