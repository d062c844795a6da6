//! Generates the interface descriptions from handlers and types, or checks that they are up to date.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::run::{build, command, output};
use crate::{root, target};

/// Names of the interfaces, both as arguments of `loopgate openapi` and as file names.
const INTERFACES: [&str; 3] = ["gateway", "control-plane", "link"];

/// Options of the `openapi` command.
#[derive(Args)]
pub struct Openapi {
    /// Compare the checked-in descriptions with the generated ones instead of writing them.
    #[arg(long)]
    check: bool,
}

impl Openapi {
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
        let (generated, path) = describe(interface)?;
        std::fs::write(path, generated)?;
    }
    Ok(())
}

/// Compares the checked-in descriptions with those of the latest debug build.
pub fn check() -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for interface in INTERFACES {
        let (generated, path) = describe(interface)?;
        if std::fs::read(&path).ok().as_deref() != Some(generated.as_slice()) {
            stale.push(format!("docs/openapi/{interface}.json"));
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    anyhow::bail!("{} is out of date; run `cargo xtask openapi`", stale.join(" and "))
}

fn describe(interface: &str) -> anyhow::Result<(Vec<u8>, PathBuf)> {
    let binary = target().join("debug/loopgate");
    let text = output(command(binary).args(["openapi", interface]))?;
    // Files in the repository end with exactly one newline.
    let mut text = String::from_utf8(text).context("the description is not UTF-8")?.trim_end().to_owned();
    text.push('\n');
    Ok((text.into_bytes(), root().join(format!("docs/openapi/{interface}.json"))))
}
