//! Files that a program writes, and that are not read line by line: lock files of dependencies, and generated code.

use std::sync::Arc;

pub use loopgate_api::generated_files::GeneratedKind;
use loopgate_api::generated_files::generated_kind;
use loopgate_home::Repository;

use super::outgoing::listing;
use super::{Git, GitError};
use crate::process::Stdin;

const ATTRIBUTE: &str = "linguist-generated";

impl Git {
    /// Returns for each path whether it is generated: as `.gitattributes` states it, else by its name.
    pub(super) async fn generated_kinds(
        &self,
        repository: &Arc<Repository>,
        paths: &[&[u8]],
    ) -> Result<Vec<Option<GeneratedKind>>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let input = paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
        let command = self.reader_of(repository).await?.args(["check-attr", "-z", "--stdin", ATTRIBUTE]);
        let printed = listing(command.stdin(Stdin::Bytes(input)), "check-attr").await?;
        // Path, attribute and value, each terminated by NUL.
        let values = printed.split(|byte| *byte == 0).skip(2).step_by(3);
        Ok(paths.iter().zip(values).map(|(path, value)| kind(path, value)).collect())
    }
}

fn kind(path: &[u8], attribute: &[u8]) -> Option<GeneratedKind> {
    match attribute {
        b"set" | b"true" => return by_name(path).or(Some(GeneratedKind::Generated)),
        b"unset" | b"false" => return None,
        _ => {}
    }
    by_name(path)
}

fn by_name(path: &[u8]) -> Option<GeneratedKind> {
    generated_kind(&String::from_utf8_lossy(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_takes_precedence_over_the_name() {
        let of = |path: &str, value: &str| kind(path.as_bytes(), value.as_bytes());
        assert_eq!(of("web/package-lock.json", "unspecified"), Some(GeneratedKind::LockFile));
        assert_eq!(of("package-lock.json", "unset"), None);
        assert_eq!(of("package-lock.json", "false"), None);
        assert_eq!(of("src/api.ts", "set"), Some(GeneratedKind::Generated));
        assert_eq!(of("src/api.ts", "true"), Some(GeneratedKind::Generated));
        assert_eq!(of("src/api.ts", "unspecified"), None);
        assert_eq!(of("dist/app.min.js", "unspecified"), Some(GeneratedKind::Generated));
    }
}
