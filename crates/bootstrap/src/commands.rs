//! Commands that build, test and check a project, for its root and for directories with a manifest of their own. The
//! commands are fixed texts, or call a script that a manifest names.

use std::collections::BTreeSet;
use std::path::Path;

use loopgate_evidence::test_command;
use loopgate_home::ProjectFiles;
use serde::Serialize;

use crate::scan::RepositoryScan;

/// Deepest directory whose manifest is considered, in components.
const MAX_DEPTH: usize = 2;
/// Maximum number of commands.
const MAX_COMMANDS: usize = 20;
const MANIFESTS: [&str; 7] =
    ["Cargo.toml", "Makefile", "go.mod", "package.json", "pyproject.toml", "requirements.txt", "setup.py"];
/// Scripts of `package.json` and their purposes.
const SCRIPTS: [(&str, CommandPurpose); 5] = [
    ("build", CommandPurpose::Build),
    ("lint", CommandPurpose::Check),
    ("typecheck", CommandPurpose::Check),
    ("check", CommandPurpose::Check),
    ("format", CommandPurpose::Check),
];

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandPurpose {
    /// Runs the tests.
    Test,
    /// Builds the project.
    Build,
    /// Checks the sources, for instance their format.
    Check,
}

/// A command of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectCommand {
    /// What it is for.
    pub purpose: CommandPurpose,
    /// Shell command.
    pub command: String,
    /// Directory relative to the root; empty for the root.
    pub directory: String,
    /// Which file led to it.
    pub reason: String,
}

impl ProjectCommand {
    /// Returns the command with its directory, for people.
    #[must_use]
    pub fn description(&self) -> String {
        let place =
            if self.directory.is_empty() { String::new() } else { format!(" in `{}`", self.directory) };
        format!("`{}`{place}", self.command)
    }
}

/// Detects the commands of a repository. Blocks on disk I/O.
#[must_use]
pub fn project_commands(scan: &RepositoryScan) -> Vec<ProjectCommand> {
    let manifests = scan.files().iter().filter_map(|file| {
        let (directory, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let depth = directory.split('/').filter(|part| !part.is_empty()).count();
        (MANIFESTS.contains(&name) && depth <= MAX_DEPTH).then_some(directory)
    });
    let directories: BTreeSet<&str> = manifests.chain([""]).collect();
    let mut found: Vec<ProjectCommand> = Vec::new();
    // A member of a Cargo workspace has the commands of the workspace.
    let is_workspace = scan.text("Cargo.toml").is_some_and(|text| text.contains("[workspace]"));
    for directory in directories {
        let tree;
        let files = if directory.is_empty() {
            ProjectFiles::new(scan.tree())
        } else {
            let Ok(opened) = scan.tree().directory(Path::new(directory)) else { continue };
            tree = opened;
            ProjectFiles::new(&tree)
        };
        let is_member = is_workspace && !directory.is_empty() && files.has("Cargo.toml");
        if is_member && !files.has("package.json") {
            continue;
        }
        found.extend(of_directory(scan, directory, &files));
    }
    found.truncate(MAX_COMMANDS);
    found
}

fn of_directory(scan: &RepositoryScan, directory: &str, files: &ProjectFiles<'_>) -> Vec<ProjectCommand> {
    let new = |purpose, command: &str, reason: &str| ProjectCommand {
        purpose,
        command: command.to_owned(),
        directory: directory.to_owned(),
        reason: reason.to_owned(),
    };
    let mut found = Vec::new();
    let test = if directory.is_empty() {
        test_command(scan.tree())
    } else {
        scan.tree().directory(Path::new(directory)).ok().and_then(|tree| test_command(&tree))
    };
    if let Some(test) = test {
        found.push(new(CommandPurpose::Test, &test.command, &test.reason));
    }
    if files.has("Cargo.toml") {
        found.push(new(CommandPurpose::Build, "cargo build --workspace", "Cargo.toml found"));
    }
    if files.has("go.mod") {
        found.push(new(CommandPurpose::Build, "go build ./...", "go.mod found"));
    }
    let runner = match files.package_lock() {
        Some((_, "bun")) => "bun run",
        Some((_, "pnpm")) => "pnpm",
        Some((_, "yarn")) => "yarn",
        _ => "npm run",
    };
    for (script, purpose) in SCRIPTS {
        if files.package_script(script).is_some() {
            let reason = format!("package.json has a `{script}` script");
            found.push(new(purpose, &format!("{runner} {script}"), &reason));
        }
    }
    for (targets, purpose) in
        [(["build", "all"], CommandPurpose::Build), (["lint", "fmt"], CommandPurpose::Check)]
    {
        if let Some(target) = files.make_target(&targets) {
            let reason = format!("Makefile has the target `{target}`");
            found.push(new(purpose, &format!("make {target}"), &reason));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::tests::scan;

    fn commands(files: &[(&str, &str)]) -> Vec<String> {
        let fixture = scan(files);
        project_commands(&fixture.scan).iter().map(ProjectCommand::description).collect()
    }

    #[test]
    fn commands_of_the_root_and_of_directories() {
        let script = r#"{"scripts": {"test": "vitest", "build": "vite build", "lint": "eslint ."}}"#;
        assert_eq!(
            commands(&[
                ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]"),
                ("crates/a/Cargo.toml", "[package]"),
                ("web/package.json", script),
                ("web/pnpm-lock.yaml", ""),
                ("a/b/c/package.json", script),
            ]),
            [
                "`cargo test --workspace --no-fail-fast`",
                "`cargo build --workspace`",
                "`pnpm test` in `web`",
                "`pnpm build` in `web`",
                "`pnpm lint` in `web`",
            ]
        );
        assert_eq!(
            commands(&[("go.mod", ""), ("Makefile", "build:\n\tgo build\n")]),
            ["`go test ./...`", "`go build ./...`", "`make build`"]
        );
        assert!(commands(&[("README.md", "")]).is_empty());
    }
}
