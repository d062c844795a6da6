//! First starts of several instances on one database.

use futures_util::future::join_all;
use sea_orm::ConnectionTrait as _;
use uuid::Uuid;

use crate::accounts::ensure_first_owner;
use crate::store::Store;
use crate::tests::plane::first_owner;

/// SQLite has one process, which the lock of the data directory guarantees.
#[tokio::test]
async fn concurrent_first_starts_apply_the_migrations_once() {
    let Ok(url) = std::env::var("LOOPGATE_TEST_POSTGRES") else { return };
    let schema = format!("test_{}", Uuid::now_v7().simple());
    let db = sea_orm::Database::connect(&url).await.unwrap();
    db.execute_unprepared(&format!("CREATE SCHEMA \"{schema}\"")).await.unwrap();
    let start = async || {
        let store = Store::open(&url, Some(&schema)).await?;
        ensure_first_owner(&store, &first_owner()).await
    };
    let owners = join_all((0..4).map(|_| start())).await;
    let first = owners[0].as_ref().unwrap();
    assert!(owners.iter().all(|owner| owner.as_ref().unwrap() == first), "{owners:?}");
}
