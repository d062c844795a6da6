//! Texts of a delivery: subject and body of the commit, title and body of the pull request, and the footer.
//!
//! The assistant writes them in the last answer of an EXECUTE, as JSON between `<delivery>` tags. Without a
//! usable answer they are generated.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use loopgate_api::names::{DELIVERY_TAGS, PULL_REQUEST_TEMPLATES};
use loopgate_api::redact;
use loopgate_home::Directory;
use loopgate_home::untrusted::write_private;
use serde::Deserialize;
use url::{Host, Url};

use super::approval;
use super::outcome::LoopOutcome;
use super::result::DeliveryContext;
use crate::jobs::Job;

// 256 KiB. Code hosts reject larger bodies; GitHub's limit is 65,536 characters.
const MAX_TEMPLATE: u64 = 256 * 1024;
/// Characters of a subject. Git recommends about 50; GitHub cuts titles at 256.
const MAX_SUBJECT: usize = 120;
/// Characters of a body. GitHub accepts 65,536, of which the footer and the test results need a part.
const MAX_BODY: usize = 40_000;

/// Texts that the assistant wrote for one repository. Redacted, without control characters, and of bounded
/// length; the subject is not empty.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeliveryText {
    subject: String,
    /// Body of the commit message.
    #[serde(default)]
    body: String,
    /// Body of the pull request, in Markdown.
    #[serde(default)]
    pull_request: String,
}

/// The assistant's JSON: texts for all repositories, which may differ by repository.
#[derive(Debug, Deserialize)]
struct DeliveryTexts {
    #[serde(flatten)]
    text: DeliveryText,
    #[serde(default)]
    repositories: BTreeMap<String, DeliveryText>,
}

impl DeliveryText {
    /// Returns the texts for a repository that the assistant wrote, in this loop or in the one whose work was approved.
    pub async fn of(outcome: &LoopOutcome<'_>, job: &Job, context: &DeliveryContext) -> Option<Self> {
        let answer = match &outcome.summary.delivery {
            Some(answer) => answer.clone(),
            None => approval::kept_text(job, context).await?,
        };
        Self::parse(&answer, &context.full_name)
    }

    /// Parses an answer. `repository` is a full name; the assistant may also use its last part.
    fn parse(answer: &str, repository: &str) -> Option<Self> {
        // The last one counts, because an answer may quote the form that it was asked for.
        let (_, rest) = answer.rsplit_once(DELIVERY_TAGS.0)?;
        let (json, _) = rest.split_once(DELIVERY_TAGS.1)?;
        let mut answer: DeliveryTexts = serde_json::from_str(without_fence(json)).ok()?;
        let short = repository.rsplit('/').next().unwrap_or_default();
        let own = answer.repositories.remove(repository).or_else(|| answer.repositories.remove(short));
        own.and_then(Self::cleaned).or_else(|| answer.text.cleaned())
    }

    fn cleaned(self) -> Option<Self> {
        let clean = |text: &str| redact::credentials(text).trim().to_owned();
        let subject = clean(&self.subject);
        let subject = subject.lines().next()?.trim_end().chars().take(MAX_SUBJECT).collect();
        let body = |text: &str| redact::shorten(&clean(text), MAX_BODY);
        Some(Self { subject, body: body(&self.body), pull_request: body(&self.pull_request) })
    }

    /// Returns the title of the pull request, which is also the subject of the commit.
    pub fn title(&self, job: &Job) -> String {
        let prefix = slug_prefix(job);
        let subject = self.subject.strip_prefix(prefix.as_str()).unwrap_or(&self.subject);
        format!("{prefix}{subject}")
    }

    /// Returns the commit message.
    pub fn message(&self, job: &Job) -> String {
        if self.body.is_empty() { self.title(job) } else { format!("{}\n\n{}", self.title(job), self.body) }
    }
}

/// Models often put JSON into a Markdown code block.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner))
}

fn slug_prefix(job: &Job) -> String {
    job.launch.artifact_slug.as_ref().map(|slug| format!("{slug}: ")).unwrap_or_default()
}

/// Returns the title of a commit that the assistant did not describe.
pub(super) fn generated_title(job: &Job) -> String {
    format!("{}Automated changes from loop {}", slug_prefix(job), job.id.short())
}

/// Returns the footer of all pull requests of a loop.
fn footer(job: &Job) -> String {
    let mut footer = format!("---\nLoop ID: {}\nCommand: {}", job.id, job.command);
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
    let bytes =
        PULL_REQUEST_TEMPLATES.iter().find_map(|name| directory.read(Path::new(name), MAX_TEMPLATE).ok())?;
    String::from_utf8(bytes).ok()
}

/// Returns the body of a pull request, and writes it to a file of the work directory. `present` is the body of
/// an existing pull request: people may have edited it, so that it is only added to. `section` are the test
/// results.
pub(super) async fn write_body(
    job: &Job,
    context: &DeliveryContext,
    text: Option<&DeliveryText>,
    present: Option<String>,
    section: Option<&str>,
) -> std::io::Result<String> {
    let (directory, footer) = (context.directory.clone(), footer(job));
    let file = context.work_dir.join(super::result::PR_BODY);
    let written = text.map(|text| text.pull_request.clone()).filter(|text| !text.is_empty());
    let generated = format!("Changes made by loop {} ({}).", job.id, job.command);
    let section = section.map(str::to_owned);
    tokio::task::spawn_blocking(move || {
        let introduction = match (present, written) {
            (Some(present), Some(written)) => format!("{}\n\n{written}", present.trim_end()),
            (Some(present), None) => present.trim_end().to_owned(),
            (None, Some(written)) => written,
            (None, None) => match template_in(&directory) {
                Some(template) => format!("{generated}\n\n{}", template.trim_end()),
                None => generated,
            },
        };
        let mut body = format!("{introduction}\n\n{footer}\n");
        if let Some(section) = section {
            body = loopgate_evidence::replace_section(&body, &section);
        }
        write_private(&file, body.as_bytes())?;
        Ok(body)
    })
    .await
    .map_err(std::io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(answer: &str) -> Option<[String; 3]> {
        let text = DeliveryText::parse(answer, "acme/shop")?;
        Some([text.subject, text.body, text.pull_request])
    }

    #[test]
    fn texts_are_parsed_from_the_last_answer() {
        let cart = || Some(["Add a cart", "Why", "## What"].map(str::to_owned));
        let json = r###"{"subject": "Add a cart", "body": "Why", "pullRequest": "## What"}"###;
        assert_eq!(
            parsed(&format!("Done.\n<delivery>{json}</delivery>\n<promise>COMPLETE</promise>")),
            cart()
        );
        assert_eq!(parsed(&format!("<delivery>\n```json\n{json}\n```\n</delivery>")), cart(), "code block");
        let quoted = "I write <delivery>{\"subject\": \"...\"}</delivery> now:";
        assert_eq!(parsed(&format!("{quoted} <delivery>{json}</delivery>")), cart(), "quoted form");
        for unusable in [
            "Done.",
            "<delivery>Add a cart</delivery>",
            "<delivery>{\"subject\": \" \"}</delivery>",
            "<delivery>{\"body\": \"Why\"}</delivery>",
            "<delivery>{\"subject\": 1}</delivery>",
            "<delivery>{\"subject\": \"Add a cart\"}",
        ] {
            assert_eq!(parsed(unusable), None, "{unusable}");
        }
    }

    #[test]
    fn repository_may_have_texts_of_its_own() {
        let json = |name: &str| {
            format!(
                r#"<delivery>{{"subject": "All", "repositories": {{"{name}": {{"subject": "Own"}}}}}}</delivery>"#
            )
        };
        let subject = |answer: &str| parsed(answer).map(|[subject, ..]| subject);
        assert_eq!(subject(&json("acme/shop")).as_deref(), Some("Own"));
        assert_eq!(subject(&json("shop")).as_deref(), Some("Own"));
        assert_eq!(subject(&json("acme/other")).as_deref(), Some("All"));
    }

    #[test]
    fn texts_are_cleaned_and_bounded() {
        let key = format!("ghp_{}", "a".repeat(36));
        let answer = serde_json::json!({
            "subject": format!("Add\u{1b}[31m {key} \nSecond line"),
            "body": "x".repeat(100_000),
            "pullRequest": format!("\u{0}Uses {key}"),
        });
        let [subject, body, pull_request] = parsed(&format!("<delivery>{answer}</delivery>")).unwrap();
        assert!(subject.starts_with("Add ") && !subject.contains('\n'), "{subject}");
        assert!(body.chars().count() <= MAX_BODY);
        assert!(![&subject, &pull_request].iter().any(|text| text.contains("ghp_") || text.contains('\0')));
        let long = serde_json::json!({"subject": "s".repeat(1000)});
        let [subject, ..] = parsed(&format!("<delivery>{long}</delivery>")).unwrap();
        assert!(subject.chars().count() <= MAX_SUBJECT);
    }

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
        std::os::unix::fs::symlink(&key, tree.join(PULL_REQUEST_TEMPLATES[0])).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, tree.join(PULL_REQUEST_TEMPLATES[1]), mode).unwrap();
        assert_eq!(of().as_deref(), Some("What and why"));
        std::fs::write(tree.join(PULL_REQUEST_TEMPLATES[3]), vec![b'x'; 300 * 1024]).unwrap();
        assert_eq!(of(), None, "too large");
    }
}
