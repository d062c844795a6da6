//! The routes, one file a resource. A handler reads as its story: who asks, load, change, answer.

pub mod api_keys;
pub mod auth;
pub mod commands;
pub mod compute_targets;
pub mod documents;
pub mod events;
pub mod feature_flags;
pub mod health;
pub mod link;
pub mod local_auth;
pub mod loops;
pub mod onboarding;
pub mod runner;
pub mod storage;
pub mod stream;
pub mod usage;
