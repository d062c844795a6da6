//! Set-up of one iteration, before the model reads its prompt: for `/code:code` and for `loopgate loop setup`.
//!
//! Interprets the arguments, selects the work directory and the requirements, finds the further repositories, updates
//! the plan from edits of `plan.md`, writes `config.env` for the hooks, and prints it with the prompt. Runs once per
//! iteration and is idempotent. Nothing is written before all arguments are valid.

mod arguments;
mod peers;
mod prompt;
mod session;
mod workdir;

pub(crate) use self::peers::paths as resolve_peers;
pub(crate) use self::workdir::open as open_loop;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_home::{EntryKind, expand_home, untrusted};

use self::arguments::{Arguments, CommandArguments};
use self::peers::AddedDirectory;
use self::workdir::Workdir;
use crate::command_line::CommandLine;
use crate::config_env::{self, ConfigEnv};
use crate::console::print_result;
use crate::loop_run::exclude_state_dir;
use crate::plugins::{Plugins, embedded_version, prompt_names, version_of};
use crate::project_git::{BlockingGit, Trees};
use crate::quoting::quote;
use crate::variables as var;

/// File names of requirements, in order of precedence.
const REQUIREMENTS: [&str; 5] = [PRD_MD, "prd.pdf", "requirements.md", "requirements.txt", "ticket.md"];
/// File with the text of a request.
const PRD_MD: &str = "prd.md";
/// Endings of documents that may be requirements under another name; others are code or data.
const DOCUMENTS: [&str; 7] = ["md", "markdown", "txt", "pdf", "rst", "adoc", "html"];

/// Documents that the loop itself writes into a work directory; they are never requirements.
const OUTPUTS: [&str; 14] = [
    "api-requirements.md",
    "assistant-output.name.txt",
    "imported-plan.md",
    "implementation-plan.md",
    "investigation-log.md",
    "learnings.md",
    "log.md",
    "open-questions.md",
    "plan.md",
    "plan-source.md",
    "session-id.txt",
    "visual-qa-memory.md",
    "visual-requirements.md",
    "worktree.md",
];

/// Prepares a work directory for the command `/code:code`
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct SetupArgs {
    /// `[OPTIONS] [--] REQUEST`, or `[WORKDIR] [--prd FILE | --plan FILE] [OPTIONS]`. The options
    /// `--max-iterations N`, `--add-dir DIR` and `--prompt NAME` count only before the request, and `--` ends them.
    /// Paths with spaces need no quotes: the longest existing path counts.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

impl SetupArgs {
    /// Writes `config.env`, and prints it with the prompt. Exits with 0, or with 1 and the reason on standard
    /// error.
    #[must_use]
    pub fn run(self) -> ExitCode {
        print_result(self.prepare())
    }

    fn prepare(self) -> Result<String, String> {
        let project =
            std::env::current_dir().map_err(|error| format!("Error: no current directory: {error}"))?;
        let line =
            CommandLine::of_arguments(self.words.iter().map(|word| word.to_string_lossy().into_owned()));
        let session = var::text(var::ASSISTANT_SESSION);
        let input = SetupInput { project: &project, plugin_root: None, session: session.as_deref() };
        prepare(&input, CommandArguments::parse(line, &project)?)
    }
}

/// Prepares the work directory for `/code:code` and returns the text for the model. `arguments` is what the user typed.
///
/// # Errors
/// Returns the line to print.
pub(crate) fn prepare_command(input: &SetupInput, arguments: &str) -> Result<String, String> {
    // Prompts and program call each other, so they must be of one version.
    let versions = (input.plugin_root.and_then(version_of), embedded_version("code"));
    if let (Some(plugin), Some(own)) = versions
        && plugin != own
    {
        return Err(format!(
            "Error: the plugin `code` has version {plugin}, and the program loopgate contains version {own}. Run \
             `loopgate plugins install`, and start the assistant again."
        ));
    }
    prepare(input, CommandArguments::parse(CommandLine::typed(arguments), input.project)?)
}

/// Where set-up runs.
pub(crate) struct SetupInput<'a> {
    /// Directory in which the assistant was started.
    pub project: &'a Path,
    /// Directory of the plugin, as passed by the assistant.
    pub plugin_root: Option<&'a Path>,
    /// Session whose hooks are to act for the loop.
    pub session: Option<&'a str>,
}

fn prepare(input: &SetupInput, invocation: CommandArguments) -> Result<String, String> {
    let project = input.project;
    let (Workdir { path: workdir, is_new }, arguments) = workdir::select(project, &invocation)?;
    let plan = plan_file(&arguments, project)?;
    let plugin_root = plugin_root(input.plugin_root);
    let prompt_file = prompt_file(plugin_root.as_deref(), arguments.prompt())?;
    let template = std::fs::read_to_string(&prompt_file)
        .map_err(|error| format!("Error: cannot read {}: {error}", prompt_file.display()))?;
    check_requirements(&arguments, project, &workdir)?;
    let peers = peers::resolve(&workdir, project, &arguments.add_dirs)?;
    if is_new {
        let request = match &invocation {
            CommandArguments::Request { text, .. } => Some(text.as_str()),
            CommandArguments::Loop(_) => None,
        };
        create(project, &workdir, request)
            .map_err(|error| format!("Error: cannot create {}: {error}", workdir.display()))?;
    }
    let prd = match (&arguments.prd, &arguments.plan) {
        (Some(prd), _) => prd.clone(),
        // An imported plan replaces the requirements, so none are searched.
        (None, Some(_)) => String::new(),
        (None, None) => requirements(&workdir).map(|path| path.display().to_string()).unwrap_or_default(),
    };
    let mut config =
        configuration(&arguments, &workdir, &prd, &plan, plugin_root.as_deref(), &prompt_file, &peers)?;
    if is_new {
        if let Some(commit) = BlockingGit::new()?.head(project) {
            config.set(var::START_SHA, &commit);
        }
        crate::plan::record_completed(&workdir)?;
    }
    // The hooks of this session find the work directory by this mapping.
    if let Some(session) = input.session {
        session::map(project, session, &workdir);
    }
    config.save(&workdir).map_err(|error| format!("Error: cannot write the configuration: {error}"))?;
    if is_new {
        record_start(project, &workdir, &peers)?;
    }
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
        (var::MAX_ITERATIONS, arguments.max_iterations().to_string()),
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

/// Creates the work directory of a new loop, with the text of its request.
fn create(project: &Path, workdir: &Path, request: Option<&str>) -> io::Result<()> {
    untrusted::create_directory(workdir)?;
    exclude_state_dir(project)?;
    request.map_or(Ok(()), |text| untrusted::write(&workdir.join(PRD_MD), format!("{text}\n").as_bytes()))
}

/// Records the files of a loop's repositories. The driver does the same for its loops, whose directory is not new here.
fn record_start(project: &Path, workdir: &Path, peers: &[AddedDirectory]) -> Result<(), String> {
    let git = BlockingGit::new()?;
    // Later commands run in the project, and see its path without links.
    let project = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let mut trees = Trees::new();
    for repository in std::iter::once(project.as_path()).chain(peers.iter().map(|peer| peer.path.as_path())) {
        // A repository without a snapshot counts as changed later.
        let now = git.snapshots(repository).unwrap_or_default().into_iter();
        // Without a reference, git's garbage collection would remove the tree.
        trees.extend(now.filter(|(path, tree)| git.retain(path, tree, crate::plan::START).is_some()));
    }
    crate::plan::record_loop_start(workdir, &trees)
}

/// Returns the plan to import, from the arguments or from the environment.
fn plan_file(arguments: &Arguments, project: &Path) -> Result<String, String> {
    let Some(plan) = &arguments.plan else { return Ok(var::text(var::PLAN_FILE).unwrap_or_default()) };
    let path = std::path::absolute(project.join(expand_home(plan)))
        .map_err(|error| format!("Error: invalid plan path: {error}"))?;
    if path.is_file() {
        Ok(path.display().to_string())
    } else {
        Err(format!("Error: plan file not found: {}", path.display()))
    }
}

/// Rejects a requirements file that does not exist. One that an earlier set-up accepted may have been removed since.
fn check_requirements(arguments: &Arguments, project: &Path, workdir: &Path) -> Result<(), String> {
    let Some(prd) = &arguments.prd else { return Ok(()) };
    let is_known = || ConfigEnv::load(workdir).is_ok_and(|config| config.get(var::PRD_FILE) == Some(prd));
    if project.join(expand_home(prd)).is_file() || is_known() {
        return Ok(());
    }
    Err(format!("Error: requirements file not found: {prd}"))
}

/// Returns the requirements file of a work directory: a usual name, or the first other document by name.
fn requirements(workdir: &Path) -> Option<PathBuf> {
    let usual = REQUIREMENTS.iter().map(|name| workdir.join(name)).find(|path| untrusted::is_file(path));
    usual.or_else(|| {
        let mut names: Vec<String> = untrusted::entries(workdir)
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::File)
            .filter_map(|entry| entry.name.into_string().ok())
            .filter(|name| !name.starts_with('.') && is_document(name))
            .collect();
        names.sort();
        names.into_iter().next().map(|name| workdir.join(name))
    })
}

/// Returns whether a file may be a document of the user.
fn is_document(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    DOCUMENTS.iter().any(|document| ending.eq_ignore_ascii_case(document)) && !OUTPUTS.contains(&name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_found_and_outputs_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(dir.path().join(name), "x").unwrap();
        for name in ["plan.json", "plan.md", ".hidden", "runs.log", "Cargo.toml", "Makefile"] {
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
