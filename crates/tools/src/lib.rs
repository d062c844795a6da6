#![doc = include_str!("../README.md")]

pub mod code_host;
pub mod directory_watch;
pub mod environment;
pub mod git;
pub mod instructions;
pub mod keyed_locks;
pub mod login_path;
pub mod machine;
pub mod mcp;
pub mod process;
pub mod programs;
pub mod shim;
