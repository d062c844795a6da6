//! `package.json`: its `dev` or `start` script.

use serde_json::Value;

use super::Candidate;
use super::files::{Files, port_after};
use crate::settings::Deployment;

/// Default port when the scripts name none.
const PORT: u16 = 3000;
const VITE_PORT: u16 = 5173;

/// Dependency, and the name of its framework.
const FRAMEWORKS: [(&str, &str); 4] =
    [("next", "next"), ("vite", "vite"), ("react-scripts", "cra"), ("express", "express")];

/// Lock file, and the package manager that writes it.
const LOCKS: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

pub(super) fn package_script(files: &Files<'_>) -> Option<Candidate> {
    let manifest = files.json("package.json")?;
    let script = |name: &str| {
        let text = manifest.get("scripts")?.get(name)?.as_str()?;
        Some(text).filter(|text| !text.trim().is_empty())
    };
    let name = ["dev", "start"].into_iter().find(|name| script(name).is_some())?;
    let depends = |wanted: &str| {
        ["dependencies", "devDependencies"]
            .into_iter()
            .any(|section| manifest.get(section).is_some_and(|section| section.get(wanted).is_some()))
    };
    let framework = FRAMEWORKS.into_iter().find(|(wanted, _)| depends(wanted)).map(|(_, name)| name);
    let lock = LOCKS.into_iter().find(|(file, _)| files.has(file));
    let declared = manifest.get("packageManager").and_then(Value::as_str);
    let runner = lock.map_or("npm", |(_, manager)| manager);
    let command = match runner {
        "pnpm" | "yarn" => format!("{runner} {name}"),
        _ => format!("{runner} run {name}"),
    };
    let installer = declared
        .and_then(|declared| {
            ["pnpm", "yarn", "npm", "bun"].into_iter().find(|manager| declared.starts_with(manager))
        })
        .unwrap_or(runner);
    let texts = ["dev", "start"].into_iter().filter_map(script);
    let port = texts
        .filter_map(|text| port_after(text, "--port|(?:^|\\s)-p|PORT"))
        .next()
        .unwrap_or(if framework == Some("vite") { VITE_PORT } else { PORT });
    let why = match framework {
        Some(framework) => format!("package.json has a `{name}` script and depends on {framework}"),
        None => format!("package.json has a `{name}` script"),
    };
    let with = lock.map_or_else(
        || "; no lock file, so npm runs it".to_owned(),
        |(file, manager)| format!("; {file} belongs to {manager}"),
    );
    Some(Candidate {
        config: Deployment {
            framework: framework.map(ToOwned::to_owned),
            package_manager: declared.map(ToOwned::to_owned),
            install_command: Some(format!("{installer} install")),
            kind: Some(framework.unwrap_or("node").to_owned()),
            ..Deployment::serving(command, port)
        },
        reason: why + &with,
        needs_engine: false,
    })
}
