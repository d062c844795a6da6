//! The programs of other vendors: their pinned and newest versions, and the installation of the latter.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, bail};
use loopgate_test_programs as pinned;
use serde::Deserialize;
use serde_json::{Value, json};

use super::report::table;
use crate::install;
use crate::run::{command, npm, output, run};

/// A program that Loopgate runs and another vendor publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VendorProgram {
    /// The assistant.
    Claude,
    /// The reviewer.
    Codex,
    /// The agent of the Agent Client Protocol.
    Opencode,
}

impl VendorProgram {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Opencode];

    const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the npm package that users install.
    const fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
            Self::Opencode => "opencode-ai",
        }
    }

    /// Returns the executable's path below the folder of the programs.
    const fn executable(self) -> &'static str {
        match self {
            Self::Claude => pinned::ASSISTANT,
            Self::Codex => pinned::REVIEWER,
            Self::Opencode => pinned::ACP_AGENT,
        }
    }

    /// Reads the version that the tests pin. The pinned ACP agent is the package of one platform, which has
    /// the same versions as the package that users install.
    fn pinned_version(self, manifest: &Value) -> anyhow::Result<String> {
        let version = match self {
            Self::Claude | Self::Codex => &manifest["dependencies"][self.package()],
            Self::Opencode => &manifest["optionalDependencies"]["opencode-linux-x64"],
        };
        Ok(version.as_str().with_context(|| format!("the pinned version of {self} is unknown"))?.to_owned())
    }
}

impl fmt::Display for VendorProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The version of a program that the user requests, written as `claude=2.1.300`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedVersion {
    program: VendorProgram,
    version: String,
}

impl FromStr for RequestedVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) =
            text.split_once('=').ok_or("write it as PROGRAM=VERSION, for example claude=2.1.300")?;
        let program = VendorProgram::ALL.into_iter().find(|program| program.name() == name);
        let program =
            program.ok_or_else(|| format!("{name:?} is not known; choose claude, codex or opencode"))?;
        if version.is_empty() {
            return Err(format!("the version of {program} is missing"));
        }
        Ok(Self { program, version: version.to_owned() })
    }
}

/// The version of a program that the contracts are checked with.
pub struct ProgramVersion {
    pub program: VendorProgram,
    pub version: String,
    pinned_version: String,
    /// The reason why this version cannot run on this machine. The pinned version is then installed instead,
    /// because tests of the other programs need one.
    pub obstacle: Option<String>,
}

impl ProgramVersion {
    /// Returns the version that is installed for the tests.
    fn installed_version(&self) -> &str {
        if self.obstacle.is_none() { &self.version } else { &self.pinned_version }
    }
}

/// The installed newest programs. Other runs of `cargo xtask compat` fail while this value exists.
pub struct NewestPrograms {
    folder: PathBuf,
    versions: BTreeMap<VendorProgram, ProgramVersion>,
    _lock: File,
}

impl NewestPrograms {
    /// Installs the newest programs, or the requested versions of them, into `<cache>/loopgate/newest`.
    ///
    /// # Errors
    /// Fails when a version does not exist, the registry is unreachable, or another run uses the folder.
    pub fn install(requested: &[RequestedVersion]) -> anyhow::Result<Self> {
        install::require_npm()?;
        let folder = pinned::cache().join("newest");
        std::fs::create_dir_all(scratch(&folder))
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let lock = File::create(folder.join("lock"))?;
        if lock.try_lock().is_err() {
            bail!("another `cargo xtask compat` uses {}: wait until it has ended", folder.display());
        }
        let manifest: Value = serde_json::from_str(pinned::MANIFEST)?;
        let mut versions = BTreeMap::new();
        for program in VendorProgram::ALL {
            let request = requested.iter().rev().find(|request| request.program == program);
            let version = resolve(program, request.map_or("latest", |request| &request.version), &folder)?;
            let obstacle = engine_obstacle(program, &version, &folder)?;
            let pinned_version = program.pinned_version(&manifest)?;
            versions.insert(program, ProgramVersion { program, version, pinned_version, obstacle });
        }
        install_packages(&folder, &manifest, &versions)?;
        let mut has_obstacle = false;
        for version in versions.values_mut().filter(|version| version.obstacle.is_none()) {
            version.obstacle = start_obstacle(&folder, version);
            has_obstacle |= version.obstacle.is_some();
        }
        if has_obstacle {
            install_packages(&folder, &manifest, &versions)?;
        }
        Ok(Self { folder, versions, _lock: lock })
    }

    /// Returns the folder that contains `node_modules`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn version(&self, program: VendorProgram) -> &ProgramVersion {
        &self.versions[&program]
    }
}

impl fmt::Display for NewestPrograms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.versions.values().map(|version| {
            let status = match &version.obstacle {
                None => "installed".to_owned(),
                Some(obstacle) => format!("not checked: {obstacle}"),
            };
            [version.program.to_string(), version.pinned_version.clone(), version.version.clone(), status]
        });
        f.write_str(&table(["program", "pinned", "newest", ""], rows))?;
        for program in self.versions.values().filter(|version| version.obstacle.is_some()) {
            let program = program.program;
            writeln!(
                f,
                "To check {program}, install what it requires, or choose a version with --program {program}=VERSION."
            )?;
        }
        Ok(())
    }
}

/// Returns a folder that is separate from the installed packages.
fn scratch(folder: &Path) -> PathBuf {
    folder.join("scratch")
}

/// Returns the version to which npm resolves a version or tag.
fn resolve(program: VendorProgram, version: &str, folder: &Path) -> anyhow::Result<String> {
    let package = format!("{}@{version}", program.package());
    let found = output(npm(folder).args(["view", &package, "version", "--json"]))
        .with_context(|| format!("npm has no {package}, or the registry is unreachable"))?;
    // A range resolves to a list.
    serde_json::from_slice(&found).with_context(|| format!("{package} is not a single version"))
}

/// Returns the reason why npm refuses a package on this machine's Node, if it does.
fn engine_obstacle(program: VendorProgram, version: &str, folder: &Path) -> anyhow::Result<Option<String>> {
    // The engines of packages that an earlier run has installed do not matter.
    let prefix = scratch(folder);
    let mut install = npm(&prefix);
    install.args(["install", "--dry-run", "--ignore-scripts", "--engine-strict", "--loglevel", "error"]);
    install.arg("--prefix").arg(&prefix).arg(format!("{}@{version}", program.package()));
    let output = install.output().context("cannot start npm")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(None)
    } else if errors.contains("EBADENGINE") {
        Ok(Some(engine_mismatch(&errors)))
    } else {
        bail!("npm cannot install {}@{version}:\n{errors}", program.package())
    }
}

/// Reads the required and the installed version of Node from npm's error.
fn engine_mismatch(errors: &str) -> String {
    let node = |label: &str| {
        let (_, rest) = errors.split_once(label)?;
        let engines: Value = serde_json::from_str(rest.lines().next()?.trim()).ok()?;
        Some(engines["node"].as_str()?.to_owned())
    };
    match (node("Required:"), node("Actual:")) {
        (Some(required), Some(actual)) => format!("it requires Node {required}, and {actual} is installed"),
        _ => "npm refuses it on this version of Node (EBADENGINE)".to_owned(),
    }
}

/// Installs the packages of these versions and the pinned OpenID provider, which tests expect in the same
/// folder.
fn install_packages(
    folder: &Path,
    manifest: &Value,
    versions: &BTreeMap<VendorProgram, ProgramVersion>,
) -> anyhow::Result<()> {
    let mut dependencies = json!({"oidc-provider": manifest["dependencies"]["oidc-provider"]});
    for (program, version) in versions {
        dependencies[program.package()] = version.installed_version().into();
    }
    eprintln!("Installing the newest programs (about 900 MB) into {}", folder.display());
    let manifest = json!({"private": true, "dependencies": dependencies});
    std::fs::write(folder.join("package.json"), manifest.to_string())?;
    // Without the scripts of all dependencies; the only script that is needed runs below. Without a lock
    // file, because all versions are exact.
    run(npm(folder).args(["install", "--ignore-scripts", "--no-package-lock", "--loglevel", "error"]))?;
    install::assistant_executable(folder)
}

/// Returns the reason why an installed program does not run, if it does not.
fn start_obstacle(folder: &Path, version: &ProgramVersion) -> Option<String> {
    let path = folder.join(version.program.executable());
    let mut program = command(&path);
    // Programs create files in their home, even for this.
    program.arg("--version").env_clear().env("HOME", scratch(folder));
    program.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    match output(&mut program).map(|text| String::from_utf8_lossy(&text).trim().to_owned()) {
        Ok(text) if text.contains(&version.version) => None,
        Ok(text) => Some(format!("{} reports the version {text:?}", path.display())),
        Err(error) => Some(format!("it does not start: {error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_versions_are_parsed() {
        let requested = RequestedVersion { program: VendorProgram::Codex, version: "0.171.0".to_owned() };
        assert_eq!("codex=0.171.0".parse(), Ok(requested));
        for (text, reason) in [
            ("claude", "PROGRAM=VERSION"),
            ("claude=", "the version of claude is missing"),
            ("emacs=30", "choose claude, codex or opencode"),
        ] {
            assert!(text.parse::<RequestedVersion>().unwrap_err().contains(reason), "{text}");
        }
    }

    #[test]
    fn each_program_has_a_pinned_version() {
        let manifest: Value = serde_json::from_str(pinned::MANIFEST).unwrap();
        for program in VendorProgram::ALL {
            assert!(program.pinned_version(&manifest).unwrap().starts_with(|c: char| c.is_ascii_digit()));
        }
    }

    #[test]
    fn refusal_of_npm_names_both_versions_of_node() {
        let errors = "npm error code EBADENGINE\nnpm error engine Unsupported engine\n\
            npm error notsup Not compatible with your version of node/npm: @anthropic-ai/claude-code@2.1.332\n\
            npm error notsup Required: {\"node\":\">=22.0.0\"}\n\
            npm error notsup Actual:   {\"node\":\"v20.20.2\",\"npm\":\"11.19.1\"}\n";
        assert_eq!(engine_mismatch(errors), "it requires Node >=22.0.0, and v20.20.2 is installed");
        assert!(engine_mismatch("npm error code EBADENGINE").contains("npm refuses it"));
    }

    #[test]
    fn pinned_version_replaces_one_that_cannot_run() {
        let version = |obstacle: Option<&str>| ProgramVersion {
            program: VendorProgram::Claude,
            version: "3.0.0".to_owned(),
            pinned_version: "2.1.197".to_owned(),
            obstacle: obstacle.map(str::to_owned),
        };
        assert_eq!(version(None).installed_version(), "3.0.0");
        assert_eq!(version(Some("it requires Node >=30")).installed_version(), "2.1.197");
    }
}
