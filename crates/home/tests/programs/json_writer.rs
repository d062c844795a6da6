//! Appends entries to the list of a JSON file, as one of several concurrent processes. With a limit, no file
//! of this process may exceed that many bytes: writing more terminates the process with `SIGXFSZ`, or fails
//! when that signal is ignored.
//!
//! Usage: `loopgate-json-writer FILE ENTRY COUNT [LIMIT]`. Exits with 1 when an entry could not be appended.

use std::error::Error;
use std::process::ExitCode;

use loopgate_home::{JsonFile, JsonFileError};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::{Map, Value};

fn main() -> ExitCode {
    match append() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn append() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().ok_or("FILE ENTRY COUNT [LIMIT]");
    let (path, entry, count) = (next()?, next()?, next()?.parse::<usize>()?);
    if let Ok(limit) = next() {
        let limit = Some(limit.parse()?);
        setrlimit(Resource::Fsize, Rlimit { current: limit, maximum: limit })?;
        // `SIGXFSZ` dumps core by default.
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    }
    let file = JsonFile::<Map<String, Value>>::in_working_tree(path.into());
    for _ in 0..count {
        file.update(|document| {
            let list =
                document.get_or_insert_default().entry("list").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(Value::String(entry.clone()));
            }
            Ok::<_, JsonFileError>(())
        })?;
    }
    Ok(())
}
