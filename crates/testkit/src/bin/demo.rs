//! Shows Loopgate on a machine without an account: everything is real but the model.
//!
//! A throw-away home, a sample repository on a code host of its own, and a model that follows a
//! script; then `loopgate up` in there, with its output passed through. `cargo xtask up` starts
//! this; the release binary carries none of it.

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

/// Pause between two streamed pieces of text: about as fast as a model writes.
const PACE_MS: u64 = 12;

/// What the demo chooses itself, among the arguments of `loopgate up`.
const OWN_ARGUMENTS: [&str; 4] = ["--gateway-token-file", "--home", "--port", "--sandbox"];

/// Show Loopgate with a sample repository and a scripted model.
#[derive(Parser)]
struct Options {
    /// Do not open the browser.
    #[arg(long)]
    no_open: bool,
    /// Keep everything in this folder instead of a throw-away one.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write a JSON object about the running demo to this file once it answers.
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// Milliseconds between two pieces of streamed text; 0 in tests.
    #[arg(long, value_name = "MS", default_value_t = PACE_MS)]
    pace: u64,
    /// Further arguments for `loopgate up`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Options {
    /// Those of this start; ends with a message where they ask for what the demo cannot give.
    fn from_command_line() -> Self {
        let options = Self::parse();
        let name = |argument: &String| argument.split('=').next().unwrap_or_default().to_owned();
        if let Some(own) = options.arguments.iter().map(name).find(|name| OWN_ARGUMENTS.contains(&&**name)) {
            let message = format!(
                "{own} cannot be chosen: the demo has a home, a sandbox, a port and a token of its own.\n\
                 --keep DIR says where they lie. To work on your repositories, run `claude` once and sign in."
            );
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        options
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Options::from_command_line()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> anyhow::Result<()> {
    let mut signals = Signals::new()?;
    let temporary = tempfile::Builder::new().prefix("loopgate-demo-").tempdir()?;
    let folder = options.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    let testbed = Testbed::at(&folder, story::script().paced(options.pace)).await?;
    let clone = testbed.add_story()?;
    let page = testbed.host.page().await?;
    let mut setup =
        testbed.loopgate()?.shown().env("LOOPGATE_CODE_HOST_URL", page.url().trim_end_matches('/'));
    for argument in &options.arguments {
        setup = setup.arg(argument);
    }
    let started = tokio::select! {
        started = setup.start() => started,
        () = signals.next() => return Ok(()),
    };
    let mut loopgate = started?;
    announce(&testbed, &loopgate, &clone, &page.url(), options.keep.is_some());
    if let Some(file) = &options.ready_file {
        write_ready(file, &loopgate, &testbed, &page.url())?;
    }
    if !options.no_open {
        // Without a desktop there is no browser; the page's address is above.
        let _ = open::that_detached(&loopgate.ready().sign_in_url);
    }
    until_the_end(&mut loopgate, &mut signals).await
}

async fn until_the_end(loopgate: &mut Loopgate, signals: &mut Signals) -> anyhow::Result<()> {
    tokio::select! {
        ended = loopgate.wait() => {
            let status = ended?;
            anyhow::ensure!(status.success(), "loopgate ended with {status}");
        }
        () = signals.next() => {
            loopgate.stop().await?;
        }
    }
    Ok(())
}

/// Ctrl-C and a request to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("listen to signals");
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

fn announce(testbed: &Testbed, loopgate: &Loopgate, clone: &Path, page: &str, kept: bool) {
    println!("  This is the demo: the assistant, git and gh are real, the model follows a script.");
    println!("  Repository    {}  {}", story::REPOSITORY, clone.display());
    println!("  Wish          {:?}: the script knows this one", story::WISH);
    println!("  Code host     {page}  shows its pull requests; links of the page lead there");
    let stays = if kept { "it stays there" } else { "removed when you stop it" };
    println!("  Home          {} ({stays})", testbed.home.path().display());
    println!("  Fresh link    {}  opens the page once more", fresh_link(loopgate).join(" "));
    println!("  Ctrl-C        ends the demo, and its loops with it\n");
}

/// The command that opens the page of this demo with a new sign-in link.
fn fresh_link(loopgate: &Loopgate) -> [String; 4] {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let setup = loopgate.setup();
    [text(setup.program()), "up".to_owned(), "--home".to_owned(), text(&setup.data_dir())]
}

fn write_ready(file: &Path, loopgate: &Loopgate, testbed: &Testbed, page: &str) -> anyhow::Result<()> {
    let mut text = serde_json::to_value(loopgate.ready())?;
    text["repository"] = json!(story::REPOSITORY);
    text["wish"] = json!(story::WISH);
    text["codeHostUrl"] = json!(page);
    text["codeHostSocket"] = json!(testbed.host.socket());
    text["freshLink"] = json!(fresh_link(loopgate));
    text["home"] = json!(testbed.home.path());
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&temporary, &text)?;
    temporary.persist(file)?;
    Ok(())
}
