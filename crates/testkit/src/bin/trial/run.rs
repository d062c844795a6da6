//! Runs one case: sets up a testbed, plans, starts the loop, intervenes and checks the result.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::find_program;
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::{BrowserSession, Loopgate, signal};
use loopgate_testkit::model::{Conversation, ModelStep, ModelTurn, Script};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{clock, wait};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::case::{Case, FORK, GATE, Intervention, PLAN, Precondition, REPOSITORY};
use crate::connection::RemoteConnection;
use crate::outcome::Outcome;

const FILES: [(&str, &str); 1] = [("README.md", "# Shop\n")];
/// Upper bound for one case; the longest ones use all iterations of a loop.
const LIMIT: Duration = Duration::from_mins(15);
/// Command that distinguishes the assistant's first run from later ones by its output.
const DETECT_LATER_RUN: &str =
    "test -e .loopgate/work/again && echo A further run. || touch .loopgate/work/again";
const LATER_RUN: &str = r"A further run\.";
/// Replaces the ssh command while the network is down.
const UNREACHABLE: &str =
    "#!/bin/sh\necho 'ssh: connect to host github.com port 22: Connection refused' >&2\nexit 255\n";

pub async fn run(case: Case) -> Result<Outcome> {
    let mut trial = TrialRun::new(&case).await?;
    let outcome = timeout(LIMIT, trial.execute(&case)).await;
    let outcome = outcome.unwrap_or_else(|_| bail!("the case did not end within {LIMIT:?}"));
    outcome.with_context(|| trial.loopgate.as_ref().map(Loopgate::output).unwrap_or_default())
}

struct TrialRun {
    loopgate: Option<Loopgate>,
    page: BrowserSession,
    testbed: Testbed,
    clone: PathBuf,
    connection: RemoteConnection,
}

impl TrialRun {
    async fn new(case: &Case) -> Result<Self> {
        let mut testbed = Testbed::new(Script::default()).await?;
        testbed.add_remote(REPOSITORY, &FILES)?;
        if case.default_branch != "main" {
            git(&testbed.remotes.bare(REPOSITORY), &["branch", "-m", "main", case.default_branch])?;
        }
        let clone = testbed.add_repository(REPOSITORY, &FILES)?;
        for precondition in &case.layout {
            establish(precondition, &testbed, &clone).await?;
        }
        testbed.home.link("real-git", &find_program("git")?)?;
        // Fixed in advance, so that a restarted Loopgate listens on the same port.
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let connection = RemoteConnection::open(case.network, &mut testbed).await?;
        let mut setup = testbed.loopgate()?.env("LOOPGATE_ITERATION_PAUSE_MS", "1");
        // The default number of retries would take minutes in cases with permanent errors.
        setup = setup.env("CLAUDE_CODE_MAX_RETRIES", "3");
        if matches!(case.intervention, Some(Intervention::Sleep)) {
            for (name, value) in clock::environment(&testbed.home)? {
                setup = setup.env(name, value);
            }
        }
        for (name, value) in connection.variables() {
            setup = setup.env(name, value);
        }
        for (name, value) in &case.environment {
            setup = setup.env(name, value);
        }
        std::fs::create_dir_all(setup.data_dir())?;
        std::fs::write(setup.data_dir().join("settings.toml"), case.settings)?;
        let loopgate = setup.arg("--api-origin").arg(format!("http://127.0.0.1:{port}")).start().await?;
        let page = loopgate.sign_in().await?;
        Ok(Self { loopgate: Some(loopgate), page, testbed, clone, connection })
    }

    async fn execute(&mut self, case: &Case) -> Result<Outcome> {
        let mut cases: Vec<&Case> =
            std::iter::successors(Some(case), |case| case.previous.as_deref()).collect();
        let first = cases.pop().context("the chain of cases is empty")?;
        if first.command == "plan" {
            self.set_up(first).await?;
        }
        self.testbed.model.play(script(first))?;
        let (document, plan_loop) = self.plan(case).await?;
        let id = if first.command == "plan" {
            plan_loop
        } else {
            let finished = self.page.wait_for_end(&plan_loop).await?;
            ensure!(finished["status"] == "COMPLETED", "the plan did not complete: {finished}");
            self.set_up(first).await?;
            self.start(case, &document, "execute").await?
        };
        let mut outcome = self.follow(first, &id).await?;
        for next in cases.into_iter().rev() {
            self.testbed.model.play(script(next))?;
            self.set_up(next).await?;
            let id = self.start(case, &document, next.command).await?;
            outcome = self.follow(next, &id).await?;
        }
        outcome.context("the last case of a chain must not be left")
    }

    /// Creates a document and starts PLAN on it. Returns the ids of the document and of the loop.
    async fn plan(&self, case: &Case) -> Result<(String, String)> {
        let body =
            json!({"type": "FEATURE", "title": "Add a file", "content": "Add a file", "repo": repo(case)});
        let document = self.page.post("/documents", &body).await?["data"]["id"].take();
        let document = document.as_str().context("the document has no id")?.to_owned();
        let plan_loop = self.start(case, &document, "plan").await?;
        Ok((document, plan_loop))
    }

    /// Starts a loop of the document. Returns its id.
    async fn start(&self, case: &Case, document: &str, command: &str) -> Result<String> {
        let body = json!({"command": command, "repo": repo(case)});
        let started = self.page.post(&format!("/documents/{document}/run-loop"), &body).await?;
        started["data"]["loopId"].as_str().map(str::to_owned).context("the response has no loop id")
    }

    /// Executes the intervention, waits for the end of the loop and checks its result. Returns `None` when
    /// the case does not wait.
    async fn follow(&mut self, case: &Case, id: &str) -> Result<Option<Outcome>> {
        if let Some(intervention) = case.intervention {
            let is_held =
                case.turns.iter().any(|turn| turn.0.iter().any(|step| matches!(step, ModelStep::Hold(_))));
            if is_held {
                self.testbed.model.held(GATE).await?;
            }
            self.intervene(intervention, id).await?;
            self.testbed.model.release(GATE);
            match intervention {
                Intervention::CutRemote => {
                    self.wait_for_waiting_delivery(id).await?;
                    let remotes = self.testbed.remotes.clone();
                    self.testbed.home.reach_remotes(&remotes)?;
                }
                Intervention::CutCodeHost => {
                    self.wait_for_waiting_delivery(id).await?;
                    self.testbed.host.reconnect()?;
                }
                _ => {}
            }
        }
        if case.is_not_awaited {
            return Ok(None);
        }
        let finished = self.page.wait_for_end(id).await?;
        let events = self.events(id).await?.to_string();
        self.wait_for_other_processes().await?;
        let worktree = self.worktree();
        let outcome = Outcome::of(&self.testbed, &case.expected, worktree.as_deref(), finished, events)?;
        outcome.check(&case.expected, &self.testbed, &self.clone)?;
        self.connection.check()?;
        Ok(Some(outcome))
    }

    async fn set_up(&mut self, case: &Case) -> Result<()> {
        for precondition in &case.preconditions {
            match precondition {
                Precondition::InWorktree(command) => {
                    let worktree = self.worktree().context("the plan has no worktree")?;
                    shell(&self.testbed, &worktree, command).await?;
                }
                Precondition::Trust => {
                    let mut command =
                        self.testbed.home.command(&loopgate_testkit::loopgate::binary()?.to_string_lossy());
                    let output = command
                        .args(["trust", "--yes", "--home"])
                        .arg(self.data_dir()?)
                        .arg(&self.clone)
                        .output()
                        .await?;
                    ensure!(output.status.success(), "{output:?}");
                }
                other => establish(other, &self.testbed, &self.clone).await?,
            }
        }
        Ok(())
    }

    fn data_dir(&self) -> Result<PathBuf> {
        Ok(self.loopgate.as_ref().context("Loopgate is not running")?.setup().data_dir())
    }

    async fn intervene(&mut self, intervention: Intervention, id: &str) -> Result<()> {
        match intervention {
            Intervention::Cancel => {
                self.page.post(&format!("/loops/{id}/cancel"), &json!({})).await?;
            }
            Intervention::CancelInPreparation => {
                wait::until_exists(&self.testbed.home.path().join("preparing")).await?;
                self.page.post(&format!("/loops/{id}/cancel"), &json!({})).await?;
            }
            Intervention::Shell(command) => {
                let worktree = self.worktree().context("the loop has no worktree")?;
                shell(&self.testbed, &worktree, command).await?;
            }
            Intervention::Kill(part) => self.kill(|command| command.contains(part))?,
            Intervention::KillLoopgate => self.restart().await?,
            Intervention::KillAll => {
                self.kill(|_| true)?;
                self.restart().await?;
            }
            Intervention::CutRemote => {
                self.testbed.home.script("code-host-ssh", UNREACHABLE)?;
            }
            Intervention::CutCodeHost => self.testbed.host.disconnect()?,
            // No timer of the processes may fire between the change of the clock and their continuation.
            Intervention::Sleep => {
                let processes = home_processes::processes(self.testbed.home.path());
                processes.iter().for_each(|process| drop(signal(process.pid, "STOP")));
                clock::advance(self.testbed.home.path(), 24)?;
                processes.iter().for_each(|process| drop(signal(process.pid, "CONT")));
                self.sign_in_again().await?;
            }
        }
        Ok(())
    }

    /// Signs in with the link that a second `loopgate up` prints: sessions expire after twelve hours without
    /// requests.
    async fn sign_in_again(&mut self) -> Result<()> {
        let loopgate = self.loopgate.as_ref().context("Loopgate is not running")?;
        let setup = loopgate.setup();
        let mut command = self.testbed.home.command(&setup.program().to_string_lossy());
        let output = command.args(["up", "--no-open", "--home"]).arg(setup.data_dir()).output().await?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let link = printed.split_whitespace().find(|word| word.contains("/sign-in?token="));
        self.page =
            loopgate.sign_in_by(link.with_context(|| format!("no sign-in link in {printed}"))?).await?;
        Ok(())
    }

    /// Waits until the loop reports that its delivery is waiting for a server.
    async fn wait_for_waiting_delivery(&self, id: &str) -> Result<()> {
        let mut stream = self.page.request(Method::GET, &format!("/loops/{id}/stream")).send().await?;
        let mut events = String::new();
        while !events.contains("Delivery is waiting") {
            let piece = stream
                .chunk()
                .await?
                .with_context(|| format!("the stream ended without a waiting delivery: {events}"))?;
            events.push_str(&String::from_utf8_lossy(&piece));
        }
        Ok(())
    }

    fn kill(&self, predicate: impl Fn(&str) -> bool) -> Result<()> {
        let loopgate_pid = self.loopgate.as_ref().and_then(Loopgate::pid);
        let processes = home_processes::processes(self.testbed.home.path());
        let mut targets = processes
            .iter()
            .filter(|process| Some(process.pid) != loopgate_pid && predicate(&process.command))
            .peekable();
        ensure!(targets.peek().is_some(), "no process to kill in {processes:?}");
        // A process may exit because another one was killed.
        targets.for_each(|process| drop(signal(process.pid, "KILL")));
        Ok(())
    }

    async fn restart(&mut self) -> Result<()> {
        let mut loopgate = self.loopgate.take().context("Loopgate is not running")?;
        loopgate.kill().await?;
        let loopgate = self.loopgate.insert(loopgate.start_again().await?);
        self.page = self.page.at(loopgate);
        Ok(())
    }

    /// Waits until Loopgate is the only process of the home.
    async fn wait_for_other_processes(&self) -> Result<()> {
        let loopgate_pid = self.loopgate.as_ref().and_then(Loopgate::pid);
        let others =
            || home_processes::processes(self.testbed.home.path()).into_iter().map(|process| process.pid);
        wait::all_end(|| others().filter(|pid| Some(*pid) != loopgate_pid).collect()).await
    }

    async fn events(&self, id: &str) -> Result<Value> {
        Ok(self.page.get(&format!("/loops/{id}/events")).await?["data"].take())
    }

    /// Returns the loop's worktree. A directory that was moved aside has a suffix, and therefore sorts after
    /// it.
    fn worktree(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.testbed.sandbox()).ok()?.flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("shop-loop-"))
        });
        paths.sort();
        paths.into_iter().next()
    }
}

/// Establishes a precondition that requires no running Loopgate.
async fn establish(precondition: &Precondition, testbed: &Testbed, clone: &Path) -> Result<()> {
    match precondition {
        Precondition::Repository(name, file) => testbed.add_remote(name, &[*file])?,
        Precondition::Fork => {
            testbed.remotes.fork(REPOSITORY, FORK)?;
            testbed.host.add_repository(FORK)?;
        }
        Precondition::RemoteHook(name, text) => {
            let hook = testbed.remotes.bare(REPOSITORY).join("hooks").join(name);
            let script = testbed.home.script("remote-hook", text)?;
            // Written through `script` first, which makes the file executable.
            std::fs::copy(script, hook)?;
        }
        Precondition::InRemote(command) => {
            shell(testbed, &testbed.remotes.bare(REPOSITORY), command).await?;
        }
        Precondition::InClone(command) => shell(testbed, clone, command).await?,
        Precondition::Host(fault) => testbed.host.fail(fault.clone()),
        Precondition::Program(name, text) => {
            testbed.home.script(name, text)?;
        }
        Precondition::InWorktree(_) | Precondition::Trust => bail!("the precondition requires a loop"),
    }
    Ok(())
}

async fn shell(testbed: &Testbed, directory: &Path, command: &str) -> Result<()> {
    let output = testbed.home.command("sh").args(["-c", command]).current_dir(directory).output().await?;
    ensure!(output.status.success(), "{command}: {output:?}");
    Ok(())
}

/// Returns the script of the model: a valid plan before EXECUTE, and the case's loop.
fn script(case: &Case) -> Script {
    let conversation = |name| in_loop(name, &case.command.to_uppercase());
    let detect_later_run =
        (!case.later_turns.is_empty()).then(|| ModelTurn(vec![ModelStep::bash(DETECT_LATER_RUN)]));
    let turns = detect_later_run.clone().into_iter().chain(case.turns.clone()).collect();
    let first = Conversation { turns, ..conversation("trial") };
    let later = detect_later_run.into_iter().chain(case.later_turns.clone()).collect();
    let later = Conversation { turns: later, ..conversation("trial, later run").after_result(LATER_RUN) };
    let planner = (case.command == "execute" && case.previous.is_none()).then(planner);
    // A later run matches both conversations of the loop, so the more specific one comes first.
    let mut script = Script::new([later, first].into_iter().chain(planner));
    script.otherwise = Some("Nothing to add.".to_owned());
    script
}

/// Returns the repository member of a launch request.
fn repo(case: &Case) -> Value {
    match case.branch {
        Some(branch) => json!({"fullName": case.repository, "branch": branch}),
        None => json!({"fullName": case.repository}),
    }
}

fn in_loop(name: &str, command: &str) -> Conversation {
    Conversation::when(name, "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
}

fn planner() -> Conversation {
    in_loop("plan", "PLAN")
        .turn([ModelStep::write("{{workdir}}/plan.json", PLAN)])
        .says("Planned.\n\n<promise>COMPLETE</promise>")
}
