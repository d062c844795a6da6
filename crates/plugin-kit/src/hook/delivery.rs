//! Detects commands that deliver work: `git push`, and opening or merging a pull request with `gh`.
//!
//! The runtime delivers once, at the end of a loop, after it has excluded secrets and build output. An
//! earlier push by the assistant would bypass that check, so it is denied.

use std::path::Path;

use loopgate_api::names::env::LOOP_ID;

use super::git_call::GitCall;
use super::shell::{self, ParsedCommandLine};
use crate::variables as var;

/// Reason of the denial, read by the assistant.
pub const REFUSAL: &str = "Blocked: Loopgate delivers this loop. At its end it pushes the branch and opens the \
    pull request, after it has checked what must not leave the machine. Leave the work in the working tree or \
    in local commits, and continue.";
/// Options of `gh` before or between the subcommands whose value is the next word.
const GH_OPTIONS: [&str; 3] = ["-R", "--repo", "--hostname"];
/// Options of `gh api` that result in a request other than GET.
const API_WRITES: [&str; 7] = ["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"];
/// Mutations of GitHub's GraphQL API that open or merge a pull request.
const MUTATIONS: [&str; 3] = ["createPullRequest", "mergePullRequest", "enablePullRequestAutoMerge"];
/// Upper bound of a script that is examined, in bytes.
const MAX_SCRIPT: u64 = 64 * 1024;

/// Returns whether this process belongs to an iteration of a loop that the runtime delivers. The runtime sets
/// the loop's id for every stage, the driver the number of the iteration.
pub fn is_by_runtime() -> bool {
    var::text(LOOP_ID).is_some() && var::text(var::ITERATION).is_some()
}

/// Returns whether a command line pushes, or opens or merges a pull request. Scripts that it runs are examined too.
/// `calls` are its calls of git.
pub fn delivers(line: &ParsedCommandLine, calls: &[GitCall]) -> bool {
    calls.iter().any(pushes)
        || line.commands.iter().any(|words| {
            let calls = (0..words.len()).filter(|at| words[*at].rsplit('/').next() == Some("gh"));
            calls.into_iter().any(|at| opens_or_merges(&words[at + 1..]))
        })
}

/// Returns the text of the scripts in a directory that a command line runs.
pub fn scripts(line: &ParsedCommandLine, directory: &Path) -> Vec<String> {
    let files = line.commands.iter().flat_map(|words| shell::scripts(words)).map(|file| directory.join(file));
    files
        .filter(|file| file.metadata().is_ok_and(|file| file.is_file() && file.len() <= MAX_SCRIPT))
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect()
}

fn pushes(call: &GitCall) -> bool {
    match call.subcommand.as_str() {
        "push" | "send-pack" | "http-push" => true,
        "subtree" | "lfs" => call.operands().next() == Some("push"),
        _ => false,
    }
}

fn opens_or_merges(arguments: &[String]) -> bool {
    let words = subcommands(arguments, &GH_OPTIONS);
    match words.as_slice() {
        ["pr", "create" | "new" | "merge", ..] => true,
        ["api", ..] => {
            // Reading pull requests through the API is allowed.
            let names_pulls = words.iter().any(|word| word.contains("/pulls"));
            let writes =
                arguments.iter().any(|word| API_WRITES.iter().any(|option| word.starts_with(option)));
            let mutates =
                arguments.iter().any(|word| MUTATIONS.iter().any(|mutation| word.contains(mutation)));
            (names_pulls && writes) || mutates
        }
        _ => false,
    }
}

/// Returns the words that are not options. `valued` lists the options that consume the next word.
fn subcommands<'a>(arguments: &'a [String], valued: &[&str]) -> Vec<&'a str> {
    let mut words = arguments.iter().map(String::as_str);
    let mut subcommands = Vec::new();
    while let Some(word) = words.next() {
        if valued.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            subcommands.push(word);
        }
    }
    subcommands
}

#[cfg(test)]
mod tests {
    use super::super::git_call::git_calls;
    use super::*;

    fn is_denied(command: &str) -> bool {
        let line = ParsedCommandLine::read(command, "/home/u");
        delivers(&line, &git_calls(&line, Path::new("/"), "/home/u"))
    }

    #[test]
    fn delivering_commands_are_denied_in_every_form() {
        for command in [
            "git push",
            "git push -u origin HEAD",
            "git -C /src/shop push --force",
            "git -c http.proxy=x -C .. --no-pager push origin main",
            "git --git-dir .git --work-tree=. push",
            "/usr/bin/git push",
            "GIT_SSH_COMMAND='ssh -v' git push",
            "env A=1 -u B git push",
            "git add -A && git commit -m 'Work' && git push",
            "true; git push",
            "true || (cd web; git push)",
            "{ git push; } 2>&1 | tail -3",
            "if ! git push; then echo no; fi",
            "timeout 30s git push",
            "bash -c 'git add . && git push'",
            "eval \"git push\"",
            "echo \"$(git push 2>&1)\"",
            "echo `git push`",
            "nohup git push &",
            "echo origin | xargs git push",
            "bash <<'END'\ngit push\nEND",
            "cat > notes.md <<'END'\nWork\nEND\ngit push",
            "git -c alias.up=push up",
            "echo $((1 << 2)); git push",
            "echo '<<END'\ngit push",
            "cat <<'END' | sh\ngit push\nEND",
            "bash <<< 'git push'",
            "git submodule foreach 'git push'",
            "g=git; $g push",
            "git subtree push --prefix docs origin docs",
            "git \\\n  push",
            "gh pr create --fill",
            "gh pr new",
            "gh -R acme/shop pr create --fill",
            "gh pr merge 7 --squash",
            "gh pr -R acme/shop merge --auto",
            "git push && gh pr create",
            "gh api repos/acme/shop/pulls -f title=Work -f head=work -f base=main",
            "gh api -XPUT repos/acme/shop/pulls/7/merge",
            "gh api graphql -f query='mutation { mergePullRequest(input: {}) { clientMutationId } }'",
        ] {
            assert!(is_denied(command), "{command}");
        }
    }

    #[test]
    fn other_commands_are_allowed() {
        for command in [
            "git status",
            "git commit -m 'Explain git push'",
            "git commit -m \"git push comes later\"",
            "git stash push -m wip",
            "git log --grep push",
            "git fetch origin && git rebase origin/main",
            "git help push",
            "git config push.default current",
            "git switch push",
            "grep -rn 'git push' docs",
            "cat > deploy.md <<'END'\nRun\ngit push origin main\nEND",
            "cat <<-END > deploy.yml\n\t- run: git push\n\tEND\ncat deploy.yml",
            "gh pr view",
            "gh pr list --search merge",
            "gh pr checks 7",
            "gh api repos/acme/shop/pulls/7/comments",
            "gh issue create --title x",
            "npm run push",
        ] {
            assert!(!is_denied(command), "{command}");
        }
    }
}
