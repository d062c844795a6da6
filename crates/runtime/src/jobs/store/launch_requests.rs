//! Requests of loops whose process does not run yet: what a loop is started from when its turn comes, or
//! when Loopgate died while it was being started. Sealed, because a request holds the runner token.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::ids::LoopId;
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveValue, ColumnTrait as _, ConnectionTrait, DbErr, EntityTrait as _, QueryFilter as _,
    QuerySelect as _, TransactionTrait as _,
};
use serde::{Deserialize, Serialize};

use super::entity::launch_request;
use super::{JobStore, StoreError};
use crate::request::LoopHeaders;

/// A request as it came.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    /// The body.
    pub body: String,
    /// Its headers.
    pub headers: LoopHeaders,
}

impl JobStore {
    /// Stores the request of a loop.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn put_launch_request(&self, id: LoopId, request: &LaunchRequest) -> Result<(), StoreError> {
        let sealed = self.credentials.seal(&serde_json::to_vec(request)?).ok_or(StoreError::Seal)?;
        insert(&self.db, id, sealed).await?;
        self.durable.reached(&self.db).await;
        Ok(())
    }

    /// The request of a loop; one that cannot be opened counts as absent.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn launch_request(&self, id: LoopId) -> Result<Option<LaunchRequest>, StoreError> {
        let row = launch_request::Entity::find_by_id(id.to_string()).one(&self.db).await?;
        Ok(row.and_then(|row| serde_json::from_slice(&self.credentials.open_sealed(&row.sealed)?).ok()))
    }

    /// The loops of which a request is stored.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn loops_with_launch_request(&self) -> Result<HashSet<LoopId>, StoreError> {
        let query = launch_request::Entity::find().select_only().column(launch_request::Column::LoopId);
        let ids: Vec<String> = query.into_tuple().all(&self.db).await?;
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }

    /// Deletes the request of a loop.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn delete_launch_request(&self, id: LoopId) -> Result<(), StoreError> {
        launch_request::Entity::delete_by_id(id.to_string()).exec(&self.db).await?;
        Ok(())
    }

    /// Deletes the requests of all other loops.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn retain_launch_requests(&self, loops: &[LoopId]) -> Result<(), StoreError> {
        let kept = loops.iter().map(ToString::to_string);
        let others = launch_request::Column::LoopId.is_not_in(kept);
        launch_request::Entity::delete_many().filter(others).exec(&self.db).await?;
        Ok(())
    }

    /// Takes over the requests that an earlier version kept as sealed files, one a loop, and removes the
    /// directory once they are on the disk.
    ///
    /// # Errors
    /// [`StoreError`]; the files are then as they were.
    pub async fn import_launch_requests(&self, dir: &Path) -> Result<(), StoreError> {
        let files = read_files(dir.to_owned()).await.map_err(|error| DbErr::Custom(error.to_string()))?;
        let Some(files) = files else { return Ok(()) };
        let tx = self.db.begin().await?;
        for (id, sealed) in files {
            insert(&tx, id, sealed).await?;
        }
        self.commit(tx).await?;
        if let Err(error) = tokio::fs::remove_dir_all(dir).await {
            tracing::warn!(%error, "launch requests that were imported could not be removed; the next start does it");
        }
        Ok(())
    }
}

async fn insert(db: &impl ConnectionTrait, id: LoopId, sealed: Vec<u8>) -> Result<(), DbErr> {
    let row = launch_request::ActiveModel {
        loop_id: ActiveValue::Set(id.to_string()),
        sealed: ActiveValue::Set(sealed),
    };
    let replace = OnConflict::column(launch_request::Column::LoopId)
        .update_column(launch_request::Column::Sealed)
        .to_owned();
    launch_request::Entity::insert(row).on_conflict(replace).exec_without_returning(db).await?;
    Ok(())
}

/// The files of a directory whose names are ids of loops; `None` without the directory.
async fn read_files(dir: PathBuf) -> io::Result<Option<Vec<(LoopId, Vec<u8>)>>> {
    let read = tokio::task::spawn_blocking(move || {
        let entries = match std::fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            if let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
                files.push((id, std::fs::read(entry.path())?));
            }
        }
        Ok(Some(files))
    });
    read.await.map_err(io::Error::other)?
}
