#![doc = include_str!("../README.md")]

pub mod clock;
pub mod cloud;
pub mod code_host;
pub mod control_plane;
pub mod git;
pub mod git_options;
pub mod held_step;
pub mod home;
pub mod home_processes;
pub mod http_remotes;
pub mod loopgate;
pub mod model;
pub mod openid_provider;
pub mod story;
pub mod tcp_proxy;
pub mod testbed;
pub mod wait;

pub use loopgate_test_programs as programs;

/// Returns a loopback port that is free at the moment. Another process may bind it before the caller does.
pub fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
