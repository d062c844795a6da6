//! The routes, one file a resource. A handler reads as its story: who asks, load, change, answer.

pub mod agents;
pub mod api_keys;
pub mod audit_log;
pub mod auth;
pub mod commands;
pub mod compute_targets;
pub mod documents;
pub mod events;
pub mod feature_flags;
pub mod github_token;
pub mod health;
pub mod invitations;
pub mod link;
pub mod local_auth;
pub mod loops;
pub mod manual_loops;
pub mod members;
pub mod onboarding;
pub mod organization;
pub mod organizations;
pub mod repositories;
pub mod runner;
pub mod sessions;
pub mod storage;
pub mod stream;
pub mod usage;
