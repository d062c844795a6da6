//! JSON files that hold a list, and that other programs in the sandbox read and write too.
//!
//! A change reads the newest content under a lock that all Loopgates of the sandbox share, and replaces
//! the file in one step; what it does not know stays in it. Other programs may write in place, so text
//! that is not JSON is read again until it has been there for a while. Only then is it malformed, and only
//! what is malformed is moved out of the way. A file that cannot be read is never replaced.

use std::io::{self, Read as _};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Map, Value};

use crate::sandbox::Kind;
use crate::untrusted;

/// How long another program may take between emptying a file and writing the whole of it.
const WRITE_TIME: Duration = Duration::from_secs(1);
/// Pause between two reads of a file that is being written.
const READ_PAUSE: Duration = Duration::from_millis(10);

/// What a file says.
#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    /// Nothing has its name.
    Missing,
    /// What has its name is no such document: other text, more than [`untrusted::MAX_DOCUMENT`] bytes, a
    /// link, a pipe.
    Malformed,
    /// The members of its object.
    Document(Map<String, Value>),
}

/// Reads a file. Waits for a writer that is in the middle of it.
///
/// # Errors
/// Any failure of the file system; nothing is known of the content then.
#[expect(
    clippy::disallowed_methods,
    reason = "a program that writes in place gives no signal when it is done"
)]
pub(crate) fn read(path: &Path) -> io::Result<Content> {
    let begun = Instant::now();
    loop {
        match read_once(path)? {
            Look::Content(content) => return Ok(content),
            Look::NoJson { written } if is_recent(written) && begun.elapsed() < WRITE_TIME => {
                std::thread::sleep(READ_PAUSE);
            }
            Look::NoJson { .. } => return Ok(Content::Malformed),
        }
    }
}

/// Changes the list and the other members of a file, and stores them if they are others then. A malformed
/// file counts as empty, and is moved aside before it is replaced.
///
/// # Errors
/// `TimedOut` when another program holds the lock, else as [`read`]; the file is then unchanged.
pub(crate) fn change<T>(
    path: &Path,
    list: &str,
    change: impl FnOnce(&mut Vec<Value>, &mut Map<String, Value>) -> T,
) -> io::Result<T> {
    change_locked(path, list, change).map_err(|error| explain(path, error))
}

fn change_locked<T>(
    path: &Path,
    list: &str,
    change: impl FnOnce(&mut Vec<Value>, &mut Map<String, Value>) -> T,
) -> io::Result<T> {
    let _lock = untrusted::lock(&path.with_extension("lock"))?;
    let content = read(path)?;
    let (mut others, is_malformed) = match content {
        Content::Missing => (Map::new(), false),
        Content::Malformed => (Map::new(), true),
        Content::Document(members) => match members.get(list) {
            None | Some(Value::Null | Value::Array(_)) => (members, false),
            Some(_) => (Map::new(), true),
        },
    };
    // The list keeps its place among the members.
    let before = match others.entry(list).or_insert_with(|| Value::Array(Vec::new())).take() {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    };
    let (mut entries, others_before) = (before.clone(), others.clone());
    let result = change(&mut entries, &mut others);
    if entries != before || others != others_before {
        if is_malformed {
            move_aside(path)?;
        }
        others.insert(list.to_owned(), Value::Array(entries));
        untrusted::write(path, &serde_json::to_vec_pretty(&others)?)?;
    }
    Ok(result)
}

/// Puts the document in the place of a file that is missing or malformed, under the lock of the changes;
/// answers what the file says then, which is another one's when that was faster.
///
/// # Errors
/// As [`change`].
pub(crate) fn begin(path: &Path, document: Map<String, Value>) -> io::Result<Map<String, Value>> {
    let begun = || {
        let _lock = untrusted::lock(&path.with_extension("lock"))?;
        match read(path)? {
            Content::Document(members) => return Ok(members),
            Content::Malformed => move_aside(path)?,
            Content::Missing => {}
        }
        untrusted::write(path, &serde_json::to_vec_pretty(&document)?)?;
        Ok(document)
    };
    begun().map_err(|error| explain(path, error))
}

/// Says what a link in the way means.
pub(crate) fn explain(path: &Path, error: io::Error) -> io::Error {
    if crate::sandbox::led_away(&error) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return io::Error::other(format!("{name} is behind a symbolic link, which is not followed"));
    }
    error
}

/// What one look at a file found.
enum Look {
    Content(Content),
    /// Text that cannot be parsed, and when it was written.
    NoJson {
        written: SystemTime,
    },
}

fn read_once(path: &Path) -> io::Result<Look> {
    let file = match untrusted::open(path) {
        Ok(file) => file,
        Err(failure) => {
            return match untrusted::kind(path) {
                None if failure.kind() == io::ErrorKind::NotFound => Ok(Look::Content(Content::Missing)),
                Some(Kind::Link | Kind::Other) => Ok(Look::Content(Content::Malformed)),
                // Nobody mistakes one for a file that may be begun anew.
                Some(Kind::Directory) => Err(io::ErrorKind::IsADirectory.into()),
                None | Some(Kind::File) => Err(failure),
            };
        }
    };
    let written = file.metadata()?.modified()?;
    let mut text = Vec::new();
    file.take(untrusted::MAX_DOCUMENT + 1).read_to_end(&mut text)?;
    if text.len() as u64 > untrusted::MAX_DOCUMENT {
        return Ok(Look::Content(Content::Malformed));
    }
    Ok(match serde_json::from_slice(&text) {
        Ok(Value::Object(members)) => Look::Content(Content::Document(members)),
        Ok(_) => Look::Content(Content::Malformed),
        Err(_) => Look::NoJson { written },
    })
}

/// A time in the future counts as recent: the clock was set back.
fn is_recent(written: SystemTime) -> bool {
    !written.elapsed().is_ok_and(|age| age >= WRITE_TIME)
}

fn move_aside(path: &Path) -> io::Result<()> {
    let aside = untrusted::set_aside(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    tracing::warn!(moved_to = %aside.display(), "{name} could not be read and was moved aside");
    Ok(())
}

#[cfg(test)]
mod tests;
