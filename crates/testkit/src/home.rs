//! A temporary home directory for the programs under test.
//!
//! Contains the configuration with which git, the code-host CLI, the assistant, the reviewer and the ACP
//! agent reach the local test servers, and defines their environment. The home directory of the machine's
//! user is not read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::code_host::TestCodeHost;
use crate::git::GitRemotes;
use crate::model::ModelServer;
use crate::programs;

/// A home directory and the environment of its programs. A temporary one is removed when its last clone is
/// dropped.
#[derive(Debug, Clone)]
pub struct UserHome {
    path: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    _temporary: Option<Arc<TempDir>>,
}

impl UserHome {
    /// Creates a temporary home without access to any server.
    pub fn temporary() -> anyhow::Result<Self> {
        let temporary = tempfile::Builder::new().prefix("loopgate-home-").tempdir()?;
        let mut home = Self::at(temporary.path())?;
        home._temporary = Some(Arc::new(temporary));
        Ok(home)
    }

    /// Creates a home in a folder that is not removed.
    pub fn at(path: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(path.join("bin"))?;
        // Programs report resolved paths; tests compare them with this one.
        let path = path.canonicalize()?;
        let mut home = Self { path, environment: BTreeMap::new(), _temporary: None };
        home.write_base()?;
        Ok(home)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Redirects git to the bare repositories. Remotes keep the code host's URLs; git runs the server side of
    /// a fetch or push locally instead of connecting with ssh.
    pub fn reach_remotes(&mut self, remotes: &GitRemotes) -> anyhow::Result<&mut Self> {
        let root = remotes.root().display();
        let ssh = format!(
            "#!/bin/sh\n# Replaces ssh: runs the git command in the last argument locally, below the remotes.\n\
             for last; do :; done\ncd '{root}' && exec sh -c \"$last\"\n"
        );
        let path = self.script("code-host-ssh", &ssh)?;
        // `insteadOf` also rewrites https URLs; ssh URLs are handled by the command above.
        let config = format!(
            "[core]\n\tsshCommand = {}\n[url \"file://{root}/\"]\n\tinsteadOf = https://github.com/\n",
            path.display()
        );
        std::fs::write(self.path.join(".gitconfig-remotes"), config)?;
        Ok(self)
    }

    /// Redirects git to a server of the bare repositories. Remotes keep the code host's URLs.
    pub fn reach_remotes_at(&mut self, base_url: &str) -> anyhow::Result<&mut Self> {
        let config = format!(
            "[url \"{base_url}\"]\n\tinsteadOf = https://github.com/\n\tinsteadOf = git@github.com:\n"
        );
        std::fs::write(self.path.join(".gitconfig-remotes"), config)?;
        Ok(self)
    }

    /// Configures the code-host CLI to use the test host, logged in as `octo-dev`.
    pub fn reach_code_host(&mut self, host: &TestCodeHost) -> anyhow::Result<&mut Self> {
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

    /// Configures the pinned assistant and reviewer to use the model server. Fails when one is not installed;
    /// the message names the command that installs it.
    pub fn reach_model(&mut self, model: &ModelServer) -> anyhow::Result<&mut Self> {
        self.link("claude", &programs::assistant()?)?;
        self.link("codex", &programs::reviewer()?)?;
        for (name, value) in [
            ("ANTHROPIC_BASE_URL", model.base_url().as_str()),
            // Any value works. Without a key, the assistant would start its interactive sign-in.
            ("ANTHROPIC_API_KEY", "test-key"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            // The assistant refuses to skip permission prompts for root unless it runs in a sandbox. CI runs
            // as root.
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

    /// Configures the pinned agent of the Agent Client Protocol to use the model server.
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

    /// Puts a program first on the search path, under this name.
    pub fn link(&self, name: &str, program: &Path) -> anyhow::Result<()> {
        let link = self.path.join("bin").join(name);
        // `exists` follows symlinks, and would miss a dangling one.
        if link.symlink_metadata().is_ok() {
            std::fs::remove_file(&link)?;
        }
        symlink(program, &link).with_context(|| format!("link {name}"))
    }

    /// Replaces a program by a shell script, to inject faults that the real program cannot be made to
    /// produce. Returns the path of the script.
    pub fn script(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.path.join("bin").join(name);
        // The path may be a symlink to the real program: writing through it would overwrite that program.
        if path.symlink_metadata().is_ok() {
            std::fs::remove_file(&path)?;
        }
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// Sets an environment variable of the home's programs.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.insert(name.into(), value.into());
    }

    /// Returns the complete environment of the home's programs, to be set after clearing the inherited one.
    #[must_use]
    pub const fn environment(&self) -> &BTreeMap<OsString, OsString> {
        &self.environment
    }

    /// Creates a command with this home's environment and without standard input. Its child is killed when
    /// dropped.
    #[must_use]
    pub fn command(&self, program: &str) -> tokio::process::Command {
        #[expect(
            clippy::disallowed_methods,
            reason = "starts the programs that the product starts, for tests"
        )]
        let mut command = tokio::process::Command::new(self.resolve(program));
        command.env_clear().envs(&self.environment).stdin(std::process::Stdio::null()).kill_on_drop(true);
        command
    }

    /// Resolves a program name on the home's search path. Paths are returned unchanged.
    fn resolve(&self, program: &str) -> PathBuf {
        // `Command` resolves names with the search path of the test process, not with the one set for the
        // child.
        let home_program = self.path.join("bin").join(program);
        if !program.contains('/') && home_program.exists() { home_program } else { PathBuf::from(program) }
    }

    fn write_base(&mut self) -> anyhow::Result<()> {
        let git = "[user]\n\tname = Sam Sample\n\temail = sam@example.com\n[init]\n\tdefaultBranch = main\n\
                   [advice]\n\tdetachedHead = false\n[include]\n\tpath = .gitconfig-remotes\n";
        std::fs::write(self.path.join(".gitconfig"), git)?;
        let bin = self.path.join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let joined = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)))?;
        // A login shell starts from the system's PATH; the profile puts the home's bin directory in front.
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
        // /etc/gitconfig of the machine must not influence the tests, and a missing credential must fail
        // instead of prompting.
        self.set("GIT_CONFIG_NOSYSTEM", "1");
        self.set("GIT_TERMINAL_PROMPT", "0");
        self.set("LANG", "C.UTF-8");
        self.set("SHELL", "/bin/sh");
        // Inherited, so that the programs' temporary files are on the same file system as those of the test.
        if let Some(dir) = std::env::var_os("TMPDIR") {
            self.set("TMPDIR", dir);
        }
        Ok(())
    }
}

/// Returns the path of an installed program.
pub fn find_program(name: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").context("PATH is not set")?;
    let mut candidates = std::env::split_paths(&path).map(|directory| directory.join(name));
    candidates.find(|path| path.is_file()).with_context(|| format!("{name} is not installed"))
}
