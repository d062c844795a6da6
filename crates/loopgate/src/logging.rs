//! Logging: everything to a daily file in the data directory, warnings also to standard error. Every line
//! passes the redactor, so that call sites need not know what is secret.

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

/// Capacity of the queue to the writer thread, allocated at once. Lines are dropped when it is full: a slow
/// disk must not block requests.
const BUFFERED_LINES: usize = 8_192;
/// Number of daily log files that are kept.
const MAX_LOG_FILES: usize = 7;

/// Targets that log whole messages below the level `info`, including keys and tokens.
const SECRET_LOGGING_TARGET: &str = "tungstenite";

/// A writer that redacts each line. Expects whole lines.
struct RedactingWriter<W>(W);

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // `fmt` formats an event into one buffer and writes it with one call, so a secret is never split.
        self.0.write_all(redact::log_line(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes one log file per day, and recreates the log directory when it was deleted.
struct DailyLogWriter {
    directory: PathBuf,
    appender: RollingFileAppender,
}

impl Write for DailyLogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // The appender would recreate the directory readable by other users.
        if !self.directory.exists() {
            create_private_dir(&self.directory)?;
        }
        self.appender.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.appender.flush()
    }
}

/// Starts logging to `<directory>/loopgate.<day>.log`. Dropping the guard flushes buffered lines.
///
/// `LOOPGATE_LOG` sets the filter of the file, for example `info,loopgate_runtime=debug`. Targets that log
/// secrets are excluded from debug output regardless.
pub fn start(directory: &Path, format: LogFormat) -> anyhow::Result<WorkerGuard> {
    create_private_dir(directory)?;
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("loopgate")
        .filename_suffix("log")
        .max_log_files(MAX_LOG_FILES)
        .build(directory)?;
    let daily = RedactingWriter(DailyLogWriter { directory: directory.to_owned(), appender });
    let (file, guard) = NonBlockingBuilder::default().buffered_lines_limit(BUFFERED_LINES).finish(daily);
    let filter = EnvFilter::try_from_env("LOOPGATE_LOG").unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn"));
    let without_secrets =
        filter_fn(|line| *line.level() <= Level::INFO || !line.target().contains(SECRET_LOGGING_TARGET));
    let filter = filter.and(without_secrets);
    let terminal = || RedactingWriter(io::stderr());
    let has_colors = io::stderr().is_terminal();
    let (to_file, to_terminal): (
        Box<dyn Layer<Registry> + Send + Sync>,
        Box<dyn Layer<Registry> + Send + Sync>,
    ) = match format {
        LogFormat::Text => (
            without_internal_errors(fmt::layer())
                .with_writer(file)
                .with_ansi(false)
                .with_filter(filter)
                .boxed(),
            without_internal_errors(fmt::layer())
                .with_writer(terminal)
                .with_ansi(has_colors)
                .with_target(false)
                .with_filter(LevelFilter::WARN)
                .boxed(),
        ),
        LogFormat::Json => (
            without_internal_errors(fmt::layer()).json().with_writer(file).with_filter(filter).boxed(),
            without_internal_errors(fmt::layer())
                .json()
                .with_writer(terminal)
                .with_filter(LevelFilter::WARN)
                .boxed(),
        ),
    };
    tracing_subscriber::registry().with(vec![to_file, to_terminal]).init();
    Ok(guard)
}

/// Disables error reports of a layer. `fmt` would print them with `eprintln!`, which panics when standard
/// error is a file on a full disk.
fn without_internal_errors<S>(layer: fmt::Layer<S>) -> fmt::Layer<S> {
    layer.log_internal_errors(false)
}
