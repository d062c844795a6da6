//! Properties that a desktop reports in its hello.

use std::path::PathBuf;

use loopgate_api::link::Hello;
use loopgate_api::operation::OperationId;
use loopgate_api::{DESKTOP_VERSION, GATEWAY_PROTOCOL_VERSION};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::executor::{BROWSER_KEY_OPERATIONS, MAX_IN_FLIGHT};

/// Environment variable that overrides the reported version of the `code` plugin.
const PLUGIN_VERSION_OVERRIDE: &str = "LOOPGATE_PLUGIN_VERSION";
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
    /// Returns the properties of this machine, with all operations and the loop runner's capabilities. Loops run
    /// the `code` plugin of version `plugin_version`, unless the environment overrides what is reported.
    #[must_use]
    pub fn of_this_machine(allowed_directories: Vec<PathBuf>, plugin_version: Option<String>) -> Self {
        let overriding =
            std::env::var_os(PLUGIN_VERSION_OVERRIDE).map(|value| value.to_string_lossy().into_owned());
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
            plugin_version: valid_version(overriding.or(plugin_version)),
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

/// Returns the version, or `unknown` if it is missing or not a version.
fn valid_version(version: Option<String>) -> String {
    version.filter(|version| is_version(version)).unwrap_or_else(|| UNKNOWN_VERSION.to_owned())
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
    use super::*;

    // CL-06
    #[test]
    fn text_that_is_no_version_is_reported_as_unknown() {
        let version = |text: &str| valid_version(Some(text.to_owned()));
        assert_eq!((version("3.4.5").as_str(), version("banana").as_str()), ("3.4.5", "unknown"));
        assert_eq!((version("").as_str(), valid_version(None).as_str()), ("unknown", "unknown"));
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
        let mut settings = HelloInfo::of_this_machine(vec!["/b".into(), "/a".into()], Some("9.8.7".into()));
        settings.gateway_port = Some(50_123);
        let hello = serde_json::to_value(settings.hello(Uuid::new_v4(), None)).unwrap();
        assert_eq!(hello["pluginVersion"], "9.8.7");
        assert_eq!(hello["desktopClientVersion"], DESKTOP_VERSION);
        assert_eq!(hello["gatewayProtocolVersion"], "0.1.0");
        assert_eq!(hello["capabilities"]["loopRunnerRefreshSupported"], true);
        assert_eq!(hello["capabilities"]["commandSigning"], true);
        assert_eq!(hello["capabilities"]["gatewayPort"], 50_123);
        assert_eq!(hello["maxInFlightCommands"], 2);
        assert_eq!(hello["supportedOperations"].as_array().unwrap().len(), 31);
        let expected = hex::encode(Sha256::digest(r#"["/a","/b"]"#));
        assert_eq!(hello["allowedDirectoriesHash"], expected.as_str());
        Hello::parse(&hello).unwrap();
    }
}
