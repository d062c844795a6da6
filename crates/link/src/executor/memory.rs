//! Which commands were started, remembered beyond the end of the program.
//!
//! A command that is sent again after a restart must not run twice: what is remembered as started
//! is answered as interrupted, what is remembered as finished is answered with its last events.
//! The start of a loop is the exception: the loop's id guards it, so it is asked for again.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use loopgate_api::link::CommandEvent;
use loopgate_home::files::write_private;
use serde::{Deserialize, Serialize};

/// How long a command is remembered.
const RETENTION: SignedDuration = SignedDuration::from_hours(24);
/// Lines in the file beyond the remembered commands before it is written anew.
const MAX_STALE_LINES: usize = 1000;
/// Bytes of events that are remembered with one finished command.
pub(crate) const MAX_REMEMBERED_BYTES: usize = 256 * 1024;

/// What is known of a command from an earlier life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum Remembered {
    /// It was started; nothing says that it ended.
    Started,
    /// It ended; these are the events that the server had not confirmed then, unless they were
    /// too large.
    Finished {
        /// In order; the last one ends the command.
        events: Vec<CommandEvent>,
    },
}

/// Where commands are remembered.
pub trait CommandMemory: Send + Sync + 'static {
    /// What is known of a command.
    fn recall(&self, command_id: &str) -> Option<Remembered>;

    /// Stores what is known of a command, and returns when it is safe.
    fn remember(&self, command_id: String, what: Remembered) -> BoxFuture<'_, io::Result<()>>;
}

/// Remembers until the program ends.
#[derive(Default)]
pub struct VolatileMemory(Mutex<HashMap<String, Remembered>>);

impl CommandMemory for VolatileMemory {
    fn recall(&self, command_id: &str) -> Option<Remembered> {
        lock(&self.0).get(command_id).cloned()
    }

    fn remember(&self, command_id: String, what: Remembered) -> BoxFuture<'_, io::Result<()>> {
        lock(&self.0).insert(command_id, what);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// One line of the file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    command_id: String,
    at: Timestamp,
    #[serde(flatten)]
    what: Remembered,
}

struct Book {
    path: PathBuf,
    commands: HashMap<String, Line>,
    lines: usize,
}

/// Remembers in a file of JSON lines: appended to, and written anew when most of it is stale.
pub struct FileMemory(Arc<Mutex<Book>>);

impl FileMemory {
    /// Reads the file, when there is one. Lines that cannot be read, such as the half-written last
    /// one of a crash, are skipped. Blocks: call it while the program starts.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(path: &Path) -> io::Result<Self> {
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut book = Book { path: path.to_owned(), commands: HashMap::new(), lines: 0 };
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            book.commands.insert(line.command_id.clone(), line);
        }
        // Also ends a half-written line.
        book.compact()?;
        Ok(Self(Arc::new(Mutex::new(book))))
    }
}

impl CommandMemory for FileMemory {
    fn recall(&self, command_id: &str) -> Option<Remembered> {
        let book = lock(&self.0);
        let line = book.commands.get(command_id)?;
        (!line.is_old(Timestamp::now())).then(|| line.what.clone())
    }

    fn remember(&self, command_id: String, what: Remembered) -> BoxFuture<'_, io::Result<()>> {
        let book = Arc::clone(&self.0);
        Box::pin(async move {
            let line = Line { command_id, at: Timestamp::now(), what };
            tokio::task::spawn_blocking(move || lock(&book).add(line)).await.map_err(io::Error::other)?
        })
    }
}

impl Line {
    fn is_old(&self, now: Timestamp) -> bool {
        now.duration_since(self.at) > RETENTION
    }
}

impl Book {
    fn add(&mut self, line: Line) -> io::Result<()> {
        use std::io::Write as _;
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        self.commands.insert(line.command_id.clone(), line);
        if self.lines > self.commands.len() + MAX_STALE_LINES {
            return self.compact();
        }
        let mut file = std::fs::OpenOptions::new().append(true).open(&self.path)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        self.lines += 1;
        Ok(())
    }

    fn compact(&mut self) -> io::Result<()> {
        let now = Timestamp::now();
        self.commands.retain(|_, line| !line.is_old(now));
        let mut text = String::new();
        for line in self.commands.values() {
            text.push_str(&serde_json::to_string(line)?);
            text.push('\n');
        }
        write_private(&self.path, text.as_bytes())?;
        self.lines = self.commands.len();
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use loopgate_api::link::EventType;
    use serde_json::json;

    use super::*;

    fn finished() -> Remembered {
        let event = CommandEvent {
            command_id: "b".into(),
            sequence: 3,
            event_type: EventType::Done,
            data: json!({"type": "done"}),
        };
        Remembered::Finished { events: vec![event] }
    }

    #[tokio::test]
    async fn commands_survive_a_restart_and_a_torn_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("commands.jsonl");
        let memory = FileMemory::open(&path).unwrap();
        memory.remember("a".into(), Remembered::Started).await.unwrap();
        memory.remember("b".into(), Remembered::Started).await.unwrap();
        memory.remember("b".into(), finished()).await.unwrap();
        drop(memory);
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"commandId\":\"c\",\"at");
        std::fs::write(&path, text).unwrap();

        let memory = FileMemory::open(&path).unwrap();
        assert_eq!(memory.recall("a"), Some(Remembered::Started));
        assert_eq!(memory.recall("b"), Some(finished()));
        assert_eq!(memory.recall("c"), None);
        memory.remember("c".into(), Remembered::Started).await.unwrap();
        assert_eq!(FileMemory::open(&path).unwrap().recall("c"), Some(Remembered::Started));
    }

    #[tokio::test]
    async fn what_is_old_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("commands.jsonl");
        let at = Timestamp::now() - SignedDuration::from_hours(25);
        let line = Line { command_id: "a".into(), at, what: Remembered::Started };
        std::fs::write(&path, serde_json::to_string(&line).unwrap()).unwrap();
        assert_eq!(FileMemory::open(&path).unwrap().recall("a"), None);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
    }

    #[tokio::test]
    async fn the_file_stays_small() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("commands.jsonl");
        let memory = FileMemory::open(&path).unwrap();
        for _ in 0..MAX_STALE_LINES + 10 {
            memory.remember("a".into(), Remembered::Started).await.unwrap();
        }
        assert!(std::fs::read_to_string(&path).unwrap().lines().count() < 20);
    }
}
