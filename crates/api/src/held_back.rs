//! Files that do not leave the machine with a delivery: secrets, and what a program makes again from
//! the rest. Judged by their paths here; [`crate::redact::holds_key`] judges what they hold.

use crate::names::STATE_DIR;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Names of files that hold secrets, in lower case.
const SECRETS: [&str; 12] = [
    ".env",
    ".git-credentials",
    ".netrc",
    ".pgpass",
    ".vault-token",
    "client_secret.json",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "service-account.json",
];
/// Endings of files that hold keys.
const KEY_STORES: [&str; 5] = [".jks", ".kdbx", ".keystore", ".p12", ".pfx"];
/// Endings of environments that show which variables there are.
const SAMPLES: [&str; 6] = [".default", ".defaults", ".dist", ".example", ".sample", ".template"];
/// Directories that package managers, interpreters and Loopgate itself fill.
pub const GENERATED_DIRECTORIES: [&str; 9] = [
    ".gradle",
    STATE_DIR,
    ".terraform",
    ".tox",
    ".venv",
    "__pycache__",
    "bower_components",
    "node_modules",
    "venv",
];
/// Files with which a program marks a directory as one that it makes again.
const MARKERS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// Why something is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HeldBackReason {
    /// It looks like a password, a token or a key.
    Secret,
    /// Dependencies or build output.
    Generated,
}

impl HeldBackReason {
    /// For a person.
    #[must_use]
    pub const fn as_text(self) -> &'static str {
        match self {
            Self::Secret => "looks like a secret",
            Self::Generated => "dependencies, build output or a working file",
        }
    }
}

/// A file or directory that was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct HeldBackFile {
    /// Path in the repository; a directory ends with a slash.
    pub path: String,
    /// Why.
    pub reason: HeldBackReason,
}

/// Whether files of this name hold secrets.
#[must_use]
pub fn is_secret_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    if name.starts_with(".env.") {
        return !SAMPLES.iter().any(|ending| name.ends_with(ending));
    }
    SECRETS.contains(&name.as_str())
        || KEY_STORES.iter().any(|ending| name.ends_with(ending))
        || path.to_lowercase().ends_with(".aws/credentials")
}

/// The directory with a telling name that a path is in, with its slash; the outermost counts.
#[must_use]
pub fn generated_directory(path: &str) -> Option<&str> {
    let mut end = 0;
    for part in path.split_inclusive('/') {
        end += part.len();
        if part.strip_suffix('/').is_some_and(|name| GENERATED_DIRECTORIES.contains(&name)) {
            return Some(&path[..end]);
        }
    }
    None
}

/// The directory, with its slash, that a file marks as one that a program makes again.
#[must_use]
pub fn marked_directory(path: &str) -> Option<&str> {
    let (directory, name) = path.rsplit_once('/')?;
    MARKERS.contains(&name).then(|| &path[..=directory.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names_and_samples_are_none() {
        for path in [".env", "api/.env.production", ".ENV.local", "k/id_rsa", "a/.aws/credentials", "x.P12"] {
            assert!(is_secret_name(path), "{path}");
        }
        for path in [
            ".env.example",
            "api/.env.local.sample",
            ".envrc",
            "environment.ts",
            "id_rsa.pub",
            "credentials.ts",
            "docs/env",
        ] {
            assert!(!is_secret_name(path), "{path}");
        }
    }

    #[test]
    fn generated_directories_are_named_from_the_root() {
        assert_eq!(generated_directory("web/node_modules/a/node_modules/b.js"), Some("web/node_modules/"));
        assert_eq!(generated_directory("node_modules"), None, "a file, or a link");
        assert_eq!(generated_directory("src/target/x"), None);
        assert_eq!(marked_directory("target/CACHEDIR.TAG"), Some("target/"));
        assert_eq!(marked_directory("py/env/pyvenv.cfg"), Some("py/env/"));
        assert_eq!(marked_directory("CACHEDIR.TAG"), None, "the repository itself is none");
    }
}
