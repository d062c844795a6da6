//! Tests the code host with the real CLI: clone, push, pull requests, comments and reviews.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::code_host::{HostFault, PullState, TestCodeHost};
use loopgate_testkit::git::GitRemotes;
use loopgate_testkit::home::UserHome;
use serde_json::Value;

struct HostFixture {
    home: UserHome,
    host: TestCodeHost,
    _remotes: GitRemotes,
}

impl HostFixture {
    async fn new() -> Result<Self> {
        let remotes = GitRemotes::temporary()?;
        remotes.create("acme/shop", &[("README.md", "# Shop\n")])?;
        let host = TestCodeHost::start(&remotes).await?;
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

    /// Clones the repository and pushes a branch with one commit.
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
async fn pull_request_is_created_edited_commented_reviewed_and_closed() -> Result<()> {
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
    // GitHub does not let authors approve their own pull request, so another user does.
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
    let view: Value = serde_json::from_str(&fixture.gh(&["pr", "view", "cart", "--json", fields]).await?)?;
    assert_eq!(view["number"], 1);
    assert_eq!(view["reviewDecision"], "CHANGES_REQUESTED");
    assert_eq!(view["reviews"][1]["author"]["login"], "ann");
    assert_eq!(view["commits"][0]["messageHeadline"], "Add a cart");
    assert_eq!(view["files"][0]["path"], "cart.txt");
    let list =
        fixture.gh(&["pr", "list", "--state", "open", "--limit", "51", "--json", "number,author"]).await?;
    assert_eq!(serde_json::from_str::<Value>(&list)?[0]["author"]["login"], "octo-dev");
    fixture.gh(&["pr", "view", "1"]).await?;
    fixture.gh(&["pr", "close", "1"]).await?;
    assert_eq!(fixture.host.pull_requests("acme/shop")[0].state, PullState::Closed);
    Ok(())
}

#[tokio::test]
async fn line_comments_posted_over_rest_form_threads_in_graphql() -> Result<()> {
    let fixture = HostFixture::new().await?;
    fixture.clone_with_branch().await?;
    fixture.gh(&["pr", "create", "--title", "Cart", "--body", "", "--base", "main"]).await?;
    let line = fixture
        .host
        .comment_line("acme/shop", 1, "ann", ("cart.txt", 2), "Why two?")
        .context("comment on a line")?;
    let path = format!("repos/acme/shop/pulls/1/comments/{line}/replies");
    fixture.gh(&["api", &path, "--method", "POST", "-f", "body=Because."]).await?;
    // More than the default page size of 30, so that the CLI has to follow the `Link` header.
    for number in 0..51 {
        fixture.host.comment("acme/shop", 1, "ann", &format!("comment {number}")).context("comment")?;
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
    let response =
        fixture.gh(&["api", "graphql", "-f", &query, "-f", "owner=acme", "-F", "number=1"]).await?;
    let response: Value = serde_json::from_str(&response)?;
    let thread =
        &response["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"][0]["comments"]["nodes"];
    assert_eq!(thread[1]["body"], "Because.");
    assert_eq!(thread[1]["replyTo"]["databaseId"], line);
    Ok(())
}

#[tokio::test]
async fn errors_have_the_messages_of_the_code_host() -> Result<()> {
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
    // The injected error is returned once; the second call succeeds.
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
async fn pull_request_page_has_the_path_of_the_code_host() -> Result<()> {
    let fixture = HostFixture::new().await?;
    fixture.clone_with_branch().await?;
    fixture.gh(&["pr", "create", "--title", "Add <a> cart", "--body", "x"]).await?;
    let page = fixture.host.page().await?;
    let http = loopgate_http_client::builder().build()?;
    let get = async |path: &str| http.get(format!("{}{path}", page.url())).send().await;
    for path in ["acme/shop/pull/1", "acme/shop/pull/1/files", ""] {
        let html = get(path).await?.error_for_status()?.text().await?;
        for part in ["#1 Add &lt;a&gt; cart", "cart into main", "<ins>+one</ins>"] {
            ensure!(html.contains(part), "{path}: {part} is missing in {html}");
        }
    }
    for path in ["acme/shop/pull/2", "acme/other/pull/1"] {
        ensure!(get(path).await?.status() == 404, "{path}");
    }
    Ok(())
}
