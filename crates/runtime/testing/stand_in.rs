//! Test double of the `loopgate` executable: runs a shim for `loopgate shim <spec>`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [command, spec] if command == "shim" => loopgate_tools::shim::main(Path::new(spec)),
        _ => ExitCode::from(64),
    }
}
