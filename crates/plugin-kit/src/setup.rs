//! `loopgate loop setup`: the command that `/code:code` runs before the model reads its prompt.
//!
//! Parses the slash command's arguments, finds the requirements and the further repositories, updates the
//! plan from edits of `plan.md`, writes `config.env` for the hooks, and prints it with the prompt. Runs once
//! per iteration and is idempotent.

mod arguments;
mod peers;
mod prompt;
mod session;

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_home::{EntryKind, untrusted};

use self::arguments::Arguments;
use self::peers::AddedDirectory;
use crate::config_env::{self, ConfigEnv};
use crate::console::print_result;
use crate::plugins::{Plugins, prompt_names};
use crate::quoting::{self, quote};
use crate::variables as var;

/// Upper bound of the arguments on standard input, in bytes.
const STDIN_CAP: u64 = 1024 * 1024;

/// File names of requirements, in order of precedence.
const REQUIREMENTS: [&str; 5] = ["prd.md", "prd.pdf", "requirements.md", "requirements.txt", "ticket.md"];

/// Files that the loop itself writes into a work directory; they are never requirements.
const OUTPUTS: [&str; 19] = [
    "assistant-output.name.txt",
    "assistant-stderr.log",
    "execution-result.json",
    "exit.json",
    "imported-plan.md",
    "implementation-plan.md",
    "investigation-log.md",
    "launch-metadata.json",
    "log.md",
    "open-questions.md",
    "orchestrator-launch.log",
    "orchestrator-loop.log",
    "perf.jsonl",
    "plan.json",
    "plan.md",
    "plan-source.md",
    "runs.log",
    "session-id.txt",
    "state.json",
];

/// Prepares a work directory for the command `/code:code`
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct SetupArgs {
    /// `[WORKDIR] [--prd FILE | --plan FILE] [--prompt NAME] [--max-iterations N] [--add-dir DIR]...`
    /// Paths with spaces need no quotes: all words up to the next flag belong together. With the single
    /// argument `--stdin`, the arguments are read from standard input, so that no shell evaluates them: the
    /// plugin's directory on the first line, the arguments after it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

impl SetupArgs {
    /// Writes `config.env`, and prints it with the prompt. Exits with 0, or with 1 and the reason on standard
    /// error.
    #[must_use]
    pub fn run(self) -> ExitCode {
        print_result(self.input().and_then(|input| prepare(&input)))
    }

    fn input(self) -> Result<SetupInput, String> {
        if self.words != ["--stdin"] {
            let words = self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            return Ok(SetupInput { plugin_root: None, words });
        }
        let mut text = String::new();
        std::io::stdin()
            .take(STDIN_CAP)
            .read_to_string(&mut text)
            .map_err(|error| format!("Error: cannot read the arguments: {error}"))?;
        // The slash command writes the plugin's root on the first line, where the assistant substitutes it.
        let (root, arguments) = text.split_once('\n').unwrap_or((&text, ""));
        Ok(SetupInput { plugin_root: Some(PathBuf::from(root.trim())), words: quoting::words(arguments) })
    }
}

struct SetupInput {
    /// Directory of the plugin, as passed by the assistant.
    plugin_root: Option<PathBuf>,
    /// Arguments of the slash command.
    words: Vec<String>,
}

/// Prepares the work directory and returns the text for the model.
fn prepare(input: &SetupInput) -> Result<String, String> {
    let arguments = arguments::parse(input.words.iter().cloned())?;
    let workdir = physical_dir(&arguments.workdir).ok_or_else(|| {
        format!("Error: workdir path does not exist or is not a directory: {}", arguments.workdir)
    })?;
    let plan = plan_file(&arguments)?;
    let prd = match (&arguments.prd, &arguments.plan) {
        (Some(prd), _) => prd.clone(),
        // An imported plan replaces the requirements, so none are searched.
        (None, Some(_)) => String::new(),
        (None, None) => requirements(&workdir).map(|path| path.display().to_string()).unwrap_or_default(),
    };
    let plugin_root = plugin_root(input.plugin_root.as_deref());
    let prompt_file = prompt_file(plugin_root.as_deref(), &arguments.prompt)?;
    let template = std::fs::read_to_string(&prompt_file)
        .map_err(|error| format!("Error: cannot read {}: {error}", prompt_file.display()))?;
    let peers = peers::resolve(&workdir, &arguments.add_dirs)?;
    let config =
        configuration(&arguments, &workdir, &prd, &plan, plugin_root.as_deref(), &prompt_file, &peers)?;
    // The hooks of this session find the work directory by this mapping.
    if let Ok(project_root) = std::env::current_dir() {
        session::map(&project_root, &workdir);
    }
    config.save(&workdir).map_err(|error| format!("Error: cannot write the configuration: {error}"))?;
    // A plan that cannot be synchronized does not prevent the iteration: the model reads the reason and
    // resolves it.
    let sync_line = crate::plan::sync(&workdir).unwrap_or_else(|message| message);
    // The command varies per run, so it is printed but not stored in the work directory.
    let command = var::text(var::COMMAND);
    let command_line = command
        .as_deref()
        .map(|command| format!("{}={}\n", var::COMMAND, quote(command)))
        .unwrap_or_default();
    let prompt = prompt::render(&template, &config, command.as_deref());
    let path = config_env::path(&workdir);
    Ok(format!(
        "Loop configuration: {}\n{}{command_line}{sync_line}\n\n{prompt}",
        path.display(),
        config.render()
    ))
}

fn configuration(
    arguments: &Arguments,
    workdir: &Path,
    prd: &str,
    plan: &str,
    plugin_root: Option<&Path>,
    prompt: &Path,
    peers: &[AddedDirectory],
) -> Result<ConfigEnv, String> {
    let text = |path: &Path| path.display().to_string();
    let joined = |part: fn(&AddedDirectory) -> String| peers.iter().map(part).collect::<Vec<_>>().join("|");
    let values = [
        (var::WORKDIR, text(workdir)),
        (var::PRD_FILE, prd.to_owned()),
        (var::PLAN_FILE, plan.to_owned()),
        (var::MAX_ITERATIONS, arguments.max_iterations.clone()),
        (var::PLUGIN_ROOT, plugin_root.map(text).unwrap_or_default()),
        (var::PROMPT_FILE, text(prompt)),
        (var::ADD_DIRS, joined(|peer| peer.path.display().to_string())),
        (var::ADD_DIR_NAMES, joined(|peer| peer.name.clone())),
        (var::REPO_MAP, joined(|peer| format!("{}={}", peer.name, peer.path.display()))),
    ];
    let mut config = ConfigEnv::default();
    for (key, value) in values {
        // `config.env` stores one value per line.
        if value.contains(['\n', '\r']) {
            return Err(format!("Error: {key} must not contain a line break"));
        }
        config.set(key, &value);
    }
    let previous =
        ConfigEnv::load(workdir).map_err(|error| format!("Error: cannot read the configuration: {error}"))?;
    // The driver writes its keys before the iteration; set-up must not lose them.
    config.keep_driver_keys(&previous);
    Ok(config)
}

/// Returns the plan to import, from the arguments or from the environment.
fn plan_file(arguments: &Arguments) -> Result<String, String> {
    let Some(plan) = &arguments.plan else { return Ok(var::text(var::PLAN_FILE).unwrap_or_default()) };
    let path = std::path::absolute(plan).map_err(|error| format!("Error: invalid plan path: {error}"))?;
    if path.is_file() {
        Ok(path.display().to_string())
    } else {
        Err(format!("Error: plan file not found: {}", path.display()))
    }
}

/// Returns the requirements file of a work directory: a usual name, or the first other file by name.
fn requirements(workdir: &Path) -> Option<PathBuf> {
    let usual = REQUIREMENTS.iter().map(|name| workdir.join(name)).find(|path| untrusted::is_file(path));
    usual.or_else(|| {
        let mut names: Vec<String> = untrusted::entries(workdir)
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::File)
            .filter_map(|entry| entry.name.into_string().ok())
            .filter(|name| !name.starts_with('.') && !is_output(name))
            .collect();
        names.sort();
        names.into_iter().next().map(|name| workdir.join(name))
    })
}

fn is_output(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    OUTPUTS.contains(&name) || matches!(ending, "json" | "jsonl" | "log" | "pid" | "start" | "sock")
}

/// Returns the plugin's root: as passed by the assistant, from the environment, or our unpacked copy.
fn plugin_root(from_assistant: Option<&Path>) -> Option<PathBuf> {
    let from_environment =
        [var::PLUGIN_ROOT, var::PLUGIN_DIR].into_iter().filter_map(var::text).map(PathBuf::from);
    let mut roots = from_assistant.map(Path::to_owned).into_iter().chain(from_environment);
    roots.find(|root| root.join("prompts").is_dir()).or_else(|| {
        let data_dir = loopgate_home::default_data_dir().ok()?;
        Plugins::unpack(&data_dir).ok()?.dir("code")
    })
}

fn prompt_file(plugin_root: Option<&Path>, name: &str) -> Result<PathBuf, String> {
    let path = plugin_root.unwrap_or(Path::new(".")).join("prompts").join(format!("{name}.md"));
    if path.is_file() {
        return Ok(path);
    }
    let available = prompt_names(plugin_root).join("\n");
    Err(format!("ERROR: Prompt '{name}' not found (no {})\nAvailable prompts:\n{available}", path.display()))
}

/// Resolves a directory's path without symbolic links.
fn physical_dir(path: &str) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok().filter(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_found_and_outputs_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(dir.path().join(name), "x").unwrap();
        for name in ["plan.json", "plan.md", ".hidden", "runs.log", "assistant-output-x.jsonl"] {
            write(name);
        }
        assert_eq!(requirements(dir.path()), None);
        write("request.txt");
        write("idea.md");
        assert_eq!(requirements(dir.path()), Some(dir.path().join("idea.md")));
        write("ticket.md");
        assert_eq!(requirements(dir.path()), Some(dir.path().join("ticket.md")));
    }
}
