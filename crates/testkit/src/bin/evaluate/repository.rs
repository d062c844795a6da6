//! Sample repositories of the tasks. Each task gets a new copy.

use std::path::{Path, PathBuf};

use crate::command::{git, run};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleRepository {
    /// A library package in Python.
    Ledger,
    /// A command-line program in Python.
    Textkit,
    /// A set of shell scripts.
    Backup,
}

macro_rules! files {
    ($folder:literal: $($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../../evaluation/", $folder, "/", $path)))),+]
    };
}

impl SampleRepository {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Textkit => "textkit",
            Self::Backup => "backup",
        }
    }

    const fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Ledger => {
                files!("ledger": "README.md", "ledger/__init__.py", "ledger/money.py", "ledger/entries.py",
                "tests/__init__.py", "tests/test_money.py", "tests/test_entries.py")
            }
            Self::Textkit => files!("textkit": "README.md", "textkit.py", "test_textkit.py"),
            Self::Backup => files!("backup": "README.md", "bin/backup.sh", "lib/names.sh", "test/run.sh"),
        }
    }

    /// Returns whether a path belongs to the tests.
    pub fn is_test(self, path: &str) -> bool {
        match self {
            Self::Ledger => path.starts_with("tests/"),
            Self::Textkit => path.starts_with("test_"),
            Self::Backup => path.starts_with("test/"),
        }
    }

    /// Creates the repository with one commit.
    pub fn create(self, parent: &Path) -> anyhow::Result<PathBuf> {
        let root = parent.join(self.name());
        self.write(&root, |_| true)?;
        // Without it, compiled files would be reported as changes of the assistant.
        std::fs::write(root.join(".gitignore"), "__pycache__/\n")?;
        git(&["init", "-q", "-b", "main"], &root)?;
        git(&["add", "."], &root)?;
        git(&["commit", "-qm", "Begin"], &root)?;
        Ok(root)
    }

    /// Replaces tests in a directory by the original ones.
    pub fn restore_tests(self, root: &Path) -> anyhow::Result<()> {
        self.write(root, |path| self.is_test(path))
    }

    fn write(self, root: &Path, predicate: impl Fn(&str) -> bool) -> anyhow::Result<()> {
        for (path, text) in self.files().iter().filter(|(path, _)| predicate(path)) {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(root))?;
            std::fs::write(path, text)?;
        }
        Ok(())
    }

    /// Runs the tests of a directory. Returns whether they pass.
    pub fn tests_pass(self, root: &Path) -> anyhow::Result<bool> {
        let (program, args): (_, &[&str]) = match self {
            Self::Ledger => ("python3", &["-m", "unittest", "discover", "-s", "tests", "-t", "."]),
            Self::Textkit => ("python3", &["-m", "unittest"]),
            Self::Backup => ("sh", &["test/run.sh"]),
        };
        Ok(run(program, args, root)?.is_success)
    }
}
