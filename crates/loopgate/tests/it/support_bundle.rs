//! `loopgate support-bundle`: complete, readable by its owner only, and free of secrets.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context as _, Result, ensure};
use flate2::read::GzDecoder;
use loopgate_testkit::model::{ModelStep, ModelTurn};
use loopgate_testkit::story;
use serde_json::{Value, json};
use tar::Archive;

use crate::cli;
use crate::test_system::TestSystem;

const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6";
const PASSWORD: &str = "hunter2-Xk9";

/// Runs `loopgate support-bundle` with further arguments.
async fn run(system: &TestSystem, words: &[&str]) -> Result<Output> {
    let data = system.loopgate.setup().data_dir();
    let mut arguments = vec!["support-bundle"];
    arguments.extend(words);
    arguments.extend(["--home", data.to_str().context("a plain path")?]);
    cli::run(&system.testbed.home, &arguments, &[]).await
}

async fn create_bundle(system: &TestSystem, words: &[&str]) -> Result<String> {
    let output = run(system, words).await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

async fn run_failing(system: &TestSystem, words: &[&str]) -> Result<String> {
    let output = run(system, words).await?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    Ok(String::from_utf8(output.stderr)?)
}

/// Reads the files of an archive, by file name.
fn read_archive(archive: &Path) -> Result<BTreeMap<String, String>> {
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

/// Runs a plan whose assistant prints secrets. Returns the loop's id and its work directory.
async fn system_with_leaking_plan() -> Result<(TestSystem, String, PathBuf)> {
    let mut script = story::script();
    let plan =
        script.conversations.iter_mut().find(|candidate| candidate.name == story::PLAN).context("a plan")?;
    let leak = format!("printf 'DB_PASSWORD={PASSWORD}\\n\\033[1mgh said {TOKEN}\\033[0m\\n'");
    plan.turns.insert(1, ModelTurn(vec![ModelStep::bash(&leak)]));
    let system = TestSystem::playing(script).await?;
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    let ended = system.page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    system.settled(&loop_id, "Completed").await?;
    let request = system.testbed.model.requests_of(story::PLAN).pop().context("a request")?;
    let work_dir = PathBuf::from(request.captures.get("workdir").context("the work directory")?);
    Ok((system, loop_id, work_dir))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn support_bundle_is_complete_and_redacted() -> Result<()> {
    let (mut system, loop_id, work_dir) = system_with_leaking_plan().await?;
    // Without the secret in the source files, the checks below would prove nothing.
    let stream = std::fs::read_dir(&work_dir)?.flatten().map(|entry| entry.path());
    let printed =
        stream.filter_map(|path| std::fs::read_to_string(path).ok()).any(|text| text.contains(TOKEN));
    ensure!(printed, "the assistant printed no secret");
    let mut stderr_log = OpenOptions::new().append(true).open(work_dir.join("assistant-stderr.log"))?;
    writeln!(stderr_log, "fatal: cannot reach https://sam:{PASSWORD}@git.example.com/shop.git")?;

    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("report.tar.gz");
    let output = archive.to_str().context("a plain path")?;
    let output_text = create_bundle(&system, &[&loop_id, "--output", output]).await?;
    ensure!(output_text.contains(output) && output_text.contains("before you share it"), "{output_text}");
    ensure!(std::fs::metadata(&archive)?.permissions().mode() & 0o777 == 0o600);

    let files = read_archive(&archive)?;
    for (name, text) in &files {
        ensure!(!text.contains(TOKEN) && !text.contains(PASSWORD), "{name}: {text}");
        ensure!(
            name == "manifest.json" || output_text.contains(name.as_str()),
            "{name} is not in {output_text}"
        );
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

    // An existing file is replaced with `--force` only.
    let before = std::fs::read(&archive)?;
    let text = run_failing(&system, &["--last", "--output", output]).await?;
    ensure!(text.contains("already exists") && text.contains("--force"), "{text}");
    ensure!(std::fs::read(&archive)? == before);
    create_bundle(&system, &["--last", "--output", output, "--force"]).await?;
    ensure!(read_archive(&archive)?["job.json"].contains(&loop_id));
    ensure!(std::fs::read_dir(folder.path())?.count() == 1, "a temporary file remains");

    let unknown = uuid::Uuid::new_v4().to_string();
    let text = run_failing(&system, &[&unknown, "--output", output]).await?;
    ensure!(text.contains("no loop ") && text.contains(&unknown), "{text}");
    // The bundle is created by the running Loopgate; the command reports that it is down.
    system.loopgate.stop().await?;
    let text = run_failing(&system, &["--last", "--output", output]).await?;
    ensure!(text.contains("no Loopgate runs with the data directory"), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn skipped_files_are_listed_with_reason() -> Result<()> {
    let (system, loop_id, work_dir) = system_with_leaking_plan().await?;
    let replaceable = |name: &str| {
        let path = work_dir.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(path),
        }
    };
    // One byte above the size limit; the file is sparse.
    File::create(replaceable("perf.jsonl")?)?.set_len(50 * 1024 * 1024 + 1)?;
    symlink("/etc/passwd", replaceable("state.json")?)?;
    replaceable("exit.json")?;
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("report.tar.gz");
    let output_text =
        create_bundle(&system, &[&loop_id, "--output", archive.to_str().context("a plain path")?]).await?;
    let files = read_archive(&archive)?;
    let manifest: Value = serde_json::from_str(&files["manifest.json"])?;
    for (name, reason) in
        [("perf.jsonl", "larger than 50 MiB"), ("state.json", "not a regular file"), ("exit.json", "missing")]
    {
        ensure!(!files.contains_key(name), "{name}");
        let skipped = manifest["skipped"].as_array().context("a list")?;
        ensure!(skipped.contains(&json!({"name": name, "reason": reason})), "{skipped:?}");
        ensure!(output_text.contains(reason), "{output_text}");
    }
    Ok(())
}
