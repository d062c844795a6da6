//! Demonstrates Loopgate without an account at a model provider.
//!
//! Sets up a temporary home, a sample repository on a local code host and a model server that follows a
//! script, and runs `loopgate up` with them. Started by `cargo xtask up`; not part of the release binary.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser};
use loopgate_testkit::loopgate::Loopgate;
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Default delay between two streamed pieces, in milliseconds: about the speed of a real model.
const PACE_MS: u64 = 12;

/// Arguments of `loopgate up` that the demo sets itself.
const RESERVED_ARGUMENTS: [&str; 4] = ["--gateway-token-file", "--home", "--port", "--sandbox"];

/// Show Loopgate with a sample repository and a scripted model.
#[derive(Parser)]
struct DemoOptions {
    /// Do not open the browser.
    #[arg(long)]
    no_open: bool,
    /// Store everything in this folder instead of a temporary one, and keep it.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write a JSON object that describes the running demo to this file once it accepts requests.
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// Milliseconds between two streamed pieces of text; 0 in tests.
    #[arg(long, value_name = "MS", default_value_t = PACE_MS)]
    pace: u64,
    /// Additional arguments for `loopgate up`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl DemoOptions {
    /// Parses the command line. Exits with an error for arguments that the demo sets itself.
    fn from_command_line() -> Self {
        let options = Self::parse();
        // Also matches the form `--flag=value`.
        let name = |argument: &String| argument.split('=').next().unwrap_or_default().to_owned();
        if let Some(reserved) =
            options.arguments.iter().map(name).find(|name| RESERVED_ARGUMENTS.contains(&&**name))
        {
            let message = format!(
                "{reserved} cannot be set: the demo chooses its home, sandbox, port and token itself.\n\
                 Set the folder of all files with --keep DIR. To work on your repositories, run `claude` once and sign in."
            );
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        options
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(DemoOptions::from_command_line()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: DemoOptions) -> anyhow::Result<()> {
    // Handlers are installed before the testbed exists: a signal during the set-up would end the process
    // without dropping the testbed, which kills the processes of its home.
    let mut signals = ShutdownSignals::new()?;
    let temporary = tempfile::Builder::new().prefix("loopgate-demo-").tempdir()?;
    let folder = options.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    let testbed = Testbed::at(&folder, story::script().paced(options.pace)).await?;
    let clone = testbed.add_story()?;
    let page = testbed.host.page().await?;
    let mut setup = testbed
        .loopgate()?
        .shown()
        .env("LOOPGATE_CODE_HOST_URL", page.url().trim_end_matches('/'))
        .env("LOOPGATE_DEMO_REPOSITORY", story::REPOSITORY)
        .env("LOOPGATE_DEMO_REQUEST", story::REQUEST);
    for argument in &options.arguments {
        setup = setup.arg(argument);
    }
    let start_result = tokio::select! {
        result = setup.start() => result,
        () = signals.next() => return Ok(()),
    };
    let mut loopgate = start_result?;
    print_banner(&testbed, &loopgate, &clone, &page.url(), options.keep.is_some());
    if let Some(file) = &options.ready_file {
        write_ready(file, &loopgate, &testbed, &page.url())?;
    }
    if !options.no_open {
        // Best-effort: a machine without a browser is fine, the address is printed above.
        let _ = open::that_detached(&loopgate.ready().sign_in_url);
    }
    run_until_stopped(&mut loopgate, &mut signals).await
}

async fn run_until_stopped(loopgate: &mut Loopgate, signals: &mut ShutdownSignals) -> anyhow::Result<()> {
    tokio::select! {
        exit = loopgate.wait() => {
            let status = exit?;
            anyhow::ensure!(status.success(), "loopgate exited with {status}");
        }
        () = signals.next() => {
            // Waits for the exit, so that the testbed is removed only when no process uses it.
            loopgate.stop().await?;
        }
    }
    Ok(())
}

/// Receives SIGINT (Ctrl-C) and SIGTERM.
struct ShutdownSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl ShutdownSignals {
    fn new() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("install a signal handler");
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

fn print_banner(testbed: &Testbed, loopgate: &Loopgate, clone: &Path, page: &str, is_permanent: bool) {
    println!("  This is the demo: the assistant, git and gh are real, the model follows a script.");
    println!("  Repository    {}  {}", story::REPOSITORY, clone.display());
    println!("  Request       {:?}  (the script implements only this request)", story::REQUEST);
    println!("  Code host     {page}  with the pull requests; links of the page open it");
    let lifetime = if is_permanent { "kept after exit" } else { "removed on exit" };
    println!("  Home          {} ({lifetime})", testbed.home.path().display());
    println!(
        "  New link      {}  opens the page with a new sign-in link",
        new_link_command(loopgate).join(" ")
    );
    println!("  Ctrl-C        stops the demo and its loops\n");
}

/// Returns the command that opens the demo's page with a new sign-in link.
fn new_link_command(loopgate: &Loopgate) -> [String; 4] {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let setup = loopgate.setup();
    [text(setup.program()), "up".to_owned(), "--home".to_owned(), text(&setup.data_dir())]
}

fn write_ready(file: &Path, loopgate: &Loopgate, testbed: &Testbed, page: &str) -> anyhow::Result<()> {
    let mut text = serde_json::to_value(loopgate.ready())?;
    text["repository"] = json!(story::REPOSITORY);
    text["request"] = json!(story::REQUEST);
    text["codeHostUrl"] = json!(page);
    text["codeHostSocket"] = json!(testbed.host.socket());
    text["freshLink"] = json!(new_link_command(loopgate));
    text["home"] = json!(testbed.home.path());
    // Renamed into place, so that a reader never sees an incomplete file.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&temporary, &text)?;
    temporary.persist(file)?;
    Ok(())
}
