//! Real parts for tests and for the demo: nothing here replaces a program that can be had.
//!
//! The real assistant and reviewer talk to a scripted [`model`], the real code-host CLI talks to a
//! [`code_host`] in memory, the real git talks to bare repositories of [`git`], and all of them see
//! a [`home`] of their own. The release binary contains none of this.

pub mod clock;
pub mod cloud;
pub mod code_host;
pub mod control_plane;
pub mod git;
pub mod home;
pub mod home_processes;
pub mod loopgate;
pub mod model;
pub mod openid_provider;
pub mod story;
pub mod tcp_proxy;
pub mod testbed;
pub mod wait;

pub use loopgate_test_programs as programs;

/// A port of loopback that nobody listens on at the moment.
///
/// # Errors
/// When none is free.
pub fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
