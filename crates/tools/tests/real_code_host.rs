//! Tests with the real git and `gh`, from a clone to a pull request with a label.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_api::ids::BranchName;
use loopgate_home::{Overrides, Program, Sandbox, SettingsStore};
use loopgate_testkit::code_host::TestCodeHost;
use loopgate_testkit::git::GitRemotes;
use loopgate_testkit::home::UserHome;
use loopgate_tools::code_host::{CodeHost, NewPullRequest, time as host_time};
use loopgate_tools::git::{Git, time};
use loopgate_tools::login_path::LoginPath;
use loopgate_tools::programs::{ProgramSource, Programs};

struct RealCodeHost {
    home: UserHome,
    host: TestCodeHost,
    remotes: GitRemotes,
    programs: Arc<Programs>,
    git: Git,
}

impl RealCodeHost {
    async fn new() -> Self {
        let remotes = GitRemotes::temporary().unwrap();
        remotes.create("acme/shop", &[("README.md", "# Shop\n")]).unwrap();
        let host = TestCodeHost::start(&remotes).await.unwrap();
        host.add_repository("acme/shop").unwrap();
        let mut home = UserHome::temporary().unwrap();
        home.reach_remotes(&remotes).unwrap().reach_code_host(&host).unwrap();
        let settings = SettingsStore::open(&home.path().join("settings.toml"), Overrides::default()).unwrap();
        let login_path = LoginPath::new("/bin/sh".into(), home.environment().clone());
        settings.update(|settings| settings.sandbox_base_directory = Some(home.path().to_owned())).unwrap();
        let settings = Arc::new(settings);
        let sandbox = Arc::new(Sandbox::new(settings.clone(), Path::new("/nonexistent-data")));
        let programs = Arc::new(Programs::with_login_path(settings, login_path));
        let git = Git::new(programs.clone(), sandbox);
        Self { home, host, remotes, programs, git }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }
}

fn branch(name: &str) -> BranchName {
    name.parse().unwrap()
}

#[tokio::test]
async fn real_programs_are_resolved_with_their_versions() {
    let fixture = RealCodeHost::new().await;
    assert_eq!(fixture.programs.resolve(Program::Git).await.source, ProgramSource::Path);
    let versions = fixture.programs.versions().await;
    assert!(versions[&Program::Git].as_deref().unwrap().starts_with("git version "), "{versions:?}");
    assert!(versions[&Program::CodeHost].as_deref().unwrap().starts_with("gh version "), "{versions:?}");
}

#[tokio::test]
async fn pull_request_is_created_from_a_clone() {
    let fixture = RealCodeHost::new().await;
    let (git, gh) = (fixture.git.clone(), CodeHost::new(fixture.programs.clone(), fixture.git.clone()));

    let shop = fixture.at("shop");
    gh.clone_repository(&"acme/shop".parse().unwrap(), &shop).await.unwrap();
    assert_eq!(git.full_name(&shop).await.unwrap().unwrap().as_str(), "acme/shop");
    assert_eq!(git.default_branch(&shop).await.unwrap().as_deref(), Some("main"));

    let (name, place) = (branch("orchestrator/cart"), fixture.at("shop-loop-cart"));
    git.fetch(&shop).await.unwrap();
    let base = git.base_ref(&shop, &branch("main")).await.unwrap().unwrap();
    git.worktree_add(&shop, &place, &name, &base).await.unwrap();
    fs::write(place.join("cart.txt"), "one\n").unwrap();
    let commit = git.commit_all(&place, "Add a cart", None).await.unwrap().unwrap();
    assert_eq!(gh.pr_view(&place, &name).await.unwrap(), None);
    git.push(&place, &name, time::PUSH).await.unwrap();
    assert_eq!(fixture.remotes.branches("acme/shop").unwrap()["orchestrator/cart"], commit);

    let main = branch("main");
    let new =
        NewPullRequest { title: "Cart", body: "A cart.\n", base: &main, head: &name, label: "orchestrator" };
    let created = gh.pr_create(&place, &new).await.unwrap();
    assert_eq!(created.url, "https://github.com/acme/shop/pull/1");
    assert_eq!(gh.pr_view(&place, &name).await.unwrap(), Some(created.clone()));
    let twice = gh.pr_create(&place, &new).await.unwrap_err();
    assert_eq!(twice.user_message(), "A pull request already exists for this branch.");

    assert_eq!(fixture.host.pull_requests("acme/shop")[0].labels, ["orchestrator"]);
    gh.pr_add_label(&place, created.number, "orchestrator").await.unwrap();
    let body = gh.pr_body(&place, created.number).await.unwrap();
    let body = format!("{body}\n---\nLoop ID: 7\n");
    gh.pr_edit_body(&place, created.number, &body).await.unwrap();
    let pull = fixture.host.pull_requests("acme/shop").remove(0);
    assert_eq!(
        (pull.title.as_str(), pull.labels.as_slice()),
        ("Cart", ["orchestrator".to_owned()].as_slice())
    );
    assert!(pull.body.contains("A cart.") && pull.body.contains("Loop ID: 7"), "{}", pull.body);

    gh.output(&place, &["pr", "close", "1"], host_time::EDIT).await.unwrap();
    assert_eq!(gh.pr_view(&place, &name).await.unwrap(), None, "a closed pull request is not returned");
}

#[tokio::test]
async fn failed_clone_of_a_missing_repository_is_removed() {
    let fixture = RealCodeHost::new().await;
    let gh = CodeHost::new(fixture.programs.clone(), fixture.git.clone());
    let missing = fixture.at("code");
    fs::create_dir(&missing).unwrap();
    gh.clone_repository(&"acme/missing".parse().unwrap(), &missing.join("missing")).await.unwrap_err();
    assert_eq!(fs::read_dir(&missing).unwrap().count(), 0);
}
