//! Finds what a request is about, by the ways in which its handler will find it.

use std::path::{Path, PathBuf};

use loopgate_api::bootstrap::BootstrapOrder;
use loopgate_api::ids::{LoopId, RepoFullName, TicketId};
use loopgate_home::{canonical_path, expand_home};
use loopgate_runtime::Runtime;
use loopgate_tools::git::CheckoutKind;
use serde_json::Value;

use crate::app::App;
use crate::approval::{At, RequestValues, Resolution, Source, Subject, SubjectDirectory};

/// Members that name a ticket or a session, and a process, where a route declares nothing.
const ANY_TICKET: [At; 3] = [At::Body("ticketId"), At::Query("ticketId"), At::Segment("ticketId")];
const ANY_PROCESS: At = At::Body("pid");

/// Finds what a request is about. Asks the records of the loops, then looks at the disk.
pub(super) async fn resolve(app: &App, sources: &'static [Source], values: RequestValues) -> Option<Subject> {
    let recorded = JobDirectories::find(app, sources, &values).await;
    let app = app.clone();
    let searched = tokio::task::spawn_blocking(move || {
        let managed = ManagedRepository::all(&app);
        let mut search = Search { app: &app, managed, subject: Subject::default() };
        recorded.directories.iter().for_each(|path| search.found(path));
        recorded.names.iter().for_each(|name| search.name(name));
        // Tickets are looked for in the repositories that are named.
        let (tickets, others): (Vec<&Source>, Vec<&Source>) =
            sources.iter().partition(|source| matches!(source, Source::Ticket(_)));
        others.into_iter().chain(tickets).for_each(|source| search.follow(*source, &values));
        search.subject
    });
    searched.await.ok()
}

/// What is recorded of loops and processes.
#[derive(Default)]
struct JobDirectories {
    directories: Vec<PathBuf>,
    /// Repositories of loops that have no directory yet.
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

    /// The worktrees of deploys that are named by their pids.
    async fn deploys(&mut self, app: &App, sources: &[Source], values: &RequestValues) {
        let named = sources.iter().filter_map(|source| match source {
            Source::Process(at) => Some(*at),
            Source::Anything => Some(ANY_PROCESS),
            _ => None,
        });
        let pid = |value: &Value| match value {
            Value::String(text) => text.trim().parse().ok(),
            other => u32::try_from(other.as_u64()?).ok(),
        };
        let pids: Vec<u32> = named
            .flat_map(|at| {
                let texts = values.texts(at).into_iter().filter_map(|text| text.trim().parse().ok());
                texts.chain(values.values(at).into_iter().filter_map(pid)).collect::<Vec<u32>>()
            })
            .collect();
        if !pids.is_empty() {
            let deploys = app.deploys.clone();
            let found = tokio::task::spawn_blocking(move || deploys.worktrees_of(&pids)).await;
            self.directories.extend(found.unwrap_or_default());
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

/// A managed repository.
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
            // Their records were asked for.
            Source::Loop(_) | Source::Process(_) => {}
        }
    }

    /// A path as it is written, and without blanks around it: some handlers trim, others do not.
    fn path(&mut self, text: &str, whole: bool) {
        let trimmed = text.trim();
        let both = if trimmed == text { vec![text] } else { vec![trimmed, text] };
        for text in both.into_iter().filter(|text| !text.is_empty()) {
            if let Some(path) = canonical_path(text) {
                self.add(&path, Resolution::Named, whole);
            }
            let Ok(written) = std::path::absolute(expand_home(text)) else { continue };
            // A relative path means whatever the process works in; nothing is known to take one.
            let whole = whole && Path::new(text).is_absolute();
            for other in [written.canonicalize().ok(), Some(written)].into_iter().flatten() {
                self.add(&other, Resolution::Alternative, whole);
            }
        }
    }

    /// A directory that is recorded or is where one is looked for. One that is gone is worked in by
    /// nobody, and is named by nobody either.
    fn found(&mut self, path: &Path) {
        let Some(path) = canonical_path(&path.to_string_lossy()) else { return };
        let resolution = if path.is_dir() { Resolution::Derived } else { Resolution::Alternative };
        self.add(&path, resolution, true);
    }

    /// Adds a place once, as the most that it is known for.
    fn add(&mut self, path: &Path, resolution: Resolution, whole: bool) {
        if let Some(known) = self.subject.directories.iter_mut().find(|known| known.path == path) {
            known.resolution = known.resolution.min(resolution);
            known.whole |= whole;
            return;
        }
        let existing = path.ancestors().find(|path| path.is_dir()).unwrap_or(path);
        let clone = self.app.sandbox.repository(existing).ok();
        let clone = clone.map(|repository| repository.clone_root().to_owned());
        // What cannot be used as a repository may still say whose worktree it is.
        let claimed = match CheckoutKind::of(existing) {
            CheckoutKind::Linked(own) if clone.is_none() => own.ancestors().nth(2).map(Path::to_owned),
            _ => None,
        };
        let claimed = claimed.and_then(|claimed| claimed.canonicalize().ok());
        self.subject.directories.push(SubjectDirectory { path: path.to_owned(), clone, resolution, whole });
        if let Some(claimed) = claimed {
            let holder = claimed.parent().filter(|_| claimed.ends_with(".git")).unwrap_or(&claimed);
            self.add(holder, Resolution::Alternative, whole);
        }
    }

    /// A repository by its name: the managed one of that name, else the one of that name directly in the
    /// sandbox, which may be a clone that is still to be made.
    fn name(&mut self, text: &str) {
        let Ok(name) = text.trim().parse::<RepoFullName>() else { return };
        let of_name =
            |managed: &&ManagedRepository| managed.origin.as_ref().is_some_and(|own| own.same_as(&name));
        let mut managed: Vec<&ManagedRepository> = self.managed.iter().filter(of_name).collect();
        // One whose name is the same to the letter goes before.
        managed.sort_by_key(|managed| managed.origin.as_ref() != Some(&name));
        let managed: Vec<PathBuf> = managed.into_iter().map(|managed| managed.path.clone()).collect();
        let meant = managed.iter().find(|path| path.is_dir()).cloned().or_else(|| self.in_base(&name));
        // Nothing is cloned for a name beside a path.
        let beside = meant.as_ref().is_some_and(|path| !path.is_dir()) && self.subject.first().is_some();
        let resolution = if beside { Resolution::Alternative } else { Resolution::Named };
        let others = managed.into_iter().map(|path| (path, Resolution::Alternative));
        for (path, resolution) in meant.map(|path| (path, resolution)).into_iter().chain(others) {
            let path = canonical_path(&path.to_string_lossy()).unwrap_or(path);
            self.add(&path, resolution, true);
        }
        if !self.subject.names.contains(&name) {
            self.subject.names.push(name);
        }
    }

    fn in_base(&self, name: &RepoFullName) -> Option<PathBuf> {
        let base = self.app.sandbox.base()?;
        let itself = base.file_name().is_some_and(|last| last == name.name())
            && self.app.sandbox.origin_of(&base).is_some_and(|origin| origin.same_as(name));
        Some(if itself { base } else { base.join(name.name()) })
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
        // Its worktree is called like the repository, as that is written.
        let named = self.subject.directories.iter().filter(|place| place.resolution != Resolution::Derived);
        let mut repositories: Vec<PathBuf> = named.map(|place| place.path.clone()).collect();
        if repositories.is_empty() {
            repositories = self.managed.iter().map(|managed| managed.path.clone()).collect();
        }
        for repository in repositories {
            let Ok(repository) = self.app.sandbox.check(&repository) else { continue };
            if let Some(worktree) = self.app.worktree_layout.work_on_ticket(&repository, &ticket) {
                self.found(worktree.canonical());
            }
            // Where it would be made.
            if let Ok(place) = self.app.worktree_layout.for_ticket(&repository, &ticket) {
                self.add(place.canonical(), Resolution::Alternative, true);
            }
        }
    }

    fn session(&mut self, ticket: &str) {
        let sessions = self.app.sessions.all().into_iter().filter(|session| session.ticket_id == ticket);
        for note in sessions.map(|session| session.note) {
            for path in [note.repo_path, note.worktree_path] {
                self.found(Path::new(&path));
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
        managed.iter().for_each(|path| self.found(path));
    }

    fn pull_request_worktrees(&mut self) {
        let parent = self.app.repos.named_worktree_parents().into_iter().next();
        let parent = parent.and_then(|parent| self.app.sandbox.check(parent).ok());
        let found =
            parent.and_then(|parent| loopgate_tools::git::pull_request_worktrees(parent.as_path()).ok());
        found.unwrap_or_default().iter().for_each(|worktree| self.found(worktree));
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
    /// Every managed repository.
    fn all(app: &App) -> Vec<Self> {
        let list = app.repos.list().ok();
        let paths = list.iter().flat_map(|list| &list.repos).map(|repo| expand_home(&repo.path));
        paths.map(|path| Self { origin: app.sandbox.origin_of(&path), path }).collect()
    }
}
