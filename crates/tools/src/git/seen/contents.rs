//! Contents of files that were shown before, as git has them.
//!
//! A content follows from its id, but for objects that are replaced by others, and those are among
//! the records. Few and small ones are kept: whoever looks at a changed file looks at it again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::heard::{Look, Moment};
use super::repository::Repository;
use crate::git::status::Object;

/// Bytes that are kept of one repository.
const MOST_BYTES: usize = 512 * 1024;

/// What is kept of one repository.
#[derive(Debug, Default)]
pub(super) struct Contents(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The records with which these were read.
    at: Option<Moment>,
    /// By their ids, the oldest first.
    contents: VecDeque<(String, Arc<[u8]>)>,
}

impl Contents {
    /// The content of an object: the one that was read before, when nothing has changed since, else
    /// what `read` reads.
    pub(super) async fn get<F, E>(
        &self,
        repository: &Arc<Repository>,
        object: &Object,
        read: impl FnOnce() -> F,
    ) -> Result<Vec<u8>, E>
    where
        F: Future<Output = Result<Vec<u8>, E>>,
    {
        let before = repository.clone().look_elsewhere().await.and_then(Look::of_records);
        if let Some(known) = before.and_then(|now| self.known(now, &object.id)) {
            return Ok(known.to_vec());
        }
        let content = read().await?;
        let after = repository.clone().look_elsewhere().await.and_then(Look::of_records);
        if let Some(at) = after.filter(|after| before == Some(*after)) {
            self.keep(at, &object.id, &content);
        }
        Ok(content)
    }

    fn known(&self, now: Moment, id: &str) -> Option<Arc<[u8]>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut contents = kept.contents.iter().filter(|_| kept.at == Some(now));
        contents.find(|(known, _)| known == id).map(|(_, content)| content.clone())
    }

    fn keep(&self, at: Moment, id: &str, content: &[u8]) {
        if content.len() > MOST_BYTES {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.at != Some(at) {
            *kept = Kept { at: Some(at), contents: VecDeque::new() };
        }
        kept.contents.retain(|(known, _)| known != id);
        kept.contents.push_back((id.to_owned(), content.into()));
        while kept.contents.iter().map(|(_, content)| content.len()).sum::<usize>() > MOST_BYTES {
            kept.contents.pop_front();
        }
    }
}
