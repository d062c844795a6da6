//! Tests over HTTP, against a gateway that is really bound.

mod activity;
mod approval_subjects;
mod approvals;
mod contract_codes;
mod control;
mod exchange;
mod pipeline;
mod properties;
mod router;
mod routes;
mod server;
mod specified_routes;
mod test_gateway;
