//! Everything that a Loopgate needs around it, put together: code host, remotes, model, home.
//!
//! Tests and the demo begin here, so that what is shown is what is tested.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::json;

use crate::code_host::CodeHost;
use crate::git::GitRemotes;
use crate::home::UserHome;
use crate::loopgate::Setup;
use crate::model::{ModelServer, Script};
use crate::{home_processes, story};

/// The surroundings of one Loopgate. When they are dropped, whatever still runs in their home ends.
#[derive(Debug)]
pub struct Testbed {
    /// Bare repositories.
    pub remotes: GitRemotes,
    /// The code host that `gh` talks to.
    pub host: CodeHost,
    /// The model that the assistant and the reviewer talk to.
    pub model: ModelServer,
    /// The home in which all of them are set up.
    pub home: UserHome,
}

impl Drop for Testbed {
    fn drop(&mut self) {
        home_processes::end(self.home.path());
    }
}

impl Testbed {
    /// A throw-away testbed in which the model says what the script says.
    ///
    /// # Errors
    /// When a part cannot be set up, or a pinned program is missing; the text says how to get it.
    pub async fn new(script: Script) -> anyhow::Result<Self> {
        let remotes = GitRemotes::temporary()?;
        let host = CodeHost::start(&remotes).await?;
        Self::set_up(remotes, host, UserHome::temporary()?, script).await
    }

    /// A testbed in a folder that stays.
    ///
    /// # Errors
    /// See [`Self::new`].
    pub async fn at(folder: &Path, script: Script) -> anyhow::Result<Self> {
        let home = UserHome::at(&folder.join("home"))?;
        let remotes = GitRemotes::at(&folder.join("remotes"))?;
        let host = CodeHost::with_file(&remotes, &folder.join("code-host.json")).await?;
        Self::set_up(remotes, host, home, script).await
    }

    /// The story's testbed: its repository is on the host, cloned and known to Loopgate.
    ///
    /// # Errors
    /// See [`Self::new`].
    pub async fn story() -> anyhow::Result<Self> {
        let testbed = Self::new(story::script()).await?;
        testbed.add_story()?;
        Ok(testbed)
    }

    /// Adds the story's repository: on the host, cloned, and known to Loopgate.
    ///
    /// # Errors
    /// When git refuses.
    pub fn add_story(&self) -> anyhow::Result<PathBuf> {
        self.add_repository(story::REPOSITORY, &story::FILES)
    }

    /// Adds a repository with these files: on the host, cloned, and known to Loopgate. Answers
    /// where its clone is.
    ///
    /// # Errors
    /// When git refuses.
    pub fn add_repository(&self, full_name: &str, files: &[(&str, &str)]) -> anyhow::Result<PathBuf> {
        self.add_remote(full_name, files)?;
        let name = full_name.rsplit('/').next().context("a full name has two parts")?;
        let clone = self.sandbox().join(name);
        if !clone.exists() {
            self.remotes.clone_to(full_name, &clone)?;
        }
        self.know(&clone)?;
        Ok(clone)
    }

    /// Adds a repository to the host alone.
    ///
    /// # Errors
    /// When git refuses.
    pub fn add_remote(&self, full_name: &str, files: &[(&str, &str)]) -> anyhow::Result<()> {
        if !self.remotes.bare(full_name).exists() {
            self.remotes.create(full_name, files)?;
        }
        self.host.add_repository(full_name)
    }

    /// The directory that paths must be in.
    #[must_use]
    pub fn sandbox(&self) -> PathBuf {
        self.home.path().join("src")
    }

    /// How to start Loopgate in this testbed.
    ///
    /// # Errors
    /// When there is no binary; the text says how to build it.
    pub fn loopgate(&self) -> anyhow::Result<Setup> {
        Setup::new(&self.home)
    }

    async fn set_up(
        remotes: GitRemotes,
        host: CodeHost,
        mut home: UserHome,
        script: Script,
    ) -> anyhow::Result<Self> {
        let model = ModelServer::start(script).await?;
        home.reach_remotes(&remotes)?.reach_code_host(&host)?.reach_model(&model)?;
        std::fs::create_dir_all(home.path().join("src"))?;
        Ok(Self { remotes, host, model, home })
    }

    /// Lists a clone in the file that Loopgate and other programs share.
    fn know(&self, clone: &Path) -> anyhow::Result<()> {
        let folder = self.sandbox().join(loopgate_api::names::STATE_DIR).join("config");
        let file = folder.join("repos.json");
        std::fs::create_dir_all(&folder)?;
        let mut repos = match std::fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).context("repos.json is no JSON")?,
            Err(_) => json!({"repos": [], "settings": {}}),
        };
        let entry = json!({"path": clone, "addedAt": "2030-01-01T00:00:00.000Z"});
        if let Some(list) = repos["repos"].as_array_mut()
            && !list.iter().any(|known| known["path"] == entry["path"])
        {
            list.push(entry);
        }
        std::fs::write(&file, serde_json::to_vec_pretty(&repos)?).context("write repos.json")
    }
}
