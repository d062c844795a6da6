//! Limits on guesses of passwords.
//!
//! An attempt is stored before its password is checked, and counts as failed until it has succeeded.
//! So guesses at the same time, at several instances or across restarts all count.

use sea_orm::ActiveValue::Set;
use sea_orm::ExprTrait as _;
use sea_orm::prelude::*;
use uuid::Uuid;

use super::secret::sha256_hex;
use crate::auth::ClientInfo;
use crate::store::entity::sign_in_attempt::{self, Column};
use crate::store::{Store, now};

/// Milliseconds for which a failed attempt counts.
const WINDOW: i64 = 15 * 60 * 1000;
/// Failed attempts of one address for one account.
const BOTH_LIMIT: u64 = 10;
/// Failed attempts for one account from anywhere; far more, or anybody could lock somebody out.
const ACCOUNT_LIMIT: u64 = 100;
/// Failed attempts of one address for any account.
const ADDRESS_LIMIT: u64 = 100;

/// An attempt that was admitted.
#[must_use]
pub struct SignInAttempt {
    account_hash: String,
    address: String,
}

/// Admits an attempt to sign in to an account, which need not exist; `None` when there were too many.
pub async fn begin(
    store: &Store,
    account: &str,
    client: &ClientInfo,
) -> Result<Option<SignInAttempt>, DbErr> {
    let attempt = SignInAttempt { account_hash: sha256_hex(account), address: client.network() };
    let id = Uuid::now_v7();
    let row = sign_in_attempt::ActiveModel {
        id: Set(id),
        account_hash: Set(attempt.account_hash.clone()),
        address: Set(attempt.address.clone()),
        at: Set(now()),
    };
    let old = sign_in_attempt::Entity::delete_many().filter(Column::At.lte(now() - WINDOW));
    old.exec(store.writer()).await?;
    // Stored before it is counted: of two at the same time, one at least sees both.
    sign_in_attempt::Entity::insert(row).exec_without_returning(store.writer()).await?;
    let account = Column::AccountHash.eq(&attempt.account_hash);
    let address = Column::Address.eq(&attempt.address);
    let within = count(store, account.clone().and(address.clone())).await? <= BOTH_LIMIT
        && count(store, account).await? <= ACCOUNT_LIMIT
        && count(store, address).await? <= ADDRESS_LIMIT;
    if within {
        return Ok(Some(attempt));
    }
    // A refused attempt guessed nothing, so it does not prolong the wait.
    sign_in_attempt::Entity::delete_by_id(id).exec(store.writer()).await?;
    Ok(None)
}

async fn count(store: &Store, which: sea_orm::sea_query::SimpleExpr) -> Result<u64, DbErr> {
    sign_in_attempt::Entity::find()
        .filter(which)
        .filter(Column::At.gt(now() - WINDOW))
        .count(store.writer())
        .await
}

impl SignInAttempt {
    /// Forgets the attempts of this address for this account.
    pub async fn succeeded(self, store: &Store) -> Result<(), DbErr> {
        sign_in_attempt::Entity::delete_many()
            .filter(Column::AccountHash.eq(self.account_hash))
            .filter(Column::Address.eq(self.address))
            .exec(store.writer())
            .await?;
        Ok(())
    }
}
