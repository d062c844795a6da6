//! Deployment settings of a repository: the `deployment` of its entry in `repos.json`, which users may edit
//! by hand.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Deployment settings of a repository. All members are optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"framework": "next", "command": "pnpm dev", "startCommand": "pnpm dev", "installCommand": "pnpm install", "type": "next", "port": 3100, "healthEndpoint": "/", "healthCheckUrl": "http://localhost:3100"}))]
pub struct Deployment {
    /// Detected framework, such as `next` or `django`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framework: Option<String>,
    /// `packageManager` of `package.json`, for example `pnpm@9.1.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package_manager: Option<String>,
    /// Directory in which the commands run, relative to the worktree, for example `apps/web`; the worktree when
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Shell command that starts the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Same as `command`; stored when a repository is added to the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_command: Option<String>,
    /// Shell command that runs before the start command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install_command: Option<String>,
    /// Framework or kind of project: `node`, `procfile`, `python`, `cargo`, `compose`, `dockerfile`, `make`,
    /// `static`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Preferred port; another port is allocated when it is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Port from the detection. While it equals `port` and the user has set no `healthCheckUrl`, the port is a
    /// hint: a server that listens on another port is found as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detected_port: Option<u16>,
    /// Additional ports that the server listens on; a teardown frees them as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub additional_ports: Vec<u16>,
    /// URL path of the health check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_endpoint: Option<String>,
    /// Loopback URL of the health check. `tcp://localhost:<port>` checks for a TCP connection only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_check_url: Option<String>,
    /// Regular expression that matches a line of the log once the server is up; replaces the HTTP health
    /// check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_log_pattern: Option<String>,
    /// Shell command that stops what signals do not, such as containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teardown_command: Option<String>,
}

impl Deployment {
    /// Returns all commands that a run executes, including the one that stops it.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        [&self.install_command, &self.command, &self.teardown_command]
            .into_iter()
            .flatten()
            .map(String::as_str)
    }

    /// Returns detected settings of a server that probably listens on this port.
    pub(crate) fn serving(command: String, port: u16) -> Self {
        Self {
            port: Some(port),
            detected_port: Some(port),
            health_endpoint: Some("/".to_owned()),
            health_check_url: Some(default_url(port)),
            ..Self::running(command)
        }
    }

    /// Returns settings of a command without a known port.
    pub(crate) fn running(command: String) -> Self {
        Self { start_command: Some(command.clone()), command: Some(command), ..Self::default() }
    }

    /// Reads stored settings. Members of an unexpected type are ignored.
    #[must_use]
    pub fn read(members: &Map<String, Value>) -> Self {
        let text = |name: &str| {
            let text = members.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
            text.map(ToOwned::to_owned)
        };
        let ports = members.get("additionalPorts").and_then(Value::as_array);
        Self {
            framework: text("framework"),
            package_manager: text("packageManager"),
            directory: text("directory").and_then(|path| normalized(&path)),
            command: text("command"),
            start_command: text("startCommand"),
            install_command: text("installCommand"),
            kind: text("type"),
            port: members.get("port").and_then(port_of),
            detected_port: members.get("detectedPort").and_then(port_of),
            additional_ports: ports
                .map(|ports| ports.iter().filter_map(port_of).collect())
                .unwrap_or_default(),
            health_endpoint: text("healthEndpoint"),
            health_check_url: text("healthCheckUrl"),
            health_log_pattern: text("healthLogPattern"),
            teardown_command: text("teardownCommand"),
        }
    }

    /// Fills a missing command from `startCommand`, and a missing health URL from the port.
    #[must_use]
    pub fn completed(mut self) -> Self {
        self.command = self.command.or_else(|| self.start_command.clone());
        // The detection stores a health URL too. A user who changes only the port does not mean the old one.
        if self.port != self.detected_port && self.health_check_url == self.detected_port.map(default_url) {
            self.health_check_url = None;
        }
        self.health_check_url = self.health_check_url.or_else(|| self.port.map(default_url));
        self
    }

    /// Returns whether the port comes from the detection and not from the user.
    #[must_use]
    pub fn has_detected_port(&self) -> bool {
        let is_default = |url: &String| self.port.map(default_url).as_ref() == Some(url);
        self.port.is_some()
            && self.port == self.detected_port
            && self.health_check_url.as_ref().is_none_or(is_default)
    }

    /// Replaces members of detected settings by those that a user has stored without a command.
    #[must_use]
    pub fn with_stored(mut self, stored: Self) -> Self {
        if stored.port.is_some() && !stored.has_detected_port() {
            self.port = stored.port;
            self.health_check_url = None;
        }
        if stored.health_check_url.is_some() && !stored.has_detected_port() {
            self.health_check_url = stored.health_check_url;
        }
        self.install_command = stored.install_command.or(self.install_command);
        self.teardown_command = stored.teardown_command.or(self.teardown_command);
        self.health_log_pattern = stored.health_log_pattern.or(self.health_log_pattern);
        if !stored.additional_ports.is_empty() {
            self.additional_ports = stored.additional_ports;
        }
        self
    }

    /// Overwrites members of stored settings; keeps stored members that are absent here, except the directory,
    /// whose absence means the worktree.
    pub fn merge_into(&self, stored: &mut Map<String, Value>) {
        stored.remove("directory");
        if let Ok(Value::Object(members)) = serde_json::to_value(self) {
            stored.extend(members);
        }
    }
}

/// Removes `./` and trailing slashes. `None` for the worktree itself.
fn normalized(path: &str) -> Option<String> {
    let mut path = path.trim();
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    let path = if path.starts_with('/') { path } else { path.trim_end_matches('/') };
    Some(path).filter(|path| !matches!(*path, "" | ".")).map(ToOwned::to_owned)
}

fn default_url(port: u16) -> String {
    format!("http://localhost:{port}")
}

fn port_of(value: &Value) -> Option<u16> {
    // Users also write ports as strings.
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    u16::try_from(number).ok().filter(|port| *port > 0)
}
