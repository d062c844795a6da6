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
    /// Returns settings of a server with a known port.
    pub(crate) fn serving(command: String, port: u16) -> Self {
        Self {
            port: Some(port),
            health_endpoint: Some("/".to_owned()),
            health_check_url: Some(format!("http://localhost:{port}")),
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
            command: text("command"),
            start_command: text("startCommand"),
            install_command: text("installCommand"),
            kind: text("type"),
            port: members.get("port").and_then(port_of),
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
        if let (None, Some(port)) = (&self.health_check_url, self.port) {
            self.health_check_url = Some(format!("http://localhost:{port}"));
        }
        self
    }

    /// Overwrites members of stored settings; keeps stored members that are absent here.
    pub fn merge_into(&self, stored: &mut Map<String, Value>) {
        if let Ok(Value::Object(members)) = serde_json::to_value(self) {
            stored.extend(members);
        }
    }
}

fn port_of(value: &Value) -> Option<u16> {
    // Users also write ports as strings.
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    u16::try_from(number).ok().filter(|port| *port > 0)
}
