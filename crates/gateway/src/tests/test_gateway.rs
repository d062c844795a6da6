//! A gateway with its own home directory, and a client that sends exactly the given bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_home::{Credentials, DataDir, Overrides, Repos, Sandbox, SettingsStore};
use loopgate_runtime::{Runtime, RuntimeConfig, RuntimeTiming};
use loopgate_tools::login_path::LoginPath;
use loopgate_tools::programs::Programs;
use secrecy::SecretString;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::error_codes::expected_code;
use crate::{Gateway, GatewayConfig, ListenerHealth, ServerLimits};

pub(in crate::tests) const WEB_APP: &str = "https://app.example.test";
pub(in crate::tests) const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef";
/// Upper bound for a single wait, so that a failing test does not hang.
pub(in crate::tests) const TIMEOUT: Duration = Duration::from_secs(20);

/// Deviations from the default fixture.
pub(in crate::tests) struct TestOptions {
    pub(in crate::tests) set_up: bool,
    pub(in crate::tests) no_auth: bool,
    pub(in crate::tests) production_only: bool,
    pub(in crate::tests) api_origin: Option<String>,
    pub(in crate::tests) api_key: bool,
    pub(in crate::tests) runtime: bool,
    pub(in crate::tests) fallback_origin: Option<String>,
    /// Shuts the listening socket down before the gateway serves.
    pub(in crate::tests) lost_listener: bool,
    pub(in crate::tests) settings: &'static str,
    /// Names and contents of files in the data directory.
    pub(in crate::tests) data_files: &'static [(&'static str, &'static str)],
    pub(in crate::tests) limits: ServerLimits,
}

impl Default for TestOptions {
    fn default() -> Self {
        Self {
            set_up: true,
            no_auth: false,
            production_only: false,
            api_origin: None,
            api_key: true,
            runtime: false,
            fallback_origin: None,
            lost_listener: false,
            settings: "",
            data_files: &[],
            // Short, because tests stop gateways whose held requests never end.
            limits: ServerLimits { stop_grace: Duration::from_millis(20), ..ServerLimits::default() },
        }
    }
}

pub(in crate::tests) struct TestGateway {
    pub(in crate::tests) gateway: Gateway,
    pub(in crate::tests) port: u16,
    /// Subscribed before the gateway serves, so that no change is missed.
    pub(in crate::tests) health: watch::Receiver<ListenerHealth>,
    pub(in crate::tests) settings: Arc<SettingsStore>,
    pub(in crate::tests) runtime: Option<Arc<Runtime>>,
    dir: tempfile::TempDir,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl TestGateway {
    pub(in crate::tests) async fn new() -> Self {
        Self::with(TestOptions::default()).await
    }

    pub(in crate::tests) async fn with(options: TestOptions) -> Self {
        Self::on_ports(options, &[0]).await
    }

    pub(in crate::tests) async fn on_ports(options: TestOptions, ports: &[u16]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let lost_listener = options.lost_listener;
        let gateway = gateway(dir.path(), options).await;
        let bound = gateway.0.bind(ports).await.unwrap();
        let port = bound.port();
        if lost_listener {
            bound.shut_down_socket_for_test();
        }
        let health = gateway.0.health();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(bound.serve(async {
            let _ = stopped.await;
        }));
        let (gateway, settings, runtime) = gateway;
        Self { gateway, port, health, settings, runtime, dir, stop: Some(stop), serving }
    }

    pub(in crate::tests) fn sandbox(&self) -> PathBuf {
        self.dir.path().join("box")
    }

    pub(in crate::tests) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Installs a shell script as a program on the PATH.
    pub(in crate::tests) fn program(&self, name: &str, line: &str) -> PathBuf {
        let path = self.dir.path().join("bin").join(name);
        script(&path, line);
        path
    }

    pub(in crate::tests) fn plugin_root(&self) -> PathBuf {
        self.dir.path().join("plugins")
    }

    pub(in crate::tests) fn discovery_file(&self) -> PathBuf {
        self.dir.path().join("state/gateway-port")
    }

    pub(in crate::tests) fn repos_file(&self) -> PathBuf {
        self.sandbox().join(".loopgate/config/repos.json")
    }

    /// Creates the directory of a clone with a remote. It suffices for reading its configuration.
    pub(in crate::tests) fn clone_of(&self, name: &str, url: &str) -> PathBuf {
        let clone = self.sandbox().join(name);
        std::fs::create_dir_all(clone.join(".git/objects")).unwrap();
        std::fs::write(clone.join(".git/config"), format!("[remote \"origin\"]\n\turl = {url}\n")).unwrap();
        clone
    }

    /// Creates a named pipe. Opening it for reading blocks, because it has no writer.
    pub(in crate::tests) fn pipe(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
    }

    /// Stops the gateway and waits until it has shut down.
    pub(in crate::tests) async fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        within((&mut self.serving).into_future()).await.unwrap();
    }

    /// Creates a request with the gateway token.
    pub(in crate::tests) fn internal(&self, method: &str, path: &str) -> TestRequest {
        self.anonymous(method, path).header("X-Desktop-Gateway-Token", TOKEN)
    }

    /// Creates a request without a credential.
    pub(in crate::tests) fn anonymous(&self, method: &str, path: &str) -> TestRequest {
        TestRequest {
            port: self.port,
            head: format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.port),
            body: Vec::new(),
        }
    }

    /// Sends a handwritten request head.
    pub(in crate::tests) async fn raw(&self, bytes: &str) -> TestResponse {
        exchange_bytes(self.port, bytes.as_bytes(), b"").await
    }
}

async fn gateway(dir: &Path, options: TestOptions) -> (Gateway, Arc<SettingsStore>, Option<Arc<Runtime>>) {
    std::fs::create_dir_all(dir.join("box")).unwrap();
    let settings_file = dir.join("settings.toml");
    std::fs::write(&settings_file, options.settings).unwrap();
    let overrides = Overrides {
        sandbox_base_directory: options.set_up.then(|| dir.join("box")),
        api_origin: options.api_origin,
        web_app_origin: Some(WEB_APP.to_owned()),
        ..Overrides::default()
    };
    let settings = Arc::new(SettingsStore::open(&settings_file, overrides).unwrap());
    let data_dir = DataDir::open(&dir.join("data")).unwrap();
    for (name, text) in options.data_files {
        std::fs::write(data_dir.path().join(name), text).unwrap();
    }
    let credentials = Credentials::open(&data_dir).unwrap();
    if options.api_key {
        credentials.store_managed_key(SecretString::from("lgk_live_test0123456789")).unwrap();
    }
    let sandbox = Arc::new(Sandbox::new(settings.clone(), data_dir.path()));
    let repos = Arc::new(Repos::new(settings.clone(), sandbox.clone()));
    let credentials = Arc::new(credentials);
    let programs = Arc::new(programs(dir, settings.clone()));
    let runtime_config = RuntimeConfig {
        data_dir: data_dir.path().to_owned(),
        settings: settings.clone(),
        sandbox: sandbox.clone(),
        repos: repos.clone(),
        credentials: credentials.clone(),
        programs: programs.clone(),
        api_origin: None,
        loopgate_exe: dir.join("no-such-program"),
        plugin_dirs: dir.join("plugins"),
        timing: RuntimeTiming::default(),
    };
    let runtime = if options.runtime { Some(Runtime::open(runtime_config).await.unwrap()) } else { None };
    let config = GatewayConfig {
        sandbox,
        repos,
        credentials,
        programs,
        runtime: runtime.clone(),
        agents: None,
        plugin_root: Some(dir.join("plugins")),
        gateway_token: (!options.no_auth).then(|| SecretString::from(TOKEN)),
        version: "1.2.3".to_owned(),
        data_dir: data_dir.path().to_owned(),
        state_dir: Some(dir.join("state")),
        fallback_origin: options.fallback_origin,
        production_origins_only: options.production_only,
        limits: options.limits,
        settings: settings.clone(),
    };
    (Gateway::new(config), settings, runtime)
}

/// Resolves programs through a login shell whose PATH contains only the `bin` directory of the fixture.
fn programs(dir: &Path, settings: Arc<SettingsStore>) -> Programs {
    std::fs::create_dir_all(dir.join("bin")).unwrap();
    let shell = dir.join("shell");
    script(
        &shell,
        // The markers delimit the PATH in the output of a login shell, which may print other text.
        &format!("printf '__LOOPGATE_PATH_BEGIN__%s__LOOPGATE_PATH_END__' '{}'", dir.join("bin").display()),
    );
    Programs::with_login_path(settings, LoginPath::new(shell, std::env::vars_os().collect()))
}

/// Writes an executable shell script.
pub(in crate::tests) fn script(path: &Path, line: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, format!("#!/bin/sh\n{line}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Builder of a request.
#[derive(Clone)]
pub(in crate::tests) struct TestRequest {
    port: u16,
    head: String,
    body: Vec<u8>,
}

impl TestRequest {
    pub(in crate::tests) fn header(mut self, name: &str, value: &str) -> Self {
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub(in crate::tests) fn origin(self, origin: &str) -> Self {
        self.header("Origin", origin)
    }

    pub(in crate::tests) fn session(self, token: &str) -> Self {
        self.header("X-Desktop-Session-Token", token)
    }

    pub(in crate::tests) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        let length = self.body.len().to_string();
        self.header("Content-Length", &length)
    }

    /// Sets a chunked body with chunks of at most 1000 bytes and no declared length.
    pub(in crate::tests) fn chunked(mut self, body: &[u8]) -> Self {
        for chunk in body.chunks(1000) {
            self.body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            self.body.extend_from_slice(chunk);
            self.body.extend_from_slice(b"\r\n");
        }
        self.body.extend_from_slice(b"0\r\n\r\n");
        self.header("Transfer-Encoding", "chunked")
    }

    /// Returns the bytes before the body.
    pub(in crate::tests) fn head(&self) -> Vec<u8> {
        format!("{}\r\n", self.head).into_bytes()
    }

    /// Sends the request and returns all bytes until the connection ends.
    pub(in crate::tests) async fn raw_bytes(self) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        stream.write_all(&self.head()).await.unwrap();
        let mut bytes = Vec::new();
        // The server may reset the connection; the bytes received so far count.
        let _ = stream.read_to_end(&mut bytes).await;
        bytes
    }

    /// Writes the whole request before it reads the response.
    pub(in crate::tests) async fn send_before_reading(self) -> TestResponse {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        within(async {
            stream.write_all(&self.head()).await.unwrap();
            stream.write_all(&self.body).await.expect("the server reads on after its response");
            read_reply(&mut stream, false).await
        })
        .await
    }

    /// Sends the request on an open connection and keeps it open.
    pub(in crate::tests) async fn send_on(self, stream: &mut TcpStream) -> TestResponse {
        exchange_on(stream, &self.head(), &self.body).await
    }

    pub(in crate::tests) async fn send(self) -> TestResponse {
        exchange_bytes(self.port, &self.head(), &self.body).await
    }
}

#[derive(Debug)]
pub(in crate::tests) struct TestResponse {
    pub(in crate::tests) status: u16,
    headers: Vec<(String, String)>,
    pub(in crate::tests) body: Vec<u8>,
}

impl TestResponse {
    pub(in crate::tests) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(in crate::tests) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(in crate::tests) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// Asserts the error shape and returns the body, for its other members.
    #[track_caller]
    pub(in crate::tests) fn assert_error(&self, status: u16, error: &str, code: &str) -> Value {
        let body = self.json();
        assert_eq!(
            (self.status, body["error"].as_str(), body["code"].as_str()),
            (status, Some(error), Some(code))
        );
        // Codes in upper case belong to single routes and are not in the table.
        let is_route_specific =
            code.contains(|letter: char| letter.is_ascii_uppercase()) || code == "approval_outdated";
        assert!(is_route_specific || code == expected_code(status, error), "{status} {error}: {code}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert!(!self.text().contains('\n'), "compact, one line");
        body
    }
}

async fn exchange_bytes(port: u16, head: &[u8], body: &[u8]) -> TestResponse {
    let mut stream = within(TcpStream::connect(("127.0.0.1", port))).await.unwrap();
    exchange_on(&mut stream, head, body).await
}

async fn exchange_on(stream: &mut TcpStream, head: &[u8], body: &[u8]) -> TestResponse {
    within(async {
        stream.write_all(head).await.unwrap();
        // The server may refuse and close the connection before the whole body is sent.
        let (mut read, mut write) = stream.split();
        let (_, reply) =
            tokio::join!(write.write_all(body), read_reply(&mut read, head.starts_with(b"HEAD ")));
        reply
    })
    .await
}

async fn read_reply(stream: &mut (impl tokio::io::AsyncRead + Unpin), bodiless: bool) -> TestResponse {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        let read = stream.read_buf(&mut bytes).await.unwrap();
        assert_ne!(read, 0, "closed without a response: {:?}", String::from_utf8_lossy(&bytes));
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut reply = TestResponse { status, headers, body: bytes[end..].to_vec() };
    // The response to HEAD declares the length of a body that is not sent.
    let declared = reply.header("content-length").filter(|_| !bodiless);
    let length = declared.map_or(0, |length| length.parse().unwrap());
    while reply.body.len() < length {
        assert_ne!(stream.read_buf(&mut reply.body).await.unwrap(), 0, "the body ends early");
    }
    reply
}

/// Fails the test when the future does not resolve in time.
pub(in crate::tests) async fn within<F: Future>(work: F) -> F::Output {
    tokio::time::timeout(TIMEOUT, work).await.expect("timed out")
}
