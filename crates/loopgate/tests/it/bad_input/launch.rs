//! A loop that is refused after its body was found good: what the sender is answered, what the
//! control plane hears of it, and that nothing is left that could hold up the next try.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::git::git;
use loopgate_testkit::leftovers;
use loopgate_testkit::loopgate::Loopgate;
use loopgate_testkit::model::Step;
use loopgate_testkit::scene::Scene;
use loopgate_testkit::{signs, story};
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{API_KEY, KILL, LOOP, told};
use crate::stage::gone;
use loopgate_testkit::cloud::Cloud;

const PATHS: &str = "/api/gateway/settings/binary-paths";
/// Longer than a refusal may be held up, and much shorter than an event may take.
const AT_ONCE: Duration = Duration::from_secs(10);
const SANDBOX_EVENT: &str = "Repository path not allowed by sandbox policy";

/// A gateway alone, with a control plane that writes down what it hears.
struct Place {
    scene: Scene,
    clone: PathBuf,
    cloud: Cloud,
    loopgate: Loopgate,
}

impl Place {
    async fn new() -> Result<Self> {
        let mut script = story::script();
        script.conversations[0].turns[0].0.insert(0, Step::hold("planning"));
        let scene = Scene::new(script).await?;
        let clone = scene.add_story()?;
        let cloud = Cloud::start().await?;
        let setup = scene.loopgate()?.binary(env!("CARGO_BIN_EXE_loopgate")).gateway_alone();
        let setup = setup.env("LOOPGATE_API_KEY", API_KEY).arg("--api-origin").arg(cloud.origin());
        let loopgate = setup.start().await?;
        Ok(Self { scene, clone, cloud, loopgate })
    }

    async fn order(&self, body: &Value) -> Result<(u16, Value)> {
        told(self.loopgate.gateway(Method::POST, LOOP).json(body).send().await?).await
    }

    async fn kill(&self, id: LoopId) -> Result<(u16, Value)> {
        told(self.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": id})).send().await?).await
    }

    /// Orders a loop twice, so that the second shows that the first gave everything back. An
    /// `error` that ends in `…` is the beginning of the text.
    async fn refuses(
        &self,
        change: impl FnOnce(&mut Value),
        status: u16,
        error: &str,
        code: &str,
        event: Option<(&str, &str)>,
    ) -> Result<()> {
        let id = LoopId(Uuid::new_v4());
        let mut body = json!({"loopId": id, "command": "EXECUTE", "loopgateAuthToken": "a-runner-token",
            "artifacts": [], "prompt": "Do it", "repo": {"fullName": story::REPOSITORY, "branch": "main"}});
        change(&mut body);
        let fits = |text: &Value, wanted: &str| match wanted.strip_suffix('…') {
            Some(begin) => text.as_str().is_some_and(|text| text.starts_with(begin)),
            None => text == wanted,
        };
        for round in 1..=2 {
            let (got, answer) = self.order(&body).await?;
            let as_wanted = got == status && fits(&answer["error"], error) && answer["code"] == code;
            ensure!(as_wanted && answer.as_object().map(|m| m.len()) == Some(2), "{error}: {got} {answer}");
            let heard: Vec<Value> = self.cloud.events(id, "error");
            let told = heard.iter().all(|heard| {
                event.is_some_and(|(code, text)| heard["code"] == code && fits(&heard["message"], text))
            });
            ensure!(told && heard.len() == if event.is_some() { round } else { 0 }, "{error}: {heard:?}");
        }
        let (status, answer) = self.kill(id).await?;
        ensure!(status == 404 && answer["error"] == "No running process found for this loop", "{answer}");
        // A supervisor that could not begin has said so, and is about to end.
        gone(&id.to_string()).await.with_context(|| format!("{error}: something runs"))
    }

    fn data(&self, name: &str) -> PathBuf {
        self.loopgate.setup().data_dir().join(name)
    }

    async fn database(&self) -> Result<DatabaseConnection> {
        Ok(Database::connect(format!("sqlite://{}", self.data("desktop.db").display())).await?)
    }

    /// No job, no token, nothing to send, no assistant.
    async fn nothing_is_left(&self) -> Result<()> {
        let db = self.database().await?;
        let sql = "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM loop_token) + \
                   (SELECT count(*) FROM outbox) AS rows";
        let row = db.query_one_raw(Statement::from_string(DbBackend::Sqlite, sql)).await?;
        let rows: i64 = row.context("a number")?.try_get("", "rows")?;
        db.close().await?;
        ensure!(rows == 0, "{rows} rows are left");
        ensure!(self.scene.model.requests().is_empty(), "no assistant was started");
        // What git tidies up in the background ends by itself.
        let others = || leftovers::processes(self.scene.home.path()).into_iter().map(|process| process.pid);
        signs::all_end(|| others().filter(|pid| Some(*pid) != self.loopgate.pid()).collect()).await
    }

    fn no_worktree_is_left(&self) -> Result<()> {
        let left = std::fs::read_dir(self.scene.sandbox())?.flatten();
        let left: Vec<_> =
            left.filter(|entry| entry.file_name().to_string_lossy().contains("-loop-")).collect();
        ensure!(left.is_empty(), "{left:?}");
        Ok(())
    }

    /// Changes `repos.json`, as another program would.
    fn edit_list(&self, change: impl FnOnce(&mut Value)) -> Result<()> {
        let file = self.scene.sandbox().join(".loopgate/config/repos.json");
        let mut list: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
        change(&mut list);
        Ok(std::fs::write(file, serde_json::to_vec_pretty(&list)?)?)
    }

    /// A clone outside the sandbox.
    fn outside(&self, full_name: &str) -> Result<PathBuf> {
        let place = self.scene.home.path().join("outside").join(full_name.replace('/', "-"));
        self.scene.add_remote(full_name, &[("README.md", "Outside\n")])?;
        self.scene.remotes.clone_to(full_name, &place)?;
        Ok(place)
    }

    /// A repository in the sandbox that tracks a file where a loop has its own.
    fn tracking(&self, full_name: &str, file: &str) -> Result<Value> {
        self.scene.add_repository(full_name, &[("README.md", "Odd\n"), (file, "In the way\n")])?;
        Ok(json!({"fullName": full_name, "branch": "main"}))
    }

    /// Takes a file away for as long as `during` lasts.
    async fn without(&self, path: &Path, during: impl Future<Output = Result<()>>) -> Result<()> {
        let aside = path.with_extension("aside");
        std::fs::rename(path, &aside)?;
        let result = during.await;
        std::fs::rename(&aside, path)?;
        result
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_must_be_here_and_in_the_sandbox() -> Result<()> {
    let mut place = Place::new().await?;
    let not_allowed = Some(("REPO_NOT_ALLOWED", SANDBOX_EVENT));
    let denied = (super::DENIED.0, super::DENIED.1);
    let outside = place.outside("acme/outside")?;
    let linked = place.outside("acme/linked")?;
    let way_out = place.scene.sandbox().join("linked");
    std::os::unix::fs::symlink(&linked, &way_out)?;
    for path in ["/etc".into(), outside.clone(), way_out, "relative".into(), place.data("")] {
        let path: PathBuf = path;
        let path = json!(path);
        place.refuses(|body| body["localRepoPath"] = path, 403, denied.0, denied.1, not_allowed).await?;
    }
    place.edit_list(|list| {
        let entry = json!({"path": outside, "addedAt": "2030-01-01T00:00:00.000Z"});
        list["repos"].as_array_mut().into_iter().for_each(|repos| repos.push(entry.clone()));
    })?;
    for name in ["acme/outside", "acme/linked"] {
        let text = "Repository path not allowed";
        let named = |body: &mut Value| body["repo"]["fullName"] = json!(name);
        place.refuses(named, 403, text, "directory_not_allowed", not_allowed).await?;
    }
    let missing = place.scene.sandbox().join("missing").to_string_lossy().into_owned();
    let text = format!("Repository not found locally: {missing}");
    let named = |body: &mut Value| body["localRepoPath"] = json!(missing);
    place.refuses(named, 404, &text, "not_found", Some(("REPO_NOT_FOUND", &text))).await?;
    let text = "Repository not found locally: acme/nowhere";
    let named = |body: &mut Value| body["repo"]["fullName"] = json!("acme/nowhere");
    place.refuses(named, 404, text, "not_found", Some(("REPO_NOT_FOUND", text))).await?;

    // A name that is none never becomes an argument.
    let home = place.scene.home.path().to_owned();
    let asked = home.join("asked");
    let record = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexit 1\n", asked.display());
    place.scene.home.script("gh", &record)?;
    for name in ["acme/x;touch PWNED", "$(touch PWNED)/x", "--help/x", "acme/..", "../../etc", "acme"] {
        let text = format!("Repository not found locally: {name}");
        let named = |body: &mut Value| body["repo"]["fullName"] = json!(name);
        place.refuses(named, 404, &text, "not_found", Some(("REPO_NOT_FOUND", &text))).await?;
    }
    ensure!(!asked.exists(), "{:?}", std::fs::read_to_string(&asked));

    // A clone of that name is one of its own origin only.
    let list = place.scene.sandbox().join(".loopgate/config/repos.json");
    let listed = std::fs::read(&list)?;
    let text = "Repository not found locally: other/garden-notes";
    let named = |body: &mut Value| body["repo"]["fullName"] = json!("other/garden-notes");
    place.refuses(named, 404, text, "not_found", Some(("REPO_NOT_FOUND", text))).await?;

    // What the code-host CLI says may hold secrets; a clone may lead out of the sandbox.
    let hex = "0123456789abcdef0123456789abcdef01234567";
    let says = format!("#!/bin/sh\necho 'fatal: https://u:hunter2@host {hex}' >&2\nexit 1\n");
    let leads = format!("#!/bin/sh\nfor last; do :; done\nln -s '{}' \"$last\"\n", outside.display());
    for (name, script) in [("acme/secret", says), ("acme/away", leads)] {
        place.scene.home.script("gh", &script)?;
        let text = format!("Repository not found locally: {name}");
        let named = |body: &mut Value| body["repo"]["fullName"] = json!(name);
        place.refuses(named, 404, &text, "not_found", Some(("REPO_NOT_FOUND", &text))).await?;
    }
    ensure!(place.scene.sandbox().join("away").symlink_metadata().is_err(), "the clone was removed");
    ensure!(outside.join("README.md").is_file(), "what it led to was not");
    ensure!(std::fs::read(&list)? == listed, "what was not cloned is not listed");
    place.nothing_is_left().await?;

    place.loopgate.stop().await?;
    let mut logs = place.loopgate.output();
    for entry in std::fs::read_dir(place.data("logs"))? {
        logs.push_str(&std::fs::read_to_string(entry?.path())?);
    }
    ensure!(logs.contains("acme/secret") && !logs.contains("hunter2") && !logs.contains(hex), "{logs}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_are_counted_and_the_control_plane_hears_of_it() -> Result<()> {
    let place = Place::new().await?;
    let text = "additionalRepos exceeds maximum of 5 entries (got 6)";
    let event = Some(("PRE_RUN_VALIDATION_FAILED", text));
    let six = |body: &mut Value| body["additionalRepos"] = json!(vec![json!({"fullName": "acme/x"}); 6]);
    place.refuses(six, 400, text, "invalid_request", event).await?;
    let nowhere = |body: &mut Value| {
        six(body);
        body["repo"] = Value::Null;
    };
    place.refuses(nowhere, 400, text, "invalid_request", event).await?;
    let outside = place.outside("acme/outside")?;
    let web = place.scene.add_repository("acme/web", &[("README.md", "Web\n")])?;
    let beside = |peer: Value| json!([{"fullName": "acme/web", "branch": "main"}, peer]);
    let invalid = "PRE_RUN_VALIDATION_FAILED";
    for (peer, code, text) in [
        (
            json!({"fullName": "acme/none"}),
            "REPO_NOT_FOUND",
            "Additional repo not found locally: acme/none".to_owned(),
        ),
        (
            json!({"branch": "main"}),
            "REPO_NOT_FOUND",
            "Additional repo entry must have localRepoPath or fullName".to_owned(),
        ),
        (
            json!({"localRepoPath": outside}),
            "REPO_NOT_ALLOWED",
            format!("Additional repo path not allowed: {}", outside.display()),
        ),
        (
            json!({"fullName": story::REPOSITORY, "branch": "gone"}),
            invalid,
            format!("Branch \"gone\" not found in additional repo: {}", story::REPOSITORY),
        ),
        (
            json!({"fullName": "Acme/Garden-Notes"}),
            invalid,
            "Duplicate repository fullName across repos: Acme/Garden-Notes".to_owned(),
        ),
        (
            json!({"localRepoPath": web}),
            invalid,
            "Duplicate repository fullName across repos: acme/web".to_owned(),
        ),
        (
            json!({"fullName": "acme/other", "localRepoPath": web}),
            invalid,
            format!("Duplicate repository path across repos: {}", web.display()),
        ),
    ] {
        let change = |body: &mut Value| body["additionalRepos"] = beside(peer);
        place.refuses(change, 400, &text, "invalid_request", Some((code, &text))).await?;
    }
    place.no_worktree_is_left()?;
    let text = "Repository required for PLAN, EXECUTE, REQUEST_CHANGES, and GENERATE_PRD commands";
    let nowhere = |body: &mut Value| body["repo"] = json!({"fullName": " ", "branch": ""});
    place.refuses(nowhere, 400, text, "invalid_request", None).await?;
    place.nothing_is_left().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worktree_that_cannot_be_made_is_told() -> Result<()> {
    let place = Place::new().await?;
    let (sandbox, home) = (place.scene.sandbox(), place.scene.home.path().to_owned());
    let slug = |body: &mut Value| body["artifactSlug"] = json!("SHOP-7");
    for (command, branch) in [("PLAN", "no-such-branch"), ("EXECUTE", "feature/none")] {
        let text = format!("Failed to materialize {command} branch: branch \"{branch}\" does not exist");
        let change = |body: &mut Value| {
            body["command"] = json!(command);
            body["repo"]["branch"] = json!(branch);
        };
        place.refuses(change, 500, &text, "operation_failed", Some(("BRANCH_CREATE_FAILED", &text))).await?;
    }
    // The parent of the worktrees lies outside, or is no directory.
    let parent = |dir: PathBuf| place.edit_list(|list| list["settings"]["worktreeParentDir"] = json!(dir));
    parent(home.join("elsewhere"))?;
    let text = format!("Worktree path not allowed: {}/elsewhere/garden-notes-loop-shop-7", home.display());
    let code = "directory_not_allowed";
    // The slug loses its case on the way, nothing else.
    place.refuses(slug, 403, &text, code, None).await?;
    ensure!(!home.join("elsewhere").exists(), "nothing was made there");
    std::fs::write(sandbox.join("a-file"), "")?;
    parent(sandbox.join("a-file"))?;
    let (text, code) = ("Failed to materialize EXECUTE branch: …", "operation_failed");
    place.refuses(slug, 500, text, code, Some(("BRANCH_CREATE_FAILED", text))).await?;
    // Something else has its place; it is neither used nor removed.
    parent(sandbox.clone())?;
    let other = sandbox.join("garden-notes-loop-shop-7");
    std::fs::create_dir_all(&other)?;
    std::fs::write(other.join("precious"), "mine")?;
    for command in ["EXECUTE", "PLAN"] {
        let text = format!("Failed to materialize {command} branch: …");
        let change = |body: &mut Value| {
            slug(body);
            body["command"] = json!(command);
        };
        place.refuses(change, 500, &text, code, Some(("BRANCH_CREATE_FAILED", &text))).await?;
    }
    ensure!(std::fs::read_to_string(other.join("precious"))? == "mine");
    place.nothing_is_left().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_and_logs_stay_in_the_worktree() -> Result<()> {
    let place = Place::new().await?;
    let failed = "operation_failed";
    let text = "Failed to write artifacts to workdir";
    let file = place.tracking("acme/odd", ".loopgate/work")?;
    let told = Some(("ARTIFACT_WRITE_FAILED", "…"));
    place.refuses(|body| body["repo"] = file, 500, text, failed, told).await?;

    // A repository can hold a link that leads anywhere.
    let target = place.scene.home.path().join("elsewhere");
    std::fs::create_dir_all(&target)?;
    let clone = place.scene.add_repository("acme/leading", &[("README.md", "Odd\n")])?;
    std::os::unix::fs::symlink(&target, clone.join(".loopgate"))?;
    git(&clone, &["add", "--force", "."])?;
    git(&clone, &["commit", "--quiet", "--message", "A link"])?;
    let bare = place.scene.remotes.bare("acme/leading");
    git(&clone, &["push", "--quiet", &bare.to_string_lossy(), "HEAD:main"])?;
    let leading = json!({"fullName": "acme/leading", "branch": "main"});
    let told = Some(("ARTIFACT_WRITE_FAILED", "the work directory leads out of the worktree"));
    place.refuses(|body| body["repo"] = leading, 500, text, failed, told).await?;
    ensure!(std::fs::read_dir(&target)?.next().is_none(), "nothing was written there");

    let log = place.tracking("acme/logged", ".loopgate/work/orchestrator-loop.log/keep")?;
    let text = "Cannot open log file: is a directory";
    place.refuses(|body| body["repo"] = log, 500, text, failed, Some(("SPAWN_FAILED", text))).await?;
    place.nothing_is_left().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_its_programs_nothing_starts() -> Result<()> {
    let place = Place::new().await?;
    let failed = "operation_failed";
    let slug = |body: &mut Value| body["artifactSlug"] = json!("SHOP-7");
    let gone = place.scene.home.script("another-assistant", "#!/bin/sh\nexit 1\n")?;
    let set = async |value: Value| {
        let request = place.loopgate.gateway(Method::PATCH, PATHS).json(&json!({"assistant": value}));
        let (status, answer) = told(request.send().await?).await?;
        ensure!(status == 200, "{answer}");
        anyhow::Ok(())
    };
    set(json!(gone)).await?;
    std::fs::remove_file(&gone)?;
    let text = "claude CLI not found in PATH";
    place.scene.add_repository("acme/web", &[("README.md", "Web\n")])?;
    let passing = |body: &mut Value| {
        body["command"] = json!("GENERATE_PRD");
        body["additionalRepos"] = json!([{"fullName": "acme/web", "branch": "main"}]);
    };
    place.refuses(passing, 500, text, failed, Some(("BINARY_NOT_FOUND", text))).await?;
    place.no_worktree_is_left()?;
    place.refuses(slug, 500, text, failed, Some(("BINARY_NOT_FOUND", text))).await?;
    set(Value::Null).await?;

    let plugins = std::fs::read_dir(place.data("plugins"))?.next().context("they are unpacked")??.path();
    let text = "run-loop.sh not found in plugin cache";
    let refused = place.refuses(slug, 500, text, failed, Some(("SCRIPT_NOT_FOUND", text)));
    place.without(&plugins.join("code"), refused).await?;

    // The directory of the shims' sockets is gone.
    let text = "Failed to spawn process: …";
    let refused = place.refuses(slug, 500, text, failed, Some(("SPAWN_FAILED", text)));
    place.without(&place.data("run"), refused).await?;

    let db = place.database().await?;
    db.execute_unprepared("ALTER TABLE job RENAME TO kept").await?;
    let id = LoopId(Uuid::new_v4());
    let body = json!({"loopId": id, "command": "PLAN", "loopgateAuthToken": "t", "artifacts": [],
        "prompt": "x", "repo": {"fullName": story::REPOSITORY}});
    let internal = (500, json!({"error": "internal error", "code": "internal_error"}));
    let answers = [place.order(&body).await?, place.kill(id).await?];
    db.execute_unprepared("ALTER TABLE kept RENAME TO job").await?;
    db.close().await?;
    ensure!(answers == [internal.clone(), internal], "{answers:?}");
    ensure!(place.cloud.events(id, "error").is_empty());
    place.nothing_is_left().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_local_loop_starts_only_when_somebody_hears_of_it() -> Result<()> {
    let place = Place::new().await?;
    place.cloud.answer_always("events", 500, json!({"success": false, "error": "down"}));
    let text =
        "Cannot start local loop: cloud callback path is unavailable. Check connectivity and retry. (…";
    for command in ["EXECUTE", "PLAN"] {
        let change = |body: &mut Value| {
            body["command"] = json!(command);
            body["artifactSlug"] = json!("SHOP-7");
        };
        place.refuses(change, 503, text, "unavailable", None).await?;
    }
    place.nothing_is_left().await?;

    // One that came over the link is followed by its events later.
    let id = LoopId(Uuid::new_v4());
    let body = json!({"loopId": id, "command": "PLAN", "loopgateAuthToken": "t", "artifacts": [],
        "prompt": story::WISH, "artifactSlug": "SHOP-7", "repo": {"fullName": story::REPOSITORY}});
    let request = place.loopgate.gateway(Method::POST, LOOP).header("x-desktop-source", "cloud-socket");
    let (status, started) = told(request.json(&body).send().await?).await?;
    ensure!(status == 200 && started["success"] == true, "{status} {started}");
    place.cloud.answer_well();
    ensure!(place.kill(id).await?.0 == 200);
    gone(&id.to_string()).await?;
    let told = place.cloud.seen(|cloud| (!cloud.events(id, "error").is_empty()).then_some(()));
    tokio::time::timeout(signs::LIMIT, told).await.context("nobody heard of its end")?;
    ensure!(place.cloud.events(id, "started").len() == 1);
    ensure!(place.cloud.events(id, "error")[0]["code"] == "CANCELLED");
    Ok(())
}

/// The older spelling of the token's name is taken too; the newer one wins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_has_two_names() -> Result<()> {
    let place = Place::new().await?;
    let elsewhere = Cloud::start().await?;
    for (tokens, wanted) in [
        (json!({"loopgateAuthToken": "new"}), "new"),
        (json!({"loopGateAuthToken": "old"}), "old"),
        (json!({"loopgateAuthToken": "new", "loopGateAuthToken": "old"}), "new"),
        (json!({"loopgateAuthToken": null, "loopGateAuthToken": "old"}), "old"),
    ] {
        let id = LoopId(Uuid::new_v4());
        let mut body = json!({"loopId": id, "command": "PLAN", "artifacts": [], "prompt": story::WISH,
            "repo": {"fullName": story::REPOSITORY, "branch": "main"},
            // Callbacks go to the configured origin, whatever the order says.
            "apiBaseUrl": elsewhere.origin()});
        for (name, value) in tokens.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let (status, started) = place.order(&body).await?;
        ensure!(status == 200, "{tokens}: {status} {started}");
        let told = place.cloud.accepted(id, "events");
        ensure!(told.first().is_some_and(|event| event.body["type"] == "started"), "{told:?}");
        ensure!(told.iter().all(|event| event.token == wanted), "{tokens}: {told:?}");
        ensure!(place.kill(id).await?.0 == 200);
        gone(&id.to_string()).await?;
    }
    ensure!(elsewhere.heard().is_empty(), "{:?}", elsewhere.heard());
    let neither = json!({"loopId": Uuid::new_v4(), "command": "PLAN", "artifacts": []});
    let missing = json!({"error": "Missing required fields: loopId, command, loopgateAuthToken",
        "code": "missing_field"});
    ensure!(place.order(&neither).await? == (400, missing));
    ensure!(place.clone.join(".git").is_dir());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_that_cannot_be_read_is_told_to_nobody() -> Result<()> {
    let place = Place::new().await?;
    let id = LoopId(Uuid::new_v4());
    for (sent, code) in [
        ("{".to_owned(), "invalid_json_body"),
        (json!({"loopId": id, "command": "PLAN", "artifacts": []}).to_string(), "missing_field"),
        (
            json!({"loopId": id, "command": "CHAT", "artifacts": [], "loopgateAuthToken": "t"}).to_string(),
            "invalid_request",
        ),
    ] {
        let answer = place.loopgate.gateway(Method::POST, LOOP).body(sent).send().await?;
        let (status, refused) = told(answer).await?;
        ensure!(status == 400 && refused["code"] == code, "{status} {refused}");
    }
    ensure!(place.cloud.heard().is_empty(), "{:?}", place.cloud.heard());
    place.nothing_is_left().await
}

/// Whoever ordered the loop learns at once why it is not started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_control_plane_that_is_silent_holds_up_no_refusal() -> Result<()> {
    let scene = Scene::new(story::script()).await?;
    scene.add_story()?;
    // It takes connections, and never says anything.
    let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let setup = scene.loopgate()?.binary(env!("CARGO_BIN_EXE_loopgate")).gateway_alone();
    let origin = format!("http://{}", silent.local_addr()?);
    let loopgate = setup.env("LOOPGATE_API_KEY", API_KEY).arg("--api-origin").arg(origin).start().await?;
    let body = json!({"loopId": Uuid::new_v4(), "command": "EXECUTE", "loopgateAuthToken": "a-runner-token",
        "artifacts": [], "prompt": "Do it", "localRepoPath": "/etc"});
    let request = loopgate.gateway(Method::POST, LOOP).json(&body).timeout(AT_ONCE);
    let (status, refused) = told(request.send().await.context("it waits for the control plane")?).await?;
    ensure!(status == 403 && refused["error"] == super::DENIED.0, "{status} {refused}");
    drop(silent);
    Ok(())
}
