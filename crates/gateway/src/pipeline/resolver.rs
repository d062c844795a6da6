//! Resolves the directories that a request concerns, in the same ways as its handler will.

use std::path::{Path, PathBuf};

use loopgate_api::bootstrap::BootstrapOrder;
use loopgate_api::ids::{LoopId, RepoFullName, TicketId};
use loopgate_home::{canonical_path, expand_home};
use loopgate_runtime::Runtime;
use loopgate_tools::git::CheckoutKind;
use serde_json::Value;

use crate::app::App;
use crate::approval::{At, RequestValues, Resolution, Source, Subject, SubjectDirectory};

/// Members that may contain a ticket id, a session id or a pid in requests without a known route.
const ANY_TICKET: [At; 3] = [At::Body("ticketId"), At::Query("ticketId"), At::Segment("ticketId")];
const ANY_PROCESS: At = At::Body("pid");

/// Resolves the directories of a request. Queries the job records first, then the file system.
pub(super) async fn resolve(app: &App, sources: &'static [Source], values: RequestValues) -> Option<Subject> {
    let recorded = JobDirectories::find(app, sources, &values).await;
    let app = app.clone();
    let search = tokio::task::spawn_blocking(move || {
        let managed = ManagedRepository::all(&app);
        let mut search = Search { app: &app, managed, subject: Subject::default() };
        recorded.directories.iter().for_each(|path| search.add_derived(path));
        recorded.names.iter().for_each(|name| search.name(name));
        // Tickets last: their worktrees are searched in the repositories that the other sources name.
        let (tickets, others): (Vec<&Source>, Vec<&Source>) =
            sources.iter().partition(|source| matches!(source, Source::Ticket(_)));
        others.into_iter().chain(tickets).for_each(|source| search.follow(*source, &values));
        search.subject
    });
    search.await.ok()
}

/// Directories that the records of loops and deployments contain.
#[derive(Default)]
struct JobDirectories {
    directories: Vec<PathBuf>,
    /// Names of the repositories of loops that do not have a directory yet.
    names: Vec<String>,
}

impl JobDirectories {
    async fn find(app: &App, sources: &[Source], values: &RequestValues) -> Self {
        let mut recorded = Self::default();
        recorded.deploys(app, sources, values).await;
        let Some(runtime) = &app.runtime else { return recorded };
        for source in sources {
            match source {
                Source::Ticket(at) => recorded.tickets(runtime, &values.texts(*at)).await,
                Source::Loop(at) => recorded.loops(runtime, &values.texts(*at)).await,
                Source::Process(at) => recorded.processes(runtime, &values.values(*at)).await,
                Source::Anything => {
                    for at in ANY_TICKET {
                        recorded.tickets(runtime, &values.texts(at)).await;
                    }
                    recorded.processes(runtime, &values.values(ANY_PROCESS)).await;
                }
                _ => {}
            }
        }
        recorded
    }

    /// Adds the worktrees of deployments that are identified by a pid.
    async fn deploys(&mut self, app: &App, sources: &[Source], values: &RequestValues) {
        let members = sources.iter().filter_map(|source| match source {
            Source::Process(at) => Some(*at),
            Source::Anything => Some(ANY_PROCESS),
            _ => None,
        });
        let pid = |value: &Value| match value {
            Value::String(text) => text.trim().parse().ok(),
            other => u32::try_from(other.as_u64()?).ok(),
        };
        let pids: Vec<u32> = members
            .flat_map(|at| {
                let texts = values.texts(at).into_iter().filter_map(|text| text.trim().parse().ok());
                texts.chain(values.values(at).into_iter().filter_map(pid)).collect::<Vec<u32>>()
            })
            .collect();
        if !pids.is_empty() {
            let deploys = app.deploys.clone();
            let worktrees = tokio::task::spawn_blocking(move || deploys.worktrees_of(&pids)).await;
            self.directories.extend(worktrees.unwrap_or_default());
        }
    }

    async fn tickets(&mut self, runtime: &Runtime, tickets: &[&str]) {
        for ticket in tickets {
            let jobs = runtime.jobs.of_ticket(&TicketId::new(*ticket)).await.unwrap_or_default();
            self.directories
                .extend(jobs.into_iter().filter_map(|job| job.workspace.worktree_dir.map(PathBuf::from)));
        }
    }

    async fn loops(&mut self, runtime: &Runtime, ids: &[&str]) {
        for id in ids.iter().filter_map(|id| id.trim().parse::<LoopId>().ok()) {
            let Ok(Some(job)) = runtime.jobs.get(id).await else { continue };
            let directories = job.workspace.directories();
            if directories.is_empty() {
                self.names.extend(job.workspace.primary_repo_full_name);
            }
            self.directories.extend(directories);
        }
    }

    async fn processes(&mut self, runtime: &Runtime, pids: &[&Value]) {
        for pid in pids.iter().filter_map(|pid| u32::try_from(pid.as_u64()?).ok()) {
            self.directories.extend(runtime.stopper.directories_of(pid).await.unwrap_or_default());
        }
    }
}

struct ManagedRepository {
    path: PathBuf,
    origin: Option<RepoFullName>,
}

struct Search<'a> {
    app: &'a App,
    managed: Vec<ManagedRepository>,
    subject: Subject,
}

impl Search<'_> {
    fn follow(&mut self, source: Source, values: &RequestValues) {
        match source {
            Source::Path(at) => values.texts(at).into_iter().for_each(|text| self.path(text, true)),
            Source::Listing(at) => values.texts(at).into_iter().for_each(|text| self.path(text, false)),
            Source::ListingOrHome(at) => {
                let texts = values.texts(at);
                texts.iter().for_each(|text| self.path(text, false));
                if texts.iter().all(|text| text.is_empty()) {
                    self.path("~", false);
                }
            }
            Source::Name(at) => values.texts(at).into_iter().for_each(|text| self.name(text)),
            Source::OwnerAndName => self.owner_and_name(values),
            Source::Ticket(at) => values.texts(at).into_iter().for_each(|text| self.ticket(text)),
            Source::Session(at) => values.texts(at).into_iter().for_each(|text| self.session(text)),
            Source::BootstrapOrder => self.bootstrap(values),
            Source::ManagedRepositories => self.managed_repositories(),
            Source::PullRequestWorktrees => self.pull_request_worktrees(),
            Source::Anything => self.anything(values),
            // Resolved in advance by `JobDirectories`.
            Source::Loop(_) | Source::Process(_) => {}
        }
    }

    /// Adds a path both verbatim and trimmed: some handlers trim, others do not.
    fn path(&mut self, text: &str, whole: bool) {
        let trimmed = text.trim();
        let spellings = if trimmed == text { vec![text] } else { vec![trimmed, text] };
        for text in spellings.into_iter().filter(|text| !text.is_empty()) {
            if let Some(path) = canonical_path(text) {
                self.add(&path, Resolution::Named, whole);
            }
            let Ok(written) = std::path::absolute(expand_home(text)) else { continue };
            // A relative path depends on the working directory of the process, so it does not cover what is
            // below it.
            let whole = whole && Path::new(text).is_absolute();
            for other in [written.canonicalize().ok(), Some(written)].into_iter().flatten() {
                self.add(&other, Resolution::Alternative, whole);
            }
        }
    }

    /// Adds a directory that was derived from a record or a search. A directory that no longer exists is only
    /// an alternative: no handler can work in it.
    fn add_derived(&mut self, path: &Path) {
        let Some(path) = canonical_path(path) else { return };
        let resolution = if path.is_dir() { Resolution::Derived } else { Resolution::Alternative };
        self.add(&path, resolution, true);
    }

    /// Adds a directory. For a known one, keeps the strongest resolution.
    fn add(&mut self, path: &Path, resolution: Resolution, whole: bool) {
        if let Some(existing) = self.subject.directories.iter_mut().find(|place| place.path == path) {
            existing.resolution = existing.resolution.min(resolution);
            existing.whole |= whole;
            return;
        }
        let nearest = path.ancestors().find(|path| path.is_dir()).unwrap_or(path);
        let clone = self.app.sandbox.repository(nearest).ok();
        let clone = clone.map(|repository| repository.clone_root().to_owned());
        // The `.git` file of an unusable checkout may still point to the clone that the worktree belongs to.
        // That clone counts as an alternative, so that a broken worktree does not bypass a policy for the
        // clone.
        let claimed = match CheckoutKind::of(nearest) {
            CheckoutKind::Linked(own) if clone.is_none() => own.ancestors().nth(2).map(Path::to_owned),
            _ => None,
        };
        let claimed = claimed.and_then(|claimed| claimed.canonicalize().ok());
        self.subject.directories.push(SubjectDirectory { path: path.to_owned(), clone, resolution, whole });
        if let Some(claimed) = claimed {
            let owner_dir = claimed.parent().filter(|_| claimed.ends_with(".git")).unwrap_or(&claimed);
            self.add(owner_dir, Resolution::Alternative, whole);
        }
    }

    /// Adds a repository by name: the managed repository with that origin, or else the directory of that name
    /// in the sandbox, which may not be cloned yet.
    fn name(&mut self, text: &str) {
        let Ok(name) = text.trim().parse::<RepoFullName>() else { return };
        let of_name =
            |managed: &&ManagedRepository| managed.origin.as_ref().is_some_and(|own| own.same_as(&name));
        let mut managed: Vec<&ManagedRepository> = self.managed.iter().filter(of_name).collect();
        // An exact match precedes one that differs in case.
        managed.sort_by_key(|managed| managed.origin.as_ref() != Some(&name));
        let managed: Vec<PathBuf> = managed.into_iter().map(|managed| managed.path.clone()).collect();
        let target = managed.iter().find(|path| path.is_dir()).cloned().or_else(|| self.in_base(&name));
        // Handlers clone a named repository only when the request does not name a path.
        let unused = target.as_ref().is_some_and(|path| !path.is_dir()) && self.subject.first().is_some();
        let resolution = if unused { Resolution::Alternative } else { Resolution::Named };
        let others = managed.into_iter().map(|path| (path, Resolution::Alternative));
        for (path, resolution) in target.map(|path| (path, resolution)).into_iter().chain(others) {
            let path = canonical_path(&path).unwrap_or(path);
            self.add(&path, resolution, true);
        }
        if !self.subject.names.contains(&name) {
            self.subject.names.push(name);
        }
    }

    fn in_base(&self, name: &RepoFullName) -> Option<PathBuf> {
        let base = self.app.sandbox.base()?;
        let is_base = base.file_name().is_some_and(|last| last == name.name())
            && self.app.sandbox.origin_of(&base).is_some_and(|origin| origin.same_as(name));
        Some(if is_base { base } else { base.join(name.name()) })
    }

    fn owner_and_name(&mut self, values: &RequestValues) {
        for owner in values.texts(At::Query("owner")) {
            for name in values.texts(At::Query("repo")) {
                self.name(&format!("{owner}/{name}"));
            }
        }
    }

    fn ticket(&mut self, text: &str) {
        let ticket = TicketId::new(text);
        // The name of a ticket's worktree is derived from the path as it was written, so aliases count.
        let written = self.subject.directories.iter().filter(|place| place.resolution != Resolution::Derived);
        let mut repositories: Vec<PathBuf> = written.map(|place| place.path.clone()).collect();
        if repositories.is_empty() {
            repositories = self.managed.iter().map(|managed| managed.path.clone()).collect();
        }
        for repository in repositories {
            let Ok(repository) = self.app.sandbox.check(&repository) else { continue };
            if let Some(worktree) = self.app.worktree_layout.work_on_ticket(&repository, &ticket) {
                self.add_derived(worktree.canonical());
            }
            // The directory in which the worktree would be created.
            if let Ok(place) = self.app.worktree_layout.for_ticket(&repository, &ticket) {
                self.add(place.canonical(), Resolution::Alternative, true);
            }
        }
    }

    fn session(&mut self, ticket: &str) {
        let sessions = self.app.sessions.all().into_iter().filter(|session| session.ticket_id == ticket);
        for note in sessions.map(|session| session.note) {
            for path in [note.repo_path, note.worktree_path] {
                self.add_derived(Path::new(&path));
            }
        }
    }

    fn bootstrap(&mut self, values: &RequestValues) {
        let is_bootstrap = |command: &&str| command.trim().eq_ignore_ascii_case("bootstrap");
        if !values.texts(At::Body("command")).iter().any(is_bootstrap) {
            return;
        }
        let orders = values.texts(At::Body("prompt"));
        let orders: Vec<&str> = orders.into_iter().filter(|text| !text.trim().is_empty()).collect();
        if orders.is_empty() {
            self.managed_repositories();
        }
        let orders = orders.into_iter().filter_map(|text| serde_json::from_str::<BootstrapOrder>(text).ok());
        for repository in orders.flat_map(|order| order.repos) {
            match repository.local_path.filter(|path| !path.trim().is_empty()) {
                Some(path) => self.path(&path, true),
                None => self.name(&repository.full_name),
            }
        }
    }

    fn managed_repositories(&mut self) {
        let managed: Vec<PathBuf> = self.managed.iter().map(|managed| managed.path.clone()).collect();
        managed.iter().for_each(|path| self.add_derived(path));
    }

    fn pull_request_worktrees(&mut self) {
        let parent = self.app.repos.configured_worktree_parents().into_iter().next();
        let parent = parent.and_then(|parent| self.app.sandbox.check(parent).ok());
        let worktrees =
            parent.and_then(|parent| loopgate_tools::git::pull_request_worktrees(parent.as_path()).ok());
        worktrees.unwrap_or_default().iter().for_each(|worktree| self.add_derived(worktree));
    }

    fn anything(&mut self, values: &RequestValues) {
        for text in values.all_texts() {
            if text.trim_start().starts_with(['/', '~']) {
                self.path(text, true);
            } else {
                self.name(text);
            }
        }
        self.owner_and_name(values);
        for text in ANY_TICKET.into_iter().flat_map(|at| values.texts(at)) {
            self.ticket(text);
            self.session(text);
        }
    }
}

impl ManagedRepository {
    /// Lists the managed repositories with their origins.
    fn all(app: &App) -> Vec<Self> {
        let list = app.repos.list().ok();
        let paths = list.iter().flat_map(|list| &list.repos).map(|repo| expand_home(&repo.path));
        let origin = |path: &Path| app.sandbox.summary(path).ok()?.origin;
        paths.map(|path| Self { origin: origin(&path), path }).collect()
    }
}
