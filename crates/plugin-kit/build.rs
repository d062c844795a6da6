//! Rebuilds the crate when a file of the embedded plugins changes.

fn main() {
    println!("cargo:rerun-if-changed=../../plugins");
    println!("cargo:rerun-if-changed=../../.claude-plugin");
}
