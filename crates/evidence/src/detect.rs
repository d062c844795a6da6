//! Detection of the command that runs a project's tests, from the files in its root directory.
//!
//! Commands are fixed texts: no file content becomes part of a command.

use loopgate_home::{Directory, ProjectFiles};
use serde::{Deserialize, Serialize};

// `npm init` writes a `test` script with this text for packages without tests.
const NO_TESTS: &str = "no test specified";
// Files that configure or require pytest, and a text that they must contain; an empty text matches any
// content.
const PYTEST_SIGNS: [(&str, &str); 8] = [
    ("pytest.ini", ""),
    ("conftest.py", ""),
    ("pyproject.toml", "pytest"),
    ("setup.cfg", "[tool:pytest]"),
    ("tox.ini", "[pytest]"),
    ("requirements.txt", "pytest"),
    ("requirements-dev.txt", "pytest"),
    ("dev-requirements.txt", "pytest"),
];

/// The command that runs a project's tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestCommand {
    /// Shell command, run in the root of the tree.
    pub command: String,
    /// Which file led to the command, for the user.
    pub reason: String,
    /// What the command runs according to the repository: the text of the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
}

impl TestCommand {
    fn new(command: &str, reason: &str) -> Self {
        Self { command: command.to_owned(), reason: reason.to_owned(), definition: None }
    }
}

/// Returns the command that runs the tests of a working tree; the most specific project file wins. Performs
/// blocking I/O.
#[must_use]
pub fn test_command(tree: &Directory) -> Option<TestCommand> {
    let files = ProjectFiles::new(tree);
    let detectors: [fn(&ProjectFiles<'_>) -> Option<TestCommand>; 5] = [node, python, cargo, go, make];
    detectors.into_iter().find_map(|detect| detect(&files))
}

fn node(files: &ProjectFiles<'_>) -> Option<TestCommand> {
    let script = files.package_script("test").filter(|script| !script.contains(NO_TESTS))?;
    let command = match files.package_lock() {
        Some((_, "bun")) => "bun run test",
        Some((_, "pnpm")) => "pnpm test",
        Some((_, "yarn")) => "yarn test",
        _ => "npm test",
    };
    let test = TestCommand::new(command, "package.json has a `test` script");
    Some(TestCommand { definition: Some(script), ..test })
}

fn python(files: &ProjectFiles<'_>) -> Option<TestCommand> {
    let sign = PYTEST_SIGNS.into_iter().find(|(name, words)| match *words {
        "" => files.has(name),
        words => files.text(name).is_some_and(|text| text.contains(words)),
    });
    if let Some((name, _)) = sign {
        return Some(TestCommand::new("python3 -m pytest", &format!("{name} indicates pytest")));
    }
    let has_tests = |directory: &str| {
        let is_test = |name: &String| name.starts_with("test") && name.ends_with(".py");
        files.names_in(directory).iter().any(is_test)
    };
    let command = if has_tests("") {
        "python3 -m unittest discover"
    } else if !has_tests("tests") {
        return None;
    } else if files.has("tests/__init__.py") {
        // Without `-t .` a `tests` package would be imported as the top level, and its relative imports would
        // fail.
        "python3 -m unittest discover -s tests -t ."
    } else {
        "python3 -m unittest discover -s tests"
    };
    Some(TestCommand::new(command, "Python test files found"))
}

fn cargo(files: &ProjectFiles<'_>) -> Option<TestCommand> {
    if !files.has("Cargo.toml") {
        return None;
    }
    // `--no-fail-fast`, because a comparison needs the results of all tests.
    Some(if files.has(".config/nextest.toml") {
        TestCommand::new(
            "cargo nextest run --workspace --no-fail-fast",
            ".config/nextest.toml configures nextest",
        )
    } else {
        TestCommand::new("cargo test --workspace --no-fail-fast", "Cargo.toml found")
    })
}

fn go(files: &ProjectFiles<'_>) -> Option<TestCommand> {
    files.has("go.mod").then(|| TestCommand::new("go test ./...", "go.mod found"))
}

fn make(files: &ProjectFiles<'_>) -> Option<TestCommand> {
    let target = files.make_target(&["test", "check"])?;
    Some(TestCommand::new(&format!("make {target}"), &format!("Makefile has the target `{target}`")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn detected(files: &[(&str, &str)]) -> Option<TestCommand> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
            std::fs::write(path, text).unwrap();
        }
        test_command(&Directory::of(dir.path()).unwrap())
    }

    #[test]
    fn command_is_detected_from_project_files() {
        let script = r#"{"scripts":{"test":"vitest run"}}"#;
        for (files, command) in [
            (&[("package.json", script)] as &[(&str, &str)], "npm test"),
            (&[("package.json", script), ("pnpm-lock.yaml", "")], "pnpm test"),
            (&[("package.json", script), ("yarn.lock", ""), ("Cargo.toml", "")], "yarn test"),
            (&[("package.json", script), ("bun.lock", "")], "bun run test"),
            (&[("Cargo.toml", ""), ("Makefile", "test:\n")], "cargo test --workspace --no-fail-fast"),
            (
                &[("Cargo.toml", ""), (".config/nextest.toml", "")],
                "cargo nextest run --workspace --no-fail-fast",
            ),
            (&[("go.mod", "")], "go test ./..."),
            (&[("pyproject.toml", "[tool.pytest.ini_options]")], "python3 -m pytest"),
            (&[("conftest.py", "")], "python3 -m pytest"),
            (&[("test_shop.py", "")], "python3 -m unittest discover"),
            (&[("tests/test_shop.py", "")], "python3 -m unittest discover -s tests"),
            (
                &[("tests/test_shop.py", ""), ("tests/__init__.py", "")],
                "python3 -m unittest discover -s tests -t .",
            ),
            (&[("Makefile", "all: check\ncheck:\n\ttrue\n")], "make check"),
        ] {
            assert_eq!(detected(files).map(|test| test.command).as_deref(), Some(command), "{files:?}");
        }
        assert_eq!(detected(&[("package.json", script)]).unwrap().definition.as_deref(), Some("vitest run"));
    }

    #[test]
    fn project_without_tests_has_no_command() {
        let none = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
        for files in [
            &[] as &[(&str, &str)],
            &[("package.json", none)],
            &[("package.json", "{")],
            &[("Makefile", "test := x\n")],
            &[("main.py", ""), ("requirements.txt", "flask")],
        ] {
            assert_eq!(detected(files), None, "{files:?}");
        }
    }
}
