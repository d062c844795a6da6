//! Classification of files that are excluded from delivery: secrets and generated files. By path here;
//! [`crate::redact::holds_key`] inspects contents.

use crate::names::STATE_DIR;
use crate::redact;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Names of files that usually contain secrets, in lower case.
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
/// Extensions of key stores.
const KEY_STORES: [&str; 5] = [".jks", ".kdbx", ".keystore", ".p12", ".pfx"];
/// Suffixes of `.env` samples, which list the variables and contain no secrets.
const SAMPLES: [&str; 6] = [".default", ".defaults", ".dist", ".example", ".sample", ".template"];
/// Names of directories filled by package managers, interpreters and Loopgate itself.
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
/// Files that mark their directory as generated: cache directories and Python virtual environments.
const MARKERS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// Reason why a file is excluded from delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HeldBackReason {
    /// Looks like a password, a token or a key.
    Secret,
    /// Dependencies or build output, which a program can regenerate.
    Generated,
}

impl HeldBackReason {
    /// Returns the description that users see.
    #[must_use]
    pub const fn as_text(self) -> &'static str {
        match self {
            Self::Secret => "looks like a secret",
            Self::Generated => "dependencies, build output or a working file",
        }
    }
}

/// A file or directory that is excluded from delivery.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct HeldBackFile {
    /// Path relative to the repository; a directory ends with a slash.
    pub path: String,
    /// Reason for the exclusion.
    pub reason: HeldBackReason,
}

/// Returns whether a path has the name of a file that usually contains secrets.
#[must_use]
pub fn is_secret_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    if name.starts_with(".env.") {
        return !SAMPLES.iter().any(|ending| name.ends_with(ending));
    }
    SECRETS.contains(&name.as_str())
        || KEY_STORES.iter().any(|ending| name.ends_with(ending))
        // `credentials` without its directory is too common a name.
        || path.to_lowercase().ends_with(".aws/credentials")
}

/// Returns whether a path has a name for secrets, certificates or keys: that of a file that is held back, and other
/// names, also of source code, such as `credentials.py`. A review reports these files.
#[must_use]
pub fn is_sensitive_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let lower = name.to_lowercase();
    is_secret_name(path)
        || [".pem", ".key"].iter().any(|ending| lower.ends_with(ending))
        || is_environment_name(&lower)
        // Whole words, because `secretary.ts` is no secret; their endings, because of `clientsecret.json`.
        || redact::words(name).iter().any(|word| {
            ["secret", "secrets", "credentials"].iter().any(|ending| word.ends_with(ending))
        })
}

/// Returns whether a lower-case file name is that of an environment file, such as `.env.local` or `prod.env`, and no sample.
#[must_use]
pub fn is_environment_name(name: &str) -> bool {
    let is_sample = SAMPLES.iter().any(|ending| name.ends_with(ending));
    !is_sample && (name == ".env" || name.ends_with(".env") || name.starts_with(".env."))
}

/// Returns the outermost generated directory that contains `path`, with a trailing slash.
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

/// Returns the directory, with a trailing slash, that `path` marks as generated; `None` for an ordinary file.
#[must_use]
pub fn marked_directory(path: &str) -> Option<&str> {
    let (directory, name) = path.rsplit_once('/')?;
    MARKERS.contains(&name).then(|| &path[..=directory.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_files_are_recognized_by_name_except_samples() {
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
    fn sensitive_names_are_words_and_not_parts_of_words() {
        for path in [
            "certs/server.pem",
            "tls/Server.KEY",
            "src/credentials.py",
            "clientSecret.json",
            "k8s/db-secrets.yaml",
            "mysecret.txt",
            "prod.env",
            ".env",
            "a.p12",
        ] {
            assert!(is_sensitive_name(path), "{path}");
        }
        for path in [
            "secretary.ts",
            "src/environment.ts",
            ".env.example",
            ".envrc",
            "vite-env.d.ts",
            "config/prod.env.js",
            "secretariat/notes.rs",
            "secrets/readme.rs",
            "keyboard.rs",
            "id_rsa.pub",
        ] {
            assert!(!is_sensitive_name(path), "{path}");
        }
    }

    #[test]
    fn outermost_generated_directory_is_returned() {
        assert_eq!(generated_directory("web/node_modules/a/node_modules/b.js"), Some("web/node_modules/"));
        assert_eq!(generated_directory("node_modules"), None, "not a directory");
        assert_eq!(generated_directory("src/target/x"), None);
        assert_eq!(marked_directory("target/CACHEDIR.TAG"), Some("target/"));
        assert_eq!(marked_directory("py/env/pyvenv.cfg"), Some("py/env/"));
        assert_eq!(marked_directory("CACHEDIR.TAG"), None, "the repository root is never generated");
    }
}
