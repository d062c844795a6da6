//! Runs of chats: the assistant under a shim, its output in a file, and who follows it.
//!
//! A run belongs to nobody's connection. One task follows it to its end and writes the answer to
//! the history; each page reads the same output at its own pace, so a slow one delays nobody and one
//! that leaves ends nothing. What a run needs lies in a private directory until the answer is kept,
//! so that the next process finds it again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::chat::{ChatHistory, ChatMessage, ChatRole, CommentContext};
use loopgate_api::chat_turn::ChatTurn;
use loopgate_api::ids::LoopId;
use loopgate_home::files::{create_private_dir, write_private};
use loopgate_home::{Program, Sandbox, SandboxedPath, expand_home};
use loopgate_tools::programs::Programs;
use loopgate_tools::shim::{self, Exit, ShimError, ShimHandle, Spec};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use uuid::Uuid;

use super::history::HistoryFile;
use super::output::GrowingFile;
use super::progress::{RunOutcome, RunProgress};
use super::stream::ChatStream;
use crate::process::environment::ProcessEnvironment;
use crate::process::registry::{LoopProcess, ProcessRegistry};
use crate::process::shims::Shims;
use crate::tasks::Tasks;
use crate::timing::Timing;
use crate::transcript::directory_watch::DirectoryWatch;

/// What a run that was told to end gets for it; the program that hangs after its last word gets it too.
const END_GRACE: Duration = Duration::from_secs(5);
/// How long a program may hang after it said that it is finished.
const FINISHED_GRACE: Duration = Duration::from_secs(30);
/// How often an unfinished answer is kept, at most.
const CHECKPOINT: Duration = Duration::from_secs(2);
/// Bytes of the program's standard error that are shown.
const COMPLAINTS: usize = 4096;

const RECORD: &str = "run.json";
const PROMPT: &str = "prompt.txt";
const OUTPUT: &str = "output.jsonl";
const STDERR: &str = "stderr.log";
const EXIT: &str = "exit.json";

/// A message to the assistant.
#[derive(Debug)]
pub struct ChatRequest {
    /// Where the assistant works.
    pub directory: SandboxedPath,
    /// Where the chat is kept.
    pub history: HistoryFile,
    /// What a history begins with that is not there yet.
    pub new_history: ChatHistory,
    /// The person's words, as they are kept.
    pub message: String,
    /// What the chat is about, when the page says so; it replaces what is kept.
    pub comment: Option<CommentContext>,
    /// Lines before the person's words in the prompt.
    pub preamble: String,
    /// Tools that the assistant may use, separated by commas.
    pub tools: String,
}

impl ChatRequest {
    /// A plain message: about nothing in particular, with no tools.
    #[must_use]
    pub const fn new(
        directory: SandboxedPath,
        history: HistoryFile,
        new_history: ChatHistory,
        message: String,
    ) -> Self {
        Self {
            directory,
            history,
            new_history,
            message,
            comment: None,
            preamble: String::new(),
            tools: String::new(),
        }
    }
}

/// What must be known to take a run up again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChatRunRecord {
    history: PathBuf,
    new_history: ChatHistory,
    answer_id: String,
}

/// One run, in the hands of the task that follows it.
struct ChatRun {
    chats: Arc<Chats>,
    id: Uuid,
    directory: PathBuf,
    history: HistoryFile,
    record: ChatRunRecord,
    progress: watch::Sender<RunProgress>,
    turn: ChatTurn,
    /// Whether the session was written down.
    session_kept: bool,
    /// When the answer is kept next, because it has grown.
    checkpoint: Option<Instant>,
}

/// Has the assistant answer messages.
pub struct Chats {
    pub(crate) shims: Shims,
    pub(crate) programs: Arc<Programs>,
    pub(crate) environment: ProcessEnvironment,
    pub(crate) processes: ProcessRegistry,
    pub(crate) directory_watch: DirectoryWatch,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) timing: Timing,
    pub(crate) tasks: Tasks,
}

impl Chats {
    /// Keeps the person's message and has the assistant answer it. Returns at once; what happens
    /// comes by the stream, and goes on without it.
    ///
    /// # Errors
    /// When the message cannot be kept; nothing is started then.
    pub async fn send(self: &Arc<Self>, request: ChatRequest) -> io::Result<ChatStream> {
        let ChatRequest { directory, history, new_history, message, comment, preamble, tools } = request;
        let (place, begin, said) = (history.clone(), new_history.clone(), message.clone());
        let kept = blocking(move || place.change(|| begin, |history| add_message(history, said, comment)));
        let AddedMessage { answer_id, session_id, comment } = kept.await?;
        let prompt = match comment {
            Some(comment) => format!("{preamble}{}{message}", about(&comment)),
            None => format!("{preamble}{message}"),
        };
        let id = Uuid::new_v4();
        let directory_of_run = self.chats_dir().join(id.to_string());
        let record = ChatRunRecord { history: history.path(), new_history, answer_id };
        prepare(&directory_of_run, &record, prompt).await?;
        let (progress, seen) = watch::channel(RunProgress::default());
        let stream = ChatStream::new(GrowingFile::open(&directory_of_run.join(OUTPUT)).await?, seen);
        let run = ChatRun {
            chats: self.clone(),
            id,
            directory: directory_of_run,
            history,
            record,
            progress,
            turn: ChatTurn::default(),
            session_kept: false,
            checkpoint: None,
        };
        self.tasks.spawn(run.start(directory, tools, session_id));
        Ok(stream)
    }

    /// Follows the runs that an earlier process started, each in a task of its own.
    pub(crate) async fn recover(self: &Arc<Self>) {
        let Ok(entries) = std::fs::read_dir(self.chats_dir()) else { return };
        for directory in entries.flatten().map(|entry| entry.path()) {
            let id = directory.file_name().and_then(|name| name.to_str()?.parse::<Uuid>().ok());
            let record = std::fs::read(directory.join(RECORD)).ok();
            let record = record.and_then(|text| serde_json::from_slice::<ChatRunRecord>(&text).ok());
            let history =
                record.as_ref().and_then(|record| HistoryFile::at(&self.sandbox, &record.history).ok());
            let (Some(id), Some(record), Some(history)) = (id, record, history) else {
                let _ = std::fs::remove_dir_all(&directory);
                continue;
            };
            let run = ChatRun {
                chats: self.clone(),
                id,
                directory,
                history,
                record,
                progress: watch::Sender::new(RunProgress::default()),
                turn: ChatTurn::default(),
                session_kept: false,
                checkpoint: None,
            };
            self.tasks.spawn(run.resume());
        }
    }

    fn chats_dir(&self) -> PathBuf {
        self.shims.records("chats")
    }
}

impl ChatRun {
    fn socket(&self) -> PathBuf {
        self.chats.shims.socket(self.id, "chat")
    }

    async fn start(self, cwd: SandboxedPath, tools: String, session: Option<String>) {
        match self.spawn(&cwd, &tools, session.as_deref()).await {
            Ok((shim, pid)) => self.follow(shim, pid).await,
            Err(error) => self.over(RunOutcome { error: Some(error.to_string()), success: None }).await,
        }
    }

    async fn spawn(
        &self,
        cwd: &SandboxedPath,
        tools: &str,
        session: Option<&str>,
    ) -> Result<(ShimHandle, u32), ShimError> {
        let assistant = self.chats.programs.resolve(Program::Assistant).await;
        let (environment, guard) = self.chats.environment.guarded(&[cwd.canonical()]).await;
        let mut args = guard.args.to_vec();
        args.extend(["-p", "--verbose", "--output-format", "stream-json", "--allowedTools", tools]);
        args.extend(session.into_iter().flat_map(|session| ["--resume", session]));
        let spec = Spec {
            program: assistant.path,
            args: args.into_iter().map(Into::into).collect(),
            cwd: cwd.canonical().to_owned(),
            env: environment,
            stdin_file: Some(self.directory.join(PROMPT)),
            stdout: self.directory.join(OUTPUT),
            stderr: self.directory.join(STDERR),
            jsonl: None,
            exit_file: self.directory.join(EXIT),
            socket: self.socket(),
            // Marks every process of the run.
            loop_id: LoopId(self.id),
        };
        let (shim, state) = self.chats.shims.spawn(&spec).await?;
        Ok((shim, state.pid))
    }

    /// Goes on where an earlier process was: everything is read again.
    async fn resume(mut self) {
        let exit = self.directory.join(EXIT);
        match shim::attach(&self.socket(), &exit).await {
            Some(shim) => {
                let pid = shim.state().await.map_or(0, |state| state.pid);
                self.follow(shim, pid).await;
            }
            None => {
                shim::reap(LoopId(self.id), END_GRACE).await;
                if let Ok(mut output) = GrowingFile::open(&self.directory.join(OUTPUT)).await {
                    self.read(&mut output).await;
                }
                self.finish(Exit::read(&exit).ok_or(ShimError::Lost)).await;
            }
        }
    }

    /// Reads until the program and everything it started is gone.
    async fn follow(mut self, shim: ShimHandle, pid: u32) {
        let about = vec![self.record.history.clone(), expand_home(&self.record.new_history.repo_path)];
        self.chats.processes.add(self.id, LoopProcess { pid, shim: shim.clone(), worktree: None, about });
        self.progress.send_modify(|progress| progress.pid = Some(pid));
        let mut changes = self.chats.directory_watch.subscribe(&self.directory);
        let stop = self.chats.tasks.stop.clone();
        let mut output = GrowingFile::open(&self.directory.join(OUTPUT)).await.ok();
        let mut hangs = None;
        let ended = shim.wait();
        tokio::pin!(ended);
        let end = loop {
            if let Some(output) = &mut output {
                self.read(output).await;
            }
            if self.turn.finished && hangs.is_none() {
                hangs = Some(Instant::now() + FINISHED_GRACE);
            }
            let timing = self.chats.timing.tail_poll;
            tokio::select! {
                end = &mut ended => break end,
                // The run goes on; the next process follows it.
                () = stop.cancelled() => return,
                () = due(self.checkpoint) => self.keep(None).await,
                () = due(hangs) => {
                    hangs = Some(Instant::now() + FINISHED_GRACE);
                    let shim = shim.clone();
                    self.chats.tasks.spawn(async move { drop(shim.kill(END_GRACE).await) });
                }
                _ = timeout(timing, changes.next()) => {}
            }
        };
        if let Some(output) = &mut output {
            self.read(output).await;
        }
        self.chats.processes.remove(self.id);
        self.finish(end).await;
    }

    /// Takes everything that was written since.
    async fn read(&mut self, output: &mut GrowingFile) {
        while let Ok(Some(lines)) = output.more().await {
            for line in lines {
                if !self.turn.feed(&line).is_empty() {
                    self.checkpoint.get_or_insert_with(|| Instant::now() + CHECKPOINT);
                }
            }
            self.progress.send_modify(|progress| progress.reads += 1);
            if self.turn.session_id.is_some() && !self.session_kept {
                self.session_kept = true;
                self.keep(None).await;
            }
        }
    }

    /// Stores the answer and how the run ended.
    async fn finish(mut self, end: Result<Exit, ShimError>) {
        let success = end.as_ref().is_ok_and(Exit::success);
        self.keep(Some(success)).await;
        let complaints = if success { None } else { complaints(&self.directory.join(STDERR)) };
        let error = complaints.or_else(|| end.err().map(|error| error.to_string()));
        self.over(RunOutcome { error, success: Some(success) }).await;
    }

    /// Writes what is known of the answer to the history; at the end with how the program ended.
    async fn keep(&mut self, ended: Option<bool>) {
        self.checkpoint = None;
        let (place, record, turn) = (self.history.clone(), self.record.clone(), self.turn.clone());
        let kept = blocking(move || {
            let ChatRunRecord { new_history, answer_id, .. } = record;
            place.change(|| new_history, |history| keep_answer(history, &answer_id, turn, ended))
        });
        if let Err(error) = kept.await {
            tracing::warn!(%error, "an answer could not be kept");
        }
    }

    /// Removes the files of the run, and signals the pages.
    async fn over(self, outcome: RunOutcome) {
        let directory = self.directory;
        if let Err(error) = blocking(move || std::fs::remove_dir_all(directory)).await {
            tracing::warn!(%error, "what a chat left could not be removed");
        }
        self.progress.send_modify(|progress| progress.outcome = Some(outcome));
    }
}

/// Writes everything that a run needs, before it begins.
async fn prepare(directory: &Path, record: &ChatRunRecord, prompt: String) -> io::Result<()> {
    let (directory, record) = (directory.to_owned(), serde_json::to_vec(record)?);
    let prepared = blocking(move || {
        create_private_dir(&directory)?;
        write_private(&directory.join(PROMPT), prompt.as_bytes())?;
        write_private(&directory.join(OUTPUT), b"")?;
        write_private(&directory.join(RECORD), &record)
    });
    prepared.await
}

/// Pending until the instant; for ever without one.
async fn due(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// The end of what the program complained about; `None` when it did not.
fn complaints(file: &Path) -> Option<String> {
    let bytes = std::fs::read(file).ok()?;
    let text = loopgate_api::redact::cause(String::from_utf8_lossy(&bytes).trim());
    let start = text.ceil_char_boundary(text.len().saturating_sub(COMPLAINTS));
    Some(text[start..].to_owned()).filter(|text| !text.is_empty())
}

/// What a new message found in its history.
struct AddedMessage {
    answer_id: String,
    session_id: Option<String>,
    comment: Option<CommentContext>,
}

/// Adds the person's message and reserves the id of its answer.
fn add_message(history: &mut ChatHistory, message: String, comment: Option<CommentContext>) -> AddedMessage {
    let now = jiff::Timestamp::now();
    let mut stamp = now.as_millisecond();
    let taken = |stamp: i64| {
        let ids = [format!("user-{stamp}"), format!("assistant-{stamp}")];
        history.messages.iter().any(|message| ids.contains(&message.id))
    };
    while taken(stamp) {
        stamp += 1;
    }
    let at = loopgate_api::time::iso(now);
    history.messages.push(ChatMessage::new(format!("user-{stamp}"), ChatRole::User, message, at));
    if comment.is_some() {
        history.comment_context = comment;
    }
    AddedMessage {
        answer_id: format!("assistant-{stamp}"),
        session_id: history.session_id.clone(),
        comment: history.comment_context.clone(),
    }
}

fn keep_answer(history: &mut ChatHistory, id: &str, turn: ChatTurn, ended: Option<bool>) {
    if let Some(success) = ended {
        history.context_percent = Some(turn.context_percent);
        if turn.auth_failed && !success {
            history.session_id = None;
        }
    } else if turn.session_id.is_some() {
        history.session_id = turn.session_id;
    }
    let content = turn.text.trim().to_owned();
    if content.is_empty() {
        return;
    }
    let blocks = Some(turn.blocks);
    let at = loopgate_api::time::now_iso();
    match history.messages.iter_mut().find(|message| message.id == id) {
        Some(known) => (known.content, known.blocks, known.timestamp) = (content, blocks, at),
        None => {
            let answer = ChatMessage::new(id.to_owned(), ChatRole::Assistant, content, at);
            history.messages.push(ChatMessage { blocks, ..answer });
        }
    }
}

/// What a comment is, before the person's words about it.
fn about(comment: &CommentContext) -> String {
    let place = comment.path.as_ref().map(|path| match comment.line {
        Some(line) => format!("File: {path}:{line}\n"),
        None => format!("File: {path}\n"),
    });
    format!("{}PR comment from @{}:\n{}\n\n", place.unwrap_or_default(), comment.author, comment.body)
}
