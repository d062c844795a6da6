//! Work that a program takes back or hides during an iteration. The test doubles of the assistant run git without the hook.

use crate::support::{DONE, Ended, MORE, Project};

/// Creates a project in which the assistant commits as a user.
fn project() -> Project {
    let project = Project::new().env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key");
    project.git(&["config", "user.name", "T"]);
    project.git(&["config", "user.email", "t@example.org"]);
    project
}

/// Runs a loop whose iterations run these scripts, one after the other, and then the last one again.
fn run(project: &Project, iterations: &[&str]) -> Ended {
    let mut script =
        "n=$(cat $OUT/n 2>/dev/null || echo 1); echo $((n + 1)) > $OUT/n\necho \"$@\" >> $OUT/argv\n"
            .to_owned();
    for (at, iteration) in iterations.iter().enumerate() {
        let is_last = at + 1 == iterations.len();
        let condition = if is_last { "true".to_owned() } else { format!("[ $n = {} ]", at + 1) };
        let output = if is_last { DONE } else { MORE };
        script.push_str(&format!(
            "if {condition}; then\n{{ {iteration}\n}} >/dev/null 2>&1\n{output}exit\nfi\n"
        ));
    }
    project.assistant(&script);
    project.run(&[])
}

/// Asserts that a loop completes without a finding.
fn assert_unnoticed(project: &Project, iterations: &[&str]) {
    let ended = run(project, iterations);
    assert_eq!(ended.code, 0, "{iterations:?}: {}", ended.stderr);
    assert!(!ended.stdout.contains("taken back"), "{iterations:?}: {}", ended.stdout);
    assert_eq!(project.statuses().last().unwrap(), "completed");
}

/// Asserts that a loop fails because of work that is not brought back, and that the failure contains a text.
fn assert_rejected(project: &Project, iterations: &[&str], text: &str) {
    let ended = run(project, iterations);
    assert_eq!(ended.code, 1, "{iterations:?}: {}", ended.stdout);
    let error = project.read("loop-error.json");
    assert!(error.contains("WORK_TAKEN_BACK") && error.contains(text), "{iterations:?}: {error}");
    assert!(ended.stdout.contains("Work was taken back or hidden: "), "{}", ended.stdout);
    let statuses = project.statuses();
    assert_eq!(statuses[statuses.len() - 3..], ["work_taken_back", "work_taken_back", "spurious_complete"]);
}

#[test]
fn stash_is_a_finding_until_its_changes_are_back() {
    let edit = "echo b >> README.md; echo new > new.txt";
    let files = "has changes that the working tree does not have: README.md, new.txt";
    assert_rejected(&project(), &[edit, "git stash -u"], files);
    assert_rejected(&project(), &[&format!("{edit}; git stash -u"), "echo x > other.txt"], files);

    let stored = "git stash store -m Notes $(git stash create); git checkout -q .";
    assert_rejected(&project(), &["echo b >> README.md", stored], "(Notes) has changes");

    let restored = project();
    let apply = "git stash show -p --binary --include-untracked 'stash@{0}' | git apply";
    let ended = run(&restored, &[&format!("{edit}; git stash -u"), apply, "true"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let argv = restored.note("argv");
    assert!(argv.contains("Bring it back first") && argv.contains(files), "{argv}");
    assert_eq!(restored.statuses(), ["in_progress", "in_progress", "completed"]);
}

#[test]
fn stashes_without_a_loss_or_of_others_are_no_findings() {
    let edit = "echo b >> README.md";
    assert_unnoticed(&project(), &[edit, "git stash; git stash pop", "true"]);
    assert_unnoticed(&project(), &[edit, "git stash; git stash apply; echo c >> README.md", "true"]);
    // A stash of the user, before the loop and in another worktree.
    let shared = project();
    std::fs::write(shared.root.join("README.md"), "user\n").unwrap();
    shared.git(&["stash"]);
    let other = "git worktree add -q -b other $OUT/other; cd $OUT/other; echo x >> README.md; git stash";
    assert_unnoticed(&shared, &["echo work > a.txt", other, "true"]);
}

#[test]
fn removed_commit_is_a_finding_until_it_is_back() {
    let commit = "echo a > a.txt; git add a.txt; git commit -qm a";
    let text = "is not on its branch any more, and the working tree does not have its changes: a.txt";
    assert_rejected(&project(), &[commit, "git reset -q --hard HEAD~1"], text);
    let two = format!("{commit}; echo b > a.txt; git commit -qam b");
    assert_rejected(&project(), &[&two, "git checkout -q -B main HEAD~2", "true"], text);

    let restored = project();
    let pick = "git cherry-pick ORIG_HEAD; git revert --no-edit HEAD";
    let ended = run(&restored, &[commit, "git reset -q --hard HEAD~1", pick, "true"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
fn rewritten_history_with_the_same_changes_is_no_finding() {
    let commit = "echo a > a.txt; echo b > b.txt; git add .; git commit -qm a";
    for rewrite in [
        "git commit -q --amend -m other",
        "git rm -q b.txt; git commit -q --amend -m less",
        "git reset -q --soft HEAD~1",
        "git revert --no-edit HEAD",
        "git checkout -q -b feature; git branch -f main HEAD~1",
        "git checkout -q -b old HEAD~1",
        "git checkout -q -b up HEAD~1; echo up > up; git add up; git commit -qm up; git checkout -q main; git rebase -q up",
    ] {
        assert_unnoticed(&project(), &[commit, rewrite, "true"]);
    }
}

#[test]
fn changed_settings_and_ignore_rules_are_findings() {
    for (change, text) in [
        ("git config core.excludesFile /tmp/x", "the setting core.excludesfile of git"),
        ("git config core.hooksPath /tmp/hooks", "was changed to `/tmp/hooks`"),
        ("git config core.fsmonitor ./x.sh", "core.fsmonitor"),
        ("git config alias.undo 'reset --hard'", "alias.undo"),
        ("git config alias.undo '!git stash'", "alias.undo"),
        ("echo '*.txt' >> .git/info/exclude; echo x > hidden.txt", "hide new files: hidden.txt"),
        ("mv .git ../moved.git", "the git directory of"),
    ] {
        assert_rejected(&project(), &["echo work > a.md", change], text);
    }
    for change in [
        "git config core.hooksPath .husky",
        "git config core.fsmonitor true",
        "git config alias.st 'status --short'",
        "git config remote.origin.url https://example.org/x.git",
        "echo '*.log' >> .git/info/exclude",
        "printf 'node_modules/\\n.loopgate/\\n' >> .git/info/exclude; mkdir node_modules; echo x > node_modules/x.js",
        "echo '*.tmp' >> .git/info/exclude; echo '*.tmp' >> .gitignore; echo x > x.tmp",
        "git config core.worktree ../x; git config --unset core.worktree",
    ] {
        assert_unnoticed(&project(), &["echo work > a.md", change, "true"]);
    }
}

#[test]
fn user_who_is_asked_is_told_what_is_hidden() {
    let project = project();
    let hide = "echo '*.txt' >> .git/info/exclude; echo x > hidden.txt";
    // Completion is reported once; afterwards the assistant only talks.
    project.assistant(&format!("if [ ! -e hidden.txt ]; then {hide}\n{DONE}\nelse\n{MORE}\nfi"));
    let ended = project.run(&[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let state = project.read("state.json");
    assert!(state.contains("AWAITING_USER") && state.contains("hide new files: hidden.txt"), "{state}");
}

#[test]
fn further_repositories_are_compared_as_well() {
    let peer = project();
    let project = project().env("LOOPGATE_ADD_DIRS", &peer.root.display().to_string());
    let root = peer.root.display().to_string();
    let edit = format!("echo b >> {root}/README.md; git -C {root} stash");
    assert_rejected(&project, &[&edit, "echo x > x.txt"], &format!("stash@{{0}} of {root}"));
}
