//! The five external programs and the processes of this machine: find, start, watch, end.
//!
//! Owns every way in which Loopgate starts a program, and what it knows of git and of the code
//! host's command line. Knows nothing of loops, routes or the control plane.

pub mod code_host;
pub mod git;
pub mod login_path;
pub mod machine;
pub mod process;
pub mod programs;
pub mod shim;
