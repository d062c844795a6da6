//! The tables, one file each.
//!
//! Instants are milliseconds since the epoch; ids are UUIDs of version 7, made here, so their order
//! is that of their creation.

pub mod agent;
pub mod agent_loop;
pub mod agent_version;
pub mod api_key;
pub mod audit_entry;
pub mod challenge;
pub mod compute_target;
pub mod desktop_command;
pub mod desktop_command_event;
pub mod document;
pub mod document_counter;
pub mod document_version;
pub mod external_identity;
pub mod feature_flag;
pub mod identity;
pub mod invitation;
pub mod loop_diagnostics;
pub mod loop_event;
pub mod loop_execution_credential_consumption;
pub mod loop_spending;
pub mod loop_token_refresh;
pub mod oidc_sign_in;
pub mod onboarding_attempt;
pub mod organization;
pub mod pull_request;
pub mod repository;
pub mod repository_config;
pub mod session;
pub mod sign_in_attempt;
pub mod sign_in_link;
pub mod target_health_check;
pub mod ticket;
pub mod user;
pub mod user_public_key;
