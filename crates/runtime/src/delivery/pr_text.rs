//! Generated texts of a delivery: commit title, pull request body and footer.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use loopgate_home::Directory;
use loopgate_home::untrusted::write_private;
use url::{Host, Url};

use super::result::DeliveryContext;
use crate::jobs::Job;

// 256 KiB. Code hosts reject larger bodies; GitHub's limit is 65,536 characters.
const MAX_TEMPLATE: u64 = 256 * 1024;
// In the order in which GitHub searches them.
const TEMPLATES: [&str; 4] = [
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "docs/pull_request_template.md",
    "pull_request_template.md",
];

/// Returns the title of a commit that the assistant did not write.
pub(super) fn commit_title(job: &Job) -> String {
    let prefix = job.launch.artifact_slug.as_ref().map(|slug| format!("{slug}: ")).unwrap_or_default();
    format!("{prefix}Automated changes from loop {}", job.id.short())
}

/// Returns the footer of all pull requests of a loop.
pub(super) fn footer(job: &Job) -> String {
    let mut footer = format!("---\nLoop ID: {}", job.id);
    let origin = job.launch.web_app_origin.as_deref().filter(|origin| is_reachable_by_others(origin));
    if let (Some(origin), Some(slug)) = (origin, &job.launch.artifact_slug) {
        let _ = write!(footer, "\nArtifact: {}/implementation-plans/{slug}", origin.trim_end_matches('/'));
    }
    footer
}

/// Returns whether other people can reach the web app: its host is not loopback and not unspecified.
fn is_reachable_by_others(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else { return false };
    match url.host() {
        Some(Host::Domain(name)) => name != "localhost" && !name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => !address.is_loopback() && !address.is_unspecified(),
        // IPv4-mapped addresses such as ::ffff:127.0.0.1 are loopback, too.
        Some(Host::Ipv6(address)) => {
            let address = address.to_canonical();
            !address.is_loopback() && !address.is_unspecified()
        }
        None => false,
    }
}

/// Returns the pull request template of the repository. Performs blocking I/O.
fn template_in(directory: &Path) -> Option<String> {
    let directory = Directory::of(directory).ok()?;
    let bytes = TEMPLATES.iter().find_map(|name| directory.read(Path::new(name), MAX_TEMPLATE).ok())?;
    String::from_utf8(bytes).ok()
}

/// Writes the body of a pull request to a file, and returns it. `present` is the body of an existing pull
/// request.
pub(super) async fn write_body(
    job: &Job,
    context: &DeliveryContext,
    file: PathBuf,
    present: Option<String>,
) -> std::io::Result<String> {
    let (directory, footer) = (context.directory.clone(), footer(job));
    let header = format!("Changes made by loop {} ({}).", job.id, job.command);
    let command = job.command;
    tokio::task::spawn_blocking(move || {
        let text = match present {
            Some(body) => format!("{}\n\n{footer}\n", body.trim_end()),
            None => {
                let template = template_in(&directory);
                let template = template.map(|text| format!("{}\n\n", text.trim_end())).unwrap_or_default();
                format!("{header}\n\n{template}{footer}\nCommand: {command}\n")
            }
        };
        write_private(&file, text.as_bytes())?;
        Ok(text)
    })
    .await
    .map_err(std::io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_link_is_written_only_for_a_reachable_web_app() {
        for (origin, expected) in [
            ("https://loops.example.org", true),
            ("http://192.168.1.7:3000", true),
            ("http://[2001:db8::1]:3000", true),
            ("http://127.0.0.1:19440", false),
            ("http://127.8.9.1", false),
            ("http://0.0.0.0:3000", false),
            ("http://localhost:3000", false),
            ("http://app.localhost", false),
            ("http://[::1]:3000", false),
            ("http://[::ffff:127.0.0.1]", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_reachable_by_others(origin), expected, "{origin}");
        }
    }

    #[test]
    fn template_is_read_only_from_regular_files_of_the_repository() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, key) = (dir.path().join("tree"), dir.path().join("id_ed25519"));
        std::fs::create_dir_all(tree.join("docs")).unwrap();
        std::fs::write(&key, "private").unwrap();
        std::fs::write(tree.join("pull_request_template.md"), "What and why").unwrap();
        let of = || template_in(&tree);
        assert_eq!(of().as_deref(), Some("What and why"));
        // An endless device, links out of the repository, a pipe: none of them may be read or block.
        std::os::unix::fs::symlink("/dev/zero", tree.join("docs/pull_request_template.md")).unwrap();
        std::os::unix::fs::symlink(dir.path(), tree.join(".github")).unwrap();
        std::fs::copy(&key, dir.path().join("pull_request_template.md")).unwrap();
        assert_eq!(of().as_deref(), Some("What and why"));
        std::fs::remove_file(tree.join(".github")).unwrap();
        std::fs::create_dir(tree.join(".github")).unwrap();
        std::os::unix::fs::symlink(&key, tree.join(TEMPLATES[0])).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, tree.join(TEMPLATES[1]), mode).unwrap();
        assert_eq!(of().as_deref(), Some("What and why"));
        std::fs::write(tree.join(TEMPLATES[3]), vec![b'x'; 300 * 1024]).unwrap();
        assert_eq!(of(), None, "too large");
    }
}
