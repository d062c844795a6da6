//! How a Loopgate is started, and starting it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context as _;

use super::ready::wait_ready;
use super::{Loopgate, client};
use crate::home::UserHome;
use crate::wait::Changes;

/// Names the binary to test.
pub const BINARY_VARIABLE: &str = "LOOPGATE_BIN";

/// How to start it.
#[derive(Debug, Clone)]
pub struct Setup {
    home: UserHome,
    binary: PathBuf,
    command: String,
    data_dir: PathBuf,
    token_file: PathBuf,
    sandbox: PathBuf,
    /// Whether the sandbox is named at the start.
    boxed: bool,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    from_file: bool,
    shown: bool,
}

impl Setup {
    /// The binary of `LOOPGATE_BIN`, else the one beside the running test.
    ///
    /// # Errors
    /// When there is none; the text says how to build it.
    pub fn new(home: &UserHome) -> anyhow::Result<Self> {
        let sandbox = home.path().join("src");
        std::fs::create_dir_all(&sandbox)?;
        Ok(Self {
            home: home.clone(),
            binary: binary()?,
            command: "up".to_owned(),
            data_dir: home.path().join("loopgate-data"),
            token_file: home.path().join("loopgate-gateway-token"),
            sandbox,
            boxed: true,
            arguments: Vec::new(),
            environment: Vec::new(),
            from_file: false,
            shown: false,
        })
    }

    /// Runs the gateway alone instead of everything.
    #[must_use]
    pub fn gateway_alone(mut self) -> Self {
        "gateway".clone_into(&mut self.command);
        self
    }

    /// Takes another data directory than the one in the home, and keeps the gateway token in it.
    #[must_use]
    pub fn data_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data_dir = directory.into();
        self.token_file = self.data_dir.join("gateway-token");
        self
    }

    /// Leaves sandbox, port and token file to this settings file. Its token file must be
    /// [`Self::token_file`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn settings(mut self, toml: &str) -> anyhow::Result<Self> {
        std::fs::create_dir_all(self.data_dir())?;
        std::fs::write(self.data_dir().join("settings.toml"), toml)?;
        self.from_file = true;
        Ok(self)
    }

    /// Takes another binary, for example the one of `CARGO_BIN_EXE_loopgate`.
    #[must_use]
    pub fn binary(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = binary.into();
        self
    }

    /// The binary that it starts.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.binary
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds a variable to those of the home.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Names no sandbox, so that no path is allowed.
    #[must_use]
    pub const fn without_sandbox(mut self) -> Self {
        self.boxed = false;
        self
    }

    /// Passes its output through instead of keeping it in a file.
    #[must_use]
    pub const fn shown(mut self) -> Self {
        self.shown = true;
        self
    }

    /// The directory that paths must be in: `src` of the home.
    #[must_use]
    pub fn sandbox(&self) -> &Path {
        &self.sandbox
    }

    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.data_dir.clone()
    }

    /// Where the gateway token lies.
    #[must_use]
    pub fn token_file(&self) -> PathBuf {
        self.token_file.clone()
    }

    /// Where output of the process goes.
    #[must_use]
    pub fn output_file(&self) -> PathBuf {
        self.home.path().join("loopgate-output.log")
    }

    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// When it ends or does not answer in time; the text holds what it printed.
    pub async fn start(self) -> anyhow::Result<Loopgate> {
        let ready_file = self.home.path().join("loopgate-ready.json");
        let token_file = self.token_file();
        if ready_file.exists() {
            std::fs::remove_file(&ready_file)?;
        }
        let mut command = self.home.command(&self.binary.to_string_lossy());
        command.arg(&self.command).arg("--home").arg(self.data_dir()).arg("--ready-file").arg(&ready_file);
        if self.boxed && !self.from_file {
            command.arg("--sandbox").arg(&self.sandbox);
        }
        if !self.from_file {
            command.arg("--gateway-token-file").arg(&token_file).args(["--port", "0"]);
        }
        if self.command == "up" {
            command.arg("--no-open");
        }
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.sandbox);
        if !self.shown {
            let output = std::fs::File::options().create(true).append(true).open(self.output_file())?;
            command.stdout(output.try_clone()?).stderr(Stdio::from(output));
        }
        let mut changes = Changes::of(&[self.home.path()])?;
        let mut child = command.spawn().with_context(|| format!("start {}", self.binary.display()))?;
        let ready = wait_ready(&mut child, &mut changes, &ready_file, &self.output_file()).await?;
        let token = std::fs::read_to_string(&token_file).context("read the gateway token")?;
        let http = client()?;
        Ok(Loopgate { setup: self, child, ready, token: token.trim().to_owned(), http })
    }
}

/// Finds the binary: the variable, else the target directory that this test was built in.
///
/// # Errors
/// When there is none; the text says how to build it.
pub fn binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os(BINARY_VARIABLE) {
        return Ok(PathBuf::from(path));
    }
    let own = std::env::current_exe()?;
    let found = own.ancestors().skip(1).take(3).map(|dir| dir.join("loopgate")).find(|path| path.is_file());
    found.with_context(|| {
        format!("no loopgate binary: run `cargo build -p loopgate`, or name one in {BINARY_VARIABLE}")
    })
}
