//! The environment of one Loopgate: code host, git remotes, model server and home directory.
//!
//! Tests and the demo share it, so that the demo shows what the tests cover.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::json;

use crate::code_host::TestCodeHost;
use crate::git::GitRemotes;
use crate::home::UserHome;
use crate::loopgate::Setup;
use crate::model::{ModelServer, Script};
use crate::{home_processes, story};

/// Environment of one Loopgate. Dropping it kills all processes of its home.
#[derive(Debug)]
pub struct Testbed {
    pub remotes: GitRemotes,
    /// Code host that `gh` connects to.
    pub host: TestCodeHost,
    /// Model server of the assistant and the reviewer.
    pub model: ModelServer,
    /// Home directory, configured to reach the other three.
    pub home: UserHome,
}

impl Drop for Testbed {
    fn drop(&mut self) {
        // Before the fields are dropped: the processes must not see their servers and their home disappear
        // first.
        home_processes::end(self.home.path());
    }
}

impl Testbed {
    /// Creates a temporary testbed whose model follows the script. Fails when a pinned program is missing;
    /// the message names the command that installs it.
    pub async fn new(script: Script) -> anyhow::Result<Self> {
        let remotes = GitRemotes::temporary()?;
        let host = TestCodeHost::start(&remotes).await?;
        Self::set_up(remotes, host, UserHome::temporary()?, script).await
    }

    /// Creates a testbed in a folder that is not removed.
    pub async fn at(folder: &Path, script: Script) -> anyhow::Result<Self> {
        let home = UserHome::at(&folder.join("home"))?;
        let remotes = GitRemotes::at(&folder.join("remotes"))?;
        let host = TestCodeHost::with_file(&remotes, &folder.join("code-host.json")).await?;
        Self::set_up(remotes, host, home, script).await
    }

    /// Creates a testbed with the demo story's repository on the host, cloned and registered.
    pub async fn story() -> anyhow::Result<Self> {
        let testbed = Self::new(story::script()).await?;
        testbed.add_story()?;
        Ok(testbed)
    }

    /// Adds the demo story's repository to the host, clones and registers it.
    pub fn add_story(&self) -> anyhow::Result<PathBuf> {
        self.add_repository(story::REPOSITORY, &story::FILES)
    }

    /// Adds a repository with these files to the host, clones it into the sandbox and registers the clone.
    /// Returns the path of the clone.
    pub fn add_repository(&self, full_name: &str, files: &[(&str, &str)]) -> anyhow::Result<PathBuf> {
        self.add_remote(full_name, files)?;
        let name = full_name.rsplit('/').next().context("a full name has two parts")?;
        let clone = self.sandbox().join(name);
        if !clone.exists() {
            self.remotes.clone_to(full_name, &clone)?;
        }
        self.register(&clone)?;
        Ok(clone)
    }

    /// Adds a repository to the host without cloning it.
    pub fn add_remote(&self, full_name: &str, files: &[(&str, &str)]) -> anyhow::Result<()> {
        if !self.remotes.bare(full_name).exists() {
            self.remotes.create(full_name, files)?;
        }
        self.host.add_repository(full_name)
    }

    /// Returns the sandbox directory: the gateway rejects paths outside of it.
    #[must_use]
    pub fn sandbox(&self) -> PathBuf {
        self.home.path().join("src")
    }

    /// Returns the start options of a Loopgate in this testbed. Fails when the binary is not built.
    pub fn loopgate(&self) -> anyhow::Result<Setup> {
        // Most scripts have no reviewers, who would be asked after each loop that changes files.
        Ok(Setup::new(&self.home)?.env("POST_LOOP_REVIEW_CYCLES", "0"))
    }

    async fn set_up(
        remotes: GitRemotes,
        host: TestCodeHost,
        mut home: UserHome,
        script: Script,
    ) -> anyhow::Result<Self> {
        let model = ModelServer::start(script).await?;
        home.reach_remotes(&remotes)?.reach_code_host(&host)?.reach_model(&model)?;
        std::fs::create_dir_all(home.path().join("src"))?;
        Ok(Self { remotes, host, model, home })
    }

    /// Registers a clone in `repos.json`, which Loopgate shares with other programs.
    fn register(&self, clone: &Path) -> anyhow::Result<()> {
        let folder = self.sandbox().join(loopgate_api::names::STATE_DIR).join("config");
        let file = folder.join("repos.json");
        std::fs::create_dir_all(&folder)?;
        let mut repos = match std::fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).context("repos.json is not valid JSON")?,
            Err(_) => json!({"repos": [], "settings": {}}),
        };
        let entry = json!({"path": clone, "addedAt": "2030-01-01T00:00:00.000Z"});
        // A permanent testbed may have registered the clone in an earlier run.
        if let Some(list) = repos["repos"].as_array_mut()
            && !list.iter().any(|repo| repo["path"] == entry["path"])
        {
            list.push(entry);
        }
        std::fs::write(&file, serde_json::to_vec_pretty(&repos)?).context("write repos.json")
    }
}
