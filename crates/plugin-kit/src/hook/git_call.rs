//! Calls of git in a command line, with options and aliases resolved.

use std::path::{Path, PathBuf};

use super::shell::{ParsedCommandLine, UNKNOWN, base_name, is_fixed, is_text_program, program_positions};
use crate::project_git::BlockingGit;

/// Options of `git` before the subcommand whose value is the next word.
const VALUED_OPTIONS: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--attr-source"];
/// Subcommands that cannot be aliases, because git ignores aliases with the names of its own commands. Others are
/// looked up in the configuration.
const OWN_COMMANDS: [&str; 32] = [
    "add",
    "apply",
    "blame",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "config",
    "diff",
    "fetch",
    "grep",
    "init",
    "log",
    "ls-files",
    "merge",
    "mv",
    "pull",
    "push",
    "rebase",
    "remote",
    "reset",
    "restore",
    "revert",
    "rev-parse",
    "rm",
    "show",
    "stash",
    "status",
    "switch",
    "worktree",
];
/// Subcommands that run command lines in their arguments.
const RUNNERS: [&str; 5] = ["rebase", "submodule", "bisect", "difftool", "config"];
/// Programs that complete a command from their input.
const COMPLETING: [&str; 2] = ["xargs", "parallel"];
/// Directory of git's programs, each of which is a subcommand.
const GIT_CORE: &str = "/git-core/";
/// Maximum nesting of aliases.
const MAX_DEPTH: usize = 3;

/// A call of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCall {
    /// Directory in which git runs.
    pub directory: PathBuf,
    /// Subcommand, for example `push`.
    pub subcommand: String,
    /// Words after the subcommand.
    pub arguments: Vec<String>,
    /// Whether the text does not fix the program, which may be another one than git.
    pub is_guess: bool,
}

impl GitCall {
    /// Returns whether the text fixes the program and the subcommand.
    pub fn is_certain(&self) -> bool {
        !self.is_guess && !self.is_unknown()
    }

    /// Returns whether the text of the command line does not fix the subcommand.
    pub fn is_unknown(&self) -> bool {
        // Patterns, and the placeholders of xargs, parallel and printf.
        self.subcommand.contains(|c: char| c == UNKNOWN || "{}*?[%$`".contains(c)) || self.subcommand == ":::"
    }

    fn unknown(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            subcommand: UNKNOWN.to_string(),
            arguments: Vec::new(),
            is_guess: false,
        }
    }

    /// Returns whether an option is given, in its long form or as a letter in a group of short options.
    pub fn has_option(&self, long: &[&str], short: &[char]) -> bool {
        let options = self.arguments.iter().take_while(|word| *word != "--");
        options.filter(|word| word.starts_with('-')).any(|word| match word.strip_prefix("--") {
            // Git accepts every unambiguous beginning of an option: `--har` is `--hard`.
            Some(name) => {
                let name = name.split('=').next().unwrap_or(name);
                long.iter().any(|option| option.starts_with(name))
            }
            None => word.chars().skip(1).any(|letter| short.contains(&letter)),
        })
    }

    /// Returns the words that are not options.
    pub fn operands(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
    }
}

/// Returns the calls of git in a command line. Every word `git` counts as the program, whichever program runs it
/// (`env`, `timeout`, `xargs`, `if`, `find -exec`). A program that the text does not fix counts as git if its next word is
/// known.
pub fn git_calls(line: &ParsedCommandLine, directory: &Path, home: &str) -> Vec<GitCall> {
    let mut calls = Vec::new();
    let aliases: Vec<(String, String)> = line.commands.iter().flat_map(|words| aliases(words)).collect();
    let finder = CallFinder { home, aliases };
    finder.collect(line, directory, MAX_DEPTH, &mut calls);
    calls
}

/// Returns the aliases that a command defines: `git -c alias.x=y`, `git config alias.x y`, `GIT_CONFIG_KEY_0=alias.x`.
fn aliases(words: &[String]) -> impl Iterator<Item = (String, String)> {
    words.iter().enumerate().filter_map(|(at, word)| {
        let alias = word.split_once("alias.")?.1;
        let value = match alias.split_once('=') {
            Some((_, value)) => value.to_owned(),
            None => {
                let next = words.get(at + 1)?;
                let value = next.strip_prefix("GIT_CONFIG_VALUE_").and_then(|rest| rest.split_once('='));
                value.map_or_else(|| next.clone(), |(_, value)| value.to_owned())
            }
        };
        Some((alias.split('=').next().unwrap_or(alias).to_owned(), value))
    })
}

/// Returns the position of the subcommand in the words after `git`.
fn subcommand_position(arguments: &[String]) -> Option<usize> {
    let mut at = 0;
    loop {
        let word = arguments.get(at)?;
        if VALUED_OPTIONS.contains(&word.as_str()) {
            at += 2;
        } else if word.starts_with('-') {
            at += 1;
        } else {
            return Some(at);
        }
    }
}

struct CallFinder<'a> {
    home: &'a str,
    /// Aliases that the command line defines, as pairs of name and value.
    aliases: Vec<(String, String)>,
}

impl CallFinder<'_> {
    fn collect(&self, line: &ParsedCommandLine, directory: &Path, depth: usize, calls: &mut Vec<GitCall>) {
        for words in &line.commands {
            let positions = program_positions(words);
            let is_text = is_text_program(words);
            for at in 0..words.len() {
                let is_program = positions.contains(&at);
                let mut found = Vec::new();
                self.call_at(words, at, is_program, directory, depth, &mut found);
                // `$program $x` may be anything, and `echo git $x` runs nothing.
                let may_be_unknown = |call: &GitCall| !call.is_guess && (is_program || !is_text);
                found.retain(|call| !call.is_unknown() || may_be_unknown(call));
                calls.append(&mut found);
            }
        }
    }

    /// Adds the calls if the word at a position of a command is git or may be git.
    fn call_at(
        &self,
        words: &[String],
        at: usize,
        is_program: bool,
        directory: &Path,
        depth: usize,
        calls: &mut Vec<GitCall>,
    ) {
        let (word, arguments) = (&words[at], &words[at + 1..]);
        let name = base_name(word);
        if name == "git" {
            self.call(arguments, directory, depth, calls);
            let is_completed = words[..at].iter().any(|word| COMPLETING.contains(&base_name(word)));
            if is_completed && subcommand_position(arguments).is_none() {
                calls.push(GitCall::unknown(directory));
            }
        } else if let Some(subcommand) = name.strip_prefix("git-")
            && (is_program || word.contains(GIT_CORE))
        {
            let words: Vec<String> =
                std::iter::once(subcommand.to_owned()).chain(arguments.iter().cloned()).collect();
            self.call(&words, directory, depth, calls);
        } else if name.strip_prefix("git").is_some_and(|rest| rest.starts_with(UNKNOWN)) {
            calls.push(GitCall::unknown(directory));
        } else if is_program && !is_fixed(word) {
            self.call(arguments, directory, 0, calls);
            calls.iter_mut().for_each(|call| call.is_guess = true);
        }
    }

    fn call(&self, arguments: &[String], directory: &Path, depth: usize, calls: &mut Vec<GitCall>) {
        let Some(at) = subcommand_position(arguments) else { return };
        let (options, subcommand) = (&arguments[..at], &arguments[at]);
        let mut directory = directory.to_owned();
        directory.extend(options.windows(2).filter(|pair| pair[0] == "-C").map(|pair| &pair[1]));
        let arguments = arguments[at + 1..].to_vec();
        if RUNNERS.contains(&subcommand.as_str()) && depth > 0 {
            for text in arguments.iter().filter(|word| word.contains(char::is_whitespace)) {
                self.collect(&ParsedCommandLine::read(text, self.home), &directory, depth - 1, calls);
            }
        }
        if depth > 0
            && subcommand.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
            && let Some(value) = self.alias(subcommand, &directory)
        {
            match value.strip_prefix('!') {
                Some(command) => {
                    self.collect(&ParsedCommandLine::read(command, self.home), &directory, depth - 1, calls);
                }
                None => {
                    let words = value.split_whitespace().map(str::to_owned).chain(arguments.iter().cloned());
                    self.call(&words.collect::<Vec<_>>(), &directory, depth - 1, calls);
                }
            }
        }
        calls.push(GitCall { directory, subcommand: subcommand.clone(), arguments, is_guess: false });
    }

    /// Returns the value of an alias, from the command line or from the configuration of the repository.
    fn alias(&self, name: &str, directory: &Path) -> Option<String> {
        if let Some((_, value)) = self.aliases.iter().find(|(alias, _)| alias == name) {
            return Some(value.clone());
        }
        if OWN_COMMANDS.contains(&name) {
            return None;
        }
        BlockingGit::new().ok()?.alias(directory, name)
    }
}
