//! Holds a step of a delivery at a remote or at the code host, until a test releases it.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::git::GitRemotes;
use crate::home::{UserHome, find_program};
use crate::wait;

/// The next execution of a step. Later ones are not held.
#[derive(Debug)]
pub struct HeldStep {
    started: PathBuf,
    pipe: PathBuf,
    /// Open from the release on, so that a program that was killed in the meantime is not waited for.
    released: Option<File>,
}

impl HeldStep {
    fn new(directory: &Path, name: &str) -> Self {
        let file = |kind: &str| directory.join(format!("held-{name}-{kind}"));
        Self { started: file("started"), pipe: file("pipe"), released: None }
    }

    /// Returns the shell commands that announce the step and wait.
    fn commands(&self) -> String {
        let (started, pipe) = (self.started.display(), self.pipe.display());
        format!("mkfifo '{pipe}'; : > '{started}'; read word < '{pipe}'")
    }

    /// Waits until the step is held.
    pub async fn started(&self) -> anyhow::Result<()> {
        wait::until_exists(&self.started).await
    }

    /// Lets the step continue.
    pub fn release(&mut self) -> anyhow::Result<()> {
        // Opened for reading as well, because opening a pipe for writing blocks until a reader exists.
        let mut pipe = OpenOptions::new().read(true).write(true).open(&self.pipe)?;
        pipe.write_all(b"go\n")?;
        self.released = Some(pipe);
        Ok(())
    }
}

impl GitRemotes {
    /// Holds a push before it changes the repository.
    pub fn hold_push(&self, full_name: &str) -> anyhow::Result<HeldStep> {
        self.hold_at(full_name, "pre-receive")
    }

    /// Holds a push after it has changed the repository.
    pub fn hold_after_push(&self, full_name: &str) -> anyhow::Result<HeldStep> {
        self.hold_at(full_name, "post-receive")
    }

    fn hold_at(&self, full_name: &str, hook: &str) -> anyhow::Result<HeldStep> {
        let bare = self.bare(full_name);
        let step = HeldStep::new(&bare, hook);
        let file = bare.join("hooks").join(hook);
        std::fs::create_dir_all(file.parent().context("a parent")?)?;
        std::fs::write(&file, format!("#!/bin/sh\nrm \"$0\"\n{}\n", step.commands()))?;
        std::fs::set_permissions(&file, Permissions::from_mode(0o755))?;
        Ok(step)
    }
}

impl UserHome {
    /// Holds the program of the code host after it has created a pull request.
    pub fn hold_after_pull_request(&self) -> anyhow::Result<HeldStep> {
        let step = HeldStep::new(self.path(), "pull-request");
        let program = find_program("gh")?;
        let (program, commands) = (program.display(), step.commands());
        self.script(
            "gh",
            &format!(
                "#!/bin/sh\n[ \"$1 $2\" = 'pr create' ] || exec '{program}' \"$@\"\n'{program}' \"$@\" || exit\n\
                 ln -sf '{program}' \"$0\"\n{commands}\n"
            ),
        )?;
        Ok(step)
    }
}
