//! Launch requests of loops whose process does not run yet. A loop is started from its request when the queue
//! has capacity, and again after a crash during the start. Sealed, because a request contains the runner
//! token.

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

/// A launch request as it was received.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    pub body: String,
    pub headers: LoopHeaders,
}

impl JobStore {
    /// Stores the launch request of a loop.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the request cannot be sealed or stored.
    pub async fn put_launch_request(&self, id: LoopId, request: &LaunchRequest) -> Result<(), StoreError> {
        let sealed = self.credentials.seal(&serde_json::to_vec(request)?).ok_or(StoreError::Seal)?;
        insert(&self.db, id, sealed).await?;
        self.durable.flush(&self.db).await;
        Ok(())
    }

    /// Returns the launch request of a loop; a request that cannot be decrypted counts as absent.
    ///
    /// # Errors
    /// Fails with [`StoreError::Database`] when the row cannot be read.
    pub async fn launch_request(&self, id: LoopId) -> Result<Option<LaunchRequest>, StoreError> {
        let row = launch_request::Entity::find_by_id(id.to_string()).one(&self.db).await?;
        Ok(row.and_then(|row| serde_json::from_slice(&self.credentials.open_sealed(&row.sealed)?).ok()))
    }

    /// Returns the loops that have a stored launch request.
    ///
    /// # Errors
    /// Fails with [`StoreError::Database`] when the rows cannot be read.
    pub async fn loops_with_launch_request(&self) -> Result<HashSet<LoopId>, StoreError> {
        let query = launch_request::Entity::find().select_only().column(launch_request::Column::LoopId);
        let ids: Vec<String> = query.into_tuple().all(&self.db).await?;
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }

    /// Deletes the request of a loop.
    ///
    /// # Errors
    /// Fails with [`StoreError::Database`] when the row cannot be deleted.
    pub async fn delete_launch_request(&self, id: LoopId) -> Result<(), StoreError> {
        // No sync needed: a request that reappears after a power loss is deleted at the next start.
        launch_request::Entity::delete_by_id(id.to_string()).exec(&self.db).await?;
        Ok(())
    }

    /// Deletes the requests of all other loops.
    ///
    /// # Errors
    /// Fails with [`StoreError::Database`] when the rows cannot be deleted.
    pub async fn retain_launch_requests(&self, loops: &[LoopId]) -> Result<(), StoreError> {
        let ids = loops.iter().map(ToString::to_string);
        let others = launch_request::Column::LoopId.is_not_in(ids);
        launch_request::Entity::delete_many().filter(others).exec(&self.db).await?;
        Ok(())
    }

    /// Imports the launch requests that an earlier version stored as sealed files, one per loop. Removes the
    /// directory once the rows are durable.
    ///
    /// # Errors
    /// Fails with [`StoreError`]; the files are then unchanged.
    pub async fn import_launch_requests(&self, dir: &Path) -> Result<(), StoreError> {
        let files = read_files(dir.to_owned()).await.map_err(|error| DbErr::Custom(error.to_string()))?;
        let Some(files) = files else { return Ok(()) };
        let tx = self.db.begin().await?;
        for (id, sealed) in files {
            insert(&tx, id, sealed).await?;
        }
        self.commit(tx).await?;
        if let Err(error) = tokio::fs::remove_dir_all(dir).await {
            tracing::warn!(%error, "cannot remove the imported launch request files; the next start retries");
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

/// Reads the files whose names are loop ids; `None` without the directory.
async fn read_files(dir: PathBuf) -> io::Result<Option<Vec<(LoopId, Vec<u8>)>>> {
    let files = tokio::task::spawn_blocking(move || {
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
    files.await.map_err(io::Error::other)?
}
