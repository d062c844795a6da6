//! Properties that a desktop reports in its hello.

use std::path::{Path, PathBuf};

use loopgate_api::link::Hello;
use loopgate_api::operation::OperationId;
use loopgate_api::{DESKTOP_VERSION, GATEWAY_PROTOCOL_VERSION};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::executor::{BROWSER_KEY_OPERATIONS, MAX_IN_FLIGHT};

/// Environment variable that overrides the reported version of the `code` plugin.
const PLUGIN_VERSION_OVERRIDE: &str = "LOOPGATE_PLUGIN_VERSION";
/// The assistant's plugin registry, relative to the home directory.
const PLUGIN_REGISTRY: &str = ".claude/plugins/installed_plugins.json";
const CODE_PLUGIN: &str = "code@loopgate";
const UNKNOWN_VERSION: &str = "unknown";
const MAX_VERSION_CHARS: usize = 64;

/// Properties of this desktop for its hello.
#[derive(Debug, Clone, PartialEq)]
pub struct HelloInfo {
    pub machine_name: String,
    /// `darwin`, `linux` or `win32`.
    pub platform: String,
    /// Version of the `code` plugin, or `unknown`.
    pub plugin_version: String,
    /// Operations that the gateway serves.
    pub supported_operations: Vec<OperationId>,
    /// Root directories that the sandbox allows.
    pub allowed_directories: Vec<PathBuf>,
    /// Names of the supported capabilities.
    pub capabilities: Vec<&'static str>,
    /// Port of the gateway on loopback, for pages in a browser on this machine.
    pub gateway_port: Option<u16>,
}

impl HelloInfo {
    /// Returns the properties of this machine, with all operations and the loop runner's capabilities. Reads
    /// the assistant's plugin registry from disk, so call it once at start-up.
    #[must_use]
    pub fn of_this_machine(allowed_directories: Vec<PathBuf>) -> Self {
        let machine_name =
            hostname::get().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let machine_name = if machine_name.trim().is_empty() { "localhost".to_owned() } else { machine_name };
        let platform = match std::env::consts::OS {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        };
        Self {
            machine_name,
            platform: platform.to_owned(),
            plugin_version: installed_plugin_version(),
            supported_operations: OperationId::ALL.to_vec(),
            allowed_directories,
            capabilities: vec![
                "commandSigning",
                "loopRunnerRefreshSupported",
                "loopRunnerHeartbeatSupported",
            ],
            gateway_port: None,
        }
    }

    /// Creates the hello of a connection.
    pub(super) fn hello(&self, gateway_id: Uuid, target_id: Option<Uuid>) -> Hello {
        let supported = self.capabilities.iter().map(|name| ((*name).to_owned(), Value::Bool(true)));
        let port = self.gateway_port.map(|port| ("gatewayPort".to_owned(), Value::from(port)));
        let capabilities: Map<String, Value> = supported.chain(port).collect();
        let operations = self.supported_operations.iter().map(ToString::to_string);
        Hello {
            compute_target_id: target_id,
            gateway_id: Some(gateway_id),
            desktop_security_upgrade_protocol_version: Some(1),
            machine_name: self.machine_name.clone(),
            platform: self.platform.clone(),
            plugin_version: self.plugin_version.clone(),
            desktop_client_version: Some(DESKTOP_VERSION.to_owned()),
            gateway_protocol_version: Some(GATEWAY_PROTOCOL_VERSION.to_owned()),
            supported_operations: operations.chain(BROWSER_KEY_OPERATIONS.map(str::to_owned)).collect(),
            max_in_flight_commands: u32::try_from(MAX_IN_FLIGHT).unwrap_or(1),
            allowed_directories_hash: directories_hash(&self.allowed_directories),
            capabilities,
        }
    }
}

/// Returns the lower-case hex SHA-256 of the directories as a JSON array.
fn directories_hash(directories: &[PathBuf]) -> String {
    let mut names: Vec<String> = directories.iter().map(|path| path.display().to_string()).collect();
    // By UTF-16 code unit, as JavaScript's `Array.prototype.sort` does, so that clients can compute the same
    // hash.
    names.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    hex::encode(Sha256::digest(Value::from(names).to_string()))
}

fn installed_plugin_version() -> String {
    let registry = std::env::home_dir().and_then(|home| std::fs::read(home.join(PLUGIN_REGISTRY)).ok());
    let overriding =
        std::env::var_os(PLUGIN_VERSION_OVERRIDE).map(|value| value.to_string_lossy().into_owned());
    plugin_version(overriding.as_deref(), registry.as_deref())
}

/// Returns the override if it is set (`unknown` if it is not a version), otherwise the registered version.
fn plugin_version(overriding: Option<&str>, registry: Option<&[u8]>) -> String {
    let version = match overriding {
        Some(version) => Some(version.to_owned()),
        None => registry.and_then(registered_version),
    };
    version.filter(|version| is_version(version)).unwrap_or_else(|| UNKNOWN_VERSION.to_owned())
}

/// Returns the version of the last registry entry that exists, is enabled and is installed for the user.
fn registered_version(registry: &[u8]) -> Option<String> {
    let registry: Value = serde_json::from_slice(registry).ok()?;
    let entries = registry.get("plugins")?.get(CODE_PLUGIN)?.as_array()?;
    let installed = |entry: &&Value| {
        let path_exists =
            entry.get("installPath").and_then(Value::as_str).is_some_and(|path| Path::new(path).exists());
        let scope = entry.get("scope").and_then(Value::as_str);
        path_exists
            && scope.is_none_or(|scope| scope == "user")
            && entry.get("enabled") != Some(&Value::Bool(false))
    };
    let entry = entries.iter().rfind(installed)?;
    entry.get("version")?.as_str().map(str::to_owned)
}

/// Returns whether a text is three dot-separated numbers with at most one suffix after `-` or `+`.
fn is_version(text: &str) -> bool {
    let (numbers, suffix) = match text.find(['-', '+']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let parts: Vec<&str> = numbers.split('.').collect();
    let number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    text.chars().count() <= MAX_VERSION_CHARS
        && parts.len() == 3
        && parts.iter().all(number)
        && suffix.is_none_or(|suffix| !suffix.is_empty() && suffix.chars().all(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // CL-06
    #[test]
    fn override_takes_precedence_over_the_registry() {
        let registry =
            json!({"plugins": {"code@loopgate": [{"installPath": "/", "version": "1.2.3"}]}}).to_string();
        let version = |overriding| plugin_version(overriding, Some(registry.as_bytes()));
        assert_eq!(version(Some("3.4.5")), "3.4.5");
        assert_eq!(version(Some("banana")), "unknown");
        assert_eq!(version(Some("")), "unknown");
        assert_eq!(version(None), "1.2.3");
        assert_eq!(plugin_version(None, None), "unknown");
    }

    #[test]
    fn last_enabled_user_installation_is_reported() {
        let registry = json!({"plugins": {"code@loopgate": [
            {"installPath": "/", "version": "1.0.0", "scope": "user"},
            {"installPath": "/", "version": "2.0.0", "scope": "project"},
            {"installPath": "/", "version": "3.0.0", "enabled": false},
            {"installPath": "/no/such/place", "version": "4.0.0"},
        ]}});
        assert_eq!(plugin_version(None, Some(registry.to_string().as_bytes())), "1.0.0");
        assert_eq!(plugin_version(None, Some(b"not json")), "unknown");
    }

    #[test]
    fn versions_have_three_numbers_and_one_suffix() {
        for good in ["0.0.0", "1.2.3-rc.1", "1.2.3+build_7"] {
            assert!(is_version(good), "{good}");
        }
        for bad in ["1.2", "1.2.3.4", "1.2.x", "1.2.3-", "1.2.3-a-b", "v1.2.3", " 1.2.3", "1.2.3\n"] {
            assert!(!is_version(bad), "{bad}");
        }
        assert!(!is_version(&format!("1.2.3-{}", "a".repeat(64))));
    }

    // CL-05
    #[test]
    fn hello_reports_three_versions() {
        let mut settings = HelloInfo::of_this_machine(vec!["/b".into(), "/a".into()]);
        settings.plugin_version = "9.8.7".into();
        settings.gateway_port = Some(50_123);
        let hello = serde_json::to_value(settings.hello(Uuid::new_v4(), None)).unwrap();
        assert_eq!(hello["pluginVersion"], "9.8.7");
        assert_eq!(hello["desktopClientVersion"], DESKTOP_VERSION);
        assert_eq!(hello["gatewayProtocolVersion"], "0.1.0");
        assert_eq!(hello["capabilities"]["loopRunnerRefreshSupported"], true);
        assert_eq!(hello["capabilities"]["commandSigning"], true);
        assert_eq!(hello["capabilities"]["gatewayPort"], 50_123);
        assert_eq!(hello["maxInFlightCommands"], 2);
        assert_eq!(hello["supportedOperations"].as_array().unwrap().len(), 30);
        let expected = hex::encode(Sha256::digest(r#"["/a","/b"]"#));
        assert_eq!(hello["allowedDirectoriesHash"], expected.as_str());
        Hello::parse(&hello).unwrap();
    }
}
