//! A support bundle: everything about a loop as the files of one archive, each without its secrets.

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

/// A file that is larger is left out.
const MAX_FILE: u64 = 50 * 1024 * 1024;
const MANIFEST: &str = "manifest.json";

/// A file of the archive.
pub struct BundleFile {
    /// Its name in the archive's folder.
    pub name: String,
    /// Description for the user.
    pub about: &'static str,
    /// Its content, cleaned.
    pub bytes: Vec<u8>,
}

/// A file that is not in the archive.
#[derive(Debug, Serialize)]
pub struct SkippedFile {
    /// The name that it would have had.
    pub name: String,
    /// Why it is not there.
    pub reason: String,
}

/// The files of an archive, before it is written.
pub struct Bundle {
    folder: String,
    entries: Vec<BundleFile>,
    skipped: Vec<SkippedFile>,
}

impl Bundle {
    /// Reads what belongs to a report, and cleans it.
    ///
    /// # Errors
    /// When something cannot be written as JSON.
    pub fn of(report: &SupportReport, folder: &str) -> anyhow::Result<Self> {
        let mut bundle = Self { folder: folder.to_owned(), entries: Vec::new(), skipped: Vec::new() };
        let about = &report.about;
        bundle.add_json("job.json", "the desktop's record of the loop", &about.job)?;
        bundle.add_json(
            "diagnostics.json",
            "how it was started, ended, and what it used",
            &about.diagnostics,
        )?;
        if !about.unsent.is_empty() {
            bundle.add_json(
                "unsent-events.json",
                "what the control plane has not heard yet",
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
                Ok(text) => bundle.add(&file.name, about_file(&file.name), cleaned(&text).into_bytes()),
                Err(reason) => bundle.skip(&file.name, reason),
            }
        }
        bundle.add_json("health-check.json", "what a loop needs of this machine", &report.health)?;
        bundle.add_json("versions.json", "versions of Loopgate and of the system", &report.versions)?;
        bundle.add_json("settings.json", "the settings in force", &report.settings)?;
        bundle.add_manifest(&about.loop_id.to_string())?;
        Ok(bundle)
    }

    /// What is in it, the manifest first.
    pub fn entries(&self) -> &[BundleFile] {
        &self.entries
    }

    /// What is not.
    pub fn skipped(&self) -> &[SkippedFile] {
        &self.skipped
    }

    /// Writes the archive for the owner alone, in one step; answers its size in bytes.
    ///
    /// # Errors
    /// The file is there and is not to be replaced, or the disk refuses.
    pub fn write(&self, output: &Path, replace: bool) -> anyhow::Result<u64> {
        let there =
            || format!("{} is there already; choose another --output, or give --force", output.display());
        if !replace && output.symlink_metadata().is_ok() {
            bail!(there());
        }
        let parent =
            output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Made with mode 0600.
        let file = tempfile::NamedTempFile::new_in(parent)
            .with_context(|| format!("cannot write to {}", parent.display()))?;
        self.pack(file.as_file()).with_context(|| format!("cannot write {}", output.display()))?;
        file.as_file().sync_all()?;
        let bytes = file.as_file().metadata()?.len();
        let kept = if replace { file.persist(output) } else { file.persist_noclobber(output) };
        match kept {
            Ok(_) => {
                sync_directory(parent).with_context(|| format!("cannot write {}", output.display()))?;
                Ok(bytes)
            }
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => bail!(there()),
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

    /// First entry of the archive.
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
        self.add_json(MANIFEST, "what is in here, and what is not", &manifest)?;
        self.entries.rotate_right(1);
        Ok(())
    }
}

fn about_file(name: &str) -> &'static str {
    match name {
        "assistant-output.jsonl" => "what the assistant said and did",
        "perf.jsonl" => "where the time went",
        "state.json" => "phase and status",
        "exit.json" => "how the process ended",
        _ => "a file of the loop",
    }
}

/// The text of a file, or why it is left out.
fn read(path: &Path) -> Result<String, &'static str> {
    let kind = untrusted::kind(path).ok_or("missing")?;
    if kind != EntryKind::File {
        return Err("not a regular file");
    }
    let file = untrusted::open(path).map_err(|_| "cannot be read")?;
    if file.metadata().is_ok_and(|metadata| metadata.len() > MAX_FILE) {
        return Err("larger than 50 MiB");
    }
    let mut bytes = Vec::new();
    // A loop that runs may write on meanwhile.
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(|_| "cannot be read")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Cleans JSON line by line, so that nothing hides behind the escapes in a string, and what stands
/// between as one text, because a secret may have several lines.
fn cleaned(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut between = String::new();
    for line in text.split_inclusive('\n') {
        let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(line) else {
            between.push_str(line);
            continue;
        };
        cleaned.push_str(&redact::credentials(&std::mem::take(&mut between)));
        cleaned.push_str(&redact::json(value).to_string());
        cleaned.push('\n');
    }
    cleaned + &redact::credentials(&between)
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
        assert_eq!(cleaned(text), expected);
    }
}
