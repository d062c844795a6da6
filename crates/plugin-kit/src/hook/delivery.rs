//! Detects commands that deliver work: `git push`, and opening or merging a pull request with `gh`.
//!
//! The runtime delivers once, at the end of a loop, after it has excluded secrets and build output. An
//! earlier push by the assistant would bypass that check, so it is denied. The commit stage of the runtime
//! starts the assistant without the loop driver and is not restricted.

use std::path::Path;

use loopgate_api::names::env::LOOP_ID;

use super::shell::ParsedCommandLine;
use crate::variables as var;

/// Reason of the denial, read by the assistant.
pub const REFUSAL: &str = "Blocked: Loopgate delivers this loop. At its end it pushes the branch and opens the \
    pull request, after it has checked what must not leave the machine. Leave the work in the working tree or \
    in local commits, and continue.";
/// Options of `git` before the subcommand whose value is the next word.
const GIT_OPTIONS: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--attr-source"];
/// Options of `gh` before or between the subcommands whose value is the next word.
const GH_OPTIONS: [&str; 3] = ["-R", "--repo", "--hostname"];
/// Options of `gh api` that result in a request other than GET.
const API_WRITES: [&str; 7] = ["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"];
/// Mutations of GitHub's GraphQL API that open or merge a pull request.
const MUTATIONS: [&str; 3] = ["createPullRequest", "mergePullRequest", "enablePullRequestAutoMerge"];
/// Programs that execute their standard input.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];

/// Returns whether this process belongs to an iteration of a loop that the runtime delivers. The runtime sets
/// the loop's id for every stage, the driver the number of the iteration.
pub fn is_by_runtime() -> bool {
    var::text(LOOP_ID).is_some() && var::text(var::ITERATION).is_some()
}

/// Returns whether a shell command pushes, or opens or merges a pull request. Every word `git` or `gh` counts
/// as the program, whichever program runs it (`env`, `timeout`, `xargs`, `if`, `find -exec`).
pub fn in_command(text: &str, home: &Path) -> bool {
    let line = ParsedCommandLine::read(&without_here_documents(text), &home.to_string_lossy());
    line.commands.iter().any(|words| {
        (0..words.len()).any(|at| match words[at].rsplit('/').next().unwrap_or_default() {
            "git" => pushes(&words[at + 1..]),
            "gh" => opens_or_merges(&words[at + 1..]),
            _ => false,
        })
    })
}

fn pushes(arguments: &[String]) -> bool {
    let words = subcommands(arguments, &GIT_OPTIONS);
    // `git -c alias.up=push up` pushes without the word `push` as its subcommand.
    let is_alias_of_push = arguments.iter().any(|word| {
        word.strip_prefix("alias.").and_then(|alias| alias.split_once('=')).is_some_and(|(_, command)| {
            command.split_whitespace().any(|word| word.trim_start_matches('!') == "push")
        })
    });
    is_alias_of_push
        || matches!(words.as_slice(), ["push" | "send-pack", ..] | ["subtree" | "lfs", "push", ..])
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

/// Removes the bodies of here-documents, which are input and not commands, unless a shell reads them.
fn without_here_documents(text: &str) -> String {
    let mut remaining = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        remaining.push_str(line);
        remaining.push('\n');
        let Some(delimiter) = here_document(line) else { continue };
        let is_run = line.split([' ', '\t', '/', '|', ';', '&', '(']).any(|word| SHELLS.contains(&word));
        for body in lines.by_ref().take_while(|body| body.trim_start_matches('\t') != delimiter) {
            if is_run {
                remaining.push_str(body);
                remaining.push('\n');
            }
        }
    }
    remaining
}

/// Returns the delimiter of a here-document that starts on the line.
fn here_document(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
    let delimiter = match rest.strip_prefix(['\'', '"', '\\']) {
        Some(quoted) => quoted.split(['\'', '"', ' ']).next(),
        None => rest.split([' ', '\t', ';', '&', '|', ')', '<', '>']).next(),
    };
    // `<<<` is a here-string, which has no body; its "delimiter" starts with `<` and is empty.
    delimiter.filter(|delimiter| !delimiter.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_denied(command: &str) -> bool {
        in_command(command, Path::new("/home/u"))
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
