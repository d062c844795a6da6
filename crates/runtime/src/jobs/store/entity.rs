//! Entities of the tables: jobs, outbox messages, runner tokens and launch requests.

pub(super) mod job {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "job")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub loop_id: String,
        /// Name of the status, for people who inspect the database.
        pub status: String,
        pub terminal: bool,
        /// Whether the control plane has acknowledged the end.
        pub reported: bool,
        /// Whether directories of the loop still have to be removed.
        pub to_clear: bool,
        /// Whether the record has pending notifications.
        pub pending_notifications: bool,
        /// The whole record as JSON.
        #[sea_orm(column_type = "Text")]
        pub record: String,
        /// Microseconds since the epoch, which orders changes within a millisecond.
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Messages for the control plane, ordered by `id` within a loop.
pub(super) mod outbox {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "outbox")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub loop_id: String,
        pub nonce: String,
        pub kind: String,
        #[sea_orm(column_type = "Text")]
        pub body: String,
        pub attempts: i32,
        /// Error of a permanent rejection. The row is kept for inspection and is not sent again.
        #[sea_orm(column_type = "Text", nullable)]
        pub refusal: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Runner tokens, sealed with the desktop's key.
pub(super) mod token {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "loop_token")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub loop_id: String,
        pub sealed: Vec<u8>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Launch requests of loops without a process, sealed.
pub(super) mod launch_request {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "launch_request")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub loop_id: String,
        pub sealed: Vec<u8>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
