//! What a start prints: a banner for a person, a file for a program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use loopgate_home::Program;
use owo_colors::OwoColorize as _;
use serde::Serialize;

use crate::terminal::escape_control;

/// What is shown once everything answers.
pub struct Banner {
    /// Page with a sign-in link that works once.
    pub sign_in_url: String,
    /// Port that the gateway is really bound to.
    pub gateway_port: u16,
    /// The sandbox base directory.
    pub sandbox: PathBuf,
    /// The repositories in it.
    pub repositories: Vec<ListedRepository>,
    /// Each program with its version; `None` when it was not found.
    pub programs: Vec<(Program, Option<String>)>,
}

/// A repository in the sandbox.
pub struct ListedRepository {
    /// Its name at the code host.
    pub full_name: String,
    /// Where its clone is.
    pub path: PathBuf,
    /// Whether it brings something along to be run that the person has not agreed to.
    pub untrusted: bool,
}

/// The same for a program, one JSON object.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadyFile {
    /// Origin of the web app; empty when the gateway runs alone, like all but its port.
    pub page_url: String,
    /// Page with a sign-in link that works once.
    pub sign_in_url: String,
    /// Port of the gateway.
    pub gateway_port: u16,
    /// Origin of the API.
    pub api_origin: String,
}

/// Repositories that are listed by name; the rest is counted.
pub const SHOWN_REPOSITORIES: usize = 8;

impl Banner {
    /// The text, with colours that the terminal may drop.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "\n  {}  is running\n", "Loopgate".bold());
        row(
            &mut text,
            "Page",
            &format!("{}  {}", self.sign_in_url.cyan().underline(), "(signs you in once)".dimmed()),
        );
        row(&mut text, "Gateway", &format!("127.0.0.1:{}", self.gateway_port));
        row(&mut text, "Sandbox", &self.sandbox.display().to_string());
        self.render_repositories(&mut text);
        for (index, (program, version)) in self.programs.iter().enumerate() {
            row(
                &mut text,
                if index == 0 { "Programs" } else { "" },
                &program_line(*program, version.as_deref()),
            );
        }
        let _ = writeln!(
            text,
            "\n  {}\n",
            "Ctrl-C stops it. Loops that run go on and are found again at the next start.".dimmed()
        );
        text
    }

    fn render_repositories(&self, text: &mut String) {
        if self.repositories.is_empty() {
            row(text, "Repositories", "none yet: clone one into the sandbox, or name one on the page");
        }
        for (index, repository) in self.repositories.iter().take(SHOWN_REPOSITORIES).enumerate() {
            let label = if index == 0 { "Repositories" } else { "" };
            let path = escape_control(&repository.path.to_string_lossy());
            row(text, label, &format!("{}  {}", repository.full_name, path.dimmed()));
            if repository.untrusted {
                let hint = format!("  brings programs along that do not run: loopgate trust {path}");
                row(text, "", &hint.yellow().to_string());
            }
        }
        let rest = self.repositories.len().saturating_sub(SHOWN_REPOSITORIES);
        if rest > 0 {
            row(text, "", &format!("and {rest} more"));
        }
    }
}

fn row(text: &mut String, label: &str, value: &str) {
    let _ = writeln!(text, "  {label:<13} {value}");
}

fn program_line(program: Program, version: Option<&str>) -> String {
    let name = format!("{:<8}", program.executable());
    match version {
        Some(version) => format!("{} {name} {}", "✓".green(), version.dimmed()),
        None => format!("{} {name} {}", "✗".red(), remedy(program)),
    }
}

/// What to do about a program that is missing.
fn remedy(program: Program) -> String {
    let purpose = match program {
        Program::Assistant => "writes plans and code",
        Program::CodeHost => "opens pull requests",
        Program::Reviewer => "reviews (optional)",
        Program::Python3 => "is used by some plugins",
        Program::Git => "is needed for everything",
    };
    format!("{purpose}. To install it: {}", program.installation())
}

/// Prints where the Loopgate that runs already is found, and which flags of this start mean nothing to it.
pub fn print_running_already(sign_in_url: &str, flags: &[&str]) {
    let hint = "(signs you in once)";
    anstream::println!(
        "\n  Loopgate is running already\n\n  {}  {}\n",
        sign_in_url.cyan().underline(),
        hint.dimmed()
    );
    if !flags.is_empty() {
        let flags = flags.join(", ");
        let text =
            format!("It keeps its settings: {flags} of this start, by flag or variable, do not count.");
        anstream::println!("  {}\n  Stop it and start it again to change them.\n", text.yellow());
    }
}

/// Writes the ready file, atomically: who waits for it never reads half of it.
pub fn write_ready(path: &Path, ready: &ReadyFile) -> anyhow::Result<()> {
    Ok(loopgate_home::files::write_private(path, &serde_json::to_vec(ready)?)?)
}

/// What `loopgate control-plane` prints.
pub fn print_control_plane(origin: &str, sign_in_url: &str) {
    anstream::println!("control plane on {origin}\nsign in once with {}", sign_in_url.cyan().underline());
}
