//! Writes the interface descriptions from the handlers and types, or checks that they are fresh.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::run::{build, command, output};
use crate::{root, target};

/// Names of the interfaces, as the binary and the files have them.
const INTERFACES: [&str; 3] = ["gateway", "control-plane", "link"];

/// Arguments of `openapi`.
#[derive(Args)]
pub struct Openapi {
    /// Compare with what is checked in instead of writing it.
    #[arg(long)]
    check: bool,
}

impl Openapi {
    /// Runs it.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        build(&["loopgate"])?;
        if self.check {
            check()?
        } else {
            write()?
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn write() -> anyhow::Result<()> {
    std::fs::create_dir_all(root().join("docs/openapi"))?;
    for interface in INTERFACES {
        let (fresh, path) = describe(interface)?;
        std::fs::write(path, fresh)?;
    }
    Ok(())
}

/// Compares what is checked in with what the binary that was built last says.
pub fn check() -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for interface in INTERFACES {
        let (fresh, path) = describe(interface)?;
        if std::fs::read(&path).ok().as_deref() != Some(fresh.as_slice()) {
            stale.push(format!("docs/openapi/{interface}.json"));
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    anyhow::bail!("{} is not what the handlers say; run `cargo xtask openapi`", stale.join(" and "))
}

fn describe(interface: &str) -> anyhow::Result<(Vec<u8>, PathBuf)> {
    let binary = target().join("debug/loopgate");
    let text = output(command(binary).args(["openapi", interface]))?;
    let mut text = String::from_utf8(text).context("the description is no text")?.trim_end().to_owned();
    text.push('\n');
    Ok((text.into_bytes(), root().join(format!("docs/openapi/{interface}.json"))))
}
