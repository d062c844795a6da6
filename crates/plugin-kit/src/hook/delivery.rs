//! Commands that deliver work: `git push`, and opening or merging a pull request with `gh`.
//!
//! In a loop the runtime delivers once, at the end, after it has left out secrets and build output. An
//! assistant that pushes earlier would bypass that check, so its command is refused. The commit stage of
//! the runtime starts the assistant without the loop driver and is not restricted.

use std::path::Path;

use loopgate_api::names::env::LOOP_ID;

use super::shell::ParsedCommandLine;
use crate::variables as var;

/// Reason that the assistant reads.
pub const REFUSAL: &str = "Blocked: Loopgate delivers this loop. At its end it pushes the branch and opens the \
    pull request, after it has checked what must not leave the machine. Leave the work in the working tree or \
    in local commits, and go on.";
/// Options of `git` before its subcommand whose value is the next word.
const GIT_OPTIONS: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--attr-source"];
/// Options of `gh` whose value is the next word, before or between its subcommands.
const GH_OPTIONS: [&str; 3] = ["-R", "--repo", "--hostname"];
/// Options of `gh api` that make a request other than GET.
const API_WRITES: [&str; 7] = ["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"];
/// Mutations of the code host's GraphQL API.
const MUTATIONS: [&str; 3] = ["createPullRequest", "mergePullRequest", "enablePullRequestAutoMerge"];
/// Programs that run their standard input as commands.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];

/// Whether this process belongs to an iteration of a loop whose work the runtime delivers: the runtime
/// sets the loop's id for every stage, the driver the number of the iteration.
pub fn is_by_runtime() -> bool {
    var::text(LOOP_ID).is_some() && var::text(var::ITERATION).is_some()
}

/// Whether a shell command pushes, or opens or merges a pull request. Every word that names `git` or
/// `gh` counts as the program, whatever runs it (`env`, `timeout`, `xargs`, `if`, `find -exec`).
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

/// The words that are no options. `valued` names the options that take the next word.
fn subcommands<'a>(arguments: &'a [String], valued: &[&str]) -> Vec<&'a str> {
    let mut words = arguments.iter().map(String::as_str);
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if valued.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            found.push(word);
        }
    }
    found
}

/// The command without the text of its here-documents, which is input and not run, except where a shell
/// reads it.
fn without_here_documents(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        kept.push_str(line);
        kept.push('\n');
        let Some(delimiter) = here_document(line) else { continue };
        let is_run = line.split([' ', '\t', '/', '|', ';', '&', '(']).any(|word| SHELLS.contains(&word));
        for body in lines.by_ref().take_while(|body| body.trim_start_matches('\t') != delimiter) {
            if is_run {
                kept.push_str(body);
                kept.push('\n');
            }
        }
    }
    kept
}

/// The delimiter of the here-document that a line begins.
fn here_document(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
    let delimiter = match rest.strip_prefix(['\'', '"', '\\']) {
        Some(quoted) => quoted.split(['\'', '"', ' ']).next(),
        None => rest.split([' ', '\t', ';', '&', '|', ')', '<', '>']).next(),
    };
    // `<<<` is a here-string: one word of the same command.
    delimiter.filter(|delimiter| !delimiter.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(command: &str) -> bool {
        in_command(command, Path::new("/home/u"))
    }

    #[test]
    fn commands_that_deliver_are_refused_however_they_are_run() {
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
            assert!(refused(command), "{command}");
        }
    }

    #[test]
    fn commands_that_deliver_nothing_are_allowed() {
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
            assert!(!refused(command), "{command}");
        }
    }
}
