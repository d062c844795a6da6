//! The external programs and the processes of this machine: resolve, start, supervise, terminate.
//!
//! Owns every way in which Loopgate starts a program, and the knowledge of git, of the code host's command
//! line and of the MCP servers that the assistant and the reviewer are configured with. Depends on neither
//! loops, routes nor the control plane.

pub mod code_host;
pub mod directory_watch;
pub mod environment;
pub mod git;
pub mod keyed_locks;
pub mod login_path;
pub mod machine;
pub mod mcp;
pub mod process;
pub mod programs;
pub mod shim;
