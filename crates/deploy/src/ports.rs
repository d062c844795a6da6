//! TCP ports of this machine: free ports, and the processes that listen on a port.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

use listeners::{Protocol, SocketState};
use rustix::process::Pid;

/// A listening process and its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listener {
    pub(crate) port: u16,
    pub(crate) pid: u32,
}

/// Returns whether a server could bind the port now. Blocks.
pub(crate) fn is_free(port: u16) -> bool {
    let v4 = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    // Other errors mean that the machine has no IPv6.
    let taken_v6 = TcpListener::bind((Ipv6Addr::LOCALHOST, port))
        .is_err_and(|error| error.kind() == std::io::ErrorKind::AddrInUse);
    v4 && !taken_v6
}

/// Returns a free port that the kernel chooses. Blocks.
pub(crate) fn any_free() -> Option<u16> {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    address.ok().map(|address| address.port()).filter(|port| is_free(*port))
}

/// Returns all processes of this user that listen on a TCP port. Blocks.
pub(crate) fn listeners() -> Vec<Listener> {
    let all = listeners::get_all().unwrap_or_default();
    let mut all: Vec<Listener> = all
        .into_iter()
        .filter(|socket| socket.protocol == Protocol::TCP && socket.state == SocketState::Listen)
        .map(|socket| Listener { port: socket.socket.port(), pid: socket.process.pid })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the process group id of a process.
pub(crate) fn group_of(pid: u32) -> Option<u32> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let group = rustix::process::getpgid(Some(pid)).ok()?;
    u32::try_from(group.as_raw_nonzero().get()).ok()
}
