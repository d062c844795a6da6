//! A real OpenID provider on loopback, and a minimal browser that signs users in there.

use std::collections::BTreeMap;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use loopgate_test_programs as programs;
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use reqwest::{Client, Response, Url};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// A running provider process. Killed when dropped.
#[derive(Debug)]
pub struct OpenIdProvider {
    pub issuer: String,
    /// Id of its only registered client.
    pub client_id: &'static str,
    /// Secret of its only registered client.
    pub client_secret: &'static str,
    process: Child,
    /// Keeps the read end of the pipe open: otherwise the provider would fail with EPIPE at its next line of
    /// output.
    _output: Lines<BufReader<ChildStdout>>,
}

impl OpenIdProvider {
    /// Starts a provider with one client, whose redirect URI is `redirect_uri`. `accounts` maps each subject
    /// to its claims. Fails when the provider is not installed or exits before it prints its issuer URL.
    pub async fn start(redirect_uri: &str, accounts: &Value) -> anyhow::Result<Self> {
        let (client_id, client_secret) = ("loopgate", "s3cret-of-the-client");
        let options = json!({"redirectUri": redirect_uri, "clientId": client_id, "clientSecret": client_secret,
            "accounts": accounts});
        let script = programs::openid_provider()?;
        #[expect(clippy::disallowed_methods, reason = "starts a test server, which the product never starts")]
        let mut process = Command::new("node")
            .arg("--input-type=module")
            .arg("--eval")
            .arg(programs::OPENID_PROVIDER)
            .arg(script)
            .arg(options.to_string())
            // The script exits at the end of its standard input, and therefore also when the test process
            // exits.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .context("start node")?;
        let output = process.stdout.take().context("the provider's standard output is not piped")?;
        let mut lines = BufReader::new(output).lines();
        let issuer = lines
            .next_line()
            .await?
            .context("the OpenID provider exited before it printed its issuer URL")?;
        Ok(Self { issuer, client_id, client_secret, process, _output: lines })
    }

    /// Signs a user in: follows the authorization URL, submits the login form and returns the redirect back
    /// to the client. Fails when the provider responds without a redirect.
    pub async fn sign_in(&self, authorize_url: &str, subject: &str) -> anyhow::Result<Url> {
        let mut browser = Browser {
            http: loopgate_http_client::builder().redirect(reqwest::redirect::Policy::none()).build()?,
            cookies: BTreeMap::new(),
        };
        let form = browser.get(&Url::parse(authorize_url)?).await?;
        // The provider sends the browser straight back with an error when the authorization request is
        // invalid.
        if !self.owns(&form) {
            return Ok(form);
        }
        // The provider's development form accepts any password.
        let fields = format!("prompt=login&login={subject}&password=any");
        let resumed = browser.post(&form, fields).await?;
        let back = browser.get(&resumed).await?;
        ensure!(!self.owns(&back), "the provider did not redirect back to the client: {back}");
        Ok(back)
    }

    /// Kills the provider process.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        Ok(self.process.kill().await?)
    }

    fn owns(&self, url: &Url) -> bool {
        url.as_str().starts_with(&self.issuer)
    }
}

/// A browser that stores cookies but does not follow redirects, so that each step can be inspected.
struct Browser {
    http: Client,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    async fn get(&mut self, url: &Url) -> anyhow::Result<Url> {
        let request = self.http.get(url.clone()).header(COOKIE, self.cookie());
        self.follow(url, request.send().await?)
    }

    async fn post(&mut self, url: &Url, fields: String) -> anyhow::Result<Url> {
        let request = self.http.post(url.clone()).header(COOKIE, self.cookie());
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(fields);
        self.follow(url, request.send().await?)
    }

    fn cookie(&self) -> String {
        self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    fn follow(&mut self, from: &Url, response: Response) -> anyhow::Result<Url> {
        for cookie in response.headers().get_all(SET_COOKIE) {
            // Attributes such as path and expiry are ignored: one sign-in needs every cookie.
            let pair = cookie.to_str()?.split(';').next().unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let location = response
            .headers()
            .get(LOCATION)
            .with_context(|| format!("{from}: no redirect, {}", response.status()))?;
        Ok(from.join(location.to_str()?)?)
    }
}
