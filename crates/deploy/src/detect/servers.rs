//! Servers that run without containers: Procfile, Python, Cargo, Make, static files.
//!
//! Commands read their port from `PORT` unless the program has its own convention.

use loopgate_home::ProjectFiles;
use toml_edit::DocumentMut;

use super::Candidate;
use super::text::{is_plain, port_after};
use crate::settings::Deployment;

// Default ports of the respective tools, used when the files contain no port.
const PROCFILE_PORT: u16 = 5000;
const PYTHON_PORT: u16 = 8000;
const FLASK_PORT: u16 = 5000;
const CARGO_PORT: u16 = 8080;
const MAKE_PORT: u16 = 8080;
const STATIC_PORT: u16 = 8000;

// In order of preference: `dev` usually reloads on changes.
const TARGETS: [&str; 4] = ["dev", "serve", "run", "start"];

// Libraries that contain a server.
const PYTHON_FRAMEWORKS: [&str; 3] = ["django", "fastapi", "flask"];

fn candidate(kind: &str, config: Deployment, reason: String) -> Option<Candidate> {
    let config = Deployment { kind: Some(kind.to_owned()), ..config };
    Some(Candidate { config, reason, needs_engine: false })
}

/// Returns the `web` process of a Procfile.
pub(super) fn procfile(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let text = files.text("Procfile")?;
    let line = text.lines().find_map(|line| line.strip_prefix("web:"))?.trim();
    if line.is_empty() {
        return None;
    }
    // The command reads the line from the file at run time, so that no text of the repository is part of it.
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
    // A virtual environment, because many system interpreters refuse to install packages (PEP 668).
    let install = files
        .has("requirements.txt")
        .then(|| "python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt".to_owned());
    let python = if install.is_some() { ".venv/bin/python" } else { "python3" };
    let framework = PYTHON_FRAMEWORKS.into_iter().find(|name| requirements.contains(name));
    let main = files.first(&["main.py", "app.py", "server.py"]);
    let module = main.map(|main| main.trim_end_matches(".py"));
    let port = format!("${{PORT:-{PYTHON_PORT}}}");
    let text = main.and_then(|main| files.text(main)).unwrap_or_default();
    // Not every project lists its dependencies.
    let framework = framework.or_else(|| text.contains("Flask(").then_some("flask"));
    let (command, own_port, reason) = if files.has("manage.py") {
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
                format!("the project depends on fastapi and has {module}.py"),
            ),
            (Some("flask"), Some(module)) => (
                format!("{python} -m flask --app {module} run --port ${{PORT:-{FLASK_PORT}}}"),
                FLASK_PORT,
                format!("the project depends on flask and has {module}.py"),
            ),
            (_, Some(module)) => {
                let own = python_port(&text)?;
                (format!("{python} {module}.py"), own, format!("{module}.py starts a server"))
            }
            _ => return None,
        }
    };
    let config = Deployment {
        framework: framework.map(ToOwned::to_owned),
        install_command: install,
        ..Deployment::serving(command, own_port)
    };
    candidate("python", config, reason)
}

/// Returns the port of a script that appears to be a server, or `None` for other scripts.
fn python_port(text: &str) -> Option<u16> {
    let serves =
        ["http.server", "socketserver", "wsgiref", "aiohttp", "uvicorn", "asyncio.start_server", "app.run("];
    let is_server = serves.iter().any(|name| text.contains(name)) || text.contains("PORT");
    // `app.run()` without a port is usually Flask's.
    let default = if text.contains("app.run(") { FLASK_PORT } else { PYTHON_PORT };
    is_server.then(|| port_after(text, r#"["']?PORT["']?\s*,?\s*["']?|port\s*="#).unwrap_or(default))
}

/// Returns a package with a binary: the one named by `default-run`, otherwise the first.
pub(super) fn cargo(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let manifest: DocumentMut = files.text("Cargo.toml")?.parse().ok()?;
    let package = manifest.get("package")?;
    let bins = manifest.get("bin").and_then(|bins| bins.as_array_of_tables());
    let first_bin = bins.and_then(|bins| bins.iter().find_map(|bin| bin.get("name")?.as_str()));
    if first_bin.is_none() && !files.has("src/main.rs") {
        return None;
    }
    let run = package.get("default-run").and_then(|name| name.as_str()).or(first_bin);
    // A name with shell metacharacters is omitted; Cargo then chooses the binary or reports that it is
    // ambiguous.
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
    candidate("cargo", config, "Cargo.toml has a binary target".to_owned())
}

pub(super) fn make(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let target = files.make_target(&TARGETS)?;
    let text = files.text("Makefile")?;
    let port = port_after(&text, "--port|PORT").unwrap_or(MAKE_PORT);
    let config = Deployment::serving(format!("make {target}"), port);
    candidate("make", config, format!("Makefile has the target `{target}`"))
}

/// Returns a static site.
pub(super) fn static_site(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let (page, folder) = [("index.html", "."), ("public/index.html", "public"), ("dist/index.html", "dist")]
        .into_iter()
        .find(|(page, _)| files.has(page))?;
    let command =
        format!("python3 -m http.server ${{PORT:-{STATIC_PORT}}} --bind 127.0.0.1 --directory {folder}");
    candidate("static", Deployment::serving(command, STATIC_PORT), format!("{page} can be served by python3"))
}

/// Returns the first 80 characters of a line, for the user.
fn excerpt(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_control()).take(80).collect()
}
