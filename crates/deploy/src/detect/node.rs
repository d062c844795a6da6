//! `package.json` with a `dev` or `start` script.

use loopgate_home::ProjectFiles;
use serde_json::Value;

use super::Candidate;
use super::text::port_after;
use crate::settings::Deployment;

// Default of Next, Create React App and most Express examples.
const PORT: u16 = 3000;
// Vite ignores PORT and listens on its own default.
const VITE_PORT: u16 = 5173;

// Dependencies and framework names. The first match wins: a Next project may also depend on Express.
const FRAMEWORKS: [(&str, &str); 4] =
    [("next", "next"), ("vite", "vite"), ("react-scripts", "cra"), ("express", "express")];

/// What the root of a repository says about the package manager of the directories below it.
pub(super) struct PackageManager {
    lock: Option<(&'static str, &'static str)>,
    declared: Option<String>,
}

impl PackageManager {
    /// Reads the files at the root of a repository.
    pub(super) fn of(root: &ProjectFiles<'_>) -> Self {
        let manifest = root.json("package.json");
        Self { lock: root.package_lock(), declared: manifest.as_ref().and_then(declared_manager) }
    }
}

fn declared_manager(manifest: &Value) -> Option<String> {
    manifest.get("packageManager").and_then(Value::as_str).map(ToOwned::to_owned)
}

/// Returns the script of a package. `root` is set for a directory below the root of the repository, with whether
/// it is a package of the root's workspaces.
pub(super) fn package_script(
    files: &ProjectFiles<'_>,
    root: Option<(&PackageManager, bool)>,
) -> Option<Candidate> {
    let manifest = files.json("package.json")?;
    let name = ["dev", "start"].into_iter().find(|name| files.package_script(name).is_some())?;
    let depends = |dependency: &str| {
        ["dependencies", "devDependencies"]
            .into_iter()
            .any(|section| manifest.get(section).is_some_and(|section| section.get(dependency).is_some()))
    };
    let framework = FRAMEWORKS.into_iter().find(|(dependency, _)| depends(dependency)).map(|(_, name)| name);
    let own = files.package_lock().map(|(file, manager)| (file.to_owned(), manager));
    let shared = root.and_then(|(root, _)| root.lock);
    let shared = shared.map(|(file, manager)| (format!("{file} of the repository"), manager));
    // The packages of a workspace are installed together, with the lock file of its root.
    let lock = match root {
        Some((_, true)) => shared.or(own),
        _ => own.or(shared),
    };
    let declared = declared_manager(&manifest).or_else(|| root?.0.declared.clone());
    let runner = lock.as_ref().map_or("npm", |(_, manager)| manager);
    // pnpm and yarn run scripts without `run`; `npm dev` and `bun dev` would be other commands.
    let command = match runner {
        "pnpm" | "yarn" => format!("{runner} {name}"),
        _ => format!("{runner} run {name}"),
    };
    // The declared manager installs the dependencies; it may differ from the lock file's.
    let installer = declared
        .as_ref()
        .and_then(|declared| {
            ["pnpm", "yarn", "npm", "bun"].into_iter().find(|manager| declared.starts_with(manager))
        })
        .unwrap_or(runner);
    let texts = ["dev", "start"].into_iter().filter_map(|name| files.package_script(name));
    let port = texts
        .filter_map(|text| port_after(&text, "--port|(?:^|\\s)-p|PORT"))
        .next()
        .unwrap_or(if framework == Some("vite") { VITE_PORT } else { PORT });
    let reason = match framework {
        Some(framework) => format!("package.json has a `{name}` script and depends on {framework}"),
        None => format!("package.json has a `{name}` script"),
    };
    let manager = lock.map_or_else(
        || "; no lock file, so npm runs it".to_owned(),
        |(file, manager)| format!("; {file} belongs to {manager}"),
    );
    Some(Candidate {
        config: Deployment {
            framework: framework.map(ToOwned::to_owned),
            package_manager: declared,
            install_command: Some(format!("{installer} install")),
            kind: Some(framework.unwrap_or("node").to_owned()),
            ..Deployment::serving(command, port)
        },
        reason: reason + &manager,
        needs_engine: false,
    })
}
