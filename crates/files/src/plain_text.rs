//! Failures of the file system in words for a person.

use std::io;

/// What an error says, without paths and numbers.
#[must_use]
pub fn plain_text(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "not found".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        io::ErrorKind::StorageFull => "no space left".to_owned(),
        _ if loopgate_home::led_away(error) => "the path changed meanwhile".to_owned(),
        _ => "it could not be read".to_owned(),
    }
}
