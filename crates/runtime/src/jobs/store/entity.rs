//! The tables: jobs, launch requests, events on their way, runner tokens.

/// Records of loops.
pub(super) mod job {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "job")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub loop_id: String,
        /// Name of the status, for people who look at the file.
        pub status: String,
        pub terminal: bool,
        /// Whether the control plane knows how it ended.
        pub reported: bool,
        /// Whether directories go with it that are still there.
        pub to_clear: bool,
        /// Whether it has pending notifications.
        #[sea_orm(column_name = "untold")]
        pub pending_notifications: bool,
        /// The whole record as JSON.
        #[sea_orm(column_type = "Text")]
        pub record: String,
        /// Microseconds since the epoch: fine enough to order two changes of one moment.
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// What still has to reach the control plane, in order of `id` within a loop.
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
        /// Why the control plane will never take it; it is kept for people and not sent any more.
        #[sea_orm(column_type = "Text", nullable)]
        pub refusal: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Runner tokens, sealed.
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

/// Requests of loops that have no process yet, sealed.
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
