//! Ends the connections of desktops whose key no longer counts.
//!
//! A key ends by revocation, by its expiry, or with its user. This task is woken by the bus and at the
//! next expiry; its regular check finds what other instances of the control plane have changed.

use std::collections::HashMap;
use std::time::Duration;

use sea_orm::prelude::*;
use sea_orm::{Condition, QuerySelect};

use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::store::entity::{api_key, user};
use crate::store::now;

/// Time between two checks without an event.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Keys of one query.
const BATCH: usize = 500;

/// Runs until the control plane ends.
pub async fn run(app: ControlPlaneState) {
    let mut wake = app.bus.subscribe(Topic::Credentials);
    loop {
        let next_expiry = match check(&app).await {
            Ok(next_expiry) => next_expiry,
            Err(error) => {
                tracing::warn!(%error, "the keys of connected desktops could not be checked");
                None
            }
        };
        let until_expiry =
            next_expiry.map(|at| Duration::from_millis(u64::try_from(at - now()).unwrap_or(0)));
        let wait = until_expiry.map_or(CHECK_INTERVAL, |until| until.min(CHECK_INTERVAL));
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            _ = wake.changed() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Ends the connections of keys that have ended; answers when the next one expires.
async fn check(app: &ControlPlaneState) -> Result<Option<i64>, DbErr> {
    let connected = app.desktops.identities();
    let mut next_expiry = None;
    for batch in connected.chunks(BATCH) {
        let keys = batch.iter().map(|identity| identity.key_id);
        let living: HashMap<Uuid, Option<i64>> = api_key::Entity::find()
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
            match living.get(&identity.key_id) {
                Some(expires_at) => next_expiry = next_expiry.into_iter().chain(*expires_at).min(),
                None => app.desktops.close_key(identity.key_id),
            }
        }
    }
    Ok(next_expiry)
}
