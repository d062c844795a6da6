//! Selection of the work directory: the one that the arguments name, that of the project's open loop, or a new one.
//!
//! A work directory contains only files of its loop. The project itself, and directories with its files, are
//! rejected: the loop would write its own files next to the sources, and take one of them for the requirements.

use std::path::{Path, PathBuf};

use loopgate_api::names::{STATE_DIR, STATE_JSON};
use loopgate_home::{EntryKind, expand_home, untrusted};
use serde_json::Value;

use super::arguments::{Arguments, CommandArguments};
use crate::config_env::{self, ConfigEnv};
use crate::loop_run::is_running;
use crate::project_git::BlockingGit;
use crate::variables as var;

/// Name of the first work directory in the project's state directory; further ones get a number.
const WORK: &str = "work";
/// Answer to a command without arguments if the project has no open loop.
const NO_OPEN_LOOP: &str =
    "No loop is open in this project. Which change do you want? Describe it: /code:code <request>";

/// Work directory of a loop.
#[derive(Debug, PartialEq, Eq)]
pub struct Workdir {
    /// Absolute path without symbolic links. A new directory does not exist yet.
    pub path: PathBuf,
    /// Whether this is the start of a loop.
    pub is_new: bool,
}

/// Directories that a loop's directory may contain before its set-up.
const LOOP_DIRECTORIES: [&str; 2] = [STATE_DIR, "attachments"];

/// Selects the work directory, and completes the arguments of an open loop with those that it was started with.
///
/// # Errors
/// Returns the line to print.
pub fn select(project: &Path, invocation: &CommandArguments) -> Result<(Workdir, Arguments), String> {
    let project = std::fs::canonicalize(project)
        .map_err(|error| format!("Error: cannot access {}: {error}", project.display()))?;
    match invocation {
        CommandArguments::Request { options, .. } => Ok((free(&project), options.clone())),
        CommandArguments::Loop(arguments) if !arguments.workdir.is_empty() => {
            let path = named(&project, &arguments.workdir)?;
            Ok((Workdir { path, is_new: false }, arguments.clone()))
        }
        CommandArguments::Loop(arguments) if arguments.prd.is_some() || arguments.plan.is_some() => {
            Ok((free(&project), arguments.clone()))
        }
        CommandArguments::Loop(arguments) => {
            let path = open(&project).ok_or(NO_OPEN_LOOP)?;
            if is_running(&path) {
                return Err(format!(
                    "Error: a loop is running in {}. Wait for it to end, or stop it with /code:cancel-code.",
                    path.display()
                ));
            }
            let arguments = with_stored(arguments, &path)?;
            Ok((Workdir { path, is_new: false }, arguments))
        }
    }
}

/// Returns the work directory of the loop that was set up last in a project, if it is not completed.
pub fn open(project: &Path) -> Option<PathBuf> {
    let state_dir = project.join(STATE_DIR);
    let directories = untrusted::entries(&state_dir)
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Directory && entry.name.to_string_lossy().starts_with(WORK));
    let loops = directories.map(|entry| state_dir.join(entry.name)).filter_map(|workdir| {
        let set_up = untrusted::metadata(&config_env::path(&workdir)).and_then(|file| file.modified());
        Some((set_up.ok()?, workdir))
    });
    let (_, last) = loops.max()?;
    let state: Option<Value> = untrusted::read_json(&last.join(STATE_JSON));
    let is_completed = state.is_some_and(|state| state["status"] == "COMPLETED");
    (!is_completed).then_some(last)
}

/// Returns the first work directory that no loop uses.
fn free(project: &Path) -> Workdir {
    let state_dir = project.join(STATE_DIR);
    let further = (2..).map(|number: u32| format!("{WORK}-{number}"));
    let mut paths = std::iter::once(WORK.to_owned()).chain(further).map(|name| state_dir.join(name));
    let is_free = |path: &PathBuf| match untrusted::kind(path) {
        None => true,
        Some(EntryKind::Directory) => untrusted::entries(path).is_empty(),
        Some(_) => false,
    };
    let path = paths.find(is_free).unwrap_or_else(|| state_dir.join(WORK));
    Workdir { path, is_new: true }
}

fn named(project: &Path, raw: &str) -> Result<PathBuf, String> {
    let path = std::fs::canonicalize(project.join(expand_home(raw)))
        .ok()
        .filter(|path| path.is_dir())
        .ok_or_else(|| format!("Error: workdir path does not exist or is not a directory: {raw}"))?;
    // Below the state directory, even tracked files are files of loops.
    let is_of_loops = path.components().any(|part| part.as_os_str() == STATE_DIR);
    let has_other_files =
        !is_of_loops && (is_foreign(project, &path) || BlockingGit::new()?.contains_directory(&path));
    if project.starts_with(&path) || has_other_files {
        return Err(format!(
            "Error: {} contains files of the project or of other programs, and a work directory contains only files of its loop. \
             Use another directory, or describe a change: /code:code <request>",
            path.display()
        ));
    }
    Ok(path)
}

/// Returns whether a directory belongs to git or, outside of the project, to anything but a loop: a loop's directory
/// that was not set up contains documents only.
fn is_foreign(project: &Path, path: &Path) -> bool {
    let is_of_git = path.components().any(|part| part.as_os_str() == ".git") || path.join(".git").exists();
    let is_set_up = untrusted::is_file(&config_env::path(path));
    let has_directories = || {
        let directories =
            untrusted::entries(path).into_iter().filter(|entry| entry.kind == EntryKind::Directory);
        directories.map(|entry| entry.name).any(|name| !LOOP_DIRECTORIES.iter().any(|own| name == *own))
    };
    is_of_git || (!path.starts_with(project) && !is_set_up && has_directories())
}

/// Completes options with those with which the loop was set up.
fn with_stored(given: &Arguments, workdir: &Path) -> Result<Arguments, String> {
    let config =
        ConfigEnv::load(workdir).map_err(|error| format!("Error: cannot read the configuration: {error}"))?;
    let value = |name: &str| config.get(name).map(str::to_owned);
    let prompt = || Some(Path::new(&value(var::PROMPT_FILE)?).file_stem()?.to_str()?.to_owned());
    let add_dirs = value(var::ADD_DIRS).unwrap_or_default();
    let add_dirs = add_dirs.split('|').filter(|dir| !dir.is_empty()).map(str::to_owned);
    Ok(Arguments {
        workdir: String::new(),
        prd: value(var::PRD_FILE),
        // A plan is imported in the first iteration; its file may have been removed since.
        plan: value(var::PLAN_FILE).filter(|path| Path::new(path).is_file()),
        max_iterations: given.max_iterations.or_else(|| value(var::MAX_ITERATIONS)?.parse().ok()),
        prompt: given.prompt.clone().or_else(prompt),
        add_dirs: add_dirs.chain(given.add_dirs.iter().cloned()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(workdir: &str) -> CommandArguments {
        CommandArguments::Loop(Arguments { workdir: workdir.to_owned(), ..Arguments::default() })
    }

    fn set_up(workdir: &Path, prd: &str) {
        let mut config = ConfigEnv::default();
        config.set(var::PRD_FILE, prd);
        config.save(workdir).unwrap();
    }

    #[test]
    fn project_and_its_parents_are_no_work_directories() {
        let dir = tempfile::tempdir().unwrap();
        let project = std::fs::canonicalize(dir.path()).unwrap().join("project");
        std::fs::create_dir_all(project.join("notes")).unwrap();
        std::fs::write(project.join("Cargo.toml"), "[package]").unwrap();
        let absolute = project.display().to_string();
        for raw in [".", "..", "./", &absolute] {
            let error = select(&project, &arguments(raw)).unwrap_err();
            assert!(error.contains("contains files of the project"), "{raw}: {error}");
        }
        std::fs::create_dir_all(dir.path().join("other/src")).unwrap();
        std::fs::create_dir_all(project.join(".git/hooks")).unwrap();
        for raw in ["../other", ".git", ".git/hooks"] {
            assert!(select(&project, &arguments(raw)).unwrap_err().contains("of other programs"), "{raw}");
        }
        let (workdir, _) = select(&project, &arguments("./notes")).unwrap();
        assert_eq!(workdir, Workdir { path: project.join("notes"), is_new: false });
        let missing = select(&project, &arguments("/nope")).unwrap_err();
        assert_eq!(missing, "Error: workdir path does not exist or is not a directory: /nope");
    }

    #[test]
    fn each_request_gets_a_work_directory_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let project = std::fs::canonicalize(dir.path()).unwrap();
        let request = CommandArguments::Request { text: "text".into(), options: Arguments::default() };
        let selected = || select(&project, &request).unwrap().0;
        assert_eq!(selected(), Workdir { path: project.join(".loopgate/work"), is_new: true });
        set_up(&project.join(".loopgate/work"), "");
        assert_eq!(selected().path, project.join(".loopgate/work-2"));
    }

    #[test]
    fn command_without_arguments_continues_the_open_loop() {
        let dir = tempfile::tempdir().unwrap();
        let project = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::write(project.join("Cargo.toml"), "[package]").unwrap();
        let select = || select(&project, &arguments(""));
        assert_eq!(select(), Err(NO_OPEN_LOOP.to_owned()));
        let work = project.join(".loopgate/work");
        set_up(&work, "/docs/request.md");
        let (workdir, stored) = select().unwrap();
        assert_eq!(workdir, Workdir { path: work.clone(), is_new: false });
        assert_eq!(stored.prd.as_deref(), Some("/docs/request.md"));
        let options =
            Arguments { max_iterations: Some(3), add_dirs: vec!["/b".into()], ..Arguments::default() };
        let (_, changed) = super::select(&project, &CommandArguments::Loop(options)).unwrap();
        assert_eq!((changed.max_iterations(), changed.add_dirs), (3, vec!["/b".to_owned()]));
        std::fs::write(work.join(STATE_JSON), r#"{"status": "COMPLETED"}"#).unwrap();
        assert_eq!(select(), Err(NO_OPEN_LOOP.to_owned()));
    }
}
