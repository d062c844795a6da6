//! Creates the directory of the built web app, so that the crate compiles before the web app was built. A
//! release build fails without it.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    std::fs::create_dir_all(&dist)?;
    // `web/dist` is outside the package, so Cargo does not track it by default.
    println!("cargo::rerun-if-changed={}", dist.display());
    let is_release = std::env::var_os("PROFILE").is_some_and(|profile| profile == "release");
    if is_release && !dist.join("index.html").is_file() {
        println!(
            "cargo::error=the web app is not built, but a release build embeds it: run `cargo xtask web` first"
        );
    }
    Ok(())
}
