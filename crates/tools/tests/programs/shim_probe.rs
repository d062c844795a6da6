//! The executable that tests start as the shim, with the `shim` sub-command only.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match (args.next(), args.next()) {
        (Some(command), Some(spec)) if command == "shim" => loopgate_tools::shim::main(spec.as_ref()),
        _ => ExitCode::from(64),
    }
}
