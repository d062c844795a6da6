//! Servers that are started from the tree: Procfile, Python, Cargo, Make, static files.
//!
//! A command reads its port from `PORT`, unless the program has a rule of its own.

use loopgate_home::ProjectFiles;
use toml_edit::DocumentMut;

use super::Candidate;
use super::text::{is_plain, port_after};
use crate::settings::Deployment;

const PROCFILE_PORT: u16 = 5000;
const PYTHON_PORT: u16 = 8000;
const CARGO_PORT: u16 = 8080;
const MAKE_PORT: u16 = 8080;
const STATIC_PORT: u16 = 8000;

/// Makefile targets that usually start a server.
const TARGETS: [&str; 4] = ["dev", "serve", "run", "start"];

/// Python libraries with a server.
const PYTHON_FRAMEWORKS: [&str; 3] = ["django", "fastapi", "flask"];

fn candidate(kind: &str, config: Deployment, reason: String) -> Option<Candidate> {
    let config = Deployment { kind: Some(kind.to_owned()), ..config };
    Some(Candidate { config, reason, needs_engine: false })
}

/// The `web` process of a Procfile.
pub(super) fn procfile(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let text = files.text("Procfile")?;
    let line = text.lines().find_map(|line| line.strip_prefix("web:"))?.trim();
    if line.is_empty() {
        return None;
    }
    // The line is a shell command, which reads its port from `PORT`.
    let port = port_after(line, "--port|--bind|-p|:|PORT:-|PORT").unwrap_or(PROCFILE_PORT);
    let command = r#"PORT="${PORT:-"#.to_owned()
        + &port.to_string()
        + r#"}" && export PORT && eval "$(sed -n 's/^web://p' Procfile | head -n 1)""#;
    candidate(
        "procfile",
        Deployment::serving(command, port),
        format!("Procfile has a `web` process: {}", excerpt(line)),
    )
}

pub(super) fn python(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let requirements: String = ["requirements.txt", "pyproject.toml", "Pipfile"]
        .into_iter()
        .filter_map(|name| files.text(name))
        .collect::<String>()
        .to_lowercase();
    let install = files
        .has("requirements.txt")
        .then(|| "python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt".to_owned());
    let python = if install.is_some() { ".venv/bin/python" } else { "python3" };
    let framework = PYTHON_FRAMEWORKS.into_iter().find(|name| requirements.contains(name));
    let main = files.first(&["main.py", "app.py", "server.py"]);
    let module = main.map(|main| main.trim_end_matches(".py"));
    let port = format!("${{PORT:-{PYTHON_PORT}}}");
    let (command, own_port, why) = if files.has("manage.py") {
        (
            format!("{python} manage.py runserver {port}"),
            PYTHON_PORT,
            "manage.py starts a Django server".to_owned(),
        )
    } else {
        match (framework, module) {
            (Some("fastapi"), Some(module)) => (
                format!("{python} -m uvicorn {module}:app --port {port}"),
                PYTHON_PORT,
                format!("it depends on fastapi and has {module}.py"),
            ),
            (Some("flask"), Some(module)) => (
                format!("{python} -m flask --app {module} run --port {port}"),
                PYTHON_PORT,
                format!("it depends on flask and has {module}.py"),
            ),
            (_, Some(module)) => {
                let text = files.text(&format!("{module}.py")).unwrap_or_default();
                let own = python_port(&text)?;
                (format!("{python} {module}.py"), own, format!("{module}.py serves on a port"))
            }
            _ => return None,
        }
    };
    let config = Deployment {
        framework: framework.map(ToOwned::to_owned),
        install_command: install,
        ..Deployment::serving(command, own_port)
    };
    candidate("python", config, why)
}

/// The port of a script that looks like a server; `None` for other scripts.
fn python_port(text: &str) -> Option<u16> {
    let serves = ["http.server", "socketserver", "wsgiref", "aiohttp", "uvicorn", "asyncio.start_server"];
    let is_server = serves.iter().any(|name| text.contains(name)) || text.contains("PORT");
    is_server.then(|| port_after(text, r#"["']?PORT["']?\s*,?\s*["']?|port\s*="#).unwrap_or(PYTHON_PORT))
}

/// A package with a binary: that of `default-run`, else the first.
pub(super) fn cargo(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let manifest: DocumentMut = files.text("Cargo.toml")?.parse().ok()?;
    let package = manifest.get("package")?;
    let bins = manifest.get("bin").and_then(|bins| bins.as_array_of_tables());
    let named = bins.and_then(|bins| bins.iter().find_map(|bin| bin.get("name")?.as_str()));
    if named.is_none() && !files.has("src/main.rs") {
        return None;
    }
    let run = package.get("default-run").and_then(|name| name.as_str()).or(named);
    let command = match run.filter(|name| is_plain(name)) {
        Some(name) => format!("cargo run --bin {name}"),
        None => "cargo run".to_owned(),
    };
    let main = files.text("src/main.rs").unwrap_or_default();
    let port = port_after(&main, r#"["']?PORT["']?\D{0,40}|127\.0\.0\.1:|0\.0\.0\.0:|localhost:"#);
    let config = Deployment {
        install_command: Some("cargo build".to_owned()),
        ..Deployment::serving(command, port.unwrap_or(CARGO_PORT))
    };
    candidate("cargo", config, "Cargo.toml has a program".to_owned())
}

pub(super) fn make(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let target = files.make_target(&TARGETS)?;
    let text = files.text("Makefile")?;
    let port = port_after(&text, "--port|PORT").unwrap_or(MAKE_PORT);
    let config = Deployment::serving(format!("make {target}"), port);
    candidate("make", config, format!("Makefile has the target `{target}`"))
}

/// Static files.
pub(super) fn static_site(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let (page, folder) = [("index.html", "."), ("public/index.html", "public"), ("dist/index.html", "dist")]
        .into_iter()
        .find(|(page, _)| files.has(page))?;
    let command =
        format!("python3 -m http.server ${{PORT:-{STATIC_PORT}}} --bind 127.0.0.1 --directory {folder}");
    candidate(
        "static",
        Deployment::serving(command, STATIC_PORT),
        format!("{page} is a page that python3 can serve"),
    )
}

/// The first 80 characters of a line, for a person.
fn excerpt(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_control()).take(80).collect()
}
