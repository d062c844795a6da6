//! Closes connections of desktops whose API key is no longer valid.
//!
//! A key becomes invalid by revocation, by expiry, or when its user is deactivated. The task is woken by
//! notifications and at the next expiry; a periodic check covers changes by other instances of the control
//! plane.

use std::collections::HashMap;
use std::time::Duration;

use sea_orm::prelude::*;
use sea_orm::{Condition, QuerySelect};

use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::store::entity::{api_key, user};
use crate::store::now;

// Interval between two checks without a notification.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
// Keys per query; keeps the number of bind parameters well below the databases' limits.
const BATCH: usize = 500;

/// Runs until the control plane shuts down.
pub async fn run(app: ControlPlaneState) {
    let mut wake = app.bus.subscribe(Topic::Credentials);
    loop {
        let next_expiry = match check(&app).await {
            Ok(next_expiry) => next_expiry,
            Err(error) => {
                tracing::warn!(%error, "failed to check the keys of connected desktops");
                None
            }
        };
        let until_expiry =
            // Negative when the key has expired since the query; then the next check runs immediately.
            next_expiry.map(|at| Duration::from_millis(u64::try_from(at - now()).unwrap_or(0)));
        let wait = until_expiry.map_or(CHECK_INTERVAL, |until| until.min(CHECK_INTERVAL));
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            _ = wake.changed() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Closes connections with invalid keys, and returns the time of the next expiry.
async fn check(app: &ControlPlaneState) -> Result<Option<i64>, DbErr> {
    let connected = app.desktops.identities();
    let mut next_expiry = None;
    for batch in connected.chunks(BATCH) {
        let keys = batch.iter().map(|identity| identity.key_id);
        let valid_keys: HashMap<Uuid, Option<i64>> = api_key::Entity::find()
            .inner_join(user::Entity)
            .select_only()
            .column(api_key::Column::Id)
            .column(api_key::Column::ExpiresAt)
            .filter(api_key::Column::Id.is_in(keys))
            .filter(api_key::Column::RevokedAt.is_null())
            .filter(
                Condition::any()
                    .add(api_key::Column::ExpiresAt.is_null())
                    .add(api_key::Column::ExpiresAt.gt(now())),
            )
            .filter(user::Column::Active.eq(true))
            .into_tuple::<(Uuid, Option<i64>)>()
            .all(app.store.reader())
            .await?
            .into_iter()
            .collect();
        for identity in batch {
            match valid_keys.get(&identity.key_id) {
                Some(expires_at) => next_expiry = next_expiry.into_iter().chain(*expires_at).min(),
                None => app.desktops.close_key(identity.key_id),
            }
        }
    }
    Ok(next_expiry)
}
