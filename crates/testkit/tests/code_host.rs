//! The real code-host CLI against the code host: clone, push, pull requests, comments, reviews.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::code_host::{CodeHost, HostFault, PullState};
use loopgate_testkit::git::GitRemotes;
use loopgate_testkit::home::UserHome;
use serde_json::Value;

struct HostFixture {
    home: UserHome,
    host: CodeHost,
    _remotes: GitRemotes,
}

impl HostFixture {
    async fn new() -> Result<Self> {
        let remotes = GitRemotes::temporary()?;
        remotes.create("acme/shop", &[("README.md", "# Shop\n")])?;
        let host = CodeHost::start(&remotes).await?;
        host.add_repository("acme/shop")?;
        let mut home = UserHome::temporary()?;
        home.reach_remotes(&remotes)?.reach_code_host(&host)?;
        Ok(Self { home, host, _remotes: remotes })
    }

    async fn run(&self, dir: &str, program: &str, args: &[&str]) -> Result<String> {
        let output = self.home.command(program).args(args).current_dir(self.home.path().join(dir)).output();
        let output = output
            .await
            .with_context(|| format!("start {program}; the code host's CLI is Debian's package `gh`"))?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "{program} {args:?}: {out}{err}");
        Ok(out.into_owned())
    }

    async fn gh(&self, args: &[&str]) -> Result<String> {
        self.run("shop", "gh", args).await
    }

    /// A clone with a pushed branch that is one commit ahead.
    async fn clone_with_branch(&self) -> Result<()> {
        self.run("", "gh", &["repo", "clone", "acme/shop"]).await?;
        std::fs::write(self.home.path().join("shop/cart.txt"), "one\ntwo\n")?;
        self.run("shop", "git", &["checkout", "-q", "-b", "cart"]).await?;
        self.run("shop", "git", &["add", "."]).await?;
        self.run("shop", "git", &["commit", "-q", "-m", "Add a cart"]).await?;
        self.run("shop", "git", &["push", "-q", "-u", "origin", "HEAD"]).await?;
        Ok(())
    }
}

#[tokio::test]
async fn pull_request_lives_from_creation_to_approval() -> Result<()> {
    let fixture = HostFixture::new().await?;
    fixture.clone_with_branch().await?;
    let url = fixture
        .gh(&[
            "pr",
            "create",
            "--title",
            "Cart",
            "--body",
            "A cart.",
            "--base",
            "main",
            "--label",
            "orchestrator",
        ])
        .await?;
    assert_eq!(url.trim(), "https://github.com/acme/shop/pull/1");
    fixture.gh(&["pr", "edit", "1", "--title", "The cart", "--add-label", "bug"]).await?;
    fixture.gh(&["pr", "comment", "1", "--body", "Ready."]).await?;
    fixture.gh(&["pr", "review", "1", "--request-changes", "--body", "Tests?"]).await?;
    fixture.host.review("acme/shop", 1, "ann", "APPROVED", "Fine").context("review")?;

    let pulls = fixture.host.pull_requests("acme/shop");
    let pull = &pulls[0];
    assert_eq!((pull.title.as_str(), pull.state), ("The cart", PullState::Open));
    assert_eq!(pull.labels, ["orchestrator", "bug"]);
    assert_eq!(pull.comments[0].body, "Ready.");
    assert_eq!(pull.commits()?.iter().map(|c| c.subject.as_str()).collect::<Vec<_>>(), ["Add a cart"]);
    assert_eq!((pull.files()?[0].path.as_str(), pull.files()?[0].additions), ("cart.txt", 2));
    assert_eq!(pull.file("cart.txt")?, "one\ntwo\n");

    let fields =
        "number,url,title,state,labels,comments,reviews,reviewDecision,commits,files,headRefOid,author";
    let seen: Value = serde_json::from_str(&fixture.gh(&["pr", "view", "cart", "--json", fields]).await?)?;
    assert_eq!(seen["number"], 1);
    assert_eq!(seen["reviewDecision"], "CHANGES_REQUESTED");
    assert_eq!(seen["reviews"][1]["author"]["login"], "ann");
    assert_eq!(seen["commits"][0]["messageHeadline"], "Add a cart");
    assert_eq!(seen["files"][0]["path"], "cart.txt");
    let listed =
        fixture.gh(&["pr", "list", "--state", "open", "--limit", "51", "--json", "number,author"]).await?;
    assert_eq!(serde_json::from_str::<Value>(&listed)?[0]["author"]["login"], "octo-dev");
    fixture.gh(&["pr", "view", "1"]).await?;
    fixture.gh(&["pr", "close", "1"]).await?;
    assert_eq!(fixture.host.pull_requests("acme/shop")[0].state, PullState::Closed);
    Ok(())
}

#[tokio::test]
async fn lines_are_discussed_over_rest_and_threads_read_over_graphql() -> Result<()> {
    let fixture = HostFixture::new().await?;
    fixture.clone_with_branch().await?;
    fixture.gh(&["pr", "create", "--title", "Cart", "--body", "", "--base", "main"]).await?;
    let line = fixture
        .host
        .comment_line("acme/shop", 1, "ann", ("cart.txt", 2), "Why two?")
        .context("comment on a line")?;
    let path = format!("repos/acme/shop/pulls/1/comments/{line}/replies");
    fixture.gh(&["api", &path, "--method", "POST", "-f", "body=Because."]).await?;
    for at in 0..51 {
        fixture.host.comment("acme/shop", 1, "ann", &format!("comment {at}")).context("comment")?;
    }
    let pages =
        fixture.gh(&["api", "repos/acme/shop/issues/1/comments", "--paginate", "--jq", ".[].body"]).await?;
    assert_eq!(pages.lines().count(), 51);
    let files = fixture.gh(&["api", "repos/acme/shop/pulls/1/files", "--jq", ".[].filename"]).await?;
    assert_eq!(files.trim(), "cart.txt");
    let query = "query($owner: String!, $number: Int!) { repository(owner: $owner, name: \"shop\") {
        pullRequest(number: $number) { reviewThreads(first: 50) { nodes { id isResolved comments(first: 50) {
            nodes { databaseId body replyTo { databaseId } } } } pageInfo { hasNextPage } } } } }";
    let query = format!("query={query}");
    let answer = fixture.gh(&["api", "graphql", "-f", &query, "-f", "owner=acme", "-F", "number=1"]).await?;
    let answer: Value = serde_json::from_str(&answer)?;
    let thread =
        &answer["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"][0]["comments"]["nodes"];
    assert_eq!(thread[1]["body"], "Because.");
    assert_eq!(thread[1]["replyTo"]["databaseId"], line);
    Ok(())
}

#[tokio::test]
async fn refusals_are_the_hosts_own() -> Result<()> {
    let fixture = HostFixture::new().await?;
    fixture.clone_with_branch().await?;
    let error = |result: Result<String>| format!("{:#}", result.unwrap_err());
    assert!(error(fixture.gh(&["pr", "view", "42"]).await).contains("Could not resolve to a PullRequest"));
    assert!(
        error(fixture.run("", "gh", &["repo", "clone", "acme/none"]).await).contains("Could not resolve")
    );
    let create = ["pr", "create", "--title", "x", "--body", "", "--base", "main"];
    fixture.gh(&create).await?;
    assert!(error(fixture.gh(&create).await).contains("already exists"));
    let fault =
        HostFault { on: "PullRequestList".into(), status: 502, message: "bad".into(), times: Some(1) };
    fixture.host.fail(fault);
    assert!(error(fixture.gh(&["pr", "list"]).await).contains("502"));
    fixture.gh(&["pr", "list"]).await?;
    Ok(())
}

#[tokio::test]
async fn cli_is_logged_in() -> Result<()> {
    let fixture = HostFixture::new().await?;
    assert_eq!(fixture.run("", "gh", &["api", "user", "--jq", ".login"]).await?.trim(), "octo-dev");
    fixture.run("", "gh", &["auth", "status"]).await?;
    assert!(fixture.run("", "gh", &["label", "list", "-R", "acme/shop"]).await?.contains("orchestrator"));
    Ok(())
}

#[tokio::test]
async fn pull_request_has_a_page_at_its_own_path() -> Result<()> {
    let fixture = HostFixture::new().await?;
    fixture.clone_with_branch().await?;
    fixture.gh(&["pr", "create", "--title", "Add <a> cart", "--body", "x"]).await?;
    let page = fixture.host.page().await?;
    let get = async |path: &str| reqwest::get(format!("{}{path}", page.url())).await;
    for path in ["acme/shop/pull/1", "acme/shop/pull/1/files", ""] {
        let shown = get(path).await?.error_for_status()?.text().await?;
        for part in ["#1 Add &lt;a&gt; cart", "cart into main", "<ins>+one</ins>"] {
            ensure!(shown.contains(part), "{path}: {part} is missing in {shown}");
        }
    }
    for path in ["acme/shop/pull/2", "acme/other/pull/1"] {
        ensure!(get(path).await?.status() == 404, "{path}");
    }
    Ok(())
}
