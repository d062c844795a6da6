//! What was answered about a watched repository, for as long as it is right.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::contents::Contents;
use super::file::FileStatus;
use super::heard::{Look, Moment};
use super::repository::Repository;
use crate::git::{FileDiff, FileDiffError, FilePath, Git, GitError, Listing, Status};

/// A watched repository, and what was answered since the watch began.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) git: Git,
    pub(super) directory: PathBuf,
    pub(super) repository: Arc<Repository>,
    pub(super) status: Answers<Status>,
    pub(super) listing: Answers<Listing>,
    pub(super) contents: Contents,
    /// Somebody asks git what it ignores.
    pub(super) judging: AtomicBool,
}

/// The last answer to a question. Whoever asks git holds it; the others wait for what comes of it.
#[derive(Debug)]
pub(super) struct Answers<T>(pub(super) tokio::sync::Mutex<Option<Answer<T>>>);

#[derive(Debug)]
pub(super) struct Answer<T> {
    pub(super) content: Arc<T>,
    /// When git was asked.
    asked: Instant,
    /// The moment at which the repository was so; absent when it moved meanwhile.
    at: Option<Moment>,
}

impl Kept {
    pub(super) async fn status(&self) -> Result<Arc<Status>, GitError> {
        let ask = async |before| match self.status_since(before).await? {
            Some(status) => Ok(status),
            None => self.git.status(&self.directory).await,
        };
        self.status.get(&self.repository, Look::of_tree, ask).await
    }

    /// The status at this moment, unless git would have to be asked for all of it.
    async fn status_at_hand(&self) -> Option<Arc<Status>> {
        if !self.repository.told().tree {
            return None;
        }
        let ask = async |before| self.status_since(before).await.ok().flatten().ok_or(());
        self.status.get(&self.repository, Look::of_tree, ask).await.ok()
    }

    /// A former status brought up to date.
    async fn status_since(&self, before: Option<(Arc<Status>, Moment)>) -> Result<Option<Status>, GitError> {
        let Some((known, then)) = before else { return Ok(None) };
        let Some(files) = self.repository.clone().touched_since(then).await else { return Ok(None) };
        self.git.status_since(&self.directory, &known, &files).await
    }

    pub(super) async fn diff(&self, path: &FilePath) -> Result<FileDiff, FileDiffError> {
        let status = self.status_at_hand().await;
        match status.as_deref().map(|status| FileStatus::of(status, path)) {
            Some(FileStatus::Unchanged) => Err(FileDiffError::Unchanged),
            Some(FileStatus::Changed(before)) => {
                let found = self.git.repository(&self.directory).await?;
                let old = match &before {
                    Some(object) => {
                        let read = || self.git.content(&found, object);
                        Some(self.contents.get(&self.repository, object, read).await?)
                    }
                    None => None,
                };
                self.git.diff_since(&found, path, before, old).await
            }
            Some(FileStatus::Unknown) | None => self.git.diff_to_worktree(&self.directory, path).await,
        }
    }

    pub(super) async fn listing(&self) -> Result<Arc<Listing>, GitError> {
        let ask = async |before: Option<(Arc<Listing>, Moment)>| {
            let former = before.as_ref().map(|(known, _)| &**known);
            self.git.listing(&self.directory, former).await
        };
        self.listing.get(&self.repository, Look::of_records, ask).await
    }

    /// Makes sure of what git ignores, so that the next status can be kept.
    pub(super) async fn judge(&self) {
        if self.repository.told().judge
            && let Err(refusal) = self.repository.clone().judge(&self.git).await
        {
            tracing::debug!(%refusal, "what git ignores is not certain");
            return;
        }
        if self.repository.told().tree {
            let _ = self.status().await;
        }
    }
}

impl<T> Default for Answers<T> {
    fn default() -> Self {
        Self(tokio::sync::Mutex::new(None))
    }
}

impl<T> Answers<T> {
    /// The answer at this moment: the last one when nothing has changed since, or when git was asked
    /// for it after this question came; else git's. `moment` is what of a look the answer hangs on;
    /// `ask` may start from the last answer and its moment.
    async fn get<F, E>(
        &self,
        repository: &Arc<Repository>,
        moment: impl Fn(Look) -> Option<Moment>,
        ask: impl FnOnce(Option<(Arc<T>, Moment)>) -> F,
    ) -> Result<Arc<T>, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let came = Instant::now();
        let mut last = self.0.lock().await;
        let before = repository.clone().look_elsewhere().await.and_then(&moment);
        let good = |answer: &&Answer<T>| answer.asked > came || before.is_some() && answer.at == before;
        if let Some(answer) = last.as_ref().filter(good) {
            return Ok(answer.content.clone());
        }
        let known = last.as_ref().and_then(|answer| Some((answer.content.clone(), answer.at?)));
        let asked = Instant::now();
        let content = Arc::new(ask(known.filter(|_| before.is_some())).await?);
        let after = repository.clone().look_elsewhere().await.and_then(&moment);
        let at = after.filter(|after| before == Some(*after));
        *last = Some(Answer { content: content.clone(), asked, at });
        Ok(content)
    }
}
