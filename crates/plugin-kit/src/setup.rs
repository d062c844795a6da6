//! `loopgate loop setup`: what the command `/code:code` runs before the model sees its prompt.
//!
//! Reads the command's arguments, finds the requirements and the further repositories, brings the plan up to
//! date with what a person wrote into `plan.md`, writes `config.env` for the hooks, and prints it and the
//! prompt for the model. Runs once an iteration and changes nothing the second time.

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

/// Longest arguments that are read from standard input.
const STDIN_CAP: u64 = 1024 * 1024;

/// Names that requirements have, in the order in which they are looked for.
const REQUIREMENTS: [&str; 5] = ["prd.md", "prd.pdf", "requirements.md", "requirements.txt", "ticket.md"];

/// Files that the loop itself puts into a work directory; never requirements.
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

/// `loopgate loop setup`: prepares a work directory for the command `/code:code`.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct SetupArgs {
    /// `[WORKDIR] [--prd FILE | --plan FILE] [--prompt NAME] [--max-iterations N] [--add-dir DIR]...`
    /// Paths with blanks need no quotes: words up to the next flag belong together. The one word `--stdin`
    /// takes all of it from standard input instead, where no shell has read it: the plugin's directory in
    /// the first line, the arguments after it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

impl SetupArgs {
    /// Writes `config.env`, prints it and the prompt; 0, or 1 with the reason on standard error.
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
        let (root, arguments) = text.split_once('\n').unwrap_or((&text, ""));
        Ok(SetupInput { plugin_root: Some(PathBuf::from(root.trim())), words: quoting::words(arguments) })
    }
}

/// What set-up is called with.
struct SetupInput {
    /// Directory of the plugin, as the assistant names it.
    plugin_root: Option<PathBuf>,
    /// The arguments of the command.
    words: Vec<String>,
}

/// Prepares the work directory; the text for the model.
fn prepare(input: &SetupInput) -> Result<String, String> {
    let arguments = arguments::parse(input.words.iter().cloned())?;
    let workdir = physical_dir(&arguments.workdir).ok_or_else(|| {
        format!("Error: workdir path does not exist or is not a directory: {}", arguments.workdir)
    })?;
    let plan = plan_file(&arguments)?;
    let prd = match (&arguments.prd, &arguments.plan) {
        (Some(prd), _) => prd.clone(),
        (None, Some(_)) => String::new(),
        (None, None) => requirements(&workdir).map(|path| path.display().to_string()).unwrap_or_default(),
    };
    let plugin_root = plugin_root(input.plugin_root.as_deref());
    let prompt_file = prompt_file(plugin_root.as_deref(), &arguments.prompt)?;
    let template = std::fs::read_to_string(&prompt_file)
        .map_err(|error| format!("Error: cannot read {}: {error}", prompt_file.display()))?;
    let peers = peers::named(&workdir, &arguments.add_dirs)?;
    let config =
        configuration(&arguments, &workdir, &prd, &plan, plugin_root.as_deref(), &prompt_file, &peers)?;
    if let Ok(project_root) = std::env::current_dir() {
        session::map(&project_root, &workdir);
    }
    config.save(&workdir).map_err(|error| format!("Error: cannot write the configuration: {error}"))?;
    let synced = crate::plan::sync(&workdir).unwrap_or_else(|message| message);
    // Not a setting of the work directory, so it is told and not kept.
    let command = var::text(var::COMMAND);
    let command_line = command
        .as_deref()
        .map(|command| format!("{}={}\n", var::COMMAND, quote(command)))
        .unwrap_or_default();
    let prompt = prompt::render(&template, &config, command.as_deref());
    let path = config_env::path(&workdir);
    Ok(format!(
        "Loop configuration: {}\n{}{command_line}{synced}\n\n{prompt}",
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
        if value.contains(['\n', '\r']) {
            return Err(format!("Error: {key} must not contain a line break"));
        }
        config.set(key, &value);
    }
    let previous =
        ConfigEnv::load(workdir).map_err(|error| format!("Error: cannot read the configuration: {error}"))?;
    config.keep_driver_keys(&previous);
    Ok(config)
}

/// The plan to import: named, or handed in by the environment.
fn plan_file(arguments: &Arguments) -> Result<String, String> {
    let Some(plan) = &arguments.plan else { return Ok(var::text(var::PLAN_FILE).unwrap_or_default()) };
    let path = std::path::absolute(plan).map_err(|error| format!("Error: invalid plan path: {error}"))?;
    if path.is_file() {
        Ok(path.display().to_string())
    } else {
        Err(format!("Error: plan file not found: {}", path.display()))
    }
}

/// The requirements file of a work directory: a usual name, else the first other file by name.
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

/// The plugin's root as the assistant tells it, else the one that the driver loads, else our own copy.
fn plugin_root(told: Option<&Path>) -> Option<PathBuf> {
    let named = [var::PLUGIN_ROOT, var::PLUGIN_DIR].into_iter().filter_map(var::text).map(PathBuf::from);
    let mut roots = told.map(Path::to_owned).into_iter().chain(named);
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

/// A directory without symbolic links in its path.
fn physical_dir(path: &str) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok().filter(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_found_and_outputs_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(dir.path().join(name), "x").unwrap();
        for name in ["plan.json", "plan.md", ".hidden", "runs.log", "assistant-output-x.jsonl"] {
            write(name);
        }
        assert_eq!(requirements(dir.path()), None);
        write("wish.txt");
        write("idea.md");
        assert_eq!(requirements(dir.path()), Some(dir.path().join("idea.md")));
        write("ticket.md");
        assert_eq!(requirements(dir.path()), Some(dir.path().join("ticket.md")));
    }
}
