//! A machine for a single test: a home directory, a login shell, and a directory for fake programs.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Overrides, Sandbox, SettingsStore, TrustStore};
use loopgate_tools::git::Git;
use loopgate_tools::login_path::LoginPath;
use loopgate_tools::programs::Programs;

pub struct Machine {
    directory: tempfile::TempDir,
    data: tempfile::TempDir,
    pub programs: Arc<Programs>,
    /// Sandbox with the whole machine as its base directory.
    pub sandbox: Arc<Sandbox>,
}

impl Machine {
    pub fn new(variables: &[(&str, &str)]) -> Self {
        let (directory, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
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
        settings.update(|settings| settings.sandbox_base_directory = Some(root.clone())).unwrap();
        let settings = Arc::new(settings);
        let sandbox = Arc::new(Sandbox::new(settings.clone(), data.path()));
        let programs = Programs::with_login_path(settings, LoginPath::new(shell, environment));
        Self { directory, data, programs: Arc::new(programs), sandbox }
    }

    /// Trusts the executable content of the repository that contains a directory.
    pub async fn trust(&self, git: &Git, directory: &Path) {
        let brought = git.executable_content(directory).await.unwrap();
        TrustStore::new(self.data.path()).trust(&brought.clone, brought.entries()).unwrap();
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
