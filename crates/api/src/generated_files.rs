//! Files that a program writes and that people do not read line by line, by their names.

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

/// Why a file is not read line by line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratedKind {
    /// Versions of dependencies.
    LockFile,
    /// Other output of a program.
    Generated,
}

/// Returns whether a path has the name of a generated file.
#[must_use]
pub fn generated_kind(path: &str) -> Option<GeneratedKind> {
    let name = path.rsplit('/').next()?;
    if LOCK_FILES.contains(&name) {
        return Some(GeneratedKind::LockFile);
    }
    GENERATED_ENDS.iter().any(|end| name.ends_with(end)).then_some(GeneratedKind::Generated)
}
