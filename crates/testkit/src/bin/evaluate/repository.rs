//! The repositories that the tasks change, made anew for each task.

use std::path::{Path, PathBuf};

use crate::command::{git, run};

/// One of the repositories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repository {
    /// A package in Python.
    Ledger,
    /// A program in Python.
    Textkit,
    /// Shell scripts.
    Backup,
}

macro_rules! files {
    ($folder:literal: $($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../../evaluation/", $folder, "/", $path)))),+]
    };
}

impl Repository {
    /// Its name.
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

    /// Whether a path is one of a test.
    pub fn is_test(self, path: &str) -> bool {
        match self {
            Self::Ledger => path.starts_with("tests/"),
            Self::Textkit => path.starts_with("test_"),
            Self::Backup => path.starts_with("test/"),
        }
    }

    /// Makes it, with one commit.
    ///
    /// # Errors
    /// When a file cannot be written, or git fails.
    pub fn create(self, parent: &Path) -> anyhow::Result<PathBuf> {
        let root = parent.join(self.name());
        self.write(&root, |_| true)?;
        std::fs::write(root.join(".gitignore"), "__pycache__/\n")?;
        git(&["init", "-q", "-b", "main"], &root)?;
        git(&["add", "."], &root)?;
        git(&["commit", "-qm", "Begin"], &root)?;
        Ok(root)
    }

    /// Puts its own tests in the place of those of a directory.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn restore_tests(self, root: &Path) -> anyhow::Result<()> {
        self.write(root, |path| self.is_test(path))
    }

    fn write(self, root: &Path, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
        for (path, text) in self.files().iter().filter(|(path, _)| wanted(path)) {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(root))?;
            std::fs::write(path, text)?;
        }
        Ok(())
    }

    /// Whether the tests of a directory pass.
    ///
    /// # Errors
    /// When they cannot be started.
    pub fn tests_pass(self, root: &Path) -> anyhow::Result<bool> {
        let (program, args): (_, &[&str]) = match self {
            Self::Ledger => ("python3", &["-m", "unittest", "discover", "-s", "tests", "-t", "."]),
            Self::Textkit => ("python3", &["-m", "unittest"]),
            Self::Backup => ("sh", &["test/run.sh"]),
        };
        Ok(run(program, args, root)?.is_success)
    }
}
