//! Agent files in the output directory. Files of the user are kept, moved or replaced, as the user has chosen.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use loopgate_bootstrap::{AgentFileResult, AgentValidation, check_agent_file};
use loopgate_home::{Directory, EntryKind};

use super::run_files::{BootstrapMetadata, content_hash};
use super::{ExistingFiles, ValidateAgentsArgs};
use crate::clock::now;

/// Largest agent file in bytes that is read.
const MAX_AGENT: u64 = 1024 * 1024;
/// Sum of the sizes from which a warning is printed.
const LARGE_TOTAL: u64 = 2 * 1024 * 1024;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOutcome {
    Written,
    Unchanged,
    /// Written; the file of the user was moved.
    MovedExisting,
    /// Not written, because the file of the user was kept.
    KeptExisting,
}

/// Directory in which agent files are written.
#[derive(Debug)]
pub struct AgentDirectory {
    path: PathBuf,
    directory: Directory,
    existing: ExistingFiles,
    keeps_own: bool,
    /// Name of the directory for files of the user that are replaced.
    backup: String,
}

impl AgentDirectory {
    /// Opens the directory, and creates it if necessary. Below the root of the repository, links are not followed.
    pub fn open(
        root: &Path,
        output: &Path,
        (existing, keeps_own): (ExistingFiles, bool),
        time: &str,
    ) -> io::Result<Self> {
        let path = std::path::absolute(root.join(output))?;
        let directory = match path.strip_prefix(root) {
            Ok(below) if !below.as_os_str().is_empty() => Directory::of(root)?.create_directory(below)?,
            _ => {
                std::fs::create_dir_all(&path)?;
                Directory::of(&path)?
            }
        };
        Ok(Self { path, directory, existing, keeps_own, backup: format!("backup-{time}") })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes an agent. `known_hash`: hash of the file that the last run wrote under this name.
    pub fn write(&self, agent: &str, text: &str, known_hash: Option<&str>) -> io::Result<FileOutcome> {
        let name = OsString::from(format!("{agent}.md"));
        let existing = match self.directory.kind(Path::new(&name)) {
            None => None,
            Some(EntryKind::File) => Some(self.directory.read(Path::new(&name), MAX_AGENT)?),
            Some(_) => return Ok(FileOutcome::KeptExisting),
        };
        let outcome = match existing {
            Some(bytes) if bytes == text.as_bytes() => return Ok(FileOutcome::Unchanged),
            Some(bytes) => {
                let is_own = known_hash == Some(content_hash(&bytes).as_str());
                match self.existing {
                    _ if is_own && !self.keeps_own => FileOutcome::Written,
                    ExistingFiles::Skip => return Ok(FileOutcome::KeptExisting),
                    ExistingFiles::Overwrite => FileOutcome::Written,
                    ExistingFiles::Backup => {
                        let backup = self.directory.create_directory(Path::new(&self.backup))?;
                        backup.replace_public(&name, &bytes)?;
                        FileOutcome::MovedExisting
                    }
                }
            }
            None => FileOutcome::Written,
        };
        self.directory.replace_public(&name, text.as_bytes())?;
        Ok(outcome)
    }
}

/// Checks the agent files of a directory, and returns the lines to print.
///
/// # Errors
/// Returns the faults.
pub fn validate(args: &ValidateAgentsArgs) -> Result<String, String> {
    let current = std::env::current_dir().map_err(|error| format!("Error: no current directory: {error}"))?;
    let metadata = BootstrapMetadata::read(&current);
    let directory = Directory::of(&args.output_dir)
        .map_err(|error| format!("Error: cannot read {}: {error}", args.output_dir.display()))?;
    let entries = directory.entries().map_err(|error| format!("Error: {error}"))?;
    let mut names: Vec<String> = if args.legacy {
        let files = entries.into_iter().filter(|entry| entry.kind == EntryKind::File);
        files.filter_map(|entry| stem(&entry.name)).collect()
    } else {
        metadata.agents.keys().cloned().collect()
    };
    names.sort();
    let mut total = 0;
    let mut results = Vec::new();
    for agent in names {
        let file = format!("{agent}.md");
        let text = directory.read(Path::new(&file), MAX_AGENT).map(String::from_utf8);
        let check = match text {
            Ok(Ok(text)) => {
                total += text.len() as u64;
                check_agent_file(&agent, &text)
            }
            Ok(Err(_)) => fault("it is no text"),
            Err(error) => fault(&error.to_string()),
        };
        let valid = check.errors.is_empty();
        results.push(AgentFileResult { agent, file, valid, warnings: check.warnings, errors: check.errors });
    }
    let validation = AgentValidation::new(now(), results);
    let mut lines: Vec<String> = Vec::new();
    for result in &validation.results {
        lines.extend(result.errors.iter().map(|error| format!("{}: {error}", result.file)));
        lines.extend(result.warnings.iter().map(|warning| format!("Warning: {}: {warning}", result.file)));
    }
    if total > LARGE_TOTAL {
        lines.push(format!("Warning: all agents together have {total} bytes"));
    }
    lines.push(format!("{} agents: {} invalid", validation.agents_validated, validation.agents_failed));
    if validation.agents_failed == 0 { Ok(lines.join("\n")) } else { Err(lines.join("\n")) }
}

fn fault(reason: &str) -> loopgate_bootstrap::AgentFileCheck {
    loopgate_bootstrap::AgentFileCheck { errors: vec![reason.to_owned()], warnings: Vec::new() }
}

fn stem(name: &OsStr) -> Option<String> {
    name.to_str()?.strip_suffix(".md").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(root: &Path, existing: (ExistingFiles, bool)) -> AgentDirectory {
        AgentDirectory::open(root, Path::new(".claude/agents"), existing, "20260102-030405").unwrap()
    }

    #[test]
    fn files_of_the_user_are_kept_moved_or_replaced() {
        let root = tempfile::tempdir().unwrap();
        let read = |name: &str| std::fs::read_to_string(root.path().join(".claude/agents").join(name));
        let backup = open(root.path(), (ExistingFiles::Backup, false));
        assert_eq!(backup.write("one", "first", None).unwrap(), FileOutcome::Written);
        assert_eq!(backup.write("one", "first", None).unwrap(), FileOutcome::Unchanged);
        let first = content_hash(b"first");
        assert_eq!(backup.write("one", "second", Some(&first)).unwrap(), FileOutcome::Written);
        assert_eq!(backup.write("one", "third", Some(&first)).unwrap(), FileOutcome::MovedExisting);
        assert_eq!(read("backup-20260102-030405/one.md").unwrap(), "second");
        let skip = open(root.path(), (ExistingFiles::Skip, false));
        assert_eq!(skip.write("one", "fourth", None).unwrap(), FileOutcome::KeptExisting);
        let third = content_hash(b"third");
        assert_eq!(skip.write("one", "fourth", Some(&third)).unwrap(), FileOutcome::Written);
        let enhance = open(root.path(), (ExistingFiles::Skip, true));
        let fourth = content_hash(b"fourth");
        assert_eq!(enhance.write("one", "fifth", Some(&fourth)).unwrap(), FileOutcome::KeptExisting);
        let overwrite = open(root.path(), (ExistingFiles::Overwrite, false));
        assert_eq!(overwrite.write("one", "sixth", None).unwrap(), FileOutcome::Written);
        assert_eq!(read("one.md").unwrap(), "sixth");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), root.path().join(".claude")).unwrap();
        let path = Path::new(".claude/agents");
        AgentDirectory::open(root.path(), path, (ExistingFiles::Backup, false), "x").unwrap_err();
        std::fs::remove_file(root.path().join(".claude")).unwrap();
        let agents = open(root.path(), (ExistingFiles::Overwrite, false));
        std::os::unix::fs::symlink(outside.path().join("a"), root.path().join(".claude/agents/one.md"))
            .unwrap();
        assert_eq!(agents.write("one", "text", None).unwrap(), FileOutcome::KeptExisting);
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
