//! Diagnostics of a loop: the tails of its output files and a redacted description of its command line.
//!
//! Text is redacted before it is truncated, so that no truncated secret escapes the patterns. Environment
//! variables are taken from an allow-list.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use loopgate_api::names::{ASSISTANT_STDERR, LOOP_LOG};
use loopgate_api::redact;

use crate::jobs::SpawnMeta;

const STDERR_BYTES: usize = 4096;
const LOG_BYTES: usize = 32_768;
const TAIL_LINES: usize = 50;
// Read four times the reported size: removing escape sequences and secrets shrinks the text.
const READ_FACTOR: u64 = 4;
const ALLOWED_VARIABLE: &str = "NODE_ENV";
const ALLOWED_PREFIX: &str = "CLAUDE_CODE_USE_";

/// Tails of a loop's output files. `None` when a file is missing or empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputTails {
    /// Tail of the combined log, at most 32 KiB.
    pub log: Option<String>,
    /// Tail of the assistant's standard error, at most 4 KiB.
    pub stderr: Option<String>,
}

/// Reads the tails of a loop's output files. Performs blocking I/O.
#[must_use]
pub fn tails(work_dir: &Path) -> OutputTails {
    OutputTails {
        log: tail_of(&work_dir.join(LOOP_LOG), LOG_BYTES),
        stderr: tail_of(&work_dir.join(ASSISTANT_STDERR), STDERR_BYTES),
    }
}

fn tail_of(path: &Path, max_bytes: usize) -> Option<String> {
    let mut file = loopgate_home::untrusted::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let read_limit = (max_bytes as u64).saturating_mul(READ_FACTOR);
    let start = length.saturating_sub(read_limit);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(read_limit).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // The read starts at an arbitrary byte, possibly inside a secret. Drop the first partial line.
    let whole = if start > 0 { redact::skip_partial_line(&text) } else { &text };
    redact::tail(whole, max_bytes, TAIL_LINES)
}

/// Describes a command line without secrets.
#[must_use]
pub fn spawn_meta(
    program: &Path,
    args: &[OsString],
    cwd: &Path,
    binary: &Path,
    environment: &BTreeMap<OsString, OsString>,
) -> SpawnMeta {
    let is_allowed = |name: &str| name == ALLOWED_VARIABLE || name.starts_with(ALLOWED_PREFIX);
    SpawnMeta {
        command: program.to_string_lossy().into_owned(),
        args: redact::args(args.iter().map(|arg| arg.to_string_lossy())),
        cwd: cwd.to_string_lossy().into_owned(),
        binary_path: binary.to_string_lossy().into_owned(),
        auth_files_exist: auth_files_exist(binary),
        env_snapshot: environment
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)))
            .filter(|(name, _)| is_allowed(name))
            .map(|(name, value)| (name.to_owned(), redact::credentials(value)))
            .collect(),
    }
}

/// Returns whether the harness has a configuration directory, such as `~/.claude`. It contains its sign-in.
fn auth_files_exist(binary: &Path) -> bool {
    let Some(name) = binary.file_stem().and_then(|name| name.to_str()) else { return false };
    loopgate_home::expand_home(format!("~/.{name}")).is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_bounded_and_redacted() {
        let dir = tempfile::tempdir().unwrap();
        let line = |n: usize| format!("\u{1b}[31mline {n}\u{1b}[0m ghp_{}\n", "a".repeat(24));
        let text: String = (0..2000).map(line).collect();
        std::fs::write(dir.path().join(ASSISTANT_STDERR), &text).unwrap();
        let stderr = tails(dir.path()).stderr.unwrap();
        assert!(stderr.len() <= STDERR_BYTES && stderr.lines().count() <= TAIL_LINES);
        assert!(!stderr.contains("ghp_") && !stderr.contains('\u{1b}'), "{stderr}");
        assert!(stderr.lines().next().unwrap().starts_with("line "));
        assert!(stderr.lines().last().unwrap().starts_with("line 1999"));
        assert_eq!(tails(dir.path()).log, None);
    }

    #[test]
    fn spawn_meta_contains_no_secrets() {
        let args: Vec<OsString> =
            ["-p", "the request", "--model", "m", &"x".repeat(201)].iter().map(OsString::from).collect();
        let environment: BTreeMap<OsString, OsString> = [
            ("NODE_ENV", "test"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ("ANTHROPIC_API_KEY", "sk-secret-secret"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let meta = spawn_meta(Path::new("/x"), &args, Path::new("/w"), Path::new("/b"), &environment);
        assert_eq!(meta.args, ["-p", "[REDACTED]", "--model", "m", "[REDACTED_LONG_ARG]"]);
        let names: Vec<&str> = meta.env_snapshot.keys().map(String::as_str).collect();
        assert_eq!(names, ["CLAUDE_CODE_USE_BEDROCK", "NODE_ENV"]);
    }
}
