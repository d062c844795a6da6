//! Definitions of all cases.

use crate::case::{Case, FORK, Intervention, Network, PLAN, PROMISE, Precondition, REPOSITORY, WORK, WRITES};

pub fn all() -> Vec<Case> {
    [
        completion(),
        unproven_work(),
        plans(),
        model_api(),
        worktree(),
        contents(),
        remote(),
        networks(),
        forks(),
        layouts(),
        contents_elsewhere(),
        unfinished_operations(),
        code_host(),
        commits(),
        user(),
        machine(),
        kills(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn write_plan(plan: &str) -> String {
    format!("printf '%s' '{plan}' > \"$LOOPGATE_WORKDIR/plan.json\"")
}

fn ask_user(question: &str) -> String {
    format!(
        "loopgate plan set-state 'Phase 3: Implementation' AWAITING_USER --workdir \"$LOOPGATE_WORKDIR\" --action '{question}'"
    )
}

/// Returns an EXECUTE case that opens a pull request.
fn delivery(file: &'static str) -> Case {
    Case::execute("a delivery").runs(&format!("echo first > {file}")).done().delivers_files(&[file])
}

/// Returns a PLAN case that must preserve the work of an earlier loop of the document.
fn plan_again(name: &'static str) -> Case {
    Case::plan(name).runs(&write_plan(PLAN)).done().ends_with("COMPLETED").preserves(WORK)
}

/// Script that simulates a program that is not installed.
const MISSING: &str = "#!/bin/sh\necho \"$0: not found\" >&2\nexit 127\n";
/// Truncates the list of repositories and completes it a moment later, as a program does that does not write
/// atomically.
const HALF_WRITTEN: &str = "f=../.loopgate/config/repos.json; cp $f ../whole; head -c 20 ../whole > $f; \
    (sleep 0.7; cat ../whole > $f) > /dev/null 2>&1 &";
/// A git that takes 3 s to create a worktree, and marks its start with a file.
const SLOW_GIT: &str = "#!/bin/sh\ncase \" $* \" in *' worktree add '*) touch \"$HOME/preparing\"; sleep 3;; esac\nexec real-git \"$@\"\n";
// Longer than the 20 s after which a launch request is answered without waiting for the preparation.
const SLOWER_GIT: &str =
    "#!/bin/sh\ncase \" $* \" in *' worktree add '*) sleep 22;; esac\nexec real-git \"$@\"\n";
/// Adds a submodule, as the user does it.
const ADDS_SUBMODULE: &str = "git submodule --quiet add git@github.com:acme/lib.git lib && \
    git commit -qm 'Add the library' && git push -q origin main";
/// Adds a file in Git LFS, as the user does it after `git lfs install`. git-lfs copies to file URLs by itself.
const ADDS_LARGE_FILE: &str = "git remote set-url origin https://github.com/acme/shop.git && git lfs install && \
    git lfs track '*.bin' && printf logo > logo.bin && git add . && git commit -qm 'Add a logo' && git push -q origin main";
/// A hook that rejects a branch with a pointer whose content was not uploaded, as hosts do.
const REQUIRES_LFS_CONTENT: &str = "#!/bin/sh\nwhile read -r _ new _; do\n\
    oid=$(git cat-file blob \"$new:logo.bin\" | sed -n 's/oid sha256://p')\n\
    test -n \"$oid\" && test -n \"$(find lfs/objects -name \"$oid\")\" || { echo 'unknown Git LFS object' >&2; exit 1; }\n\
    done\n";
const OPEN_TASK: &str = r#"{"content": "", "acceptanceCriteria": [], "pendingTasks": [{"id": "T-1.1", "description": "Do it"}], "completedTasks": [], "openQuestions": [], "answeredQuestions": [], "gaps": []}"#;

const TICKED_TASK: &str = r#"{"content": "", "acceptanceCriteria": [], "pendingTasks": [], "completedTasks": [{"id": "T-1.1", "description": "Do it"}], "openQuestions": [], "answeredQuestions": [], "gaps": []}"#;
const START_TASK: &str = "loopgate plan set-state 'Phase 3: Implementation' IN_PROGRESS --workdir \"$LOOPGATE_WORKDIR\" --task T-1.1";

/// Returns the cases of the assistant's report about its own work.
fn completion() -> Vec<Case> {
    vec![
        Case::execute("a promise in a sentence").runs(WRITES).says("I will say <promise>COMPLETE</promise> soon.").done_later().delivers(),
        Case::execute("a promise in a fence")
            .runs(WRITES)
            .says("It ends so:\n```\n<promise>COMPLETE</promise>\n```")
            .done_later()
            .delivers(),
        Case::execute("a promise in a quotation").runs(WRITES).says("> <promise>COMPLETE</promise>").done_later().delivers(),
        Case::execute("a promise that is retracted")
            .runs(WRITES)
            .says("<promise>COMPLETE</promise>\nBut wait, a test fails.")
            .done_later()
            .delivers(),
        Case::execute("no promise at all")
            .runs(WRITES)
            .says("More tomorrow.")
            .ends_with("AWAITING_USER")
            .reports("changed neither the plan nor the files")
            .preserves(WORK),
        Case::execute("a promise with an open task")
            .runs(WRITES)
            .runs(&write_plan(OPEN_TASK))
            .done()
            .ends_with("FAILED")
            .reports("PENDING_TASKS_AT_COMPLETION")
            .reports("T-1.1")
            .preserves(WORK),
        Case::execute("a promise with an open task, after a plan that awaited its reader")
            .runs(&write_plan(OPEN_TASK))
            .done()
            .with_precondition(Precondition::InWorktree(
                "printf '{\"status\":\"AWAITING_USER\"}' > .loopgate/work/state.json",
            ))
            .ends_with("FAILED")
            .reports("PENDING_TASKS_AT_COMPLETION"),
        Case::execute("a question in the middle")
            .runs(WRITES)
            .runs(&ask_user("Which currency?"))
            .done()
            .ends_with("AWAITING_USER")
            .reports("Which currency?")
            .preserves(WORK),
        Case::execute("no output and no changes").says("").ends_with("FAILED").reports("returned no answer 3 times"),
        Case::execute("nothing to do").runs("true").done().ends_with("COMPLETED").reports("no_changes"),
        Case::execute("an invented pull request")
            .runs(WRITES)
            .runs("printf '{\"prUrl\":\"https://github.com/acme/shop/pull/77\",\"prNumber\":77,\"branchName\":\"x\",\"commitSha\":\"0123456789012345678901234567890123456789\"}' > execution-result.json")
            .done()
            .delivers(),
        Case::execute("a pull request of another repository")
            .runs(WRITES)
            .runs("printf '{\"prUrl\":\"https://github.com/other/place/pull/1\",\"prNumber\":1,\"branchName\":\"main\",\"commitSha\":\"0123456789012345678901234567890123456789\"}' > execution-result.json")
            .done()
            .delivers(),
        Case::execute("no promise, with a pull request open")
            .after(delivery("first.txt"))
            .runs(WRITES)
            .says("More tomorrow.")
            .ends_with("AWAITING_USER")
            .reports("changed neither the plan nor the files")
            .with_pull_requests(1)
            .preserves(WORK),
        Case::execute("a second execution with a pull request open")
            .after(delivery("first.txt"))
            .runs(WRITES)
            .done()
            .delivers_files(&["first.txt", WORK]),
        Case::execute("an assistant that pushes")
            .runs("echo 'API_KEY=s3cr3t' > .env && echo work > work.txt && git add -f .env work.txt && git commit -qm Work")
            .runs("git push -u origin HEAD")
            .runs("gh pr create --title Mine --body Mine")
            .done()
            .delivers()
            .reports(".env")
            .withholds(".env"),
    ]
}

/// Returns the cases of work that is reported but not proven, and of work that is taken back.
fn unproven_work() -> Vec<Case> {
    vec![
        Case::execute("a task that is ticked by hand")
            .runs(WRITES)
            .runs(&write_plan(TICKED_TASK))
            .done()
            .ends_with("FAILED")
            .reports("UNCHECKED_TASKS")
            .preserves(WORK),
        Case::execute("a task that disappears from the plan")
            .runs(WRITES)
            .runs(&write_plan(OPEN_TASK))
            .runs(START_TASK)
            .runs(&write_plan(PLAN))
            .done()
            .ends_with("FAILED")
            .reports("T-1.1 was removed")
            .preserves(WORK),
        Case::execute("a stash").runs(WRITES).runs("git stash -u").done().delivers(),
        Case::execute("a hard reset in a script")
            .runs("echo work > work.txt; git add work.txt; echo 'git reset --hard' > undo.sh")
            .runs("sh undo.sh; rm undo.sh")
            .runs("rm undo.sh")
            .done()
            .delivers(),
        Case::execute("a worktree elsewhere")
            .runs(WRITES)
            .runs("git worktree add ../elsewhere && mv work.txt ../elsewhere/")
            .done()
            .delivers(),
        Case::execute("work that git ignores")
            .runs("echo '*.txt' >> \"$(git rev-parse --git-common-dir)/info/exclude\"; echo work > work.txt")
            .done()
            .ends_with("AWAITING_USER")
            .reports("work.txt")
            .preserves(WORK),
        Case::execute("a model that does not exist")
            .fails(404, "not_found_error", None)
            .ends_with("FAILED")
            .reports("loop_model"),
    ]
}

/// Returns the cases of plans that the assistant writes.
fn plans() -> Vec<Case> {
    vec![
        Case::plan("a plan with invalid JSON")
            .runs(&write_plan("{\"content\": "))
            .done()
            .ends_with("FAILED")
            .reports("INVALID_PLAN")
            .reports("JSON parse error"),
        Case::plan("a plan that violates its schema")
            .runs(&write_plan("{\"content\": 7}"))
            .done()
            .ends_with("FAILED")
            .reports("INVALID_PLAN")
            .reports("Field content must be a string"),
        Case::plan("a plan that is corrected")
            .runs(&write_plan("[]"))
            .done()
            .runs(&write_plan(PLAN))
            .done()
            .ends_with("COMPLETED"),
        Case::plan("no plan").runs("true").done().ends_with("COMPLETED").reports("REQUIRED_OUTPUT_MISSING"),
        Case::plan("a plan that is a link")
            .runs("ln -s /etc/hostname \"$LOOPGATE_WORKDIR/plan.json\"")
            .done()
            .ends_with("COMPLETED")
            .reports("REQUIRED_OUTPUT_MISSING"),
        Case::plan("a plan of twenty megabytes")
            .runs("head -c 20000000 /dev/zero | tr '\\0' x > \"$LOOPGATE_WORKDIR/plan.json\"")
            .done()
            .ends_with("COMPLETED"),
    ]
}

/// Returns the cases of errors of the model's API.
fn model_api() -> Vec<Case> {
    vec![
        Case::execute("overloaded twice")
            .fails(529, "overloaded_error", Some(2))
            .runs(WRITES)
            .done()
            .delivers(),
        Case::execute("two server errors").fails(500, "api_error", Some(2)).runs(WRITES).done().delivers(),
        Case::execute("a connection that drops twice").drops(2).runs(WRITES).done().delivers(),
        Case::execute("a permanent bad request")
            .runs(WRITES)
            .fails(400, "invalid_request_error", None)
            .ends_with("FAILED")
            .reports("invalid_request_error")
            .preserves(WORK),
        Case::execute("a rejected key")
            .slow()
            .fails(401, "authentication_error", None)
            .ends_with("FAILED")
            .reports("AUTH"),
        Case::execute("no permission for the model")
            .fails(403, "permission_error", None)
            .ends_with("FAILED")
            .reports("permission_error"),
        Case::execute("an unknown model")
            .fails(404, "not_found_error", None)
            .ends_with("FAILED")
            .reports("Set `loop_model` in settings.toml"),
        Case::execute("a prompt that is too long")
            .fails(413, "request_too_large", None)
            .ends_with("FAILED")
            .reports("The assistant's context limit is reached."),
        Case::execute("permanently overloaded")
            .slow()
            .runs(WRITES)
            .fails(529, "overloaded_error", None)
            .ends_with("FAILED")
            .reports("The model's service is overloaded.")
            .preserves(WORK),
        Case::execute("a permanent server error")
            .slow()
            .runs(WRITES)
            .fails(500, "api_error", None)
            .ends_with("FAILED")
            .reports("api_error")
            .preserves(WORK),
    ]
}

/// Returns the cases of changes of the worktree by the assistant.
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
        Case::execute("a deleted worktree").runs("rm -rf \"$PWD\"").done().ends_with("FAILED").reports("was deleted while the loop ran"),
        Case::execute("a worktree that is deleted between plan and execution")
            .runs(WRITES)
            .done()
            .with_precondition(Precondition::InWorktree("rm -rf \"$PWD\""))
            .delivers(),
        Case::execute("a worktree that is detached between plan and execution")
            .runs(WRITES)
            .done()
            .with_precondition(Precondition::InWorktree("git checkout -q --detach"))
            .delivers(),
        Case::execute("a worktree that is on its base branch between plan and execution")
            .runs(WRITES)
            .done()
            .with_precondition(Precondition::InWorktree("git switch -q --ignore-other-worktrees main"))
            .delivers(),
        Case::execute("a file in place of the worktree")
            .runs(WRITES)
            .done()
            .with_precondition(Precondition::InWorktree("d=\"$PWD\"; cd ..; rm -rf \"$d\"; echo strange > \"$d\""))
            .delivers(),
        Case::execute("a stale lock of the index").runs(WRITES).runs("touch \"$(git rev-parse --git-path index.lock)\"").done().delivers(),
        plan_again("a plan after commits on a detached worktree").after(
            Case::execute("commits that are cancelled")
                .runs("git checkout -q --detach && echo work > work.txt && git add work.txt && git commit -qm Work")
                .intervene_during_work(Intervention::Cancel)
                .ends_with("CANCELLED")
                .preserves(WORK),
        ),
        plan_again("a plan after an execution that was cancelled").after(
            Case::execute("work that is cancelled").runs(WRITES).intervene_during_work(Intervention::Cancel).ends_with("CANCELLED").preserves(WORK),
        ),
    ]
}

/// Returns the cases of contents that the assistant adds.
fn contents() -> Vec<Case> {
    vec![
        Case::execute("a file with keys")
            .runs("echo 'API_KEY=s3cr3t' > .env && echo work > work.txt")
            .done()
            .delivers()
            .reports(".env")
            .withholds(".env")
            .preserves(".env"),
        Case::execute("a file with keys, committed")
            .runs("echo 'API_KEY=s3cr3t' > .env && echo work > work.txt && git add -A && git commit -qm Work")
            .done()
            .delivers()
            .reports(".env")
            .withholds(".env"),
        Case::execute("3,001 files of dependencies")
            .runs("mkdir -p node_modules/a && for i in $(seq 3001); do echo $i > node_modules/a/$i.js; done; echo work > work.txt")
            .done()
            .delivers()
            .reports("node_modules/")
            .withholds("node_modules"),
        Case::execute("everything added").runs("echo work > work.txt && git add -A -f . && git commit -qm All").done().delivers().withholds(".loopgate").reports(".loopgate/"),
        Case::execute("a symlink to a file outside").runs("ln -s /etc/passwd secrets && echo work > work.txt").done().delivers(),
        Case::execute("names with blanks, quotes and line breaks")
            .runs("echo work > work.txt && echo a > 'a \"b\" c' && printf x > \"$(printf 'a\\nb')\"")
            .done()
            .delivers(),
        Case::execute("a repository within the repository")
            .runs("git init -q inner && echo x > inner/x && echo work > work.txt")
            .done()
            .ends_with("COMPLETED")
            .preserves(WORK),
    ]
}

/// Returns the cases of errors of the remote repository.
fn remote() -> Vec<Case> {
    let pre_receive = |text| Precondition::RemoteHook("pre-receive", text);
    vec![
        Case::execute("a push that a rule rejects")
            .runs(WRITES)
            .done()
            .with_precondition(pre_receive("#!/bin/sh\necho 'GH013: rule violations found' >&2\nexit 1\n"))
            .ends_with("COMPLETED")
            .reports("GIT_PUSH_FAILED")
            .reports("rule violations")
            .preserves(WORK),
        Case::execute("a network failure at the push").runs(WRITES).intervene_during_work(Intervention::CutRemote).done().delivers(),
        Case::execute("a branch with other work")
            .runs(WRITES)
            .done()
            .with_precondition(Precondition::InClone(
                "git switch -qc t && git commit -q --allow-empty -m Other && git push -q origin HEAD:refs/heads/\"$(git for-each-ref --format='%(refname:short)' refs/heads/orchestrator | head -1)\" && git switch -q main",
            ))
            .delivers(),
        Case::execute("an account that may not push")
            .runs(WRITES)
            .done()
            .with_precondition(Precondition::Program(
                "code-host-ssh",
                "#!/bin/sh\necho 'git@github.com: Permission denied (publickey).' >&2\nexit 255\n",
            ))
            .ends_with("COMPLETED")
            .reports("GIT_PUSH_FAILED")
            .reports("Permission denied")
            .preserves(WORK),
        Case::execute("a default branch of another name").of_branch("trunk").runs(WRITES).done().delivers(),
    ]
}

/// Writes a file that cannot be compressed.
const WRITES_LARGE_FILE: &str = "head -c 1500000 /dev/urandom > work.txt";
/// Stores the hosts for which the assistant uses no proxy.
const STORES_EXCLUSIONS: &str = "printf '%s\n' \"$NO_PROXY\" \"$no_proxy\" > work.txt";
const WORK_IN_WORKTREE: &str = "shop-loop-plan-1/work.txt";
/// Shorter than the slow upload takes.
const SHORT_IDLE_LIMIT: &str = "git_idle_limit_seconds = 2\n";
const UPLOAD_RATE: u32 = 300_000;

/// Returns the cases of connections to the remote repository.
fn networks() -> Vec<Case> {
    let pre_push = |text: &'static str| Precondition::InClone(text);
    vec![
        Case::execute("a proxy")
            .behind(Network::Proxy)
            .runs(STORES_EXCLUSIONS)
            .done()
            .delivers()
            .file_contains(WORK_IN_WORKTREE, "localhost,127.0.0.1,::1,127.0.0.0/8\nlocalhost,127.0.0.1"),
        Case::execute("a proxy that does not answer, and exclusions of the user")
            .behind(Network::DeadProxy)
            .with_variable("NO_PROXY", "intranet.example.test")
            .runs(STORES_EXCLUSIONS)
            .done()
            .delivers()
            .file_contains(WORK_IN_WORKTREE, "intranet.example.test,localhost,127.0.0.1,::1,127.0.0.0/8\nintranet"),
        Case::execute("a push that takes longer than the idle limit")
            .behind(Network::SlowUplink(UPLOAD_RATE))
            .with_settings(SHORT_IDLE_LIMIT)
            .runs(WRITES_LARGE_FILE)
            .done()
            .delivers()
            .does_not_report("Delivery is waiting"),
        Case::execute("a push that stalls")
            .slow()
            .behind(Network::StalledUplink(UPLOAD_RATE))
            .with_settings(SHORT_IDLE_LIMIT)
            .runs(WRITES_LARGE_FILE)
            .done()
            .ends_with("COMPLETED")
            .reports("GIT_PUSH_FAILED")
            .reports("git push showed no activity for 2 seconds")
            .preserves(WORK),
        Case::execute("a push hook that prints for longer than the idle limit")
            .with_settings(SHORT_IDLE_LIMIT)
            .with_precondition(pre_push(
                "printf '#!/bin/sh\nfor i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.5; done\n' > .git/hooks/pre-push && chmod +x .git/hooks/pre-push",
            ))
            .with_precondition(Precondition::Trust)
            .runs(WRITES)
            .done()
            .delivers(),
        Case::execute("a push hook that computes for longer than the idle limit")
            .with_settings(SHORT_IDLE_LIMIT)
            .with_precondition(pre_push(
                "printf '#!/bin/sh\ntimeout 3 sh -c \"while :; do :; done\"\nexit 0\n' > .git/hooks/pre-push && chmod +x .git/hooks/pre-push",
            ))
            .with_precondition(Precondition::Trust)
            .runs(WRITES)
            .done()
            .delivers(),
    ]
}

/// Returns the cases of clones that push to a fork, or whose remote is not `origin`.
fn forks() -> Vec<Case> {
    let forked = |name, configuration| {
        Case::execute(name)
            .with_layout(Precondition::Fork)
            .with_layout(Precondition::InClone(configuration))
            .runs(WRITES)
            .done()
            .delivers()
    };
    let only_remote = |name, rename| {
        Case::execute(name).with_layout(Precondition::InClone(rename)).runs(WRITES).done().delivers()
    };
    vec![
        forked(
            "a fork with its upstream",
            "git remote rename origin upstream && git remote add origin git@github.com:octo-dev/shop.git",
        )
        .of_fork()
        .proposes(FORK, REPOSITORY),
        forked(
            "a fork as push default",
            "git remote add mine git@github.com:octo-dev/shop.git && git config remote.pushDefault mine",
        )
        .proposes(FORK, REPOSITORY),
        forked("a fork as push URL", "git remote set-url --push origin git@github.com:octo-dev/shop.git")
            .proposes(FORK, REPOSITORY),
        forked(
            "a fork that is selected as base",
            "git remote rename origin upstream && git remote add origin git@github.com:octo-dev/shop.git && \
             git fetch -q origin && gh repo set-default octo-dev/shop",
        )
        .of_fork()
        .proposes(FORK, FORK),
        only_remote("a clone whose only remote is upstream", "git remote rename origin upstream"),
        only_remote("a clone whose only remote is github", "git remote rename origin github"),
    ]
}

/// Returns the cases of clones and remote repositories with other branches.
fn layouts() -> Vec<Case> {
    vec![
        Case::execute("a default branch that the host has renamed")
            .of_branch("master")
            .with_layout(Precondition::InRemote("git branch -m master trunk"))
            .runs(WRITES)
            .done()
            .delivers(),
        Case::execute("a shallow clone of a single branch")
            .with_layout(Precondition::InClone(
                "git commit -q --allow-empty -m Second && git push -q origin main && cd .. && rm -rf shop && \
                 git clone -q --depth 1 git@github.com:acme/shop.git shop",
            ))
            .with_layout(Precondition::InRemote("git branch develop main"))
            .on_branch("develop")
            .runs(WRITES)
            .done()
            .delivers(),
        Case::plan("a base branch that only the clone has")
            .with_layout(Precondition::InClone("git branch local-only"))
            .on_branch("local-only")
            .ends_with("FAILED")
            .reports("is not at acme/shop; push it first, or choose a branch that exists there"),
        Case::execute("a branch at the host with the name of the namespace")
            .with_layout(Precondition::InRemote("git branch orchestrator main"))
            .runs(WRITES)
            .done()
            .delivers(),
    ]
}

/// Returns the cases of repositories with submodules and files in Git LFS.
fn contents_elsewhere() -> Vec<Case> {
    let with_contents = |name| {
        Case::execute(name)
            .with_layout(Precondition::Repository("acme/lib", ("l", "library\n")))
            .with_layout(Precondition::InClone(ADDS_SUBMODULE))
            .with_layout(Precondition::InClone(ADDS_LARGE_FILE))
            .with_precondition(Precondition::RemoteHook("pre-receive", REQUIRES_LFS_CONTENT))
    };
    vec![
        with_contents("a submodule and a file in Git LFS")
            .runs("cat lib/l logo.bin > work.txt && head -c 300000 /dev/urandom > logo.bin")
            .done()
            .delivers_files(&[WORK, "logo.bin"])
            .file_contains(WORK_IN_WORKTREE, "library\nlogo"),
        with_contents("a commit that only a submodule has")
            .runs("cd lib && git commit -q --allow-empty -m Work && cd .. && echo work > work.txt")
            .done()
            .ends_with("COMPLETED")
            .reports("GIT_PUSH_FAILED")
            .reports("submodule lib points to commit")
            .preserves(WORK),
    ]
}

/// Creates two commits with conflicting contents of the work, the other one on a branch `other`.
const CONFLICTING_COMMITS: &str = "git switch -qc other && echo a > work.txt && git add . && git commit -qm A && \
    git switch -q - && echo b > work.txt && git add . && git commit -qm B";

/// Returns the cases of operations of git that the assistant starts.
fn unfinished_operations() -> Vec<Case> {
    let stopped = |name, command: &str| {
        Case::execute(name)
            .runs(&format!("{CONFLICTING_COMMITS}; {command} || true"))
            .done()
            .ends_with("COMPLETED")
            .reports("GIT_PUSH_FAILED")
            .reports("conflicts in work.txt")
            .preserves(WORK)
    };
    vec![
        stopped("an unfinished merge", "git merge other"),
        stopped("an unfinished rebase", "git rebase other"),
        stopped("an unfinished cherry-pick", "git cherry-pick other"),
        Case::execute("a merge that is finished")
            .runs(&format!(
                "{CONFLICTING_COMMITS}; git merge other || echo both > work.txt; git commit -qam Merge"
            ))
            .done()
            .delivers()
            .file_contains(WORK_IN_WORKTREE, "both"),
    ]
}

/// Returns the cases of errors of the code host.
fn code_host() -> Vec<Case> {
    vec![
        Case::execute("a server error when the pull request is opened")
            .runs(WRITES)
            .done()
            .host("PullRequestCreate", 502, Some(2))
            .delivers(),
        Case::execute("a rejected pull request")
            .runs(WRITES)
            .done()
            .host("PullRequestCreate", 403, None)
            .ends_with("COMPLETED")
            .reports("GIT_PUSH_FAILED")
            .preserves(WORK),
        Case::execute("a rejected label").runs(WRITES).done().host("labels", 404, None).delivers(),
        Case::execute("no program for the code host")
            .runs(WRITES)
            .done()
            .with_precondition(Precondition::Program("gh", "#!/bin/sh\nexit 127\n"))
            .ends_with("COMPLETED")
            .reports("GIT_PUSH_FAILED")
            .preserves(WORK),
        Case::execute("an unreachable code host when the pull request is opened")
            .runs(WRITES)
            .intervene_during_work(Intervention::CutCodeHost)
            .done()
            .delivers(),
    ]
}

/// Returns the cases of problems with committing the work.
fn commits() -> Vec<Case> {
    let hook = |text: &'static str| Precondition::InClone(text);
    vec![
        Case::execute("a failing commit hook")
            .runs(WRITES)
            .done()
            .with_precondition(hook("printf '#!/bin/sh\\necho no tests >&2\\nexit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit"))
            .with_precondition(Precondition::Trust)
            .ends_with("COMPLETED")
            .reports("no tests")
            .preserves(WORK),
        Case::execute("a commit hook of a repository that is not trusted")
            .runs(WRITES)
            .done()
            .with_precondition(hook("printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit"))
            .delivers(),
        Case::execute("a hook that formats the files of the commit")
            .runs(WRITES)
            .done()
            .with_precondition(hook("printf '#!/bin/sh\\ngrep -q formatted work.txt && exit\\necho formatted >> work.txt\\nexit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit"))
            .with_precondition(Precondition::Trust)
            .delivers(),
        Case::execute("a commit without a push").runs(WRITES).runs("git add -A && git commit -qm Work").done().delivers(),
        Case::execute("no name for the author")
            .runs(WRITES)
            .done()
            .with_precondition(hook("git config user.useConfigOnly true")).delivers(),
        Case::execute("a missing signing key")
            .runs(WRITES)
            .done()
            .with_precondition(Precondition::InClone("git config --global commit.gpgsign true && git config --global gpg.program /nowhere"))
            .ends_with("COMPLETED")
            .preserves(WORK),
    ]
}

/// Returns the cases of interventions of the user.
fn user() -> Vec<Case> {
    vec![
        Case::execute("a cancellation while it works")
            .runs(WRITES)
            .intervene_during_work(Intervention::Cancel)
            .done()
            .ends_with("CANCELLED")
            .preserves(WORK),
        Case::plan("a cancellation while it plans")
            .intervene_during_work(Intervention::Cancel)
            .done()
            .ends_with("CANCELLED"),
        Case::execute("a user who commits in the worktree")
            .runs(WRITES)
            .intervene_during_work(Intervention::Shell(
                "echo p > person.txt && git add person.txt && git commit -qm Mine",
            ))
            .done()
            .delivers_files(&[WORK, "person.txt"]),
        Case::execute("a user who switches the worktree's branch")
            .runs(WRITES)
            .intervene_during_work(Intervention::Shell("git switch -qc persons"))
            .done()
            .delivers(),
        Case::execute("a user who deletes the worktree")
            .runs(WRITES)
            .intervene_during_work(Intervention::Shell("rm -rf \"$PWD\""))
            .done()
            .ends_with("FAILED")
            .reports("was deleted while the loop ran"),
        Case::execute("a loop started right after a cancellation")
            .after(
                Case::execute("work that is cancelled")
                    .runs("echo first > first.txt")
                    .intervene_during_work(Intervention::Cancel)
                    .without_waiting(),
            )
            .runs(WRITES)
            .done()
            .delivers_files(&["first.txt", WORK]),
        Case::plan("a cancellation during the preparation")
            .with_precondition(Precondition::Program("git", SLOW_GIT))
            .intervene_at_start(Intervention::CancelInPreparation)
            .done()
            .ends_with("CANCELLED"),
    ]
}

/// Returns the cases of missing or slow programs, and of incomplete files of other programs.
fn machine() -> Vec<Case> {
    vec![
        Case::plan("a preparation that takes over twenty seconds")
            .slow()
            .with_precondition(Precondition::Program("git", SLOWER_GIT))
            .runs(&write_plan(PLAN))
            .done()
            .ends_with("COMPLETED"),
        Case::execute("no git")
            .with_precondition(Precondition::Program("git", MISSING))
            .ends_with("FAILED")
            .reports("not found"),
        Case::execute("no python3")
            .with_precondition(Precondition::Program("python3", MISSING))
            .runs(WRITES)
            .done()
            .delivers(),
        Case::execute("a list of repositories that another program is writing")
            .with_precondition(Precondition::InClone(HALF_WRITTEN))
            .runs(WRITES)
            .done()
            .delivers()
            .file_contains(".loopgate/config/repos.json", "/src/shop\""),
        Case::execute("an incomplete sessions file")
            .with_precondition(Precondition::InClone(
                "echo '{\"sessions\": [{\"tick' > ../.loopgate/sessions.json",
            ))
            .runs(WRITES)
            .done()
            .delivers()
            .file_contains(".loopgate/sessions.json", "{\"sessions\": [{\"tick"),
    ]
}

/// Returns the cases of killed processes.
fn kills() -> Vec<Case> {
    vec![
        Case::execute("a Loopgate that dies")
            .runs(WRITES)
            .intervene_during_work(Intervention::KillLoopgate)
            .done()
            .delivers(),
        Case::execute("an assistant that dies")
            .runs(WRITES)
            .intervene_during_work(Intervention::Kill("claude"))
            .says(PROMISE)
            .delivers(),
        Case::execute("a driver that dies")
            .runs(WRITES)
            .intervene_during_work(Intervention::Kill(" loop run "))
            .done()
            .ends_with("FAILED")
            .preserves(WORK),
        Case::execute("a supervisor that dies")
            .runs(WRITES)
            .intervene_during_work(Intervention::Kill(" shim "))
            .done()
            .ends_with("FAILED")
            .preserves(WORK),
        Case::execute("all processes die")
            .runs(WRITES)
            .intervene_during_work(Intervention::KillAll)
            .done()
            .ends_with("FAILED")
            .preserves(WORK),
        Case::execute("a machine that is suspended for a day")
            .slow()
            .runs(WRITES)
            .intervene_during_work(Intervention::Sleep)
            .done()
            .delivers(),
    ]
}
