//! Ports of this machine: which are free, and which processes listen on them.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

use listeners::{Protocol, SocketState};
use rustix::process::Pid;

/// A port, and a process that listens on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listener {
    pub(crate) port: u16,
    pub(crate) pid: u32,
}

/// Whether a server could bind a port now. Blocks.
pub(crate) fn is_free(port: u16) -> bool {
    let v4 = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let taken_v6 = TcpListener::bind((Ipv6Addr::LOCALHOST, port))
        .is_err_and(|error| error.kind() == std::io::ErrorKind::AddrInUse);
    v4 && !taken_v6
}

/// A free port that the system chooses. Blocks.
pub(crate) fn any_free() -> Option<u16> {
    let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    any.ok().map(|address| address.port()).filter(|port| is_free(*port))
}

/// Every process of this user that listens on a TCP port. Blocks.
pub(crate) fn listeners() -> Vec<Listener> {
    let all = listeners::get_all().unwrap_or_default();
    let mut all: Vec<Listener> = all
        .into_iter()
        .filter(|one| one.protocol == Protocol::TCP && one.state == SocketState::Listen)
        .map(|one| Listener { port: one.socket.port(), pid: one.process.pid })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The process group of a process.
pub(crate) fn group_of(pid: u32) -> Option<u32> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let group = rustix::process::getpgid(Some(pid)).ok()?;
    u32::try_from(group.as_raw_nonzero().get()).ok()
}
