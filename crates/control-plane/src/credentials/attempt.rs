//! Rate limits for password attempts.
//!
//! An attempt is stored before its password is verified and counts as failed until it succeeds. Concurrent
//! attempts, attempts at several instances, and attempts before a restart therefore all count.

use sea_orm::ActiveValue::Set;
use sea_orm::ExprTrait as _;
use sea_orm::prelude::*;
use uuid::Uuid;

use super::secret::sha256_hex;
use crate::auth::ClientInfo;
use crate::store::entity::sign_in_attempt::{self, Column};
use crate::store::{Store, now};

// Sliding window in milliseconds. Messages to users mention 15 minutes and ten attempts.
const WINDOW: i64 = 15 * 60 * 1000;
// Failed attempts per account and client network.
const ACCOUNT_AND_NETWORK_LIMIT: u64 = 10;
// Failed attempts per account from all networks. High, because reaching it locks out the account's owner.
const ACCOUNT_LIMIT: u64 = 100;
// Failed attempts per client network for all accounts, against password spraying.
const NETWORK_LIMIT: u64 = 100;

/// A password attempt that was admitted and counts as failed until it succeeds.
#[must_use]
pub struct SignInAttempt {
    account_hash: String,
    address: String,
}

/// Admits an attempt for an account, which need not exist. Returns `None` when a limit is reached. A browser that
/// has signed in to the account before has its own limit instead of those of its network and of the account.
pub async fn begin(
    store: &Store,
    account: &str,
    client: &ClientInfo,
    known_browser: Option<&str>,
) -> Result<Option<SignInAttempt>, DbErr> {
    let address = known_browser.map_or_else(|| client.network(), |id| format!("browser:{id}"));
    let attempt = SignInAttempt { account_hash: sha256_hex(account), address };
    let id = Uuid::now_v7();
    let row = sign_in_attempt::ActiveModel {
        id: Set(id),
        account_hash: Set(attempt.account_hash.clone()),
        address: Set(attempt.address.clone()),
        at: Set(now()),
    };
    let expired = sign_in_attempt::Entity::delete_many().filter(Column::At.lte(now() - WINDOW));
    expired.exec(store.writer()).await?;
    // Insert before counting: of two concurrent attempts, at least one counts both.
    sign_in_attempt::Entity::insert(row).exec_without_returning(store.writer()).await?;
    let account = Column::AccountHash.eq(&attempt.account_hash);
    let address = Column::Address.eq(&attempt.address);
    let is_admitted = count(store, account.clone().and(address.clone())).await? <= ACCOUNT_AND_NETWORK_LIMIT
        && (known_browser.is_some()
            || count(store, account).await? <= ACCOUNT_LIMIT
                && count(store, address).await? <= NETWORK_LIMIT);
    if is_admitted {
        return Ok(Some(attempt));
    }
    // A rejected attempt verified no password, so it must not extend the lockout.
    sign_in_attempt::Entity::delete_by_id(id).exec(store.writer()).await?;
    Ok(None)
}

async fn count(store: &Store, filter: sea_orm::sea_query::SimpleExpr) -> Result<u64, DbErr> {
    sign_in_attempt::Entity::find()
        .filter(filter)
        .filter(Column::At.gt(now() - WINDOW))
        .count(store.writer())
        .await
}

impl SignInAttempt {
    /// Deletes the attempts of this network, or known browser, for this account.
    pub async fn succeeded(self, store: &Store) -> Result<(), DbErr> {
        sign_in_attempt::Entity::delete_many()
            .filter(Column::AccountHash.eq(self.account_hash))
            .filter(Column::Address.eq(self.address))
            .exec(store.writer())
            .await?;
        Ok(())
    }
}
