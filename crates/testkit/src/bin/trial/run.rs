//! One trial: a testbed of its own, the plan, the loop, the act, and a look at what came of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::{Loopgate, SignedIn, signal};
use loopgate_testkit::model::{Conversation, Script, Step, Turn};
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{clock, wait};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::case::{Case, GATE, Intervention, PLAN, Precondition};
use crate::outcome::Outcome;

const REPOSITORY: &str = "acme/shop";
const FILES: [(&str, &str); 1] = [("README.md", "# Shop\n")];
/// A trial that takes longer hangs; the longest goes through every iteration of a loop.
const LIMIT: Duration = Duration::from_mins(15);
/// What the assistant finds out first when it does something else in its further runs, and the answer.
const LOOKS: &str = "test -e .loopgate/work/again && echo A further run. || touch .loopgate/work/again";
const AGAIN: &str = r"A further run\.";
/// Stands where the network is gone.
const UNREACHABLE: &str =
    "#!/bin/sh\necho 'ssh: connect to host github.com port 22: Connection refused' >&2\nexit 255\n";

/// Tries a case.
pub async fn run(case: Case) -> Result<Outcome> {
    let mut trial = TrialRun::new(&case).await?;
    let outcome = timeout(LIMIT, trial.go(&case)).await;
    let outcome = outcome.unwrap_or_else(|_| bail!("it does not end within {LIMIT:?}"));
    outcome.with_context(|| trial.loopgate.as_ref().map(Loopgate::output).unwrap_or_default())
}

struct TrialRun {
    loopgate: Option<Loopgate>,
    page: SignedIn,
    testbed: Testbed,
    clone: PathBuf,
}

impl TrialRun {
    async fn new(case: &Case) -> Result<Self> {
        let testbed = Testbed::new(Script::default()).await?;
        testbed.add_remote(REPOSITORY, &FILES)?;
        if case.branch != "main" {
            git(&testbed.remotes.bare(REPOSITORY), &["branch", "-m", "main", case.branch])?;
        }
        let clone = testbed.add_repository(REPOSITORY, &FILES)?;
        testbed.home.link("real-git", &real_git()?)?;
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let mut setup = testbed.loopgate()?.env("LOOPGATE_ITERATION_PAUSE_MS", "1");
        // What fails for ever takes seconds, not minutes.
        setup = setup.env("CLAUDE_CODE_MAX_RETRIES", "3");
        if matches!(case.act, Some(Intervention::Sleep)) {
            for (name, value) in clock::environment(testbed.home.path())? {
                setup = setup.env(name, value);
            }
        }
        let loopgate = setup.arg("--api-origin").arg(format!("http://127.0.0.1:{port}")).start().await?;
        let page = loopgate.sign_in().await?;
        Ok(Self { loopgate: Some(loopgate), page, testbed, clone })
    }

    async fn go(&mut self, case: &Case) -> Result<Outcome> {
        let mut cases: Vec<&Case> =
            std::iter::successors(Some(case), |case| case.before.as_deref()).collect();
        let first = cases.pop().context("a case")?;
        if first.command == "plan" {
            self.arrange(first).await?;
        }
        self.testbed.model.play(script(first))?;
        let (document, planned) = self.plan(case).await?;
        let id = if first.command == "plan" {
            planned
        } else {
            let ended = self.page.wait_for_end(&planned).await?;
            ensure!(ended["status"] == "COMPLETED", "the plan: {ended}");
            self.arrange(first).await?;
            self.start(case, &document, "execute").await?
        };
        let mut outcome = self.follow(first, &id).await?;
        for next in cases.into_iter().rev() {
            self.testbed.model.play(script(next))?;
            self.arrange(next).await?;
            let id = self.start(case, &document, next.command).await?;
            outcome = self.follow(next, &id).await?;
        }
        outcome.context("the loop under trial is waited for")
    }

    /// Writes the wish down and has it planned. Answers the ids of the document and of the loop.
    async fn plan(&self, case: &Case) -> Result<(String, String)> {
        let body =
            json!({"type": "FEATURE", "title": "Add a file", "content": "Add a file", "repo": repo(case)});
        let document = self.page.post("/documents", &body).await?["data"]["id"].take();
        let document = document.as_str().context("the id of a document")?.to_owned();
        let planned = self.start(case, &document, "plan").await?;
        Ok((document, planned))
    }

    /// Starts a loop of the document. Answers its id.
    async fn start(&self, case: &Case, document: &str, command: &str) -> Result<String> {
        let body = json!({"command": command, "repo": repo(case)});
        let started = self.page.post(&format!("/documents/{document}/run-loop"), &body).await?;
        started["data"]["loopId"].as_str().map(str::to_owned).context("the id of a loop")
    }

    /// Lets happen what happens, and looks at what came of the loop, unless nobody waits for its end.
    async fn follow(&mut self, case: &Case, id: &str) -> Result<Option<Outcome>> {
        if let Some(act) = case.act {
            let is_held = case
                .turns
                .iter()
                .chain(&case.commit)
                .any(|turn| turn.0.iter().any(|step| matches!(step, Step::Hold(_))));
            if is_held {
                self.testbed.model.held(GATE).await?;
            }
            self.act(act, id).await?;
            self.testbed.model.release(GATE);
            match act {
                Intervention::CutRemote => {
                    self.waits(id).await?;
                    let remotes = self.testbed.remotes.clone();
                    self.testbed.home.reach_remotes(&remotes)?;
                }
                Intervention::CutCodeHost => {
                    self.waits(id).await?;
                    self.testbed.host.reconnect()?;
                }
                _ => {}
            }
        }
        if case.is_left {
            return Ok(None);
        }
        let ended = self.page.wait_for_end(id).await?;
        let events = self.events(id).await?.to_string();
        self.is_alone().await?;
        let worktree = self.worktree();
        let outcome = Outcome::of(&self.testbed, REPOSITORY, worktree.as_deref(), ended, events)?;
        outcome.check(&case.expected, &self.testbed, REPOSITORY, &self.clone)?;
        Ok(Some(outcome))
    }

    async fn arrange(&mut self, case: &Case) -> Result<()> {
        for precondition in &case.preconditions {
            match precondition {
                Precondition::RemoteHook(name, text) => {
                    let hook = self.testbed.remotes.bare(REPOSITORY).join("hooks").join(name);
                    self.testbed.home.script("remote-hook", text)?;
                    std::fs::copy(self.testbed.home.path().join("bin/remote-hook"), hook)?;
                }
                Precondition::InClone(command) => self.shell(&self.clone, command).await?,
                Precondition::InWorktree(command) => {
                    let worktree = self.worktree().context("a worktree of the plan")?;
                    self.shell(&worktree, command).await?;
                }
                Precondition::Host(fault) => self.testbed.host.fail(fault.clone()),
                Precondition::Program(name, text) => {
                    self.testbed.home.script(name, text)?;
                }
                Precondition::Trust => {
                    let mut command =
                        self.testbed.home.command(&loopgate_testkit::loopgate::binary()?.to_string_lossy());
                    let trusted = command
                        .args(["trust", "--yes", "--home"])
                        .arg(self.data_dir()?)
                        .arg(&self.clone)
                        .output()
                        .await?;
                    ensure!(trusted.status.success(), "{trusted:?}");
                }
            }
        }
        Ok(())
    }

    fn data_dir(&self) -> Result<PathBuf> {
        Ok(self.loopgate.as_ref().context("a Loopgate")?.setup().data_dir())
    }

    async fn shell(&self, directory: &Path, command: &str) -> Result<()> {
        let done =
            self.testbed.home.command("sh").args(["-c", command]).current_dir(directory).output().await?;
        ensure!(done.status.success(), "{command}: {done:?}");
        Ok(())
    }

    async fn act(&mut self, act: Intervention, id: &str) -> Result<()> {
        match act {
            Intervention::Stop => {
                self.page.post(&format!("/loops/{id}/cancel"), &json!({})).await?;
            }
            Intervention::StopInPreparation => {
                wait::appears(&self.testbed.home.path().join("preparing")).await?;
                self.page.post(&format!("/loops/{id}/cancel"), &json!({})).await?;
            }
            Intervention::Shell(command) => {
                let worktree = self.worktree().context("a worktree")?;
                self.shell(&worktree, command).await?;
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

    /// Signs in by the link that a second `loopgate up` prints: a session ends after twelve idle hours.
    async fn sign_in_again(&mut self) -> Result<()> {
        let loopgate = self.loopgate.as_ref().context("a Loopgate")?;
        let setup = loopgate.setup();
        let mut command = self.testbed.home.command(&setup.program().to_string_lossy());
        let printed = command.args(["up", "--no-open", "--home"]).arg(setup.data_dir()).output().await?;
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        let link = printed.split_whitespace().find(|word| word.contains("/sign-in?token="));
        self.page = loopgate.sign_in_by(link.with_context(|| format!("a link in {printed}"))?).await?;
        Ok(())
    }

    /// Waits until the loop says that its delivery waits for somebody.
    async fn waits(&self, id: &str) -> Result<()> {
        let mut stream = self.page.request(Method::GET, &format!("/loops/{id}/stream")).send().await?;
        let mut said = String::new();
        while !said.contains("The delivery waits") {
            let piece = stream.chunk().await?.with_context(|| format!("it waits for nothing: {said}"))?;
            said.push_str(&String::from_utf8_lossy(&piece));
        }
        Ok(())
    }

    fn kill(&self, which: impl Fn(&str) -> bool) -> Result<()> {
        let own = self.loopgate.as_ref().and_then(Loopgate::pid);
        let found = home_processes::processes(self.testbed.home.path());
        let mut hit =
            found.iter().filter(|process| Some(process.pid) != own && which(&process.command)).peekable();
        ensure!(hit.peek().is_some(), "nothing to kill in {found:?}");
        // One that ends with another is none.
        hit.for_each(|process| drop(signal(process.pid, "KILL")));
        Ok(())
    }

    async fn restart(&mut self) -> Result<()> {
        let mut loopgate = self.loopgate.take().context("a Loopgate")?;
        loopgate.kill().await?;
        let loopgate = self.loopgate.insert(loopgate.start_again().await?);
        self.page = self.page.at(loopgate);
        Ok(())
    }

    /// Waits until nothing but Loopgate runs in the home.
    async fn is_alone(&self) -> Result<()> {
        let own = self.loopgate.as_ref().and_then(Loopgate::pid);
        let others =
            || home_processes::processes(self.testbed.home.path()).into_iter().map(|process| process.pid);
        wait::all_end(|| others().filter(|pid| Some(*pid) != own).collect()).await
    }

    async fn events(&self, id: &str) -> Result<Value> {
        Ok(self.page.get(&format!("/loops/{id}/events")).await?["data"].take())
    }

    /// The worktree of the loop; one that was moved aside has another name.
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

/// What the model says: a good plan before an execution, the loop under trial, and the commit.
fn script(case: &Case) -> Script {
    let in_trial = |name| in_loop(name, &case.command.to_uppercase());
    let looks = (!case.later.is_empty()).then(|| Turn(vec![Step::bash(LOOKS)]));
    let turns = looks.clone().into_iter().chain(case.turns.clone()).collect();
    let first = Conversation { turns, ..in_trial("trial") };
    let later = looks.into_iter().chain(case.later.clone()).collect();
    let later = Conversation { turns: later, ..in_trial("trial, again").after_result(AGAIN) };
    let commit =
        if case.commit.is_empty() { vec![Turn(vec![Step::text("Not I.")])] } else { case.commit.clone() };
    let commit = Conversation { turns: commit, ..Conversation::when("commit", "git push -u origin HEAD") };
    let planner = (case.command == "execute" && case.before.is_none()).then(planner);
    let mut script = Script::new([commit, later, first].into_iter().chain(planner));
    script.otherwise = Some("Nothing to add.".to_owned());
    script
}

/// The git of this machine, for scripts in its place.
fn real_git() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|directory| directory.join("git")).find(|git| git.is_file());
    found.context("git is not installed")
}

/// The repository as a request for a loop names it.
fn repo(case: &Case) -> Value {
    if case.branch == "main" {
        json!({"fullName": REPOSITORY, "branch": "main"})
    } else {
        json!({"fullName": REPOSITORY})
    }
}

fn in_loop(name: &str, command: &str) -> Conversation {
    Conversation::when(name, "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
}

fn planner() -> Conversation {
    in_loop("plan", "PLAN")
        .turn([Step::write("{{workdir}}/plan.json", PLAN)])
        .says("Planned.\n\n<promise>COMPLETE</promise>")
}
