//! A home directory of its own for the programs under test.
//!
//! It holds git's and the code-host CLI's settings, so that the real programs reach the bare
//! repositories and the code host here, and names the environment in which all five programs
//! work without an account. Nothing of the machine's own home is read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::code_host::CodeHost;
use crate::git::GitRemotes;
use crate::model::ModelServer;
use crate::programs;

/// A home directory. Clones share it; a throw-away one is removed with the last of them.
#[derive(Debug, Clone)]
pub struct UserHome {
    path: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    _temporary: Option<Arc<TempDir>>,
}

impl UserHome {
    /// A throw-away home in which no program reaches anything yet.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn temporary() -> anyhow::Result<Self> {
        let temporary = tempfile::Builder::new().prefix("loopgate-home-").tempdir()?;
        let mut home = Self::at(temporary.path())?;
        home._temporary = Some(Arc::new(temporary));
        Ok(home)
    }

    /// A home in a folder that stays.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn at(path: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(path.join("bin"))?;
        let path = path.canonicalize()?;
        let mut home = Self { path, environment: BTreeMap::new(), _temporary: None };
        home.write_base()?;
        Ok(home)
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Points git at the bare repositories: remotes keep the code host's URLs, and git runs the
    /// server's side of a fetch or push itself instead of logging in anywhere.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn reach_remotes(&mut self, remotes: &GitRemotes) -> anyhow::Result<&mut Self> {
        let root = remotes.root().display();
        let ssh = format!(
            "#!/bin/sh\n# Stands where ssh would log in to the code host; the last word is git's command.\n\
             for last; do :; done\ncd '{root}' && exec sh -c \"$last\"\n"
        );
        let path = self.script("code-host-ssh", &ssh)?;
        let config = format!(
            "[core]\n\tsshCommand = {}\n[url \"file://{root}/\"]\n\tinsteadOf = https://github.com/\n",
            path.display()
        );
        std::fs::write(self.path.join(".gitconfig-remotes"), config)?;
        Ok(self)
    }

    /// Points the code-host CLI at the host, logged in.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn reach_code_host(&mut self, host: &CodeHost) -> anyhow::Result<&mut Self> {
        let folder = self.path.join(".config/gh");
        std::fs::create_dir_all(&folder)?;
        let config =
            format!("git_protocol: ssh\nprompt: disabled\nhttp_unix_socket: {}\n", host.socket().display());
        std::fs::write(folder.join("config.yml"), config)?;
        let hosts =
            "github.com:\n    user: octo-dev\n    oauth_token: scripted-token\n    git_protocol: ssh\n";
        std::fs::write(folder.join("hosts.yml"), hosts)?;
        self.set("GH_CONFIG_DIR", &folder);
        self.set("GH_NO_UPDATE_NOTIFIER", "1");
        Ok(self)
    }

    /// Points the pinned assistant and reviewer at the model server.
    ///
    /// # Errors
    /// When a program is missing; the text says how to get it.
    pub fn reach_model(&mut self, model: &ModelServer) -> anyhow::Result<&mut Self> {
        self.link("claude", &programs::assistant()?)?;
        self.link("codex", &programs::reviewer()?)?;
        for (name, value) in [
            ("ANTHROPIC_BASE_URL", model.base_url().as_str()),
            ("ANTHROPIC_API_KEY", "test-key"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            // Root may skip permission questions only where the assistant knows it is boxed in.
            ("IS_SANDBOX", "1"),
            ("SCRIPTED_KEY", "test-key"),
        ] {
            self.set(name, value);
        }
        let folder = self.path.join(".codex");
        std::fs::create_dir_all(&folder)?;
        let config = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\n\
             name = \"scripted\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
            model.base_url()
        );
        std::fs::write(folder.join("config.toml"), config)?;
        self.set("CODEX_HOME", &folder);
        Ok(self)
    }

    /// Points the pinned agent of the Agent Client Protocol at the model server.
    ///
    /// # Errors
    /// When the program is missing; the text says how to get it.
    pub fn reach_model_by_acp(&mut self, model: &ModelServer) -> anyhow::Result<&mut Self> {
        self.link("opencode", &programs::acp_agent()?)?;
        let folder = self.path.join(".config/opencode");
        std::fs::create_dir_all(&folder)?;
        let model_name = "anthropic/claude-sonnet-4-5";
        let options =
            serde_json::json!({"baseURL": format!("{}/v1", model.base_url()), "apiKey": "test-key"});
        let config = serde_json::json!({
            "model": model_name,
            "small_model": model_name,
            "autoupdate": false,
            "share": "disabled",
            "provider": {"anthropic": {"options": options}},
        });
        std::fs::write(folder.join("opencode.json"), config.to_string())?;
        Ok(self)
    }

    /// Makes a program known by name, before all others of that name.
    ///
    /// # Errors
    /// When the link cannot be made.
    pub fn link(&self, name: &str, program: &Path) -> anyhow::Result<()> {
        let link = self.path.join("bin").join(name);
        if link.symlink_metadata().is_ok() {
            std::fs::remove_file(&link)?;
        }
        symlink(program, &link).with_context(|| format!("link {name}"))
    }

    /// Puts a shell script in the place of a program, for faults that the real one cannot be made
    /// to show. Answers its path.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn script(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.path.join("bin").join(name);
        if path.symlink_metadata().is_ok() {
            std::fs::remove_file(&path)?;
        }
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// Sets a variable for the programs.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.insert(name.into(), value.into());
    }

    /// The whole environment of the programs; give it to a child after clearing its own.
    #[must_use]
    pub const fn environment(&self) -> &BTreeMap<OsString, OsString> {
        &self.environment
    }

    /// A command in this home's environment, without standard input.
    #[must_use]
    pub fn command(&self, program: &str) -> tokio::process::Command {
        #[expect(
            clippy::disallowed_methods,
            reason = "starts the programs that the product starts, for tests"
        )]
        let mut command = tokio::process::Command::new(self.found(program));
        command.env_clear().envs(&self.environment).stdin(std::process::Stdio::null()).kill_on_drop(true);
        command
    }

    /// Where the home's search path finds a program; a path is taken as it is.
    fn found(&self, program: &str) -> PathBuf {
        let own = self.path.join("bin").join(program);
        if !program.contains('/') && own.exists() { own } else { PathBuf::from(program) }
    }

    fn write_base(&mut self) -> anyhow::Result<()> {
        let git = "[user]\n\tname = Sam Sample\n\temail = sam@example.com\n[init]\n\tdefaultBranch = main\n\
                   [advice]\n\tdetachedHead = false\n[include]\n\tpath = .gitconfig-remotes\n";
        std::fs::write(self.path.join(".gitconfig"), git)?;
        let bin = self.path.join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let joined = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)))?;
        // A login shell starts from the system's search path; its profile adds what is ours.
        let profile = format!("PATH='{}'\nexport PATH\n", joined.to_string_lossy().replace('\'', "'\\''"));
        for name in [".profile", ".bash_profile", ".zprofile"] {
            std::fs::write(self.path.join(name), &profile)?;
        }
        let path = self.path.clone();
        self.set("HOME", &path);
        self.set("PATH", joined);
        self.set("XDG_CONFIG_HOME", path.join(".config"));
        self.set("XDG_DATA_HOME", path.join(".local/share"));
        self.set("XDG_CACHE_HOME", path.join(".cache"));
        self.set("GIT_CONFIG_NOSYSTEM", "1");
        self.set("GIT_TERMINAL_PROMPT", "0");
        self.set("LANG", "C.UTF-8");
        self.set("SHELL", "/bin/sh");
        if let Some(dir) = std::env::var_os("TMPDIR") {
            self.set("TMPDIR", dir);
        }
        Ok(())
    }
}
