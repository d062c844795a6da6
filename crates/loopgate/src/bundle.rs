//! Support bundles: everything about a loop in one archive, with secrets redacted.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use loopgate_api::redact;
use loopgate_api::time::now_iso;
use loopgate_gateway::SupportReport;
use loopgate_home::files::sync_directory;
use loopgate_home::{EntryKind, untrusted};
use serde::Serialize;
use serde_json::{Value, json};
use tar::{Builder, Header};

/// Size limit of a file in bytes. Larger files are skipped: files are read into memory to be redacted.
const MAX_FILE: u64 = 50 * 1024 * 1024;
const MANIFEST: &str = "manifest.json";

/// A file of the archive.
pub struct BundleFile {
    /// Name within the archive's folder.
    pub name: String,
    /// Description for the user and for the manifest.
    pub about: &'static str,
    /// Content after redaction of secrets.
    pub bytes: Vec<u8>,
}

/// A file that was left out of the archive.
#[derive(Debug, Serialize)]
pub struct SkippedFile {
    /// Name it would have in the archive.
    pub name: String,
    /// Reason for leaving it out.
    pub reason: String,
}

/// The files of an archive, held in memory before it is written.
pub struct Bundle {
    folder: String,
    entries: Vec<BundleFile>,
    skipped: Vec<SkippedFile>,
}

impl Bundle {
    /// Collects the files of a report and redacts them.
    ///
    /// # Errors
    /// Fails when a value cannot be serialized as JSON.
    pub fn of(report: &SupportReport, folder: &str) -> anyhow::Result<Self> {
        let mut bundle = Self { folder: folder.to_owned(), entries: Vec::new(), skipped: Vec::new() };
        let about = &report.about;
        bundle.add_json("job.json", "the desktop's record of the loop", &about.job)?;
        bundle.add_json(
            "diagnostics.json",
            "start, outcome and resource usage of the loop",
            &about.diagnostics,
        )?;
        if !about.unsent.is_empty() {
            bundle.add_json(
                "unsent-events.json",
                "events that the control plane has not acknowledged",
                &json!(about.unsent),
            )?;
        }
        bundle.add_tail(
            "stderr-tail.txt",
            "end of the assistant's standard error",
            about.stderr_tail.as_ref(),
        );
        bundle.add_tail("log-tail.txt", "end of the loop's log", about.log_tail.as_ref());
        for file in &about.files {
            match read(&file.path) {
                Ok(text) => bundle.add(&file.name, about_file(&file.name), redacted(&text).into_bytes()),
                Err(reason) => bundle.skip(&file.name, reason),
            }
        }
        bundle.add_json("health-check.json", "health check of this machine", &report.health)?;
        bundle.add_json("versions.json", "versions of Loopgate and of the system", &report.versions)?;
        bundle.add_json("settings.json", "effective settings", &report.settings)?;
        bundle.add_manifest(&about.loop_id.to_string())?;
        Ok(bundle)
    }

    /// Returns the files, with the manifest first.
    pub fn entries(&self) -> &[BundleFile] {
        &self.entries
    }

    /// Returns the files that were left out.
    pub fn skipped(&self) -> &[SkippedFile] {
        &self.skipped
    }

    /// Writes the archive atomically with mode 0600, and returns its size in bytes.
    ///
    /// # Errors
    /// Fails when `output` exists and `replace` is false, and on I/O errors.
    pub fn write(&self, output: &Path, replace: bool) -> anyhow::Result<u64> {
        let exists = || {
            let output = output.display();
            format!(
                "{output} already exists; choose another path with --output, or overwrite it with --force"
            )
        };
        // Fails before the archive is packed. `persist_noclobber` below covers a file created in between.
        if !replace && output.symlink_metadata().is_ok() {
            bail!(exists());
        }
        let parent =
            output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // `tempfile` creates files with mode 0600.
        let file = tempfile::NamedTempFile::new_in(parent)
            .with_context(|| format!("cannot write to {}", parent.display()))?;
        self.pack(file.as_file()).with_context(|| format!("cannot write {}", output.display()))?;
        // Synced before the rename: after a crash, `output` is either absent or complete.
        file.as_file().sync_all()?;
        let bytes = file.as_file().metadata()?.len();
        let persisted = if replace { file.persist(output) } else { file.persist_noclobber(output) };
        match persisted {
            Ok(_) => {
                sync_directory(parent).with_context(|| format!("cannot write {}", output.display()))?;
                Ok(bytes)
            }
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => bail!(exists()),
            Err(error) => Err(error.error).with_context(|| format!("cannot write {}", output.display())),
        }
    }

    fn pack(&self, file: &File) -> io::Result<()> {
        let modified = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
        let mut archive = Builder::new(GzEncoder::new(BufWriter::new(file), Compression::default()));
        for entry in &self.entries {
            let mut header = Header::new_gnu();
            header.set_size(entry.bytes.len() as u64);
            header.set_mode(0o600);
            header.set_mtime(modified);
            archive.append_data(&mut header, format!("{}/{}", self.folder, entry.name), &entry.bytes[..])?;
        }
        archive.into_inner()?.finish()?.flush()
    }

    fn add(&mut self, name: &str, about: &'static str, bytes: Vec<u8>) {
        self.entries.push(BundleFile { name: name.to_owned(), about, bytes });
    }

    fn add_json(&mut self, name: &str, about: &'static str, value: &Value) -> serde_json::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(value)?;
        bytes.push(b'\n');
        self.add(name, about, bytes);
        Ok(())
    }

    fn add_tail(&mut self, name: &str, about: &'static str, tail: Option<&String>) {
        match tail {
            Some(tail) => self.add(name, about, format!("{tail}\n").into_bytes()),
            None => self.skip(name, "empty or missing"),
        }
    }

    fn skip(&mut self, name: &str, reason: &str) {
        self.skipped.push(SkippedFile { name: name.to_owned(), reason: reason.to_owned() });
    }

    fn add_manifest(&mut self, loop_id: &str) -> serde_json::Result<()> {
        let files: Vec<Value> = self
            .entries
            .iter()
            .map(|entry| json!({"name": entry.name, "bytes": entry.bytes.len(), "about": entry.about}))
            .collect();
        let manifest = json!({
            "formatVersion": 1,
            "loopId": loop_id,
            "createdAt": now_iso(),
            "files": files,
            "skipped": self.skipped,
        });
        self.add_json(MANIFEST, "files of this archive, and files left out", &manifest)?;
        // First entry of the archive, so that `tar -t` and streaming readers see it first.
        self.entries.rotate_right(1);
        Ok(())
    }
}

fn about_file(name: &str) -> &'static str {
    match name {
        "assistant-output.jsonl" => "output of the assistant",
        "perf.jsonl" => "timing of phases and runs",
        "state.json" => "phase and status",
        "exit.json" => "exit code of the process",
        _ => "file of the loop's work directory",
    }
}

/// Reads a file, or returns the reason for leaving it out.
fn read(path: &Path) -> Result<String, &'static str> {
    // The loop's files are in a working tree, whose content is untrusted: symbolic links are not followed,
    // and opening a FIFO would block.
    let kind = untrusted::kind(path).ok_or("missing")?;
    if kind != EntryKind::File {
        return Err("not a regular file");
    }
    let file = untrusted::open(path).map_err(|_| "cannot be read")?;
    if file.metadata().is_ok_and(|metadata| metadata.len() > MAX_FILE) {
        return Err("larger than 50 MiB");
    }
    let mut bytes = Vec::new();
    // A running loop may append to the file after its size was checked.
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(|_| "cannot be read")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Redacts secrets. JSON lines are redacted as values, because escape sequences could hide a secret from text
/// patterns. Consecutive other lines are redacted as one text, because a secret can span several lines.
fn redacted(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut other_lines = String::new();
    for line in text.split_inclusive('\n') {
        let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(line) else {
            other_lines.push_str(line);
            continue;
        };
        redacted.push_str(&redact::credentials(&std::mem::take(&mut other_lines)));
        redacted.push_str(&redact::json(value).to_string());
        redacted.push('\n');
    }
    redacted + &redact::credentials(&other_lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_plain_lines_are_redacted() {
        let text = concat!(
            r#"{"text":"ghp_a1B2c3D4e5\u001b[0mF6g7H8i9J0k1L2","n":1}"#,
            "\nplain password=abc\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n",
            "-----END PRIVATE KEY-----\n",
            r#"{"password":"abc"#,
        );
        let expected = concat!(
            r#"{"text":"[REDACTED_GH_TOKEN]","n":1}"#,
            "\nplain password=[REDACTED]\n[REDACTED_PRIVATE_KEY]\n",
            r#"{"password":"[REDACTED]"#,
        );
        assert_eq!(redacted(text), expected);
    }
}
