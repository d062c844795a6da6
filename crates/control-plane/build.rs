//! Makes the folder of the built web app, so that a fresh clone compiles before anybody built it. A
//! release without the web app would be of no use, and is refused.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    std::fs::create_dir_all(&dist)?;
    println!("cargo::rerun-if-changed={}", dist.display());
    let is_release = std::env::var_os("PROFILE").is_some_and(|profile| profile == "release");
    if is_release && !dist.join("index.html").is_file() {
        println!(
            "cargo::error=the web app is not built, and a release carries it: run `cargo xtask web` first"
        );
    }
    Ok(())
}
