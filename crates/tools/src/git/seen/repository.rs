//! One repository under watch: whether anything has changed that git's answers are made of.
//!
//! Watched are the working tree without what git ignores, and the records: HEAD, the index, refs,
//! configuration. Whatever could change unheard is refused: then git has to be asked every time.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::outside::{self, Outside};
use super::watch::{Deaf, Event, Part, Place, Watch, What};
use super::{REST, Refusal};
use crate::git::{Git, checked, parse_status, time};

/// Directories that are watched in one repository.
const MOST_DIRECTORIES: usize = 20_000;
/// Where git keeps its records, below the root of a working tree.
const GIT: &str = ".git";
/// Rules about which files git ignores, and those about how it reads files.
const RULES: &str = ".gitignore";
const READING: [&str; 2] = [".gitattributes", ".gitmodules"];
/// Changed files that are remembered one by one.
const MOST_TOUCHED: usize = 32;
/// Where git records what refs mean, in files or, otherwise, in tables.
const REFS: &str = "refs";
const REF_TABLES: &str = "reftable";
/// Rules of the repository itself, and the records of its other working trees.
const INFO: &str = "info";
const WORKTREES: &str = "worktrees";

/// A repository under watch.
#[derive(Debug)]
pub(super) struct Repository {
    directory: PathBuf,
    own: PathBuf,
    common: PathBuf,
    /// The directories that were found; others in their places would be other repositories.
    identities: Vec<(PathBuf, Option<(u64, u64)>)>,
    /// What started git.
    program: PathBuf,
    outside: Outside,
    /// Held while directories are read.
    heard: Mutex<Heard>,
    /// Never held for long.
    told: Mutex<Told>,
}

/// What came of the last look, for those who cannot wait for the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// Nothing can be told any more, or it is time to try again what could not be watched.
    pub(super) lost: bool,
    /// Whether the working tree is watched.
    pub(super) tree: bool,
    /// Whether git should be asked what it ignores.
    pub(super) judge: bool,
    /// How many directories are watched.
    pub(super) directories: usize,
}

#[derive(Debug)]
struct Heard {
    watch: Watch,
    now: Moment,
    /// The working tree is not watched, and that is not tried again before.
    no_tree_until: Option<Instant>,
    /// The file system of the working tree.
    device: u64,
    /// Directories of the working tree that git ignores, and nothing is heard of.
    ignored: BTreeSet<PathBuf>,
    /// The rules under which these are ignored.
    ignored_at: u64,
    /// Directories came of which it is not known whether git ignores them.
    unjudged: bool,
    /// Files of the working tree, and when something happened to them last.
    touched: BTreeMap<PathBuf, u64>,
    /// Until then more has happened in the working tree than is remembered.
    untraced: u64,
    lost: bool,
}

/// How much has happened. Equal moments: nothing has happened between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// In the records.
    records: u64,
    /// In the working tree.
    tree: u64,
    /// To what decides which files git ignores.
    rules: u64,
}

/// A look at a repository under watch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) now: Moment,
    /// Whether the working tree is watched.
    pub(super) tree: bool,
    /// Whether it is certain that git ignores what nothing is heard of.
    pub(super) certain: bool,
}

impl Moment {
    /// The same for what hangs on the records alone.
    pub(super) const fn records(self) -> Self {
        Self { records: self.records, tree: 0, rules: 0 }
    }
}

/// Where git found a repository.
struct Layout {
    own: PathBuf,
    common: PathBuf,
    /// Whether the directory is the root of a working tree.
    root: bool,
}

impl Repository {
    /// Begins to watch. The program is the git that answers.
    pub(super) async fn watch(git: &Git, directory: &Path, program: PathBuf) -> Result<Self, Refusal> {
        let layout = Layout::of(git, directory).await?;
        let config = config(git, directory).await?;
        let variables = git_output(git, directory, &["var", "-l"]).await?;
        let inside = [layout.common.join("config"), layout.own.join("config.worktree")];
        let environment = git.programs.environment().await;
        let mut files = outside::files(&config, &variables, &environment, directory, &inside)?;
        files.push(program.clone());
        let ignored = if layout.root { ignored_directories(git, directory).await? } else { BTreeSet::new() };
        let place = directory.to_owned();
        let begun = blocking(move || Self::begin(place, layout, program, files, ignored)).await?;
        // What was read before the watch began is read again.
        if self::config(git, directory).await? != config {
            return Err(Refusal::Moving);
        }
        Ok(begun)
    }

    fn begin(
        directory: PathBuf,
        layout: Layout,
        program: PathBuf,
        files: Vec<PathBuf>,
        ignored: BTreeSet<PathBuf>,
    ) -> Result<Self, Refusal> {
        let Layout { own, common, root } = layout;
        for place in [&directory, &own, &common] {
            if !Watch::hears_on(place)? {
                return Err(Refusal::Unusual("the file system may change unheard"));
            }
        }
        let identities = [&directory, &own, &common].map(|place| (place.clone(), identity(place)));
        let heard = Heard {
            watch: Watch::new()?,
            now: Moment { records: 0, tree: 0, rules: 0 },
            device: directory.metadata()?.dev(),
            // A bare repository has none, and will not have one soon.
            no_tree_until: (!root).then(|| Instant::now() + REST),
            // Git was asked before anything was heard.
            unjudged: !ignored.is_empty(),
            touched: BTreeMap::new(),
            untraced: 0,
            ignored,
            ignored_at: u64::MAX,
            lost: false,
        };
        let outside = Outside::look(files)?.ok_or(Refusal::Moving)?;
        let identities = identities.to_vec();
        let told = Mutex::new(Told::of(&heard));
        let heard = Mutex::new(heard);
        let begun = Self { directory, own, common, identities, program, outside, heard, told };
        let mut heard = begun.heard();
        begun.enter_records(&mut heard)?;
        if heard.no_tree_until.is_none() {
            begun.enter_or_leave_tree(&mut heard, Path::new(""));
        }
        begun.tell(&heard);
        drop(heard);
        Ok(begun)
    }

    /// How things are now. `None` when that cannot be told any more. Touches the disk.
    pub(super) fn look(&self) -> Option<Look> {
        let mut heard = self.heard();
        let steady = || self.identities.iter().all(|(place, known)| identity(place) == *known);
        if heard.lost || !steady() || !self.outside.is_unchanged() || self.hear(&mut heard).is_err() {
            heard.lost = true;
        }
        self.tell(&heard);
        if heard.lost {
            return None;
        }
        Some(Look { now: heard.now, tree: heard.no_tree_until.is_none(), certain: heard.is_certain() })
    }

    /// What came of the last look.
    pub(super) fn told(&self) -> Told {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, heard: &Heard) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Told::of(heard);
    }

    /// The git that answers.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Asks git what it ignores, and watches the rest.
    pub(super) async fn judge(self: Arc<Self>, git: &Git) -> Result<(), Refusal> {
        let before = self.clone().look_elsewhere().await.ok_or(Refusal::Moving)?;
        let ignored = ignored_directories(git, &self.directory).await?;
        let after = self.clone().look_elsewhere().await.ok_or(Refusal::Moving)?;
        if before.now.rules != after.now.rules {
            return Err(Refusal::Moving);
        }
        blocking(move || {
            self.adopt(ignored, before.now.rules);
            Ok(())
        })
        .await
    }

    /// As [`Self::look`], where waiting for the disk holds nobody up.
    pub(super) async fn look_elsewhere(self: Arc<Self>) -> Option<Look> {
        tokio::task::spawn_blocking(move || self.look()).await.ok().flatten()
    }

    /// The files to which something happened since that moment, when nothing else has happened.
    pub(super) async fn touched_since(self: Arc<Self>, then: Moment) -> Option<Vec<PathBuf>> {
        let touched = move || {
            let heard = self.heard();
            let traced = (then.records, then.rules) == (heard.now.records, heard.now.rules)
                && heard.untraced <= then.tree;
            let since = heard.touched.iter().filter(|(_, when)| **when > then.tree);
            traced.then(|| since.map(|(file, _)| file.clone()).collect())
        };
        tokio::task::spawn_blocking(touched).await.ok().flatten()
    }

    fn adopt(&self, ignored: BTreeSet<PathBuf>, rules: u64) {
        let mut heard = self.heard();
        let known = std::mem::replace(&mut heard.ignored, ignored);
        let new: Vec<PathBuf> = heard.ignored.difference(&known).cloned().collect();
        let again: Vec<PathBuf> = known.difference(&heard.ignored).cloned().collect();
        for directory in &new {
            heard.watch.remove(Part::Tree, directory);
        }
        if !again.is_empty() {
            // What happened there until now was not heard.
            heard.now.tree += 1;
            heard.untraced = heard.now.tree;
        }
        for directory in &again {
            self.enter_or_leave_tree(&mut heard, directory);
        }
        heard.ignored_at = rules;
        heard.unjudged = false;
        self.tell(&heard);
    }

    /// Takes in what happened.
    fn hear(&self, heard: &mut Heard) -> Result<(), Deaf> {
        for event in heard.watch.take()? {
            match event.place.0 {
                Part::Tree => self.hear_tree(heard, &event)?,
                Part::Own | Part::Common => self.hear_records(heard, &event)?,
            }
        }
        Ok(())
    }

    fn hear_tree(&self, heard: &mut Heard, event: &Event) -> Result<(), Deaf> {
        let place = event.place.1.join(&event.name);
        if event.name == GIT {
            // A repository came, went, or is another one.
            return Err(Deaf);
        }
        heard.now.tree += 1;
        if event.name == RULES {
            heard.now.rules += 1;
            heard.unjudged = true;
        }
        heard.trace(event, &place);
        match (event.directory, event.what) {
            (true, What::MovedAway) => heard.watch.remove(Part::Tree, &place),
            (true, What::Came) => {
                heard.unjudged = true;
                // Another one may have been ignored by this name.
                heard.ignored.remove(&place);
                self.enter_or_leave_tree(heard, &place);
            }
            (false, What::Came) if is_shared_file(&self.directory.join(&place)) => return Err(Deaf),
            _ => {}
        }
        Ok(())
    }

    fn hear_records(&self, heard: &mut Heard, event: &Event) -> Result<(), Deaf> {
        let (part, within) = &event.place;
        let name = event.name.as_bytes();
        let top = within.as_os_str().is_empty();
        // Git writes what is new under such a name, and never reads it. A shared index is named for
        // its content; git touches it with every reading.
        let touched = name.starts_with(b"sharedindex.") && event.what == What::Changed;
        if name.ends_with(b".lock") || touched {
            return Ok(());
        }
        if top && matches!(name, b"config" | b"config.worktree" | b"commondir" | b"gitdir") {
            return Err(Deaf);
        }
        // Of other working trees only their places and branches are told.
        let of_another = *part == Part::Common && within.parent() == Some(Path::new(WORKTREES));
        if of_another && !matches!(name, b"HEAD" | b"gitdir" | b"commondir") {
            return Ok(());
        }
        heard.now.records += 1;
        // The rules among the records, and the index: what git tracks it does not ignore.
        if top && name.starts_with(b"index") || within == Path::new(INFO) || event.name == INFO {
            heard.now.rules += 1;
        }
        let place = within.join(&event.name);
        match (event.directory, event.what) {
            (true, What::MovedAway) => heard.watch.remove(*part, &place),
            (true, What::Came) if self.is_watched_record(*part, &place) => {
                self.enter_record(heard, *part, &place).map_err(|_| Deaf)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn enter_records(&self, heard: &mut Heard) -> Result<(), Refusal> {
        for (part, root) in [(Part::Common, &self.common), (Part::Own, &self.own)] {
            if part == Part::Own && self.own == self.common {
                break;
            }
            for name in ["HEAD", "index", "config", "config.worktree", "packed-refs"] {
                if is_link(&root.join(name)) {
                    return Err(Refusal::Unusual("a record is a link"));
                }
            }
            if root.join(REF_TABLES).exists() {
                return Err(Refusal::Unusual("refs are kept in tables"));
            }
            heard.add((part, PathBuf::new()), root)?;
            for name in [REFS, INFO, WORKTREES] {
                self.enter_record(heard, part, Path::new(name))?;
            }
        }
        Ok(())
    }

    /// Watches a directory of the records with those below it that matter.
    fn enter_record(&self, heard: &mut Heard, part: Part, from: &Path) -> Result<(), Refusal> {
        let mut waiting = vec![from.to_owned()];
        while let Some(place) = waiting.pop() {
            let absolute = self.root(part).join(&place);
            if is_link(&absolute) {
                return Err(Refusal::Unusual("a directory of records is a link"));
            }
            if !self.is_watched_record(part, &place) || !heard.add((part, place.clone()), &absolute)? {
                continue;
            }
            for entry in entries(&absolute)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_symlink() {
                    return Err(Refusal::Unusual("a record is a link"));
                }
                if kind.is_dir() {
                    waiting.push(place.join(entry.file_name()));
                }
            }
        }
        Ok(())
    }

    fn is_watched_record(&self, part: Part, place: &Path) -> bool {
        // The own records have a watch of their own.
        let own = part == Part::Common && self.root(part).join(place) == self.own;
        let another = place == Path::new(WORKTREES) || place.parent() == Some(Path::new(WORKTREES));
        !own && (place.starts_with(REFS) || place == Path::new(INFO) || another)
    }

    /// Watches a directory of the working tree with all below it; when that cannot be done, the
    /// whole tree is given up.
    fn enter_or_leave_tree(&self, heard: &mut Heard, from: &Path) {
        if let Err(refusal) = self.enter_tree(heard, from) {
            tracing::debug!(%refusal, "a working tree is not watched");
            heard.watch.remove(Part::Tree, Path::new(""));
            heard.no_tree_until = Some(Instant::now() + REST);
        }
    }

    fn enter_tree(&self, heard: &mut Heard, from: &Path) -> Result<(), Refusal> {
        if heard.no_tree_until.is_some() {
            return Ok(());
        }
        let mut waiting = vec![from.to_owned()];
        while let Some(place) = waiting.pop() {
            let absolute = self.directory.join(&place);
            if heard.ignored.contains(&place) || !heard.add((Part::Tree, place.clone()), &absolute)? {
                continue;
            }
            for entry in entries(&absolute)? {
                let entry = entry?;
                let name = entry.file_name();
                if name == GIT {
                    if place.as_os_str().is_empty() && !entry.file_type()?.is_symlink() {
                        continue;
                    }
                    return Err(Refusal::Unusual("there is a repository in the repository"));
                }
                let found = match entry.metadata() {
                    Ok(found) => found,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error.into()),
                };
                if found.is_dir() {
                    if found.dev() != heard.device {
                        return Err(Refusal::Unusual("another file system lies in the tree"));
                    }
                    waiting.push(place.join(name));
                } else if found.is_file() && found.nlink() > 1 {
                    return Err(Refusal::Unusual("a file has another name, outside perhaps"));
                }
            }
        }
        Ok(())
    }

    fn root(&self, part: Part) -> &Path {
        match part {
            Part::Tree => &self.directory,
            Part::Own => &self.own,
            Part::Common => &self.common,
        }
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn of(heard: &Heard) -> Self {
        let tree = heard.no_tree_until.is_none();
        Self {
            lost: heard.lost || heard.no_tree_until.is_some_and(|until| until <= Instant::now()),
            tree,
            judge: tree && (!heard.is_certain() || heard.unjudged),
            directories: heard.watch.len(),
        }
    }
}

impl Heard {
    /// Remembers what happened to a file. What happens to directories and rules, or to very many
    /// files, touches more.
    fn trace(&mut self, event: &Event, place: &Path) {
        let more = event.directory || event.name == RULES || READING.iter().any(|name| event.name == *name);
        if !more {
            self.touched.insert(place.to_owned(), self.now.tree);
        }
        if more || self.touched.len() > MOST_TOUCHED {
            self.touched.clear();
            self.untraced = self.now.tree;
        }
    }

    fn is_certain(&self) -> bool {
        self.ignored.is_empty() || self.ignored_at == self.now.rules
    }

    fn add(&mut self, (part, path): Place, absolute: &Path) -> Result<bool, Refusal> {
        if self.watch.len() >= MOST_DIRECTORIES {
            return Err(Refusal::Unusual("there are too many directories"));
        }
        Ok(self.watch.add(part, &path, absolute)?)
    }
}

impl Layout {
    async fn of(git: &Git, directory: &Path) -> Result<Self, Refusal> {
        let args = [
            "rev-parse",
            "--path-format=absolute",
            "--absolute-git-dir",
            "--git-common-dir",
            "--is-inside-work-tree",
            "--show-cdup",
        ];
        let printed = git_output(git, directory, &args).await?;
        let lines: Vec<&[u8]> = printed.split(|byte| *byte == b'\n').collect();
        let (own, common, root) = match lines[..] {
            // The last of these is empty at the root.
            [own, common, b"true", b"", b""] => (own, common, true),
            [own, common, ..] if lines.len() <= 5 => (own, common, false),
            _ => return Err(Refusal::Unusual("the records lie at a strange path")),
        };
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes)).canonicalize();
        let (own, common) = (path(own)?, path(common)?);
        let inside = |records: &PathBuf| records.starts_with(directory) && *records != directory.join(GIT);
        if root && (inside(&own) || inside(&common)) {
            return Err(Refusal::Unusual("the records lie within the working tree"));
        }
        if root || common == directory {
            return Ok(Self { own, common, root });
        }
        Err(Refusal::Unusual("a directory below the root of a working tree"))
    }
}

/// The directories that git ignores as a whole.
async fn ignored_directories(git: &Git, directory: &Path) -> Result<BTreeSet<PathBuf>, Refusal> {
    let args = ["status", "--porcelain=v2", "-z", "--ignored=matching", "--untracked-files=normal"];
    let status = parse_status(&git_output(git, directory, &args).await?);
    let ignored = status.changes.iter().filter(|change| change.tree == '!');
    let directories = ignored.filter_map(|change| change.path.strip_suffix(b"/"));
    Ok(directories.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
}

async fn config(git: &Git, directory: &Path) -> Result<Vec<u8>, Refusal> {
    git_output(git, directory, &["config", "--list", "--show-origin", "-z"]).await
}

async fn git_output(git: &Git, directory: &Path, args: &[&str]) -> Result<Vec<u8>, Refusal> {
    let output = git.output(directory, args, time::LOCAL).await;
    Ok(checked(args, output.map_err(Refusal::Git)?).map_err(Refusal::Git)?.stdout)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Refusal::Disk(io::Error::other(error)))?
}

/// The entries of a directory; one that has gone meanwhile has none.
fn entries(directory: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<std::fs::DirEntry>>>> {
    match directory.read_dir() {
        Ok(entries) => Ok(Box::new(entries)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Box::new(std::iter::empty()))
        }
        Err(error) => Err(error),
    }
}

/// Tells one directory from another one in its place.
fn identity(place: &Path) -> Option<(u64, u64)> {
    place.metadata().ok().map(|found| (found.dev(), found.ino()))
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

/// Whether a file has other names: what is written under those is not heard.
fn is_shared_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file() && found.nlink() > 1)
}
