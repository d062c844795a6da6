//! Tests over HTTP against a gateway that listens on a real port.

mod activity;
mod approval_subjects;
mod approvals;
mod control;
mod error_codes;
mod exchange;
mod pipeline;
mod properties;
mod router;
mod routes;
mod server;
mod specified_routes;
mod test_gateway;
