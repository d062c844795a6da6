//! User-facing messages for file system errors.

use std::io;

/// Describes an error without paths and error numbers.
#[must_use]
pub fn plain_text(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "not found".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        io::ErrorKind::StorageFull => "no space left".to_owned(),
        _ if loopgate_home::escaped_via_symlink(error) => {
            "a component of the path is a symbolic link".to_owned()
        }
        _ => "the file could not be accessed".to_owned(),
    }
}
