//! Files that a program writes, and that are not read line by line: lock files of dependencies, and generated code.

use std::path::Path;
use std::sync::Arc;

use loopgate_home::Repository;

use super::outgoing::listing;
use super::{Git, GitError};
use crate::process::Stdin;

/// Names of lock files.
const LOCK_FILES: [&str; 21] = [
    "Cargo.lock",
    "Gemfile.lock",
    "Package.resolved",
    "Pipfile.lock",
    "Podfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "deno.lock",
    "flake.lock",
    "go.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "uv.lock",
    "yarn.lock",
];
/// Ends of the names of generated files.
const GENERATED_ENDS: [&str; 9] =
    [".min.js", ".min.css", ".js.map", ".css.map", ".pb.go", "_pb2.py", ".g.dart", ".snap", ".designer.cs"];
const ATTRIBUTE: &str = "linguist-generated";

/// Why a file is not read line by line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratedKind {
    /// Versions of dependencies.
    LockFile,
    /// Other output of a program.
    Generated,
}

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
    let path = String::from_utf8_lossy(path);
    let name = Path::new(path.as_ref()).file_name()?.to_str()?;
    if LOCK_FILES.contains(&name) {
        return Some(GeneratedKind::LockFile);
    }
    GENERATED_ENDS.iter().any(|end| name.ends_with(end)).then_some(GeneratedKind::Generated)
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
