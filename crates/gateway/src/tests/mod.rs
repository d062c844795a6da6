//! Tests over HTTP, against a gateway that is really bound.

mod activity;
mod approvals;
mod binary_paths;
mod contract_codes;
mod control;
mod examples;
mod exchange;
mod health_check;
mod listening;
mod loops;
mod mcp;
mod named_repositories;
mod pipeline;
mod place;
mod properties;
mod repositories;
mod specified_routes;
mod table;
mod tickets;
