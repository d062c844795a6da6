//! Detects git commands that take work out of the working tree, or hide it from the delivery.
//!
//! The work of a loop is in one working tree. A command that resets files, stashes them or moves them to another
//! worktree would also remove the work of other tasks, and the delivery would report that nothing changed.

use std::path::{Component, Path, PathBuf};

use super::credentials;
use super::git_call::GitCall;
use super::shell::{base_name, program_positions};

/// Reason of the denial of a git command whose subcommand the text does not fix.
pub const UNREADABLE: &str = "Blocked: the subcommand of git must be written out, because a loop does not allow all of \
    them. Repeat the command with the subcommand as a plain word, for example `git status --short`.";
/// Settings of git that hide files, or replace the working tree, the hooks or the git directory.
const GUARDED_SETTINGS: [&str; 4] = ["core.bare", "core.excludesfile", "core.hookspath", "core.worktree"];
/// Programs that remove or move directories.
const REMOVING: [&str; 4] = ["mv", "rm", "rmdir", "unlink"];
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
        "apply" => call.has_option(&["reverse"], &['R']),
        "rm" => call.has_option(&["cached"], &[]),
        "fetch" | "pull" => forces_branch(call),
        "config" => changes_guarded_setting(call),
        _ => false,
    }
}

/// Returns whether a command other than git takes work out of the working tree: a reversed patch, or the removal of the
/// git directory of `directory` or of one of `repositories`.
pub fn takes_back_without_git<'a>(
    words: &[String],
    directory: &'a Path,
    repositories: impl IntoIterator<Item = &'a Path>,
) -> bool {
    let positions = program_positions(words);
    let runs = |programs: &[&str]| positions.iter().any(|at| programs.contains(&base_name(&words[*at])));
    let is_reversed = |word: &String| {
        word == "--reverse" || (word.starts_with('-') && !word.starts_with("--") && word.contains('R'))
    };
    if runs(&["patch"]) && words.iter().any(is_reversed) {
        return true;
    }
    let roots: Vec<&Path> = repositories.into_iter().chain(directory.ancestors()).collect();
    let is_git_directory = |word: &String| {
        // Words have no `~` any more.
        let path = credentials::absolute(word, directory, Path::new("/"));
        let parts: Vec<Component<'_>> = path.components().collect();
        let Some(at) = parts.iter().rposition(|part| part.as_os_str() == ".git") else { return false };
        let root: PathBuf = parts[..at].iter().collect();
        // A lock that a killed git left behind.
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        roots.contains(&root.as_path()) && !is_lock
    };
    runs(&REMOVING) && words.iter().any(is_git_directory)
}

/// Returns whether a fetch can move a local branch to any commit.
fn forces_branch(call: &GitCall) -> bool {
    let is_forced = call.has_option(&["force"], &['f']);
    call.operands().skip(1).any(|refspec| {
        let target = refspec.split_once(':').map_or("", |(_, target)| target);
        (is_forced || refspec.starts_with('+')) && !target.is_empty() && !target.starts_with("refs/remotes/")
    })
}

fn changes_guarded_setting(call: &GitCall) -> bool {
    let mut operands = call.operands().skip_while(|word| {
        let name = word.to_lowercase();
        !GUARDED_SETTINGS.contains(&name.as_str())
    });
    // With a value after its name the setting is written; without one it is printed or removed.
    operands.next().is_some() && operands.next().is_some() && !call.has_option(&["get", "unset"], &[])
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
        let is_refused = |call: &GitCall| takes_back(call) || call.is_unknown();
        git_calls(&line, dir.path(), "/home/u").iter().any(is_refused)
            || line.commands.iter().any(|words| {
                takes_back_without_git(words, Path::new("/src/shop/web"), [Path::new("/src/peer")])
            })
    }

    #[test]
    fn git_is_judged_even_if_the_text_does_not_name_it() {
        for command in [
            "$(which git) stash",
            "`which git` -C . stash",
            "git $(echo stash)",
            "git \"$x\"",
            "git s$(true)tash",
            "git -C \"$dir\" $command",
            "git st?sh",
            "git {stash,-u}",
            "${G:-git} stash",
            "\"$G\" reset --hard",
            "git\"$(printf ' stash')\"",
            "/usr/lib/git-core/git-stash",
            "git-stash",
            "timeout 5 git-clean -fd",
            "$(git --exec-path)/git-stash",
            "alias g=git; g stash",
            "alias gs='git stash'; gs",
            "f() { git \"$@\"; }; f stash",
            "f() { local sub=$1; git $sub; }; f stash",
            "for s in stash; do git $s; done",
            "set -- stash; git \"$@\"",
            "read s <<< stash; git $s",
            "read a b <<< 'git stash'; $a $b",
            "s=status; read s <<< stash; git $s",
            "s=status; if true; then s=stash; fi; git $s",
            "if true; then s=stash; else s=status; fi; git $s",
            "printf -v s stash; git $s",
            "echo stash | xargs git",
            "echo stash | xargs -I{} git {}",
            "echo stash | xargs -n1 git -C .",
            "parallel git ::: stash",
            "printf 'git %s' stash | sh",
        ] {
            assert!(is_denied(command), "{command}");
        }
    }

    #[test]
    fn command_lines_in_arguments_and_values_are_judged() {
        for command in [
            "script -c 'git stash' /dev/null",
            "su -c 'git stash'",
            "tmux new 'git stash'",
            "trap 'git stash' EXIT",
            "watch 'git stash'",
            "busybox sh -c 'git stash'",
            "ssh localhost 'cd x && git stash'",
            "git -c core.pager='git stash' log",
            "git -c core.editor=git-stash commit --amend",
            "git -c diff.external='git stash' diff",
            "git -c core.fsmonitor='git stash' status",
            "git -c core.sshCommand='git reset --hard' fetch",
            "GIT_EDITOR='git stash' git commit",
            "GIT_PAGER=\"git stash\" git log",
            "export GIT_SSH_COMMAND='git stash'; git fetch",
            "env GIT_EDITOR='git stash' git commit",
            "git config core.pager 'git stash'",
            "git rebase --exec='git stash' main",
        ] {
            assert!(is_denied(command), "{command}");
        }
    }

    #[test]
    fn code_of_interpreters_is_judged() {
        for command in [
            "python3 -c 'import subprocess; subprocess.run([\"git\",\"stash\"])'",
            "python3 -c 'subprocess.run([\"git\",\"stash\"])'",
            "python3.12 -c 'subprocess.run([\"git\"]+[\"stash\"])'",
            "python -c 'import os; os.system(\"git stash\")'",
            "node -e 'require(\"child_process\").execSync(\"git reset --hard\")'",
            "node -e 'require(\"child_process\").execFileSync(\"git\", [\"stash\"])'",
            "php -r 'exec(\"git stash\");'",
            "ruby -e 'system(\"git\",\"stash\")'",
            "perl -e 'system \"git stash\"'",
            "python3 <<'END'\nimport subprocess\nsubprocess.run(['git', '-C', '.', 'stash'])\nEND",
            "echo 'import os; os.system(\"git stash\")' | python3",
        ] {
            assert!(is_denied(command), "{command}");
        }
    }

    #[test]
    fn indirect_ways_to_take_work_back_are_denied() {
        for command in [
            "git fetch . +HEAD~1:main",
            "git fetch --force . HEAD~1:refs/heads/main",
            "git diff HEAD | git apply -R",
            "git apply --reverse x.patch",
            "git diff HEAD | patch -R",
            "git diff HEAD | patch -Rp1",
            "git config core.worktree /tmp/x",
            "git config --global core.excludesFile /tmp/x",
            "git config set core.hooksPath /tmp/x",
            "git config core.bare true",
            "rm -rf .git",
            "rm -rf ./.git/",
            "mv ../.git /tmp/x",
            "rm -r /src/shop/.git/refs",
            "rm -rf /src/peer/.git",
            "git rm --cached src/main.rs",
        ] {
            assert!(is_denied(command), "{command}");
        }
    }

    #[test]
    fn ordinary_commands_with_unknown_parts_are_allowed() {
        for command in [
            "git -C \"$(git rev-parse --show-toplevel)\" status",
            "git -C \"$repo\" diff --stat",
            "git commit -m \"$(cat <<'END'\nReplace git stash\nEND\n)\"",
            "for f in a b; do git add \"$f\"; done",
            "b=$(git branch --show-current); git log \"$b\" --oneline",
            "git diff --name-only | xargs git add",
            "git ls-files | xargs grep -n stash",
            "git show \"$(git log -1 --format=%h)\"",
            "git log --format='%h git stash'",
            "git log --grep='git stash'",
            "\"$PYTHON\" -m pytest -q",
            "$(npm bin)/eslint --fix src",
            "\"$(brew --prefix)/bin/python3\" setup.py clean",
            "exec \"$@\"",
            "echo \"git $version\"",
            "echo git $version",
            "sudo apt-get install -y git $PACKAGES",
            "f() { echo \"== $1\"; }; f clean; npm test",
            "while read -r f; do git add \"$f\"; done < <(git ls-files -m)",
            "git ls-files | while read f; do git blame \"$f\" | head -1; done",
            "GIT_DIR=.git git status",
            "FOO=1; FOO=2; git checkout -b \"x-$FOO\"",
            "[[ \"$(git status --porcelain)\" == \"\" ]] && echo clean",
            "git diff > /tmp/x.patch && git apply --check /tmp/x.patch",
            "mv src/git.rs src/vcs.rs && rm -f .gitattributes",
            "cat .git/config; rm -rf node_modules dist",
            "$HOME/bin/tool clean",
            "node dist/x.js 'reset (all)'",
            "GIT_SEQUENCE_EDITOR=\"sed -i 's/pick/squash/'\" git rebase -i HEAD~2",
            "npm run build && git status",
            "python3 -c 'print(\"git\")'",
            "git commit -m 'Explain git stash' && python3 x.py",
            "python3 -c 'import subprocess; subprocess.run([\"git\", \"status\"])'",
            "node -e 'console.log(process.version)'",
            "cargo test 'git stash'",
            "npx vitest run -t 'git stash'",
            "rg -n 'git stash' src",
            "git -c core.pager=cat log",
            "git -c user.name='A B' commit -m x",
            "GIT_PAGER=cat git log",
            "GIT_EDITOR=true git rebase --continue",
            "git rebase --exec 'cargo test' main",
            "git fetch origin",
            "git fetch origin main:main",
            "git fetch origin +refs/heads/*:refs/remotes/origin/*",
            "git apply fix.patch",
            "git diff | git apply --cached -",
            "git revert --no-edit HEAD",
            "git stash show -p --binary --include-untracked 'stash@{0}' | git apply",
            "git cherry-pick 0123456",
            "patch -p1 < fix.patch",
            "git config user.name",
            "git config core.hooksPath",
            "git config --get core.excludesFile",
            "git config --unset core.worktree",
            "git config alias.st 'status --short'",
            "rm -rf vendor/x/.git",
            "rm -f .git/index.lock",
            "rm .gitignore",
            "git rm src/old.rs",
            "ls docs/git-stash",
            "trap 'rm -rf \"$dir\"' EXIT",
            "ssh host 'git status'",
            "watch -n1 'git log -1'",
            "echo 'git stash' >> notes.md",
            "alias g=git; g status",
            "s=status; git $s",
        ] {
            assert!(!is_denied(command), "{command}");
        }
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
