//! One file a resource, as in `routes`.

mod api_keys;
mod auth;
mod commands;
mod compute_targets;
mod documents;
mod feature_flags;
mod link;
mod local_auth;
mod loops;
mod onboarding;
mod revival;
mod runner;
mod storage;
mod web;
