//! One repository under watch: whether anything has changed that git's answers are made of.
//!
//! Watched are the working tree without what git ignores, and the records: HEAD, the index, refs,
//! configuration. Whatever could change unheard is refused: then git has to be asked every time.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use loopgate_home::{Deaf, Watches, What};

use super::heard::{Heard, Look, Moment, RULES, Told};
use super::layout::{Layout, config, ignored_directories};
use super::outside::{self, Outside};
use super::watch::{Event, Part, Watch};
use super::{REST, Refusal};
use crate::git::Git;

/// Where git keeps its records, below the root of a working tree.
pub(super) const GIT: &str = ".git";
/// Rules of the repository itself, and the records of its other working trees.
pub(super) const INFO: &str = "info";
pub(super) const WORKTREES: &str = "worktrees";

/// A repository under watch.
#[derive(Debug)]
pub(super) struct Repository {
    pub(super) directory: PathBuf,
    pub(super) own: PathBuf,
    pub(super) common: PathBuf,
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

impl Repository {
    /// Begins to watch. The program is the git that answers.
    pub(super) async fn watch(git: &Git, directory: &Path, program: PathBuf) -> Result<Self, Refusal> {
        let found = git.repository(directory).await.map_err(Refusal::Git)?;
        let layout = Layout::of(&found, directory)?;
        let configuration = config(git, &found).await?;
        let variables = git.settings(&found, &["var", "-l"]).await.map_err(Refusal::Git)?;
        let inside = [layout.common.join("config"), layout.own.join("config.worktree")];
        let environment = git.programs.environment().await;
        let mut files = outside::files(&configuration, &variables, &environment, directory, &inside)?;
        files.push(program.clone());
        let ignored = if layout.root { ignored_directories(git, directory).await? } else { BTreeSet::new() };
        let place = directory.to_owned();
        let begun = blocking(move || Self::begin(place, layout, program, files, ignored)).await?;
        // What was read before the watch began is read again.
        if config(git, &found).await? != configuration {
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
            if !Watches::hear_all_on(place)? {
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

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Refusal::Disk(io::Error::other(error)))?
}

/// Tells one directory from another one in its place.
fn identity(place: &Path) -> Option<(u64, u64)> {
    place.metadata().ok().map(|found| (found.dev(), found.ino()))
}

/// Whether a file has other names: what is written under those is not heard.
fn is_shared_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file() && found.nlink() > 1)
}
