//! The work on learnings that goes on in the background: extraction, processing of one worktree, and of all.

use std::collections::HashMap;
use std::future::Future;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loopgate_home::{files, untrusted};
use loopgate_tools::process::{self, Command, DetachedProcess, Limits, StartError};

use crate::extraction;
use crate::pending::{LearningSource, Pending, document, pending_count};
use crate::status::{BatchStatus, ExtractionStatus, ProcessingStatus, State, StatusFile as _};
use crate::store::{MergeReport, PatternStore};

const PLUGIN: &str = "self-learning";
const SCRIPT: &str = "scripts/process-chat-learnings.sh";
const LOG: &str = "process-learnings.log";
const BATCH_STATUS: &str = "batch-processing-status.json";
const BATCH_LOG: &str = "batch-process-learnings.log";
const PLUGIN_MISSING: &str = "The self-learning plugin is not installed";
/// How long the processing of one worktree may take.
const PROCESS_TIME: Duration = Duration::from_secs(15 * 60);
/// Pause between two looks at a process that runs on its own.
const LOOK_PAUSE: Duration = Duration::from_millis(200);
const KILL_GRACE: Duration = Duration::from_secs(2);

/// A future with a life of its own.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Prepares the programs that learnings need, so that nothing runs that a checkout brings along.
pub trait LearningPrograms: Send + Sync {
    /// The assistant in a worktree, without arguments of the caller.
    fn assistant<'a>(&'a self, worktree: &'a Path) -> BoxFuture<'a, Command>;
    /// A program of a plugin for a work directory.
    fn program<'a>(
        &'a self,
        script: &'a Path,
        worktree: &'a Path,
        work_dir: &'a Path,
    ) -> BoxFuture<'a, Command>;
}

/// Where things lie.
#[derive(Debug, Clone)]
pub struct LearningsConfig {
    /// The patterns of the person, `~/.loopgate/learnings`.
    pub directory: PathBuf,
    /// A patterns file that is read when there is none there.
    pub older_patterns: Option<PathBuf>,
    /// Directories with one folder a plugin: those that Loopgate brings along.
    pub plugin_root: Option<PathBuf>,
    /// Where the assistant keeps plugins, one folder a version in each.
    pub installed_plugins: Option<PathBuf>,
}

/// A ticket's worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeOfTicket {
    /// Its root.
    pub worktree: PathBuf,
    /// Its work directory.
    pub work_dir: PathBuf,
}

/// What is extracted from.
#[derive(Debug, Clone)]
pub struct ChatOfTicket {
    /// The chat.
    pub text: String,
    /// Where it is from.
    pub source: LearningSource,
    /// Tab of the page that asked.
    pub active_tab: Option<String>,
}

/// What became of a request to process a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessingStart {
    /// It starts when the extraction has ended.
    Waiting,
    /// Nothing to do.
    Skipped(&'static str),
    /// It goes on in this process, with this log.
    Started(u32, PathBuf),
    /// No plugin has the program; the status says so.
    NoProgram,
}

/// What became of a request to process all worktrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchStart {
    /// One goes on.
    AlreadyProcessing(BatchStatus),
    /// Nothing to do.
    NothingPending,
    /// No plugin has the program.
    NoProgram,
    /// Begun, for so many worktrees.
    Started(usize),
}

/// What this process does for one work directory.
#[derive(Debug, Default)]
struct Work {
    extracting: bool,
    /// Processing was asked for while the extraction went on.
    process_next: bool,
    /// Pid, or 0 while it starts.
    processing: Option<u32>,
}

/// The service; clones share it.
#[derive(Clone)]
pub struct Learnings(Arc<Inner>);

struct Inner {
    config: LearningsConfig,
    store: PatternStore,
    commands: Option<Arc<dyn LearningPrograms>>,
    work: Mutex<HashMap<PathBuf, Work>>,
    /// Whether a batch of this process goes on.
    batch: Mutex<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Learnings {
    /// Without commands nothing is extracted or processed.
    #[must_use]
    pub fn new(config: LearningsConfig, commands: Option<Arc<dyn LearningPrograms>>) -> Self {
        let store = PatternStore::new(config.directory.clone(), config.older_patterns.clone());
        Self(Arc::new(Inner { config, store, commands, work: Mutex::default(), batch: Mutex::default() }))
    }

    /// The patterns of the person.
    #[must_use]
    pub fn patterns(&self) -> &PatternStore {
        &self.0.store
    }

    /// How the extraction stands. Blocks on the disk.
    #[must_use]
    pub fn extraction_status(&self, work_dir: &Path) -> ExtractionStatus {
        let at_work = lock(&self.0.work).get(work_dir).is_some_and(|work| work.extracting);
        match ExtractionStatus::read(work_dir, at_work) {
            ExtractionStatus { status: State::None, .. } => ExtractionStatus::none(),
            status => status,
        }
    }

    /// How the processing stands. Blocks on the disk.
    #[must_use]
    pub fn processing_status(&self, work_dir: &Path) -> ProcessingStatus {
        let at_work = lock(&self.0.work)
            .get(work_dir)
            .is_some_and(|work| work.process_next || work.processing.is_some());
        ProcessingStatus::read(work_dir, at_work)
    }

    /// Begins to extract, unless that goes on already. Blocks on the disk.
    ///
    /// # Errors
    /// When the status cannot be written; nothing is begun then.
    pub fn extract(&self, place: WorktreeOfTicket, chat: ChatOfTicket) -> io::Result<()> {
        let Some(commands) = self.0.commands.clone() else {
            return Err(io::Error::other("no assistant is configured"));
        };
        {
            let mut works = lock(&self.0.work);
            let work = works.entry(place.work_dir.clone()).or_default();
            if work.extracting {
                return Ok(());
            }
            work.extracting = true;
        }
        let ended = ExtractionEnd { learnings: self.clone(), place: place.clone() };
        let status = ExtractionStatus {
            ticket_id: Some(chat.source.ticket.clone()),
            active_tab: chat.active_tab.clone(),
            ..ExtractionStatus::at(State::Processing, None)
        };
        status.write(&place.work_dir)?;
        tokio::spawn(async move {
            let assistant = commands.assistant(&place.worktree).await.args(extraction::ARGUMENTS);
            let result = extraction::extract(assistant, &chat.text).await;
            let work_dir = place.work_dir;
            let noted = tokio::task::spawn_blocking(move || {
                let written = result.and_then(|found| {
                    let pending = Pending::of(&work_dir);
                    for learning in &found {
                        let written = pending.write(&document(learning, &chat.source));
                        written.map_err(|error| format!("A learning cannot be written: {error}"))?;
                    }
                    Ok(found.len())
                });
                let done = match written {
                    Ok(count) => ExtractionStatus {
                        count: Some(count),
                        ..ExtractionStatus::at(State::Completed, None)
                    },
                    Err(reason) => {
                        let reason = loopgate_api::redact::cause(&reason);
                        ExtractionStatus {
                            count: Some(0),
                            ..ExtractionStatus::at(State::Error, Some(reason))
                        }
                    }
                };
                // Whoever reads that it has ended may ask for the next one.
                drop(ended);
                ExtractionStatus { ticket_id: status.ticket_id, active_tab: status.active_tab, ..done }
                    .note(&work_dir);
            });
            let _ = noted.await;
        });
        Ok(())
    }

    /// Begins to process the pending learnings of a worktree, now or after the extraction.
    ///
    /// # Errors
    /// When the status or the log cannot be written, or the program does not start.
    pub async fn process(&self, place: WorktreeOfTicket, wait: bool) -> Result<ProcessingStart, StartError> {
        if wait {
            ProcessingStatus::at(State::Waiting, None).note(&place.work_dir);
            let extracting = {
                let mut works = lock(&self.0.work);
                let work = works.entry(place.work_dir.clone()).or_default();
                work.process_next |= work.extracting;
                work.extracting
            };
            if !extracting {
                self.process_after_extraction(place);
            }
            return Ok(ProcessingStart::Waiting);
        }
        let log = place.work_dir.join(LOG);
        {
            let mut works = lock(&self.0.work);
            let work = works.entry(place.work_dir.clone()).or_default();
            if let Some(pid) = work.processing {
                return Ok(ProcessingStart::Started(pid, log));
            }
            work.processing = Some(0);
        }
        let ended = ProcessingEnd { learnings: self.clone(), work_dir: place.work_dir.clone() };
        let (start, process) = self.start_program(&place, &log).await?;
        if let Some(process) = process {
            if let Some(work) = lock(&self.0.work).get_mut(&place.work_dir) {
                work.processing = Some(process.pid);
            }
            tokio::spawn(async move {
                follow(process, &place.work_dir).await;
                drop(ended);
            });
        }
        Ok(start)
    }

    async fn start_program(
        &self,
        place: &WorktreeOfTicket,
        log: &Path,
    ) -> Result<(ProcessingStart, Option<DetachedProcess>), StartError> {
        let pending = Pending::of(&place.work_dir);
        if !pending.exists() {
            return Ok((ProcessingStart::Skipped("No pending learnings directory"), None));
        }
        if pending.names().is_empty() {
            return Ok((ProcessingStart::Skipped("No pending learning files"), None));
        }
        let (Some(script), Some(commands)) = (self.program(), &self.0.commands) else {
            ProcessingStatus::at(State::Error, Some(PLUGIN_MISSING.to_owned())).note(&place.work_dir);
            return Ok((ProcessingStart::NoProgram, None));
        };
        ProcessingStatus::at(State::Processing, None).note(&place.work_dir);
        let command = commands.program(&script, &place.worktree, &place.work_dir).await;
        match command.spawn_detached(log) {
            Ok(process) => Ok((ProcessingStart::Started(process.pid, log.to_owned()), Some(process))),
            Err(error) => {
                ProcessingStatus::at(State::Error, Some(error.to_string())).note(&place.work_dir);
                Err(error)
            }
        }
    }

    /// Ends with a status in any case: a client waits for it.
    fn process_after_extraction(&self, place: WorktreeOfTicket) {
        let learnings = self.clone();
        tokio::spawn(async move {
            let work_dir = place.work_dir.clone();
            let nothing =
                ProcessingStatus { processed: Some(0), ..ProcessingStatus::at(State::Completed, None) };
            // A failure and a missing program are in the status already.
            if let Ok(ProcessingStart::Skipped(_)) = Box::pin(learnings.process(place, false)).await {
                nothing.note(&work_dir);
            }
        });
    }

    /// The program of the plugin that Loopgate brings along, else of the newest one that is installed.
    fn program(&self) -> Option<PathBuf> {
        let own = self.0.config.plugin_root.as_ref().map(|root| root.join(PLUGIN).join(SCRIPT));
        if let Some(own) = own.filter(|own| own.is_file()) {
            return Some(own);
        }
        let entries =
            std::fs::read_dir(self.0.config.installed_plugins.as_ref()?.join(PLUGIN)).ok()?.flatten();
        let versions = entries.filter_map(|entry| {
            let version = version(entry.file_name().to_str()?)?;
            Some((version, entry.path().join(SCRIPT))).filter(|(_, script)| script.is_file())
        });
        versions.max_by_key(|(version, _)| *version).map(|(_, script)| script)
    }

    fn batch_file(&self) -> PathBuf {
        self.0.config.directory.join(BATCH_STATUS)
    }

    /// How the batch stands; one whose process is gone has failed. Blocks on the disk.
    #[must_use]
    pub fn batch_status(&self) -> BatchStatus {
        let batch = *lock(&self.0.batch);
        self.status_under(batch)
    }

    /// Begins to process these worktrees, those that have anything pending. Blocks on the disk.
    ///
    /// # Errors
    /// When the status cannot be written.
    pub fn process_all(&self, worktrees: Vec<WorktreeOfTicket>) -> io::Result<BatchStart> {
        let mut batch = lock(&self.0.batch);
        let standing = self.status_under(*batch);
        if standing.status == State::Processing {
            return Ok(BatchStart::AlreadyProcessing(standing));
        }
        let counted = worktrees.into_iter().map(|place| (pending_count(&place.work_dir), place));
        let pending: Vec<(usize, WorktreeOfTicket)> = counted.filter(|(count, _)| *count > 0).collect();
        if pending.is_empty() {
            return Ok(BatchStart::NothingPending);
        }
        let (Some(script), Some(commands)) = (self.program(), self.0.commands.clone()) else {
            return Ok(BatchStart::NoProgram);
        };
        let own = std::process::id();
        let status = BatchStatus {
            status: State::Processing,
            worktree_count: Some(pending.len()),
            total_pending: Some(pending.iter().map(|(count, _)| count).sum()),
            processed_worktrees: Some(0),
            started_at: Some(Timestamp::now()),
            pid: Some(own),
            pid_started: process::identity(own).map(|started| started.0),
            ..BatchStatus::default()
        };
        self.write_batch(&status)?;
        *batch = true;
        let count = pending.len();
        tokio::spawn(self.clone().run_batch(pending, script, commands, status));
        Ok(BatchStart::Started(count))
    }

    /// As [`Self::batch_status`], for who holds the lock.
    fn status_under(&self, batch: bool) -> BatchStatus {
        let text = std::fs::read(self.batch_file()).unwrap_or_default();
        let status: BatchStatus = serde_json::from_slice(&text).unwrap_or_default();
        let alive = match (status.pid, status.pid_started) {
            (Some(pid), _) if pid == std::process::id() => batch,
            (Some(pid), Some(started)) => process::alive(pid, process::ProcessStart(started)),
            _ => false,
        };
        if status.status != State::Processing || alive {
            return status;
        }
        let error = Some("It was interrupted; start it again".to_owned());
        BatchStatus { status: State::Error, error, completed_at: Some(Timestamp::now()), ..status }
    }

    fn write_batch(&self, status: &BatchStatus) -> io::Result<()> {
        files::create_private_dir(&self.0.config.directory)?;
        files::write_private(&self.batch_file(), &serde_json::to_vec(status)?)
    }

    async fn run_batch(
        self,
        pending: Vec<(usize, WorktreeOfTicket)>,
        script: PathBuf,
        commands: Arc<dyn LearningPrograms>,
        mut status: BatchStatus,
    ) {
        let log = self.0.config.directory.join(BATCH_LOG);
        for (done, (_, place)) in pending.into_iter().enumerate() {
            let command = commands.program(&script, &place.worktree, &place.work_dir).await;
            let run = command.run(Limits::time(PROCESS_TIME)).await;
            status.processed_worktrees = Some(done + 1);
            let (learnings, status, log) = (self.clone(), status.clone(), log.clone());
            let noted = tokio::task::spawn_blocking(move || {
                let mut text = format!("== {}\n", place.work_dir.display()).into_bytes();
                match run {
                    Ok(output) => text.extend([output.stdout, output.stderr].concat()),
                    Err(error) => text.extend(format!("{error}\n").into_bytes()),
                }
                let appended = untrusted::append(&log).and_then(|mut file| file.write_all(&text));
                if let Err(error) = appended.and_then(|()| learnings.write_batch(&status)) {
                    tracing::warn!(%error, "the progress of a batch of learnings cannot be written");
                }
            });
            let _ = noted.await;
        }
        status.status = State::Completed;
        status.completed_at = Some(Timestamp::now());
        (status.pid, status.pid_started) = (None, None);
        if let Err(error) = self.write_batch(&status) {
            tracing::warn!(%error, "the end of a batch of learnings cannot be written");
        }
        *lock(&self.0.batch) = false;
    }
}

/// Frees the work directory when an extraction ends, however that is.
struct ExtractionEnd {
    learnings: Learnings,
    place: WorktreeOfTicket,
}

impl Drop for ExtractionEnd {
    fn drop(&mut self) {
        let next = lock(&self.learnings.0.work).get_mut(&self.place.work_dir).is_some_and(|work| {
            work.extracting = false;
            std::mem::take(&mut work.process_next)
        });
        if next && tokio::runtime::Handle::try_current().is_ok() {
            self.learnings.process_after_extraction(self.place.clone());
        }
    }
}

/// Frees the work directory when processing ends.
struct ProcessingEnd {
    learnings: Learnings,
    work_dir: PathBuf,
}

impl Drop for ProcessingEnd {
    fn drop(&mut self) {
        if let Some(work) = lock(&self.learnings.0.work).get_mut(&self.work_dir) {
            work.processing = None;
        }
    }
}

/// Waits for a process that runs on its own, and sees to it that a status is there afterwards.
async fn follow(process: DetachedProcess, work_dir: &Path) {
    let until = tokio::time::Instant::now() + PROCESS_TIME;
    if let Some(started) = process.started {
        while process::alive(process.pid, started) {
            if tokio::time::Instant::now() > until {
                process::kill_group(process.pid, started, KILL_GRACE).await;
                break;
            }
            tokio::time::sleep(LOOK_PAUSE).await;
        }
    }
    let work_dir = work_dir.to_owned();
    let noted = tokio::task::spawn_blocking(move || {
        if ProcessingStatus::read(&work_dir, true).status == State::Processing {
            let message = "The program ended without a result; its log says more";
            ProcessingStatus::at(State::Error, Some(message.to_owned())).note(&work_dir);
        }
    });
    let _ = noted.await;
}

/// Merges the pending learnings of a work directory into the patterns, and notes how that went. Blocks on the
/// disk.
///
/// # Errors
/// Any failure of the file system; what is pending stays then.
pub fn process(work_dir: &Path, store: &PatternStore) -> io::Result<MergeReport> {
    ProcessingStatus::at(State::Processing, None).note(work_dir);
    let pending = Pending::of(work_dir);
    let taken = pending.take();
    let (names, candidates): (Vec<_>, Vec<_>) = taken.into_iter().unzip();
    let merged = if candidates.is_empty() {
        Ok(MergeReport::default())
    } else {
        store.merge(&candidates, Timestamp::now())
    };
    match &merged {
        Ok(_) => {
            names.iter().for_each(|name| pending.remove(name));
            let processed = Some(names.len());
            ProcessingStatus { processed, ..ProcessingStatus::at(State::Completed, None) }.note(work_dir);
        }
        Err(error) => {
            let message = format!("The patterns cannot be written: {error}");
            ProcessingStatus::at(State::Error, Some(loopgate_api::redact::cause(&message))).note(work_dir);
        }
    }
    merged
}

/// The three numbers that a name begins with.
fn version(name: &str) -> Option<[u64; 3]> {
    let mut parts = name.splitn(3, '.');
    let mut whole = || parts.next()?.parse().ok();
    let (major, minor) = (whole()?, whole()?);
    let rest = parts.next()?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    Some([major, minor, rest[..digits].parse().ok()?])
}
