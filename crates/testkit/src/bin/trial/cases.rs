//! Every case that is tried.

use crate::case::{Case, Intervention, PLAN, PROMISE, Precondition, WORK, WRITES};

/// All of them.
pub fn all() -> Vec<Case> {
    [
        words(),
        plans(),
        service(),
        worktree(),
        contents(),
        remote(),
        code_host(),
        commits(),
        person(),
        machine(),
        deaths(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn write_plan(plan: &str) -> String {
    format!("printf '%s' '{plan}' > \"$LOOPGATE_WORKDIR/plan.json\"")
}

fn asks(question: &str) -> String {
    format!(
        "loopgate plan set-state 'Phase 3: Implementation' AWAITING_USER --workdir \"$LOOPGATE_WORKDIR\" --action '{question}'"
    )
}

/// An execution that opens a pull request.
fn delivery(file: &'static str) -> Case {
    Case::execute("a delivery").runs(&format!("echo first > {file}")).done().delivers_files(&[file])
}

/// A good plan that keeps what an earlier loop of the document left.
fn plan_again(name: &'static str) -> Case {
    Case::plan(name).runs(&write_plan(PLAN)).done().ends("COMPLETED").keeps(WORK)
}

/// Stands where a program is not installed.
const MISSING: &str = "#!/bin/sh\necho \"$0: not found\" >&2\nexit 127\n";
/// Writes the beginning of the list of repositories, and the rest a moment later.
const HALF_WRITTEN: &str = "f=../.loopgate/config/repos.json; cp $f ../whole; head -c 20 ../whole > $f; \
    (sleep 0.7; cat ../whole > $f) > /dev/null 2>&1 &";
/// A git that is slow to make a worktree, and says so.
const SLOW_GIT: &str = "#!/bin/sh\ncase \" $* \" in *' worktree add '*) touch \"$HOME/preparing\"; sleep 3;; esac\nexec real-git \"$@\"\n";
const SLOWER_GIT: &str =
    "#!/bin/sh\ncase \" $* \" in *' worktree add '*) sleep 22;; esac\nexec real-git \"$@\"\n";
const OPEN_TASK: &str = r#"{"content": "", "acceptanceCriteria": [], "pendingTasks": [{"id": "T-1.1", "description": "Do it"}], "completedTasks": [], "openQuestions": [], "answeredQuestions": [], "gaps": []}"#;

/// What the assistant says of its own work.
fn words() -> Vec<Case> {
    vec![
        Case::execute("a promise in a sentence").runs(WRITES).says("I will say <promise>COMPLETE</promise> soon.").done_later().delivers(),
        Case::execute("a promise in a fence")
            .runs(WRITES)
            .says("It ends so:\n```\n<promise>COMPLETE</promise>\n```")
            .done_later()
            .delivers(),
        Case::execute("a promise in a quotation").runs(WRITES).says("> <promise>COMPLETE</promise>").done_later().delivers(),
        Case::execute("a promise that is taken back")
            .runs(WRITES)
            .says("<promise>COMPLETE</promise>\nBut wait, a test fails.")
            .done_later()
            .delivers(),
        Case::execute("no promise at all")
            .runs(WRITES)
            .says("More tomorrow.")
            .ends("AWAITING_USER")
            .because("changed neither the plan nor the files")
            .keeps(WORK),
        Case::execute("a promise with an open task")
            .runs(WRITES)
            .runs(&write_plan(OPEN_TASK))
            .done()
            .ends("FAILED")
            .because("PENDING_TASKS_AT_COMPLETION")
            .because("T-1.1")
            .keeps(WORK),
        Case::execute("a promise with an open task, after a plan that awaited its reader")
            .runs(&write_plan(OPEN_TASK))
            .done()
            .given(Precondition::InWorktree(
                "printf '{\"status\":\"AWAITING_USER\"}' > .loopgate/work/state.json",
            ))
            .ends("FAILED")
            .because("PENDING_TASKS_AT_COMPLETION"),
        Case::execute("a question in the middle")
            .runs(WRITES)
            .runs(&asks("Which currency?"))
            .done()
            .ends("AWAITING_USER")
            .because("Which currency?")
            .keeps(WORK),
        Case::execute("no word and no work").says("").ends("FAILED").because("answered nothing 3 times"),
        Case::execute("nothing to do").runs("true").done().ends("COMPLETED").because("no_changes"),
        Case::execute("a made-up pull request")
            .runs(WRITES)
            .done()
            .commits_with("printf '{\"prUrl\":\"https://github.com/acme/shop/pull/77\",\"prNumber\":77,\"branchName\":\"x\",\"commitSha\":\"0123456789012345678901234567890123456789\"}' > execution-result.json")
            .delivers(),
        Case::execute("a pull request of another repository")
            .runs(WRITES)
            .done()
            .commits_with("printf '{\"prUrl\":\"https://github.com/other/place/pull/1\",\"prNumber\":1,\"branchName\":\"main\",\"commitSha\":\"0123456789012345678901234567890123456789\"}' > execution-result.json")
            .delivers(),
        Case::execute("no promise, with a pull request open")
            .after(delivery("first.txt"))
            .runs(WRITES)
            .says("More tomorrow.")
            .ends("AWAITING_USER")
            .because("changed neither the plan nor the files")
            .with_pull_requests(1)
            .keeps(WORK),
        Case::execute("a second execution with a pull request open")
            .after(delivery("first.txt"))
            .runs(WRITES)
            .done()
            .delivers_files(&["first.txt", WORK]),
        Case::execute("a push of its own")
            .runs("echo 'API_KEY=s3cr3t' > .env && echo work > work.txt && git add -f .env work.txt && git commit -qm Work")
            .runs("git push -u origin HEAD")
            .runs("gh pr create --title Mine --body Mine")
            .done()
            .delivers()
            .because(".env")
            .holds_back(".env"),
    ]
}

/// What the assistant leaves as a plan.
fn plans() -> Vec<Case> {
    vec![
        Case::plan("a plan that is no JSON")
            .runs(&write_plan("{\"content\": "))
            .done()
            .ends("FAILED")
            .because("INVALID_PLAN")
            .because("JSON parse error"),
        Case::plan("a plan that breaks its schema")
            .runs(&write_plan("{\"content\": 7}"))
            .done()
            .ends("FAILED")
            .because("INVALID_PLAN")
            .because("Field content must be a string"),
        Case::plan("a plan that is put right")
            .runs(&write_plan("[]"))
            .done()
            .runs(&write_plan(PLAN))
            .done()
            .ends("COMPLETED"),
        Case::plan("no plan").runs("true").done().ends("COMPLETED").because("REQUIRED_OUTPUT_MISSING"),
        Case::plan("a plan that is a link")
            .runs("ln -s /etc/hostname \"$LOOPGATE_WORKDIR/plan.json\"")
            .done()
            .ends("COMPLETED")
            .because("REQUIRED_OUTPUT_MISSING"),
        Case::plan("a plan of twenty megabytes")
            .runs("head -c 20000000 /dev/zero | tr '\\0' x > \"$LOOPGATE_WORKDIR/plan.json\"")
            .done()
            .ends("COMPLETED"),
    ]
}

/// The model's service.
fn service() -> Vec<Case> {
    vec![
        Case::execute("busy twice").fails(529, "overloaded_error", Some(2)).runs(WRITES).done().delivers(),
        Case::execute("broken twice").fails(500, "api_error", Some(2)).runs(WRITES).done().delivers(),
        Case::execute("a connection that drops twice").drops(2).runs(WRITES).done().delivers(),
        Case::execute("a bad request for ever")
            .runs(WRITES)
            .fails(400, "invalid_request_error", None)
            .ends("FAILED")
            .because("invalid_request_error")
            .keeps(WORK),
        Case::execute("a key that is not accepted")
            .slow()
            .fails(401, "authentication_error", None)
            .ends("FAILED")
            .because("AUTH"),
        Case::execute("no permission for the model")
            .fails(403, "permission_error", None)
            .ends("FAILED")
            .because("permission_error"),
        Case::execute("a model that is not there").fails(404, "not_found_error", None).ends("FAILED"),
        Case::execute("a prompt that is too long").fails(413, "request_too_large", None).ends("FAILED"),
        Case::execute("busy for ever")
            .slow()
            .runs(WRITES)
            .fails(529, "overloaded_error", None)
            .ends("FAILED")
            .because("The model's service is overloaded.")
            .keeps(WORK),
        Case::execute("broken for ever")
            .slow()
            .runs(WRITES)
            .fails(500, "api_error", None)
            .ends("FAILED")
            .because("api_error")
            .keeps(WORK),
    ]
}

/// What the assistant does to the place where it works.
fn worktree() -> Vec<Case> {
    vec![
        Case::execute("a detached worktree").runs("git checkout -q --detach").runs(WRITES).done().delivers(),
        Case::execute("commits on a detached worktree")
            .runs("git checkout -q --detach && echo work > work.txt && git add work.txt && git commit -qm Work")
            .done()
            .delivers(),
        Case::execute("a branch of its own")
            .runs("git switch -qc mine && echo work > work.txt && git add work.txt && git commit -qm Work")
            .done()
            .delivers(),
        Case::execute("the base branch")
            .runs("git switch -q --ignore-other-worktrees main && echo work > work.txt && git add work.txt && git commit -qm Work")
            .done().delivers(),
        Case::execute("a worktree without its link to git").runs(WRITES).runs("unlink .g?t").done().delivers(),
        Case::execute("a deleted worktree").runs("rm -rf \"$PWD\"").done().ends("FAILED").because("was deleted while the loop ran"),
        Case::execute("a worktree that is deleted between plan and execution")
            .runs(WRITES)
            .done()
            .given(Precondition::InWorktree("rm -rf \"$PWD\""))
            .delivers(),
        Case::execute("a worktree that is detached between plan and execution")
            .runs(WRITES)
            .done()
            .given(Precondition::InWorktree("git checkout -q --detach"))
            .delivers(),
        Case::execute("a worktree that is on its base branch between plan and execution")
            .runs(WRITES)
            .done()
            .given(Precondition::InWorktree("git switch -q --ignore-other-worktrees main"))
            .delivers(),
        Case::execute("a file in place of the worktree")
            .runs(WRITES)
            .done()
            .given(Precondition::InWorktree("d=\"$PWD\"; cd ..; rm -rf \"$d\"; echo strange > \"$d\""))
            .delivers(),
        Case::execute("a stale lock of the index").runs(WRITES).runs("touch \"$(git rev-parse --git-path index.lock)\"").done().delivers(),
        Case::execute("a merge that is under case")
            .runs("git switch -qc other && echo a > work.txt && git add . && git commit -qm A && git switch -q - && echo b > work.txt && git add . && git commit -qm B; git merge other || true")
            .done().delivers(),
        plan_again("a plan after commits on a detached worktree").after(
            Case::execute("commits that are stopped")
                .runs("git checkout -q --detach && echo work > work.txt && git add work.txt && git commit -qm Work")
                .meanwhile(Intervention::Stop)
                .ends("CANCELLED")
                .keeps(WORK),
        ),
        plan_again("a plan after an execution that was stopped").after(
            Case::execute("work that is stopped").runs(WRITES).meanwhile(Intervention::Stop).ends("CANCELLED").keeps(WORK),
        ),
    ]
}

/// What the assistant puts into its work.
fn contents() -> Vec<Case> {
    vec![
        Case::execute("a file with keys")
            .runs("echo 'API_KEY=s3cr3t' > .env && echo work > work.txt")
            .done()
            .delivers()
            .because(".env")
            .holds_back(".env")
            .keeps(".env"),
        Case::execute("a file with keys, committed")
            .runs("echo 'API_KEY=s3cr3t' > .env && echo work > work.txt && git add -A && git commit -qm Work")
            .done()
            .delivers()
            .because(".env")
            .holds_back(".env"),
        Case::execute("3,001 files of dependencies")
            .runs("mkdir -p node_modules/a && for i in $(seq 3001); do echo $i > node_modules/a/$i.js; done; echo work > work.txt")
            .done()
            .delivers()
            .because("node_modules/")
            .holds_back("node_modules"),
        Case::execute("everything added").runs("echo work > work.txt && git add -A -f . && git commit -qm All").done().delivers().holds_back(".loopgate").because(".loopgate/"),
        Case::execute("a link that leads outside").runs("ln -s /etc/passwd secrets && echo work > work.txt").done().delivers(),
        Case::execute("names with blanks, quotes and line breaks")
            .runs("echo work > work.txt && echo a > 'a \"b\" c' && printf x > \"$(printf 'a\\nb')\"")
            .done()
            .delivers(),
        Case::execute("a repository within the repository")
            .runs("git init -q inner && echo x > inner/x && echo work > work.txt")
            .done()
            .ends("COMPLETED")
            .keeps(WORK),
    ]
}

/// The remote repository.
fn remote() -> Vec<Case> {
    let refuses = |text| Precondition::RemoteHook("pre-receive", text);
    vec![
        Case::execute("a push that a rule refuses")
            .runs(WRITES)
            .done()
            .given(refuses("#!/bin/sh\necho 'GH013: rule violations found' >&2\nexit 1\n"))
            .ends("COMPLETED")
            .because("GIT_PUSH_FAILED")
            .because("rule violations")
            .keeps(WORK),
        Case::execute("a network that is gone at the push").runs(WRITES).meanwhile(Intervention::CutRemote).done().delivers(),
        Case::execute("a branch with other work")
            .runs(WRITES)
            .done()
            .given(Precondition::InClone(
                "git switch -qc t && git commit -q --allow-empty -m Other && git push -q origin HEAD:refs/heads/\"$(git for-each-ref --format='%(refname:short)' refs/heads/orchestrator | head -1)\" && git switch -q main",
            ))
            .delivers(),
        Case::execute("an account that may not push")
            .runs(WRITES)
            .done()
            .given(Precondition::Program(
                "code-host-ssh",
                "#!/bin/sh\necho 'git@github.com: Permission denied (publickey).' >&2\nexit 255\n",
            ))
            .ends("COMPLETED")
            .because("GIT_PUSH_FAILED")
            .because("Permission denied")
            .keeps(WORK),
        Case::execute("a default branch of another name").of_branch("trunk").runs(WRITES).done().delivers(),
    ]
}

/// The code host.
fn code_host() -> Vec<Case> {
    vec![
        Case::execute("busy when the pull request is opened")
            .runs(WRITES)
            .done()
            .host("PullRequestCreate", 502, Some(2))
            .delivers(),
        Case::execute("a pull request that is refused")
            .runs(WRITES)
            .done()
            .host("PullRequestCreate", 403, None)
            .ends("COMPLETED")
            .because("GIT_PUSH_FAILED")
            .keeps(WORK),
        Case::execute("a label that is refused").runs(WRITES).done().host("labels", 404, None).delivers(),
        Case::execute("no program for the code host")
            .runs(WRITES)
            .done()
            .given(Precondition::Program("gh", "#!/bin/sh\nexit 127\n"))
            .ends("COMPLETED")
            .because("GIT_PUSH_FAILED")
            .keeps(WORK),
        Case::execute("a code host that is gone when the pull request is opened")
            .runs(WRITES)
            .meanwhile(Intervention::CutCodeHost)
            .done()
            .delivers(),
    ]
}

/// What happens when the work is committed.
fn commits() -> Vec<Case> {
    let hook = |text: &'static str| Precondition::InClone(text);
    vec![
        Case::execute("a commit hook that refuses")
            .runs(WRITES)
            .done()
            .given(hook("printf '#!/bin/sh\\necho no tests >&2\\nexit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit"))
            .given(Precondition::Trust)
            .ends("COMPLETED")
            .because("no tests")
            .keeps(WORK),
        Case::execute("a commit hook of a repository that is not trusted")
            .runs(WRITES)
            .done()
            .given(hook("printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit"))
            .delivers(),
        Case::execute("a commit without a push").runs(WRITES).done().commits_with("git add -A && git commit -qm Work").delivers(),
        Case::execute("a push without a pull request")
            .runs(WRITES)
            .done()
            .commits_with("git add -A && git commit -qm Work && git push -qu origin HEAD")
            .delivers(),
        Case::execute("an assistant that dies while it commits").runs(WRITES).done().commits_with("kill -9 $PPID").delivers(),
        Case::execute("no name for the author")
            .runs(WRITES)
            .done()
            .given(hook("git config user.useConfigOnly true")).delivers(),
        Case::execute("a key for signing that is not there")
            .runs(WRITES)
            .done()
            .given(Precondition::InClone("git config --global commit.gpgsign true && git config --global gpg.program /nowhere"))
            .ends("COMPLETED")
            .keeps(WORK),
    ]
}

/// What a person does meanwhile.
fn person() -> Vec<Case> {
    vec![
        Case::execute("a stop while it works")
            .runs(WRITES)
            .meanwhile(Intervention::Stop)
            .done()
            .ends("CANCELLED")
            .keeps(WORK),
        Case::plan("a stop while it plans").meanwhile(Intervention::Stop).done().ends("CANCELLED"),
        Case::execute("a person who commits in the worktree")
            .runs(WRITES)
            .meanwhile(Intervention::Shell(
                "echo p > person.txt && git add person.txt && git commit -qm Mine",
            ))
            .done()
            .delivers_files(&[WORK, "person.txt"]),
        Case::execute("a person who switches the worktree's branch")
            .runs(WRITES)
            .meanwhile(Intervention::Shell("git switch -qc persons"))
            .done()
            .delivers(),
        Case::execute("a person who deletes the worktree")
            .runs(WRITES)
            .meanwhile(Intervention::Shell("rm -rf \"$PWD\""))
            .done()
            .ends("FAILED")
            .because("was deleted while the loop ran"),
        Case::execute("a stop while the work is committed")
            .runs(WRITES)
            .done()
            .commits_meanwhile(Intervention::Stop)
            .ends("CANCELLED")
            .keeps(WORK),
        Case::execute("an order right after a stop")
            .after(
                Case::execute("work that is stopped")
                    .runs("echo first > first.txt")
                    .meanwhile(Intervention::Stop)
                    .left(),
            )
            .runs(WRITES)
            .done()
            .delivers_files(&["first.txt", WORK]),
        Case::plan("a stop in the preparation")
            .given(Precondition::Program("git", SLOW_GIT))
            .at_once(Intervention::StopInPreparation)
            .done()
            .ends("CANCELLED"),
    ]
}

/// Programs that are missing or slow, and files of other programs that are half written.
fn machine() -> Vec<Case> {
    vec![
        Case::plan("a preparation that takes over twenty seconds")
            .slow()
            .given(Precondition::Program("git", SLOWER_GIT))
            .runs(&write_plan(PLAN))
            .done()
            .ends("COMPLETED"),
        Case::execute("no git")
            .given(Precondition::Program("git", MISSING))
            .ends("FAILED")
            .because("not found"),
        Case::execute("no python3")
            .given(Precondition::Program("python3", MISSING))
            .runs(WRITES)
            .done()
            .delivers(),
        Case::execute("a list of repositories that another program is writing")
            .given(Precondition::InClone(HALF_WRITTEN))
            .runs(WRITES)
            .done()
            .delivers()
            .holds(".loopgate/config/repos.json", "/src/shop\""),
        Case::execute("sessions that are half written")
            .given(Precondition::InClone("echo '{\"sessions\": [{\"tick' > ../.loopgate/sessions.json"))
            .runs(WRITES)
            .done()
            .delivers()
            .holds(".loopgate/sessions.json", "{\"sessions\": [{\"tick"),
    ]
}

/// What dies.
fn deaths() -> Vec<Case> {
    vec![
        Case::execute("a Loopgate that dies")
            .runs(WRITES)
            .meanwhile(Intervention::KillLoopgate)
            .done()
            .delivers(),
        Case::execute("an assistant that dies")
            .runs(WRITES)
            .meanwhile(Intervention::Kill("claude"))
            .says(PROMISE)
            .delivers(),
        Case::execute("a driver that dies")
            .runs(WRITES)
            .meanwhile(Intervention::Kill(" loop run "))
            .done()
            .ends("FAILED")
            .keeps(WORK),
        Case::execute("a supervisor that dies")
            .runs(WRITES)
            .meanwhile(Intervention::Kill(" shim "))
            .done()
            .ends("FAILED")
            .keeps(WORK),
        Case::execute("everything that dies")
            .runs(WRITES)
            .meanwhile(Intervention::KillAll)
            .done()
            .ends("FAILED")
            .keeps(WORK),
        Case::execute("a sleep of a day")
            .slow()
            .runs(WRITES)
            .meanwhile(Intervention::Sleep)
            .done()
            .delivers(),
    ]
}
