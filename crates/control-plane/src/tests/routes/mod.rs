//! One file a resource, as in `routes`.

mod agents;
mod api_keys;
mod audit_log;
mod auth;
mod authorization;
mod commands;
mod compute_targets;
mod documents;
mod feature_flags;
mod github_token;
mod invitations;
mod link;
mod local_auth;
mod loops;
mod manual_loops;
mod members;
mod onboarding;
mod organizations;
mod passwords;
mod repositories;
mod revival;
mod runner;
mod sessions;
mod spending;
mod storage;
mod web;
