//! The file that a person attaches to a report: whole, private, and without any secret.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context as _, Result, ensure};
use flate2::read::GzDecoder;
use loopgate_testkit::model::{Step, Turn};
use loopgate_testkit::story;
use serde_json::{Value, json};
use tar::Archive;

use crate::cli;
use crate::test_system::TestSystem;

const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6";
const PASSWORD: &str = "hunter2-Xk9";

/// Runs `loopgate support-bundle` with these words behind it.
async fn run(system: &TestSystem, words: &[&str]) -> Result<Output> {
    let data = system.loopgate.setup().data_dir();
    let mut arguments = vec!["support-bundle"];
    arguments.extend(words);
    arguments.extend(["--home", data.to_str().context("a plain path")?]);
    cli::run(&system.testbed.home, &arguments, &[]).await
}

async fn packed(system: &TestSystem, words: &[&str]) -> Result<String> {
    let output = run(system, words).await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

async fn refused(system: &TestSystem, words: &[&str]) -> Result<String> {
    let output = run(system, words).await?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    Ok(String::from_utf8(output.stderr)?)
}

/// The files of an archive by their names, without its one folder.
fn unpacked(archive: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for entry in Archive::new(GzDecoder::new(File::open(archive)?)).entries()? {
        let mut entry = entry?;
        ensure!(entry.header().mode()? == 0o600);
        let path = entry.path()?.into_owned();
        let name = path.file_name().and_then(|name| name.to_str()).context("a name")?.to_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        files.insert(name, text);
    }
    Ok(files)
}

/// A plan whose assistant prints secrets, when it is over: its id and its work directory.
async fn planned() -> Result<(TestSystem, String, PathBuf)> {
    let mut script = story::script();
    let plan = script.conversations.iter_mut().find(|known| known.name == story::PLAN).context("a plan")?;
    let leak = format!("printf 'DB_PASSWORD={PASSWORD}\\n\\033[1mgh said {TOKEN}\\033[0m\\n'");
    plan.turns.insert(1, Turn(vec![Step::bash(&leak)]));
    let system = TestSystem::playing(script).await?;
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    let ended = system.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    system.settled(&loop_id, "Completed").await?;
    let request = system.testbed.model.requests_of(story::PLAN).pop().context("a request")?;
    let work_dir = PathBuf::from(request.captures.get("workdir").context("the work directory")?);
    Ok((system, loop_id, work_dir))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn support_bundle_has_everything_but_secrets() -> Result<()> {
    let (mut system, loop_id, work_dir) = planned().await?;
    let stream = std::fs::read_dir(&work_dir)?.flatten().map(|entry| entry.path());
    let printed =
        stream.filter_map(|path| std::fs::read_to_string(path).ok()).any(|text| text.contains(TOKEN));
    ensure!(printed, "the assistant printed no secret");
    let mut complaints = OpenOptions::new().append(true).open(work_dir.join("assistant-stderr.log"))?;
    writeln!(complaints, "fatal: cannot reach https://sam:{PASSWORD}@git.example.com/shop.git")?;

    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("report.tar.gz");
    let output = archive.to_str().context("a plain path")?;
    let said = packed(&system, &[&loop_id, "--output", output]).await?;
    ensure!(said.contains(output) && said.contains("before you share it"), "{said}");
    ensure!(std::fs::metadata(&archive)?.permissions().mode() & 0o777 == 0o600);

    let files = unpacked(&archive)?;
    for (name, text) in &files {
        ensure!(!text.contains(TOKEN) && !text.contains(PASSWORD), "{name}: {text}");
        ensure!(name == "manifest.json" || said.contains(name.as_str()), "{name} is not in {said}");
    }
    let json_of = |name: &str| -> Result<Value> {
        Ok(serde_json::from_str(files.get(name).with_context(|| format!("no {name}"))?)?)
    };
    ensure!(
        json_of("job.json")?["loopId"] == json!(loop_id) && json_of("job.json")?["status"] == "COMPLETED"
    );
    ensure!(json_of("diagnostics.json")?["diagnosticsVersion"] == 2);
    ensure!(json_of("diagnostics.json")?["exitCode"] == 0);
    ensure!(json_of("versions.json")?["loopgate"] == env!("CARGO_PKG_VERSION"));
    ensure!(json_of("settings.json")?["sandbox_base_directory"].is_string());
    ensure!(json_of("health-check.json")?.as_array().is_some_and(|rows| rows.len() > 5));
    ensure!(files["assistant-output.jsonl"].contains("gh said [REDACTED_GH_TOKEN]"));
    ensure!(files["stderr-tail.txt"].contains("https://[REDACTED]@git.example.com/shop.git"));
    let listed = json_of("manifest.json")?;
    let listed = listed["files"].as_array().context("files")?;
    ensure!(listed.len() == files.len() - 1, "{listed:?}");

    // What is there stays, unless it is to be replaced.
    let before = std::fs::read(&archive)?;
    let text = refused(&system, &["--last", "--output", output]).await?;
    ensure!(text.contains("is there already") && text.contains("--force"), "{text}");
    ensure!(std::fs::read(&archive)? == before);
    packed(&system, &["--last", "--output", output, "--force"]).await?;
    ensure!(unpacked(&archive)?["job.json"].contains(&loop_id));
    ensure!(std::fs::read_dir(folder.path())?.count() == 1, "no half file is left");

    let unknown = uuid::Uuid::new_v4().to_string();
    let text = refused(&system, &[&unknown, "--output", output]).await?;
    ensure!(text.contains("knows no loop") && text.contains(&unknown), "{text}");
    system.loopgate.stop().await?;
    let text = refused(&system, &["--last", "--output", output]).await?;
    ensure!(text.contains("no Loopgate runs with the data directory"), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_that_cannot_be_packed_is_named_with_the_reason() -> Result<()> {
    let (system, loop_id, work_dir) = planned().await?;
    let put = |name: &str| {
        let path = work_dir.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(path),
        }
    };
    File::create(put("perf.jsonl")?)?.set_len(50 * 1024 * 1024 + 1)?;
    symlink("/etc/passwd", put("state.json")?)?;
    put("exit.json")?;
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("report.tar.gz");
    let said = packed(&system, &[&loop_id, "--output", archive.to_str().context("a plain path")?]).await?;
    let files = unpacked(&archive)?;
    let manifest: Value = serde_json::from_str(&files["manifest.json"])?;
    for (name, reason) in
        [("perf.jsonl", "larger than 50 MiB"), ("state.json", "not a regular file"), ("exit.json", "missing")]
    {
        ensure!(!files.contains_key(name), "{name}");
        let skipped = manifest["skipped"].as_array().context("a list")?;
        ensure!(skipped.contains(&json!({"name": name, "reason": reason})), "{skipped:?}");
        ensure!(said.contains(reason), "{said}");
    }
    Ok(())
}
