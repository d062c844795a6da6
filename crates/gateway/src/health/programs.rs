//! Checks of the external programs: each is run with `--version`, and searched elsewhere when that fails.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_home::{Program, expand_home};
use loopgate_tools::process::{Command, Limits, Output, ProcessStatus};
use loopgate_tools::programs::{ProgramSource, Programs, is_executable};
use tokio::time::timeout;

use super::check::{Check, Debug};
use super::version::{first_version, major_minor};

// The lengths keep a response small, even when a program prints megabytes.
const STDERR_CHARACTERS: usize = 512;
const PATH_CHARACTERS: usize = 1024;
const ERROR_CHARACTERS: usize = 80;
/// Limit of a probe's output in bytes. A program that exceeds it is terminated.
const OUTPUT_CAP: usize = 1024 * 1024;
/// Oldest Python version that the plugins support.
const OLDEST_PYTHON: (u32, u32) = (3, 10);
/// Oldest git version that follows the overrides of a repository's configuration (`GIT_CONFIG_COUNT`).
const OLDEST_GIT: (u32, u32) = (2, 31);

/// Display data of a program.
struct ProgramInfo {
    id: &'static str,
    label: &'static str,
    required: bool,
    remedy: &'static str,
    /// Directories of common installers, or the executable itself.
    locations: &'static [&'static str],
}

const fn info(program: Program) -> ProgramInfo {
    match program {
        Program::Git => ProgramInfo {
            id: "git",
            label: "Git",
            required: true,
            remedy: "Install git 2.31 or newer (https://git-scm.com) and make sure that it is on the PATH of your login shell.",
            locations: &["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"],
        },
        Program::Assistant => ProgramInfo {
            id: "assistant-cli",
            label: "Assistant CLI",
            required: true,
            remedy: "Install the assistant with `npm install -g @anthropic-ai/claude-code`, then run `claude` once to sign in.",
            locations: &[
                "~/.claude/local/claude",
                "/opt/homebrew/bin",
                "/usr/local/bin",
                "~/.bun/bin",
                "~/.volta/bin",
                "~/.local/bin",
                "/snap/bin",
            ],
        },
        Program::CodeHost => ProgramInfo {
            id: "code-host-cli",
            label: "Code host CLI",
            required: true,
            remedy: "Install the code host's command line (https://cli.github.com), then run `gh auth login`.",
            locations: &["/opt/homebrew/bin", "/usr/local/bin", "~/.local/bin"],
        },
        Program::Reviewer => ProgramInfo {
            id: "reviewer",
            label: "Reviewer CLI",
            required: false,
            remedy: "Optional: install the reviewer with `npm install -g @openai/codex`, then run `codex` once to sign in.",
            locations: &["~/.volta/bin", "/opt/homebrew/bin", "/usr/local/bin", "~/.bun/bin", "~/.local/bin"],
        },
        Program::Python3 => ProgramInfo {
            id: "python3",
            label: "python3",
            required: true,
            remedy: "Install Python 3.10 or newer and make sure that it is on the PATH of your login shell as `python3`.",
            locations: &["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "~/.local/bin"],
        },
    }
}

/// Runs the check of a program.
pub(super) async fn row(programs: &Programs, program: Program, limit: Duration) -> Check {
    let ProgramInfo { id, label, required, remedy, .. } = info(program);
    let output = match probe(programs, program, &["--version"], limit).await {
        Ok(output) => output,
        Err(ProbeError::BadOverride(path, error)) => {
            let debug = Debug { override_used: Some(path), ..Debug::default() };
            let remedy =
                format!("Correct or clear the path of {program} in the settings. Otherwise: {remedy}");
            return Check::failed(id, label, required, error, remedy).with_debug(debug);
        }
        Err(ProbeError::Failed(failure)) => return explain(programs, program, failure).await,
    };
    let version = first_version(&output.stdout_text()).map(ToOwned::to_owned);
    let (name, oldest) = match program {
        Program::Git => ("Git", OLDEST_GIT),
        Program::Python3 => ("Python", OLDEST_PYTHON),
        Program::Assistant | Program::CodeHost | Program::Reviewer => {
            return Check::passed(id, label, required, version);
        }
    };
    let failed = |error: String| Check::failed(id, label, required, error, remedy);
    match version.as_deref().and_then(|version| Some((version.to_owned(), major_minor(version)?))) {
        None => failed(format!("Unable to determine {name} version")),
        Some((version, numbers)) if numbers < oldest => {
            let (major, minor) = oldest;
            let error = format!("{name} {version} is below the required minimum of {major}.{minor}");
            Check { version: Some(version), ..failed(error) }
        }
        Some(_) => Check::passed(id, label, required, version),
    }
}

/// Checks that the user is signed in at the code host.
pub(super) async fn code_host_auth(programs: &Programs, limit: Duration) -> Check {
    const ID: &str = "code-host-auth";
    const LABEL: &str = "Code host auth";
    const REMEDY: &str = "Run `gh auth login`.";
    match probe(programs, Program::CodeHost, &["auth", "status"], limit).await {
        Ok(_) => Check::passed(ID, LABEL, true, None),
        Err(ProbeError::BadOverride(_, error)) => Check::failed(ID, LABEL, true, error, REMEDY),
        Err(ProbeError::Failed(_)) => Check::failed(ID, LABEL, true, "Not authenticated", REMEDY),
    }
}

/// Why a probe failed.
pub(super) enum ProbeError {
    /// The path in the settings is unusable, with the reason.
    BadOverride(String, &'static str),
    Failed(CommandError),
}

/// A failed command: `ENOENT`, `EACCES`, `ETIMEDOUT` or an exit code, and its output.
pub(super) struct CommandError {
    code: String,
    message: String,
}

impl CommandError {
    fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: loopgate_api::redact::message(&message.into()) }
    }

    fn timed_out() -> Self {
        Self::new("ETIMEDOUT", "")
    }
}

/// Resolves and runs a program. Fails when it exits with a non-zero code. The timeout includes the
/// resolution, which may start a login shell.
pub(super) async fn probe(
    programs: &Programs,
    program: Program,
    args: &[&str],
    limit: Duration,
) -> Result<Output, ProbeError> {
    let failed = |failure| Err(ProbeError::Failed(failure));
    let run = async {
        let resolved = programs.resolve(program).await;
        let bad_override =
            |path: &Path, error| Err(ProbeError::BadOverride(path.to_string_lossy().into_owned(), error));
        if let Some(path) = &resolved.ignored_override {
            return bad_override(path, "Override path is in the sandbox and is not used");
        }
        match resolved.source {
            // No fallback to PATH: the user chose this very program.
            ProgramSource::OverrideInvalid => {
                return bad_override(&resolved.path, "Override path does not exist or is not executable");
            }
            ProgramSource::Fallback => return failed(CommandError::new("ENOENT", "")),
            ProgramSource::Override | ProgramSource::Path => {}
        }
        let command = Command::new(resolved.path).args(args).environment(programs.environment().await);
        // A new session has no terminal, so a program that prompts for a password fails instead of waiting.
        match command.session().low_priority().run(Limits::time(limit).output(OUTPUT_CAP)).await {
            Ok(output) => Ok(output),
            Err(error) => failed(CommandError::new(error.code(), error.to_string())),
        }
    };
    // Dropping the future kills the program and its process group.
    let output = match timeout(limit, run).await {
        Ok(output) => output?,
        Err(_) => return failed(CommandError::timed_out()),
    };
    let output_text = || {
        let stderr = output.stderr_text();
        if stderr.trim().is_empty() { output.stdout_text().into_owned() } else { stderr.into_owned() }
    };
    match output.status {
        ProcessStatus::Exited(0) => Ok(output),
        ProcessStatus::Exited(code) => failed(CommandError::new(code.to_string(), output_text())),
        ProcessStatus::Signalled(signal) => failed(CommandError::new(format!("SIG{signal}"), output_text())),
        ProcessStatus::TimedOut => failed(CommandError::timed_out()),
        ProcessStatus::OutputTooLarge => failed(CommandError::new("EMSGSIZE", "output limit exceeded")),
    }
}

/// Files with a program's name.
#[derive(Default)]
struct OtherLocations {
    executable: Vec<String>,
    other: Vec<String>,
}

async fn explain(programs: &Programs, program: Program, failed: CommandError) -> Check {
    let ProgramInfo { id, label, required, remedy, .. } = info(program);
    let environment = programs.environment().await;
    let path = environment.get(std::ffi::OsStr::new("PATH")).map(|path| path.to_string_lossy().into_owned());
    let path = path.unwrap_or_default();
    let searched = path.clone();
    let candidates =
        tokio::task::spawn_blocking(move || search(&searched, program)).await.unwrap_or_default();
    // The PATH lookup skips files that are not executable, so it reports ENOENT for them.
    let missing = failed.code == "ENOENT";
    let code = if missing && candidates.executable.is_empty() && !candidates.other.is_empty() {
        "EACCES".to_owned()
    } else {
        failed.code
    };
    let name = program.executable();
    let error = match (code.as_str(), candidates.executable.first(), candidates.other.first()) {
        ("ENOENT", Some(location), _) => format!("Found at {location} but not on PATH"),
        ("ENOENT", None, _) => "Not found".to_owned(),
        ("EACCES" | "EPERM", _, Some(location)) | ("EACCES" | "EPERM", Some(location), None) => {
            format!("Found at {location} but not executable")
        }
        ("EACCES" | "EPERM", None, None) => "Permission denied".to_owned(),
        ("ETIMEDOUT", ..) => format!("Timed out running {name} --version"),
        _ => {
            let text = format!("{code}: {}", failed.message.lines().next().unwrap_or_default());
            text.chars().take(ERROR_CHARACTERS).collect()
        }
    };
    let shell = std::env::var_os("SHELL").map(PathBuf::from);
    let debug = Debug {
        error_code: Some(code),
        stderr: Some(failed.message.chars().take(STDERR_CHARACTERS).collect()),
        resolved_path: Some(path.chars().take(PATH_CHARACTERS).collect()),
        shell: shell.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()),
        platform: Some(std::env::consts::OS.to_owned()),
        found_at: Some(candidates.executable),
        non_executable_at: (!candidates.other.is_empty()).then_some(candidates.other),
        override_used: None,
    };
    Check::failed(id, label, required, error, remedy).with_debug(debug)
}

/// Searches the directories of PATH, then the locations of common installers.
fn search(path: &str, program: Program) -> OtherLocations {
    let name = program.executable();
    let on_path = path.split(':').filter(|dir| dir.starts_with('/')).map(|dir| Path::new(dir).join(name));
    let installed = info(program).locations.iter().map(|location| {
        let location = expand_home(location);
        if location.ends_with(name) { location } else { location.join(name) }
    });
    let mut candidates = OtherLocations::default();
    for candidate in on_path.chain(installed).filter(|candidate| candidate.is_file()) {
        let list = if is_executable(&candidate) { &mut candidates.executable } else { &mut candidates.other };
        let text = candidate.to_string_lossy().into_owned();
        if !list.contains(&text) {
            list.push(text);
        }
    }
    candidates
}
