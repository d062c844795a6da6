//! A remembered summary equals the one that is read from the disk, whatever changes between two requests.

use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::settings::{Overrides, SettingsStore};

const REPOSITORIES: [&str; 3] = ["shop", "other", "linked"];
const URLS: [&str; 3] =
    ["https://github.com/acme/shop.git", "https://github.com/acme/show.git", "git@github.com:ann/shop.git"];

#[derive(Debug, Clone)]
enum Change {
    /// In place, and of the same length for two of the URLs.
    Url(&'static str, &'static str),
    /// As git writes the file: a new one is renamed over it.
    ReplaceUrl(&'static str, &'static str),
    WorktreeConfig(&'static str, &'static str),
    Head(&'static str, &'static str),
    RemoteHead(&'static str, &'static str),
    RemoveRemoteHead(&'static str),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let repository = || select(&REPOSITORIES[..]);
    let branch = || select(&["main", "next"][..]);
    let url = || select(&URLS[..]);
    prop_oneof![
        4 => (repository(), url()).prop_map(|(at, url)| Change::Url(at, url)),
        2 => (repository(), url()).prop_map(|(at, url)| Change::ReplaceUrl(at, url)),
        1 => (repository(), url()).prop_map(|(at, url)| Change::WorktreeConfig(at, url)),
        2 => (repository(), branch()).prop_map(|(at, branch)| Change::Head(at, branch)),
        2 => (repository(), branch()).prop_map(|(at, branch)| Change::RemoteHead(at, branch)),
        1 => repository().prop_map(Change::RemoveRemoteHead),
        1 => repository().prop_map(Change::Remove),
        1 => (repository(), repository()).prop_map(|(from, to)| Change::Rename(from, to)),
        1 => (repository(), repository()).prop_map(|(from, to)| Change::Link(from, to)),
    ]
}

struct SummaryFixture {
    _directory: tempfile::TempDir,
    base: PathBuf,
    settings: Arc<SettingsStore>,
    sandbox: Sandbox,
}

impl SummaryFixture {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap().join("box");
        fs::create_dir(&base).unwrap();
        let settings = SettingsStore::open(&base.join("../settings.toml"), Overrides::default()).unwrap();
        settings.update(|settings| settings.sandbox_base_directory = Some(base.clone())).unwrap();
        let settings = Arc::new(settings);
        let sandbox = Sandbox::new(settings.clone(), Path::new("/nonexistent-data"));
        let fixture = Self { _directory: directory, base, settings, sandbox };
        fixture.apply(&Change::Url("shop", URLS[0])).unwrap();
        fixture
    }

    fn git_dir(&self, name: &str) -> PathBuf {
        self.base.join(name).join(".git")
    }

    fn write(&self, name: &str, file: &str, text: &str) -> std::io::Result<()> {
        let git_dir = self.git_dir(name);
        fs::create_dir_all(git_dir.join("objects"))?;
        fs::create_dir_all(git_dir.join("refs/remotes/origin"))?;
        fs::write(git_dir.join(file), text)
    }

    fn apply(&self, change: &Change) -> std::io::Result<()> {
        let config = |url: &str| format!("[remote \"origin\"]\n\turl = {url}\n");
        match change {
            Change::Url(at, url) => self.write(at, "config", &config(url)),
            Change::ReplaceUrl(at, url) => {
                self.write(at, "config.lock", &config(url))?;
                fs::rename(self.git_dir(at).join("config.lock"), self.git_dir(at).join("config"))
            }
            Change::WorktreeConfig(at, url) => self.write(at, "config.worktree", &config(url)),
            Change::Head(at, branch) => self.write(at, "HEAD", &format!("ref: refs/heads/{branch}\n")),
            Change::RemoteHead(at, branch) => {
                self.write(at, "refs/remotes/origin/HEAD", &format!("ref: refs/remotes/origin/{branch}\n"))
            }
            Change::RemoveRemoteHead(at) => {
                fs::remove_file(self.git_dir(at).join("refs/remotes/origin/HEAD"))
            }
            Change::Remove(at) => {
                fs::remove_dir_all(self.base.join(at)).or_else(|_| fs::remove_file(self.base.join(at)))
            }
            Change::Rename(from, to) => fs::rename(self.base.join(from), self.base.join(to)),
            Change::Link(target, at) => symlink(self.base.join(target), self.base.join(at)),
        }
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        for name in REPOSITORIES {
            let path = self.base.join(name);
            let fresh = Sandbox::new(self.settings.clone(), Path::new("/nonexistent-data"));
            let expected = fresh.summary(&path).ok();
            prop_assert_eq!(self.sandbox.summary(&path).ok(), expected, "{}", name);
        }
        Ok(())
    }

    /// Requests the summary until it is remembered: files that changed just now are read again.
    fn remember(&self, name: &str) {
        let path = self.base.join(name);
        while !self.sandbox.summaries.lock().contains_key(&path) {
            self.sandbox.summary(&path).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn summaries_are_those_of_the_disk(changes in proptest::collection::vec(change(), 1..60)) {
        let fixture = SummaryFixture::new();
        for change in &changes {
            // Impossible changes fail, and change nothing.
            let _ = fixture.apply(change);
            fixture.compare()?;
        }
    }
}

#[test]
fn remembered_summary_is_read_again_after_each_change() {
    for change in [
        Change::Url("shop", URLS[1]),
        Change::ReplaceUrl("shop", URLS[2]),
        Change::WorktreeConfig("shop", URLS[1]),
        Change::Head("shop", "next"),
        Change::RemoteHead("shop", "next"),
        Change::Remove("shop"),
        Change::Rename("shop", "other"),
    ] {
        let fixture = SummaryFixture::new();
        fixture.remember("shop");
        fixture.apply(&change).unwrap();
        fixture.compare().unwrap();
    }
}

#[test]
fn remembered_summary_does_not_outlive_the_sandbox() {
    let fixture = SummaryFixture::new();
    fixture.remember("shop");
    let other = fixture.base.join("other");
    fs::create_dir(&other).unwrap();
    fixture.settings.update(|settings| settings.sandbox_base_directory = Some(other)).unwrap();
    assert!(fixture.sandbox.summary(&fixture.base.join("shop")).is_err());
}
