//! A desktop in a temporary directory: real git with a bare remote, a control plane that records its
//! requests, and shell scripts in place of programs that require an account.

#![allow(dead_code, reason = "each test uses its part")]

pub mod instance;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_home::{Credentials, DataDir, Overrides, Program, Repos, Sandbox, SettingsStore, TrustStore};
use loopgate_runtime::jobs::Job;
use loopgate_runtime::{LoopHeaders, LoopRequestError, LoopStart, Runtime, RuntimeConfig, RuntimeTiming};
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::home_processes;
use loopgate_testkit::wait::Changes;
use loopgate_tools::git::Git;
use loopgate_tools::process::{Command, Limits};
use loopgate_tools::programs::Programs;
use loopgate_tools::shim;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, DbErr, Statement};
use serde_json::{Value, json};
use uuid::Uuid;

/// Timeout of every wait; only a test that hangs takes this long.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A driver that writes a plan and prints one line of output.
pub const PLANS: &str = r##"
say '{"type":"system","subtype":"init","session_id":"s-1","apiKeySource":"none"}'
say '{"type":"assistant","message":{"model":"m-large","content":[{"type":"text","text":"Looking around"}],"usage":{"input_tokens":10,"output_tokens":5}}}'
printf '{"content":"# Plan","pendingTasks":[]}' > "$W/plan.json"
say '{"type":"result","subtype":"success","session_id":"s-1"}'
"##;

/// A driver that changes the working tree and commits nothing.
pub const IMPLEMENTS: &str = r#"
say '{"type":"assistant","message":{"model":"m-large","content":[{"type":"text","text":"Writing"}],"usage":{"input_tokens":10,"output_tokens":5}}}'
echo "done by $LOOPGATE_COMMAND" > feature.txt
say '{"type":"result","subtype":"success","session_id":"s-2"}'
"#;

/// A driver that changes the working tree, and describes the change in its last answer.
pub const DESCRIBES: &str = r###"
say '{"type":"assistant","message":{"model":"m-large","content":[{"type":"text","text":"Writing"}],"usage":{"input_tokens":10,"output_tokens":5}}}'
echo "done by $LOOPGATE_COMMAND" > feature.txt
say '{"type":"result","subtype":"success","session_id":"s-2","result":"Done.\n<delivery>{\"subject\": \"Add the feature\", \"body\": \"It was missing.\", \"pullRequest\": \"## What\\nThe feature.\"}</delivery>\n<promise>COMPLETE</promise>"}'
"###;

/// Commands that commit, push and open a pull request, and report it.
pub const COMMITS: &str = r#"
git add -A -- . ':!.loopgate' && git commit -qm "Add the feature" && git push -q -u origin HEAD
url=$("$GH" pr create --title "Add the feature" --body-file /dev/null --base main)
printf '{"prUrl":"%s","prNumber":%s,"branchName":"%s","commitSha":"%s"}' \
  "$url" "${url##*/}" "$(git branch --show-current)" "$(git rev-parse HEAD)" > execution-result.json
"#;

/// The environment of one test.
pub struct Desktop {
    dir: tempfile::TempDir,
    pub cloud: Cloud,
}

impl Desktop {
    /// Creates a desktop with a clone of `acme/api`, whose remote has one commit on `main`.
    pub async fn new() -> Self {
        let desktop = Self { dir: tempfile::tempdir().unwrap(), cloud: Cloud::start().await.unwrap() };
        for name in ["box", "data", "state", "plugins/code"] {
            std::fs::create_dir_all(desktop.at(name)).unwrap();
        }
        desktop.program("gh", CODE_HOST);
        desktop.program("claude", "exit 1");
        desktop.driver(PLANS);
        desktop.set_shim_prelude("");
        desktop.git_remote().await;
        desktop
    }

    pub fn at(&self, name: &str) -> PathBuf {
        // Canonical, so that paths compare equal to those that git prints.
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// Replaces a program with a script.
    pub fn program(&self, name: &str, script: &str) {
        let path = self.at("bin").join(name);
        std::fs::create_dir_all(self.at("bin")).unwrap();
        let head = format!(
            "#!/bin/sh\nGH='{}'\nSTATE='{}'\nREMOTE='{}'\n",
            self.at("bin/gh").display(),
            self.at("state").display(),
            self.at("remote/acme/api.git").display(),
        );
        // Renamed into place: a script that is being executed cannot be written.
        let fresh = path.with_extension("new");
        std::fs::write(&fresh, format!("{head}{script}\n")).unwrap();
        std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(&fresh, &path).unwrap();
    }

    /// Sets the commands that a shim runs before its work.
    pub fn set_shim_prelude(&self, first: &str) {
        let stand_in = env!("CARGO_BIN_EXE_loopgate-runtime-stand-in");
        let driver = self.at("bin/driver");
        let dispatch = format!(
            "case \"$1\" in\n  shim) {first}\n  exec '{stand_in}' shim \"$2\";;\n  \
             loop) shift 2; exec '{}' \"$@\";;\nesac\nexit 64",
            driver.display()
        );
        self.program("loopgate", &dispatch);
    }

    /// Replaces the loop driver. `say` prints a record of the assistant, `W` is the work directory.
    pub fn driver(&self, script: &str) {
        let head = "W=\"$1\"\nprintf '%s\\n' \"$*\" >> \"$STATE/argv\"\nenv > \"$STATE/env\"\n\
                    say() { printf '%s\\n' \"$1\" >> \"$W/assistant-output.jsonl\"; }\n\
                    wait_for_signal() { mkfifo \"$STATE/$1\" 2>/dev/null; read word < \"$STATE/$1\"; true; }\n";
        self.program("driver", &format!("{head}{script}"));
    }

    /// Releases a script that waits with `wait_for_signal`: through its pipe or, if it does not wait yet,
    /// with a regular file that does not block it.
    pub fn signal(&self, name: &str) {
        std::fs::write(self.at("state").join(name), "").unwrap();
    }

    pub fn state(&self, name: &str) -> String {
        std::fs::read_to_string(self.at("state").join(name)).unwrap_or_default()
    }

    async fn git_remote(&self) {
        let bare = self.at("remote/acme/api.git");
        std::fs::create_dir_all(&bare).unwrap();
        self.git(&bare, &["init", "-q", "--bare", "-b", "main", "."]).await;
        let clone = self.at("box/api");
        self.git(&self.at("box"), &["clone", "-q", &bare.to_string_lossy(), "api"]).await;
        std::fs::write(clone.join("README.md"), "hello\n").unwrap();
        self.git(&clone, &["checkout", "-q", "-b", "main"]).await;
        self.git(&clone, &["add", "-A"]).await;
        self.git(&clone, &["commit", "-q", "-m", "first"]).await;
        self.git(&clone, &["push", "-q", "-u", "origin", "main"]).await;
        self.trust().await;
    }

    /// Trusts the executable content of the clone, whose remote is a local directory.
    pub async fn trust(&self) {
        self.trust_clone(&self.at("box/api")).await;
    }

    /// Trusts the executable content of a clone or worktree.
    pub async fn trust_clone(&self, clone: &Path) {
        let base = Overrides { sandbox_base_directory: Some(self.at("box")), ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&self.at("settings.toml"), base).unwrap());
        let sandbox = Arc::new(Sandbox::new(settings.clone(), &self.at("data")));
        let git = Git::new(Arc::new(Programs::new(settings)), sandbox);
        let content = git.executable_content(clone).await.unwrap();
        std::fs::create_dir_all(self.at("data")).unwrap();
        TrustStore::new(&self.at("data")).trust(&content.clone, content.entries()).unwrap();
    }

    /// Checks a condition now and after each change of the desktop's files (which include the database) or
    /// request to the control plane, until it yields a value.
    pub async fn eventually<T, F: Future<Output = Option<T>>>(
        &self,
        condition: &str,
        check: impl Fn() -> F,
    ) -> T {
        let mut changes = Changes::below(self.dir.path()).unwrap();
        let mut arrivals = self.cloud.arrivals();
        let checking = async {
            loop {
                if let Some(value) = check().await {
                    return value;
                }
                tokio::select! {
                    changed = changes.next() => changed.unwrap(),
                    arrived = arrivals.changed() => arrived.unwrap(),
                }
            }
        };
        tokio::time::timeout(TIMEOUT, checking).await.unwrap_or_else(|_| panic!("never: {condition}"))
    }

    /// Waits until a job has ended and is reported to the control plane.
    pub async fn reported(&self, runtime: &Arc<Runtime>, id: LoopId) -> Job {
        self.eventually("the loop has ended and is reported", || async {
            runtime.jobs.get(id).await.unwrap().filter(|job| job.report.cloud_finalized_at.is_some())
        })
        .await;
        tokio::time::timeout(TIMEOUT, runtime.launcher.wait_until_released(id)).await.unwrap();
        runtime.jobs.get(id).await.unwrap().unwrap()
    }

    /// Waits until a job has a status.
    pub async fn has_status(&self, runtime: &Arc<Runtime>, id: LoopId, status: JobStatus) -> Job {
        let check = || async { runtime.jobs.get(id).await.unwrap().filter(|job| job.status() == status) };
        self.eventually(&format!("{status:?}"), check).await
    }

    async fn records(&self) -> Result<DatabaseConnection, DbErr> {
        Database::connect(format!("sqlite://{}", self.at("data/desktop.db").display())).await
    }

    /// Executes SQL on the job database.
    pub async fn change_records(&self, sql: &str) {
        let db = self.records().await.unwrap();
        db.execute_unprepared(sql).await.unwrap();
        db.close().await.unwrap();
    }

    /// Converts the launch requests to files and the database to the schema of the version that stored them
    /// that way.
    pub async fn convert_requests_to_files(&self) {
        let (db, dir) = (self.records().await.unwrap(), self.at("data/queue"));
        std::fs::create_dir_all(&dir).unwrap();
        let all = Statement::from_string(DbBackend::Sqlite, "SELECT loop_id, sealed FROM launch_request");
        for row in db.query_all_raw(all).await.unwrap() {
            let (id, sealed): (String, Vec<u8>) =
                (row.try_get("", "loop_id").unwrap(), row.try_get("", "sealed").unwrap());
            std::fs::write(dir.join(id), sealed).unwrap();
        }
        db.execute_unprepared("DROP TABLE launch_request").await.unwrap();
        let applied = "DELETE FROM seaql_migrations WHERE version = 'm0005_launch_requests'";
        db.execute_unprepared(applied).await.unwrap();
        db.close().await.unwrap();
    }

    /// Waits until a query has no rows; `from` is its `FROM` clause.
    pub async fn has_none(&self, from: &str) {
        let sql = format!("SELECT count(*) AS rest FROM {from}");
        self.eventually(&format!("no rows in {from}"), || async {
            let db = self.records().await.ok()?;
            let row = db.query_one_raw(Statement::from_string(DbBackend::Sqlite, &sql)).await.ok()??;
            let rest: i64 = row.try_get("", "rest").ok()?;
            db.close().await.ok()?;
            (rest == 0).then_some(())
        })
        .await;
    }

    /// Waits until nothing is queued for the control plane.
    pub async fn has_reported_all(&self) {
        self.has_none("outbox").await;
    }

    /// Runs git and returns its output.
    pub async fn git(&self, directory: &Path, args: &[&str]) -> String {
        let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
        let command = Command::new("git").args(identity).args(args).directory(directory);
        let output = command.run(Limits::time(TIMEOUT)).await.unwrap();
        assert!(output.status.success(), "git {args:?}: {}", output.stderr_text());
        output.stdout_text().trim().to_owned()
    }

    /// Returns the commits of a branch at the remote that `main` lacks, newest first.
    pub async fn pushed(&self, branch: &str) -> Vec<String> {
        let range = format!("main..{branch}");
        let log = self.git(&self.at("remote/acme/api.git"), &["log", "--format=%an: %s", &range]).await;
        log.lines().map(str::to_owned).collect()
    }

    /// Kills the shim of the loop in the default worktree, so that it records no exit.
    pub async fn kill_shim(&self) {
        let exit = self.at("box/api-loop-plan-5/.loopgate/work/exit.json");
        let socket = std::fs::read_dir(self.at("data/run")).unwrap().next().unwrap().unwrap().path();
        let pid = shim::attach(&socket, &exit).await.unwrap().state().await.unwrap().shim_pid;
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    /// Ends a driver that waits for `go` in the default worktree, while no runtime is running.
    pub async fn end_without_runtime(&self) {
        self.signal("go");
        let exit = self.at("box/api-loop-plan-5/.loopgate/work/exit.json");
        self.eventually("the driver has ended", || async { exit.is_file().then_some(()) }).await;
    }

    /// Opens a runtime, as a start of the program does; recovery is up to the test.
    pub async fn open(&self) -> Arc<Runtime> {
        self.open_with(quick()).await
    }

    pub async fn open_with(&self, timing: RuntimeTiming) -> Arc<Runtime> {
        let overrides = Overrides {
            sandbox_base_directory: Some(self.at("box")),
            api_origin: Some(self.cloud.origin()),
            ..Overrides::default()
        };
        let settings = Arc::new(SettingsStore::open(&self.at("settings.toml"), overrides).unwrap());
        let programs = [(Program::Assistant, "claude"), (Program::CodeHost, "gh")];
        settings
            .update(|settings| {
                for (program, name) in programs {
                    settings.binary_paths.insert(program, self.at("bin").join(name).into());
                }
            })
            .unwrap();
        let credentials = {
            // The lock belongs to the process, and this process opens the directory several times.
            let data = DataDir::open(&self.at("data")).unwrap();
            Arc::new(Credentials::open(&data).unwrap())
        };
        let sandbox = Arc::new(Sandbox::new(settings.clone(), &self.at("data")));
        let config = RuntimeConfig {
            data_dir: self.at("data"),
            repos: Arc::new(Repos::new(settings.clone(), sandbox.clone())),
            sandbox,
            credentials,
            programs: Arc::new(Programs::new(settings.clone())),
            settings,
            api_origin: None,
            loopgate_exe: self.at("bin/loopgate"),
            plugin_dirs: self.at("plugins"),
            timing,
        };
        Runtime::open(config).await.unwrap()
    }
}

impl Drop for Desktop {
    /// A loop outlives its runtime by design, but must not outlive its test.
    fn drop(&mut self) {
        home_processes::end_below(self.dir.path());
    }
}

/// Returns short intervals and timeouts for tests.
pub fn quick() -> RuntimeTiming {
    let ms = Duration::from_millis;
    RuntimeTiming {
        tail_poll: ms(100),
        tail_gap: ms(5),
        retry_base: ms(20),
        retry_max: ms(50),
        ended_retry: [ms(100), ms(200), ms(200), ms(200)],
        watch: ms(50),
        ..RuntimeTiming::default()
    }
}

/// Returns a request for a loop on `acme/api`, with a committer.
pub fn request(id: LoopId, command: &str) -> Value {
    json!({"loopId": id, "command": command, "loopgateAuthToken": "token-1", "artifacts": [],
        "prompt": "Add a feature", "repo": {"fullName": "acme/api", "branch": "main"},
        "artifactSlug": "PLAN-5", "committer": {"name": "Ada", "email": "ada@example.org"}})
}

pub fn new_id() -> LoopId {
    LoopId(Uuid::new_v4())
}

pub async fn start(runtime: &Arc<Runtime>, body: &Value) -> Result<LoopStart, LoopRequestError> {
    runtime.launcher.start_loop(body.to_string().as_bytes(), LoopHeaders::default()).await
}

/// A CLI of a code host that stores pull requests in files, one per branch, and logs every creation.
pub const CODE_HOST: &str = r#"
printf '%s\n' "$*" >> "$STATE/gh-argv"
key() { printf '%s' "$1" | tr '/' '_'; }
case "$1 $2" in
"pr view") cat "$STATE/body" 2>/dev/null || printf '{"body":""}';;
"pr list")
  while [ "$1" != "--head" ]; do shift; done
  file="$STATE/pr-$(key "$2")"
  if [ ! -e "$file" ]; then echo '[]'; exit 0; fi
  printf '[{"url":"%s","number":7,"isCrossRepository":false,"headRepositoryOwner":{"login":"acme"}}]' "$(cat "$file")";;
"pr create")
  branch=$(git branch --show-current)
  file="$STATE/pr-$(key "$branch")"
  if [ -e "$file" ]; then echo "a pull request for branch already exists" >&2; exit 1; fi
  echo "https://github.com/acme/api/pull/7" > "$file"
  cat > "$STATE/created-body"
  echo "$branch" >> "$STATE/created"
  echo "https://github.com/acme/api/pull/7";;
"pr edit") exit 0;;
"repo clone") exec git clone -q "$REMOTE" "$4";;
*) exit 2;;
esac
"#;
