//! Detects git commands that take work out of the working tree, or hide it from the delivery.
//!
//! The work of a loop is in one working tree. A command that resets files, stashes them or moves them to another
//! worktree would also remove the work of other tasks, and the delivery would report that nothing changed.

use super::git_call::GitCall;

/// Reason of the denial, read by the assistant.
pub const REFUSAL: &str = "Blocked: this command would take work of the loop out of its working tree. To undo a \
    change, edit the files. `loopgate plan restore <task>` restores the files as they were at the start of a task.";

/// Returns whether a call discards, moves or hides changes or commits.
pub fn takes_back(call: &GitCall) -> bool {
    let first = call.operands().next();
    match call.subcommand.as_str() {
        "stash" => !matches!(first, Some("list" | "show")),
        "reset" => call.has_option(&["hard", "merge", "keep"], &[]),
        "checkout" => checks_out_files(call),
        "restore" => !call.has_option(&["staged"], &['S']) || call.has_option(&["worktree"], &['W']),
        "switch" => call.has_option(&["force", "force-create", "discard-changes"], &['f', 'C']),
        "clean" => !call.has_option(&["dry-run"], &['n']),
        "worktree" => first != Some("list"),
        "branch" => call.has_option(&["delete", "force"], &['d', 'D', 'f', 'M']),
        "symbolic-ref" => call.operands().count() > 1 || call.has_option(&["delete"], &['d']),
        "update-ref" | "checkout-index" | "read-tree" | "filter-branch" | "filter-repo" | "prune" => true,
        "reflog" => matches!(first, Some("expire" | "delete" | "drop")),
        "gc" => call.has_option(&["prune"], &[]),
        "sparse-checkout" => first != Some("list"),
        "update-index" => call.has_option(&["assume-unchanged", "skip-worktree", "force-remove"], &[]),
        "submodule" => first == Some("deinit"),
        _ => false,
    }
}

fn checks_out_files(call: &GitCall) -> bool {
    // `-B` moves a branch that exists.
    if call.has_option(
        &["force", "patch", "ours", "theirs", "merge", "pathspec-from-file"],
        &['f', 'p', 'm', 'B'],
    ) {
        return true;
    }
    if call.arguments.iter().any(|word| word == "--") {
        return true;
    }
    // The operands are the new branch and its start.
    if call.has_option(&["orphan"], &['b']) {
        return false;
    }
    let operands: Vec<&str> = call.operands().collect();
    match operands.as_slice() {
        [] => false,
        // Either a branch or a file; `-` is the previous branch.
        [one] => call.directory.join(one).symlink_metadata().is_ok(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::git_call::git_calls;
    use super::super::shell::ParsedCommandLine;
    use super::*;

    fn is_denied(command: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("README.md"), "").unwrap();
        let line = ParsedCommandLine::read(command, "/home/u");
        git_calls(&line, dir.path(), "/home/u").iter().any(takes_back)
    }

    #[test]
    fn commands_that_take_work_back_are_denied_in_every_form() {
        for command in [
            "git stash",
            "git stash push -u -m wip",
            "git -C . stash pop",
            "git reset --hard HEAD~1",
            "git reset -q --hard",
            "git reset --har HEAD~1",
            "git checkout -B main HEAD~1",
            "git switch -C main HEAD~1",
            "git checkout .",
            "git checkout -- src",
            "git checkout README.md",
            "git checkout HEAD~1 src/lib.rs",
            "git checkout -f main",
            "git restore src/lib.rs",
            "git restore --staged --worktree src",
            "git clean -fdx",
            "git worktree add ../other",
            "git worktree remove .",
            "git update-ref -d refs/heads/work",
            "git branch -D work",
            "git switch --discard-changes main",
            "git sparse-checkout set docs",
            "git update-index --skip-worktree README.md",
            "sh -c 'git stash'",
            "git \\\n  stash",
            "true && (git stash)",
            "echo \"$(git reset --hard)\"",
            "cat <<'END' | bash\ngit stash\nEND",
            "git -c alias.save=stash save",
            "git config alias.w 'reset --hard' && git w",
            "git config alias.w '!git stash'; git w",
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.w GIT_CONFIG_VALUE_0=stash git w",
            "git rebase --exec 'git stash' main",
            "find . -name x -exec git stash ;",
        ] {
            assert!(is_denied(command), "{command}");
        }
    }

    #[test]
    fn other_commands_are_allowed() {
        for command in [
            "git status",
            "git diff HEAD",
            "git stash list",
            "git reset",
            "git reset HEAD README.md",
            "git checkout -b feature",
            "git checkout main",
            "git restore --staged README.md",
            "git clean -nd",
            "git worktree list",
            "git branch",
            "git branch feature",
            "git commit -m 'Replace git stash by a branch'",
            "grep -rn 'git reset --hard' docs",
            "cat > notes.md <<'END'\ngit stash\nEND",
            "git log -- README.md",
            "git show HEAD:README.md",
        ] {
            assert!(!is_denied(command), "{command}");
        }
    }

    #[test]
    fn aliases_of_the_repository_are_resolved() {
        let dir = tempfile::tempdir().unwrap();
        let git_dir = dir.path().join(".git");
        for name in ["objects", "refs"] {
            std::fs::create_dir_all(git_dir.join(name)).unwrap();
        }
        std::fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = "[alias]\nundo = reset --hard\nst = status --short\n";
        std::fs::write(git_dir.join("config"), config).unwrap();
        let is_denied = |command: &str| {
            let line = ParsedCommandLine::read(command, "/home/u");
            git_calls(&line, dir.path(), "/home/u").iter().any(takes_back)
        };
        assert!(is_denied("git undo") && !is_denied("git st"));
    }
}
