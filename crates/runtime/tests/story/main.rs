//! Loops from the request to the last event, with real git and without crashes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod approvals;
mod change_reviews;
mod delivery;
mod endings;
mod layouts;
mod messages;
mod repositories;
mod starts;
#[path = "../support/mod.rs"]
mod support;
mod undelivered;
