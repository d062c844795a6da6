//! Logs: everything to a file in the data directory, warnings to standard error. Each line passes the
//! redactor on its way out, whatever the place that wrote it knew of secrets.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use loopgate_api::redact;
use loopgate_home::LogFormat;
use loopgate_home::files::create_private_dir;
use tracing::Level;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry, fmt};

/// Lines that may wait for the disk; what comes then is dropped. The places are allocated at once.
const BUFFERED_LINES: usize = 8_192;
/// Days of logs that are kept.
const KEPT_FILES: usize = 7;

/// Parts that show whole messages where they show anything, with the keys and tokens in them.
const TOO_FRANK: &str = "tungstenite";

/// A writer that takes whole lines, and cleans each.
struct RedactingWriter<W>(W);

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(redact::log_line(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Log files of a day each. The appender makes a directory that went away for everybody.
struct DailyLogWriter {
    directory: PathBuf,
    appender: RollingFileAppender,
}

impl Write for DailyLogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if !self.directory.exists() {
            create_private_dir(&self.directory)?;
        }
        self.appender.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.appender.flush()
    }
}

/// Starts logging to `<directory>/loopgate.<day>.log`. `LOOPGATE_LOG` chooses what is written, in
/// the form `info,loopgate_runtime=debug`; what would show keys is not written even then. The guard writes what is left when it is dropped.
pub fn start(directory: &Path, format: LogFormat) -> anyhow::Result<WorkerGuard> {
    create_private_dir(directory)?;
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("loopgate")
        .filename_suffix("log")
        .max_log_files(KEPT_FILES)
        .build(directory)?;
    let daily = RedactingWriter(DailyLogWriter { directory: directory.to_owned(), appender });
    let (file, guard) = NonBlockingBuilder::default().buffered_lines_limit(BUFFERED_LINES).finish(daily);
    let filter = EnvFilter::try_from_env("LOOPGATE_LOG").unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn"));
    let harmless = filter_fn(|line| *line.level() <= Level::INFO || !line.target().contains(TOO_FRANK));
    let filter = filter.and(harmless);
    let terminal = || RedactingWriter(io::stderr());
    let colours = io::stderr().is_terminal();
    let (to_file, to_terminal): (
        Box<dyn Layer<Registry> + Send + Sync>,
        Box<dyn Layer<Registry> + Send + Sync>,
    ) = match format {
        LogFormat::Text => (
            quiet(fmt::layer()).with_writer(file).with_ansi(false).with_filter(filter).boxed(),
            quiet(fmt::layer())
                .with_writer(terminal)
                .with_ansi(colours)
                .with_target(false)
                .with_filter(LevelFilter::WARN)
                .boxed(),
        ),
        LogFormat::Json => (
            quiet(fmt::layer()).json().with_writer(file).with_filter(filter).boxed(),
            quiet(fmt::layer()).json().with_writer(terminal).with_filter(LevelFilter::WARN).boxed(),
        ),
    };
    tracing_subscriber::registry().with(vec![to_file, to_terminal]).init();
    Ok(guard)
}

/// A layer that says nothing about lines that it could not write. It would print that to standard
/// error, and a process whose standard error is on a full disk would panic in the middle of its work.
fn quiet<S>(layer: fmt::Layer<S>) -> fmt::Layer<S> {
    layer.log_internal_errors(false)
}
