//! Resolution of a request's repository to a local clone: by path, by the list of repositories, by name, or
//! by cloning.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::join_all;
use loopgate_api::command::InputRequirement;
use loopgate_api::event::{code, subcode};
use loopgate_api::ids::RepoFullName;
use loopgate_api::redact;
use loopgate_home::{
    AddRepoError, Repos, RepositoryError, Sandbox, SandboxedPath, SettingsStore, expand_home,
    is_taken_in_other_case,
};
use loopgate_tools::code_host::{CloneError, CodeHost};
use loopgate_tools::git::Git;

use crate::error::LoopRequestError;
use crate::refusal::Refusal;
use crate::request::LoopRequest;

const NOT_ALLOWED_EVENT: &str = "Repository path not allowed by sandbox policy";
const REQUIRED: &str = "Repository required for PLAN, EXECUTE, REQUEST_CHANGES, and GENERATE_PRD commands";

/// A clone that a loop may use.
#[derive(Debug, Clone)]
pub(crate) struct LoopRepository {
    pub path: SandboxedPath,
    /// Full name, when known.
    pub full_name: Option<RepoFullName>,
}

/// Finds and clones repositories.
#[derive(Debug, Clone)]
pub(crate) struct Repositories {
    pub repos: Arc<Repos>,
    pub sandbox: Arc<Sandbox>,
    settings: Arc<SettingsStore>,
    pub git: Git,
    code_host: CodeHost,
}

impl Repositories {
    pub const fn new(
        repos: Arc<Repos>,
        sandbox: Arc<Sandbox>,
        settings: Arc<SettingsStore>,
        git: Git,
        code_host: CodeHost,
    ) -> Self {
        Self { repos, sandbox, settings, git, code_host }
    }
}

/// Resolves the primary repository of a request. Returns `None` when the request names none, or when the
/// command does not require a repository and the named one is not available.
pub(crate) async fn resolve(
    repositories: &Repositories,
    request: &LoopRequest,
) -> Result<Option<LoopRepository>, Refusal> {
    match request.command.spec().repository {
        InputRequirement::Unused => Ok(None),
        InputRequirement::Required => requested(repositories, request).await,
        InputRequirement::Optional => Ok(requested(repositories, request).await.unwrap_or_else(|refusal| {
            let reason = refusal.error.message;
            tracing::info!(loop_id = %request.loop_id, reason, "repository not available; continuing without it");
            None
        })),
    }
}

async fn requested(
    repositories: &Repositories,
    request: &LoopRequest,
) -> Result<Option<LoopRepository>, Refusal> {
    if let Some(path) = &request.local_repo_path {
        return by_path(repositories, request, path).await.map(Some);
    }
    let name = request.repo.as_ref().map(|repo| repo.full_name.trim()).filter(|name| !name.is_empty());
    match name {
        Some(name) => by_name(repositories, name).await.map(Some),
        None => Ok(None),
    }
}

/// Rejects a loop whose work the code host would refuse in the end.
pub(crate) async fn check_delivery(
    repositories: &Repositories,
    clones: impl Iterator<Item = &LoopRepository>,
) -> Result<(), Refusal> {
    let checks = clones.map(|clone| repositories.code_host.delivery_obstacle(clone.path.as_path()));
    match join_all(checks).await.into_iter().flatten().next() {
        Some(obstacle) => {
            let error = LoopRequestError::bad_request(format!("The work could not be delivered: {obstacle}"));
            Err(Refusal::with_same_event(error, code::PRE_RUN_VALIDATION_FAILED))
        }
        None => Ok(()),
    }
}

/// Returns the error for a request that requires a repository and names none.
pub(crate) fn required() -> LoopRequestError {
    LoopRequestError::bad_request(REQUIRED)
}

async fn by_name(repositories: &Repositories, name: &str) -> Result<LoopRepository, Refusal> {
    let not_found = |reason: &str| {
        let error = LoopRequestError::new(404, format!("Repository not found locally: {name}{reason}"));
        Refusal::with_same_event(error, code::REPO_NOT_FOUND)
    };
    let name: RepoFullName = name.parse().map_err(|_| not_found(""))?;
    match find(repositories, &name).await {
        Some(path) => {
            let path = repositories.sandbox.check(&path).map_err(|_| {
                let error = LoopRequestError::path_not_allowed("Repository path not allowed");
                Refusal::with_event(error, code::REPO_NOT_ALLOWED, NOT_ALLOWED_EVENT)
            })?;
            Ok(LoopRepository { path, full_name: Some(name) })
        }
        None => match clone(repositories, &name).await {
            Ok(path) => Ok(LoopRepository { path, full_name: Some(name) }),
            // Another loop may have cloned it at the same time.
            Err(NoClone { reason, lacks }) => {
                if let Some(path) =
                    find(repositories, &name).await.and_then(|path| repositories.sandbox.check(path).ok())
                {
                    Ok(LoopRepository { path, full_name: Some(name) })
                } else {
                    tracing::warn!(repository = %name, reason, "repository not found locally and cannot be cloned");
                    let refusal = not_found(&format!(". It could not be cloned: {reason}"));
                    Err(lacks.into_iter().fold(refusal, Refusal::lacking))
                }
            }
        },
    }
}

async fn by_path(
    repositories: &Repositories,
    request: &LoopRequest,
    path: &str,
) -> Result<LoopRepository, Refusal> {
    let allowed = repositories.sandbox.check(expand_home(path)).map_err(|_| {
        Refusal::with_event(LoopRequestError::not_allowed(), code::REPO_NOT_ALLOWED, NOT_ALLOWED_EVENT)
    })?;
    let (place, sandbox, repo) =
        (allowed.as_path().to_owned(), repositories.sandbox.clone(), request.repo.clone());
    let inspection = tokio::task::spawn_blocking(move || (place.is_dir(), sandbox.origin_of(&place))).await;
    let (exists, origin) = inspection.unwrap_or_default();
    if !exists {
        let error = LoopRequestError::new(404, format!("Repository not found locally: {path}"));
        return Err(Refusal::with_same_event(error, code::REPO_NOT_FOUND));
    }
    let requested_name = repo.and_then(|repo| repo.full_name.parse().ok());
    Ok(LoopRepository { path: allowed, full_name: requested_name.or(origin) })
}

/// Describes which places [`find`] searches.
pub(crate) fn searched(repositories: &Repositories) -> String {
    match repositories.sandbox.base() {
        Some(base) => format!(
            "Loopgate looked in the list of repositories and, three levels deep, in the sandbox directory {} for a clone \
             with a remote of that name; clone it there",
            base.display()
        ),
        None => "No sandbox directory is configured; choose one in the settings".to_owned(),
    }
}

/// Finds a local clone: in the list of repositories, as the sandbox directory itself, at one of the usual places below
/// it, or by a search in it. The clone of a fork matches the repository that it was forked from only if it has a remote of it.
pub(crate) async fn find(repositories: &Repositories, name: &RepoFullName) -> Option<PathBuf> {
    let (repos, sandbox, name) = (repositories.repos.clone(), repositories.sandbox.clone(), name.clone());
    let search = tokio::task::spawn_blocking(move || {
        match repos.find(&name) {
            Ok(Some(path)) if path.is_dir() => return Some(path),
            // A listed clone that was deleted does not count.
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "cannot read the list of repositories"),
        }
        let base = sandbox.base()?;
        let itself = base.file_name().is_some_and(|last| last.eq_ignore_ascii_case(name.name()));
        let itself = itself.then(|| base.clone());
        let layouts = [base.join(name.as_str()), base.join("github.com").join(name.as_str())];
        let candidates = itself.into_iter().chain(new_clone_places(&base, &name)).chain(layouts);
        candidates.into_iter().find(|place| is_clone_of(&sandbox, place, &name)).or_else(|| {
            // Clones that were created since the list was written, at other places.
            let mut clones = sandbox.clones().into_iter().map(|(_, clone)| clone);
            clones.find(|clone| is_clone_of(&sandbox, clone, &name))
        })
    });
    search.await.ok().flatten()
}

/// Returns where a repository is cloned to. The second place is for a repository of another owner with the same name.
fn new_clone_places(base: &Path, name: &RepoFullName) -> [PathBuf; 2] {
    [base.join(name.name()), base.join(format!("{}-{}", name.name(), name.org()))]
}

fn is_clone_of(sandbox: &Sandbox, place: &Path, name: &RepoFullName) -> bool {
    sandbox.repository_at(place).is_some_and(|repository| repository.is_clone_of(name))
}

/// Why a repository could not be cloned.
struct NoClone {
    /// Safe to show.
    reason: String,
    /// What this machine lacks, see [`loopgate_api::event::subcode`].
    lacks: Option<&'static str>,
}

impl<T: Into<String>> From<T> for NoClone {
    fn from(reason: T) -> Self {
        Self { reason: reason.into(), lacks: None }
    }
}

/// Where a loop on a repository works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClonePlace {
    /// The repository has a clone on this machine.
    Existing(SandboxedPath),
    /// The start of a loop clones it to this path.
    New(PathBuf),
    /// A loop cannot start, for a reason that is safe to show.
    Unavailable(String),
}

/// Determines where a loop on a repository would work. Changes nothing.
pub(crate) async fn locate(repositories: &Repositories, name: &RepoFullName) -> ClonePlace {
    match find(repositories, name).await {
        Some(path) => repositories.sandbox.check(&path).map_or_else(
            |_| {
                ClonePlace::Unavailable(format!(
                    "Its clone {} is outside the sandbox directory; move it there, or change the sandbox directory.",
                    path.display()
                ))
            },
            ClonePlace::Existing,
        ),
        None => match destination(repositories, name) {
            Ok(place) => ClonePlace::New(place),
            Err(reason) => ClonePlace::Unavailable(format!("It cannot be cloned: {reason}.")),
        },
    }
}

/// Returns the path for the clone of a repository that has none.
///
/// # Errors
/// Fails with a reason that is safe to show.
fn destination(repositories: &Repositories, name: &RepoFullName) -> Result<PathBuf, String> {
    let base = repositories
        .settings
        .get()
        .sandbox_base_directory
        .clone()
        .ok_or("no sandbox directory is configured; choose one in the settings")?;
    if !base.is_dir() {
        return Err("the sandbox directory does not exist; create it".into());
    }
    let places = new_clone_places(&base, name);
    let is_free = |place: &&PathBuf| place.symlink_metadata().is_err() && !is_taken_in_other_case(place);
    let Some(place) = places.iter().find(is_free).cloned() else {
        return Err(occupied(&repositories.sandbox, &places));
    };
    repositories.sandbox.check(&place).map_err(|_| "the destination is outside the sandbox".to_owned())?;
    Ok(place)
}

/// Clones into the sandbox directory. The clone gets its name only when it is complete, so that a failed one
/// does not block the next attempt.
async fn clone(repositories: &Repositories, name: &RepoFullName) -> Result<SandboxedPath, NoClone> {
    let place = destination(repositories, name)?;
    repositories.code_host.clone_repository(name, &place).await.map_err(|error| {
        let detail = redact::message(&error.to_string());
        tracing::warn!(repository = %name, detail, "cannot clone a repository");
        match error {
            // The output of the program can contain secrets.
            CloneError::CodeHost(error) => NoClone {
                reason: error.user_message().to_owned(),
                lacks: error.is_signed_out().then_some(subcode::CODE_HOST_NOT_SIGNED_IN),
            },
            CloneError::Exists | CloneError::NoParent | CloneError::Io(_) => detail.into(),
        }
    })?;
    // Checked again: the path may have been replaced by a symbolic link during the clone.
    let Ok(path) = repositories.sandbox.check(&place) else {
        discard(&place).await;
        return Err("the clone is outside the sandbox".into());
    };
    let (repos, listed) = (repositories.repos.clone(), path.clone());
    match tokio::task::spawn_blocking(move || repos.add(&listed, None, None)).await {
        Ok(Ok(_) | Err(AddRepoError::AlreadyManaged)) => {}
        Ok(Err(error)) => tracing::warn!(%error, "cannot add the clone to the list of repositories"),
        Err(error) => tracing::warn!(%error, "cannot add the clone to the list of repositories"),
    }
    Ok(path)
}

/// Explains that the places for a clone are in use.
fn occupied(sandbox: &Sandbox, places: &[PathBuf]) -> String {
    let describe = |place: &PathBuf| {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        match sandbox.repository(place).map(|repository| repository.origin()) {
            Ok(Some(origin)) => format!("{name} is a clone of {origin}"),
            Err(RepositoryError::Refused(reason)) => format!("{name} is not used, because {reason}"),
            _ => format!("{name} is not a clone"),
        }
    };
    let described: Vec<String> = places.iter().map(describe).collect();
    format!("in the sandbox directory, {}; move one of them away", described.join(" and "))
}

async fn discard(place: &Path) {
    // Only a link itself is removed; its target does not belong to Loopgate.
    let is_link = place.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    let removed =
        if is_link { tokio::fs::remove_file(place).await } else { tokio::fs::remove_dir_all(place).await };
    if let Err(error) = removed {
        tracing::warn!(%error, "cannot remove a rejected clone");
    }
}
