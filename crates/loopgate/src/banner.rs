//! Output of a successful start: a banner for the terminal, and the ready file for scripts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use loopgate_home::{Program, trust_command};
use owo_colors::OwoColorize as _;
use serde::Serialize;

use crate::terminal::escape_control;

/// Content of the start-up banner.
pub struct Banner {
    /// Origin of the web app.
    pub page_url: String,
    /// URL of the page, with a one-time sign-in token; `None` when the output is not a terminal and may end in a
    /// log.
    pub sign_in_url: Option<String>,
    /// Port that the gateway is bound to.
    pub gateway_port: u16,
    pub sandbox: PathBuf,
    /// Repositories found in the sandbox.
    pub repositories: Vec<ListedRepository>,
    /// Each program with its version; `None` when it was not found.
    pub programs: Vec<(Program, Option<String>)>,
}

/// A repository in the sandbox.
pub struct ListedRepository {
    /// Full name at the code host, `owner/name`.
    pub full_name: String,
    /// Path of the local clone.
    pub path: PathBuf,
    /// Whether the repository has hooks, filters or settings that the user has not trusted.
    pub untrusted: bool,
}

/// Content of the ready file, one JSON object. When the gateway runs alone, every member but `gatewayPort` is
/// empty.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadyFile {
    /// Origin of the web app.
    pub page_url: String,
    /// URL of the page, with a one-time sign-in token.
    pub sign_in_url: String,
    /// Port that the gateway is bound to.
    pub gateway_port: u16,
    /// Origin of the control plane's API.
    pub api_origin: String,
}

/// Number of repositories that are listed by name, so that the banner fits a terminal. Further ones are
/// counted.
pub const SHOWN_REPOSITORIES: usize = 8;

impl Banner {
    /// Returns the banner with ANSI colors. `anstream` strips them when standard output is no terminal.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "\n  {}  is running\n", "Loopgate".bold());
        let page = match &self.sign_in_url {
            Some(url) => format!("{}  {}", url.cyan().underline(), "(signs you in once)".dimmed()),
            None => format!(
                "{}  {}",
                self.page_url,
                "(to sign in, run `loopgate up` again in a terminal)".dimmed()
            ),
        };
        row(&mut text, "Page", &page);
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
            "Press Ctrl-C to stop. Running loops continue, and are recovered at the next start.".dimmed()
        );
        text
    }

    fn render_repositories(&self, text: &mut String) {
        if self.repositories.is_empty() {
            row(text, "Repositories", "none yet: clone one into the sandbox, or add one on the page");
        }
        for (index, repository) in self.repositories.iter().take(SHOWN_REPOSITORIES).enumerate() {
            let label = if index == 0 { "Repositories" } else { "" };
            // Directory names come from the disk and may contain escape sequences.
            let path = escape_control(&repository.path.to_string_lossy());
            row(text, label, &format!("{}  {}", repository.full_name, path.dimmed()));
            if repository.untrusted {
                let hint = format!(
                    "  untrusted programs in it do not run; review them: {}",
                    escape_control(&trust_command(&repository.path))
                );
                row(text, "", &hint.yellow().to_string());
            }
        }
        let hidden = self.repositories.len().saturating_sub(SHOWN_REPOSITORIES);
        if hidden > 0 {
            row(text, "", &format!("and {hidden} more"));
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

/// Returns what a missing program is used for, and how to install it.
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

/// Prints the sign-in link of the Loopgate that is already running, and the flags that have no effect on it.
pub fn print_already_running(sign_in_url: &str, flags: &[&str]) {
    let hint = "(signs you in once)";
    anstream::println!(
        "\n  Loopgate is already running\n\n  {}  {}\n",
        sign_in_url.cyan().underline(),
        hint.dimmed()
    );
    if !flags.is_empty() {
        let flags = flags.join(", ");
        let text = format!("Flags or variables that have no effect on it: {flags}.");
        anstream::println!("  {}\n  Stop it and start it again to apply them.\n", text.yellow());
    }
}

/// Writes the ready file. The write is atomic: a program that polls for the file never reads partial content.
pub fn write_ready(path: &Path, ready: &ReadyFile) -> anyhow::Result<()> {
    Ok(loopgate_home::files::write_private(path, &serde_json::to_vec(ready)?)?)
}

/// Prints the start-up message of `loopgate control-plane`, with a sign-in link or the command that prints one.
pub fn print_control_plane(origin: &str, sign_in_url: Option<&str>, data_dir: &Path) {
    // Scripts and the end-to-end tests wait for the first line.
    anstream::println!("control plane on {origin}");
    match sign_in_url {
        Some(url) => anstream::println!("sign in once with {}", url.cyan().underline()),
        None => println!(
            "to sign in, run: loopgate control-plane sign-in-link --home {}",
            escape_control(&data_dir.to_string_lossy())
        ),
    }
}
