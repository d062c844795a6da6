//! Compose files and Dockerfiles. The commands run docker, or podman when docker is not installed.

use loopgate_home::ProjectFiles;

use super::Candidate;
use super::text::port_after;
use crate::settings::Deployment;

const COMPOSE_FILES: [&str; 4] = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];
// Used when the Dockerfile exposes no port.
const DEFAULT_PORT: u16 = 8080;

/// Shell expression for the engine's path. Evaluated at run time, because the PATH may change after
/// detection.
pub(crate) const ENGINE: &str = "$(command -v docker || command -v podman)";

pub(super) fn compose(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let file = files.first(&COMPOSE_FILES)?;
    let text = files.text(file)?;
    let port = published_port(&text);
    let command = format!("{ENGINE} compose up --build");
    let config = Deployment {
        kind: Some("compose".to_owned()),
        teardown_command: Some(format!("{ENGINE} compose down --remove-orphans")),
        ..port.map_or_else(
            || Deployment::running(command.clone()),
            |port| Deployment::serving(command.clone(), port),
        )
    };
    Some(Candidate {
        config,
        reason: format!("{file} describes its containers; a container engine builds and runs them"),
        needs_engine: true,
    })
}

/// Returns the first published host port: `- "8080:80"`, `- 127.0.0.1:8080:80`, `published: 8080`.
fn published_port(text: &str) -> Option<u16> {
    let short = regex::Regex::new(
        r#"(?m)^\s*-\s*["']?(?:\d{1,3}(?:\.\d{1,3}){3}:)?(?:\$\{\w+:-)?(\d{2,5})\}?:\d{1,5}(?:/tcp)?["']?\s*$"#,
    )
    .ok()?;
    let port = short.captures(text).and_then(|captures| captures[1].parse().ok());
    port.or_else(|| port_after(text, r#"published:\s*["']?"#))
}

pub(super) fn dockerfile(files: &ProjectFiles<'_>) -> Option<Candidate> {
    let file = files.first(&["Dockerfile", "Containerfile"])?;
    let text = files.text(file)?;
    let inside = text.lines().find_map(|line| {
        let rest = line
            .trim()
            .get(..7)
            .filter(|word| word.eq_ignore_ascii_case("EXPOSE "))
            .map(|_| &line.trim()[7..])?;
        rest.split(['/', ' ']).find(|word| !word.is_empty())?.parse::<u16>().ok()
    });
    let inside = inside.filter(|port| *port > 0).unwrap_or(DEFAULT_PORT);
    // Ports below 1024 are privileged on the host, not inside the container.
    let outside = if inside < 1024 { DEFAULT_PORT } else { inside };
    // The directory's name makes the container's name stable, so that the teardown command can refer to it.
    let name = r#""loopgate-${PWD##*/}""#;
    let command = format!(
        r#"image="$({ENGINE} build -q -f {file} .)" && {ENGINE} run --rm --name {name} -p "127.0.0.1:${{PORT:-{outside}}}:{inside}" "$image""#
    );
    Some(Candidate {
        config: Deployment {
            kind: Some("dockerfile".to_owned()),
            // Older engines fail to remove a missing container, which is not an error for a teardown.
            teardown_command: Some(format!(
                "{ENGINE} rm -f {name} || ! {ENGINE} container inspect {name} > /dev/null 2>&1"
            )),
            ..Deployment::serving(command, outside)
        },
        reason: format!("{file} describes an image; a container engine builds and runs it"),
        needs_engine: true,
    })
}
