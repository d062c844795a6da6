//! Start options of a Loopgate process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context as _;

use super::ready::wait_ready;
use super::{Loopgate, client};
use crate::home::UserHome;
use crate::wait::Changes;

/// Environment variable with the path of the binary under test.
pub const BINARY_VARIABLE: &str = "LOOPGATE_BIN";

/// Builder of a Loopgate process.
#[derive(Debug, Clone)]
pub struct Setup {
    home: UserHome,
    binary: PathBuf,
    command: String,
    data_dir: PathBuf,
    token_file: PathBuf,
    sandbox: PathBuf,
    /// Whether `--sandbox` is passed.
    has_sandbox: bool,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    has_settings_file: bool,
    inherits_output: bool,
}

impl Setup {
    /// Uses the binary of `LOOPGATE_BIN`, or the one in the target directory of the running test. Fails when
    /// it is not built.
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
            has_sandbox: true,
            arguments: Vec::new(),
            environment: Vec::new(),
            has_settings_file: false,
            inherits_output: false,
        })
    }

    /// Runs only the gateway instead of all parts.
    #[must_use]
    pub fn gateway_alone(mut self) -> Self {
        "gateway".clone_into(&mut self.command);
        self
    }

    /// Replaces the data directory, and stores the gateway token in it.
    #[must_use]
    pub fn data_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data_dir = directory.into();
        self.token_file = self.data_dir.join("gateway-token");
        self
    }

    /// Writes a settings file and passes neither sandbox, port nor token file on the command line. The
    /// settings must configure [`Self::token_file`] as token file.
    pub fn settings(mut self, toml: &str) -> anyhow::Result<Self> {
        std::fs::create_dir_all(self.data_dir())?;
        std::fs::write(self.data_dir().join("settings.toml"), toml)?;
        self.has_settings_file = true;
        Ok(self)
    }

    /// Replaces the binary, for example by the one of `CARGO_BIN_EXE_loopgate`.
    #[must_use]
    pub fn binary(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = binary.into();
        self
    }

    /// Returns the path of the binary that it starts.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.binary
    }

    /// Adds a command-line argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds an environment variable to those of the home.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Omits `--sandbox`, so that the gateway rejects every path.
    #[must_use]
    pub const fn without_sandbox(mut self) -> Self {
        self.has_sandbox = false;
        self
    }

    /// Inherits standard output and standard error instead of redirecting them to a file.
    #[must_use]
    pub const fn shown(mut self) -> Self {
        self.inherits_output = true;
        self
    }

    /// Returns the sandbox directory: `src` of the home.
    #[must_use]
    pub fn sandbox(&self) -> &Path {
        &self.sandbox
    }

    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.data_dir.clone()
    }

    /// Returns the path of the file with the gateway token.
    #[must_use]
    pub fn token_file(&self) -> PathBuf {
        self.token_file.clone()
    }

    /// Returns the file with the output of all starts.
    #[must_use]
    pub fn output_file(&self) -> PathBuf {
        self.home.path().join("loopgate-output.log")
    }

    /// Starts the process and waits until it accepts requests. The error contains its output.
    pub async fn start(self) -> anyhow::Result<Loopgate> {
        let ready_file = self.home.path().join("loopgate-ready.json");
        let token_file = self.token_file();
        // A ready file of an earlier start would be taken for the one of this start.
        if ready_file.exists() {
            std::fs::remove_file(&ready_file)?;
        }
        let mut command = self.home.command(&self.binary.to_string_lossy());
        command.arg(&self.command).arg("--home").arg(self.data_dir()).arg("--ready-file").arg(&ready_file);
        if self.has_sandbox && !self.has_settings_file {
            command.arg("--sandbox").arg(&self.sandbox);
        }
        if !self.has_settings_file {
            command.arg("--gateway-token-file").arg(&token_file).args(["--port", "0"]);
        }
        // Only `up` opens a browser and knows the flag.
        if self.command == "up" {
            command.arg("--no-open");
        }
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        // A temporary directory, so that relative paths in a failure do not touch the clone.
        command.current_dir(&self.sandbox);
        if !self.inherits_output {
            // Appended, so that the output of a restarted process follows that of the first.
            let output = std::fs::File::options().create(true).append(true).open(self.output_file())?;
            command.stdout(output.try_clone()?).stderr(Stdio::from(output));
        }
        // The watcher must exist before the process does: see `wait_ready`.
        let mut changes = Changes::of(&[self.home.path()])?;
        let mut child = command.spawn().with_context(|| format!("start {}", self.binary.display()))?;
        let ready = wait_ready(&mut child, &mut changes, &ready_file, &self.output_file()).await?;
        let token = std::fs::read_to_string(&token_file).context("read the gateway token")?;
        let http = client()?;
        Ok(Loopgate { setup: self, child, ready, token: token.trim().to_owned(), http })
    }
}

/// Returns the binary of `LOOPGATE_BIN`, or the one in the target directory of the running test. Fails when
/// it is not built; the message contains the build command.
pub fn binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os(BINARY_VARIABLE) {
        return Ok(PathBuf::from(path));
    }
    let test_program = std::env::current_exe()?;
    // Tests run in target/<profile>/deps, binaries in target/<profile>.
    let binary =
        test_program.ancestors().skip(1).take(3).map(|dir| dir.join("loopgate")).find(|path| path.is_file());
    binary.with_context(|| {
        format!("no loopgate binary: run `cargo build -p loopgate`, or set {BINARY_VARIABLE} to its path")
    })
}
