//! A machine for one test: a home of its own, a login shell, and whatever programs are installed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Overrides, SettingsStore};
use loopgate_tools::login_path::LoginPath;
use loopgate_tools::programs::Programs;

pub struct Machine {
    directory: tempfile::TempDir,
    pub programs: Arc<Programs>,
}

impl Machine {
    pub fn new(variables: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("home")).unwrap();
        let shell = root.join("shell");
        let path = std::env::var("PATH").unwrap();
        write_script(&shell, &format!("echo '{}:{path}'", root.join("bin").display()));
        let mut environment: BTreeMap<OsString, OsString> = BTreeMap::new();
        environment.insert("HOME".into(), root.join("home").into());
        environment.insert("GIT_CONFIG_NOSYSTEM".into(), "1".into());
        for (name, value) in variables {
            environment.insert(name.into(), value.into());
        }
        let settings = SettingsStore::open(&root.join("settings.toml"), Overrides::default()).unwrap();
        let programs = Programs::with_login_path(Arc::new(settings), LoginPath::new(shell, environment));
        Self { directory, programs: Arc::new(programs) }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }
}

pub fn write_script(path: &Path, lines: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
