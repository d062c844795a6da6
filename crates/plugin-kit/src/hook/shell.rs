//! Parses a shell command far enough to judge it: its words, and the boundaries of its commands.
//!
//! Executes nothing. Quotes and escapes are removed; `~`, `$HOME`, aliases, and variables that the command itself assigns
//! are replaced. A part of a word that the text does not fix, such as a substitution, becomes [`UNKNOWN`]. Everything that
//! a command passes to a shell or an interpreter as a program is parsed as well: substitutions, arguments of `-c`,
//! here-documents, text in a pipeline, and values of variables and options that name a program. Encoded text and programs
//! in other files are not examined, so this is no protection against a program that hides its commands.

use std::collections::HashMap;

use tree_sitter::{Node, Parser};

/// Marks a part of a word that the text of a command line does not fix: a substitution, or a variable without a known
/// value.
pub const UNKNOWN: char = '\u{1}';

/// Commands of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedCommandLine {
    /// The commands, each as its words, including the targets of its redirections.
    pub commands: Vec<Vec<String>>,
    /// Whether it is a single command without operator, redirection, variable, glob or substitution.
    pub simple: bool,
}

/// Programs that run the program in their arguments.
const RUNNERS: [&str; 16] = [
    "sudo", "env", "nohup", "xargs", "parallel", "time", "exec", "command", "builtin", "doas", "nice",
    "timeout", "setsid", "eval", "npx", "bunx",
];
/// Shells and builtins that run a command line.
const SHELLS: [&str; 10] = ["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "eval", "source", "."];
/// Interpreters whose programs can start other programs, besides those whose name starts with `python`.
const INTERPRETERS: [&str; 13] = [
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "tclsh",
    "osascript",
];
/// Programs whose arguments are text, patterns or names, and never command lines.
const TEXT_PROGRAMS: [&str; 28] = [
    "echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "jq", "yq", "cat", "test", "[",
    "which", "type", "man", "git", "gh", "glab", "loopgate", "cargo", "pytest", "jest", "vitest", "apt",
    "apt-get", "brew",
];
/// Builtins that assign their input or their arguments to variables.
const READING: [&str; 4] = ["read", "mapfile", "readarray", "getopts"];
/// Variables whose values are programs, besides those of git.
const PROGRAM_VARIABLES: [&str; 6] = ["EDITOR", "VISUAL", "PAGER", "BASH_ENV", "ENV", "PROMPT_COMMAND"];
/// Options of git whose values are programs.
const PROGRAM_OPTIONS: [&str; 5] =
    ["--exec=", "--upload-pack=", "--receive-pack=", "--open-files-in-pager=", "--extcmd="];
/// Maximum nesting of command lines that is parsed; bounds the work for a hostile command line.
const MAX_DEPTH: usize = 4;
/// Maximum depth of a syntax tree that is walked; bounds the recursion.
const MAX_TREE_DEPTH: usize = 200;

impl ParsedCommandLine {
    /// Parses a command line.
    pub fn read(text: &str, home: &str) -> Self {
        let mut reader = ShellReader::new(home);
        let simple = reader.text(text, MAX_DEPTH);
        let simple = simple && reader.commands.len() == 1;
        Self { simple, commands: reader.commands }
    }

    /// Returns the names of the programs, including those run by programs such as `sudo`.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().flat_map(|words| {
            let positions = program_positions(words).into_iter().map(|at| &words[at]);
            positions.filter(|word| is_fixed(word)).map(|word| base_name(word))
        })
    }
}

/// Returns the positions of the words of a command that are programs. A program that the text does not fix may run the
/// next word.
pub fn program_positions(words: &[String]) -> Vec<usize> {
    let mut positions = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if is_assignment(word) || word.starts_with('-') || word.parse::<f64>().is_ok() {
            continue;
        }
        positions.push(at);
        if is_fixed(word) && !RUNNERS.contains(&base_name(word)) {
            break;
        }
    }
    positions
}

/// Returns whether the program of a command uses its arguments as text.
pub fn is_text_program(words: &[String]) -> bool {
    program_positions(words).into_iter().any(|at| TEXT_PROGRAMS.contains(&base_name(&words[at])))
}

/// Returns whether the text fixes the last component of a word.
pub fn is_fixed(word: &str) -> bool {
    !word.rsplit('/').next().unwrap_or(word).contains(UNKNOWN)
}

/// Returns the files that a command runs as a program of a shell: the first file argument of a shell, or the program
/// itself when it is given as a path.
pub fn scripts(words: &[String]) -> impl Iterator<Item = &str> {
    let of_shell = words
        .iter()
        .position(|word| SHELLS.contains(&base_name(word)))
        .and_then(|at| words[at + 1..].iter().find(|word| !word.starts_with('-')));
    words.first().filter(|word| word.contains('/')).into_iter().chain(of_shell).map(String::as_str)
}

/// Returns the last component of a word, without an unknown beginning.
pub fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word).trim_start_matches(UNKNOWN)
}

fn is_interpreter(word: &str) -> bool {
    let name = base_name(word);
    name.starts_with("python") || INTERPRETERS.contains(&name)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Returns whether a text can be the name of a variable.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_program_variable(name: &str) -> bool {
    name.starts_with("GIT_") || PROGRAM_VARIABLES.contains(&name)
}

/// Returns the values of options and variables in a command that are programs.
fn program_values(words: &[String]) -> impl Iterator<Item = &str> {
    let settings = words.windows(2).filter(|pair| pair[0] == "-c").filter_map(|pair| pair[1].split_once('='));
    let settings = settings.map(|(_, value)| value);
    let options = words.iter().filter_map(|word| {
        PROGRAM_OPTIONS.iter().find_map(|option| word.strip_prefix(option)).or_else(|| {
            word.split_once('=').filter(|(name, _)| is_program_variable(name)).map(|(_, value)| value)
        })
    });
    settings.chain(options)
}

/// Text that is input of a statement and may be the program of a shell or an interpreter.
struct InputText {
    text: String,
    /// Files to which the statement writes.
    targets: Vec<String>,
}

struct ShellReader<'a> {
    home: &'a str,
    /// Values of the variables that the command line assigns.
    variables: HashMap<String, String>,
    /// Aliases that the command line defines, with the words of their values.
    aliases: HashMap<String, Vec<String>>,
    /// Values of variables that are programs, and are not parsed yet.
    programs: Vec<String>,
    commands: Vec<Vec<String>>,
}

impl<'a> ShellReader<'a> {
    fn new(home: &'a str) -> Self {
        Self {
            home,
            variables: HashMap::new(),
            aliases: HashMap::new(),
            programs: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// Adds the commands of a text. Returns whether it is one plain command.
    fn text(&mut self, text: &str, depth: usize) -> bool {
        let mut parser = Parser::new();
        let language = parser.set_language(&tree_sitter_bash::LANGUAGE.into());
        let tree = language.ok().and_then(|()| parser.parse(ascii_of_equal_length(text), None));
        let Some(tree) = tree.filter(|tree| !is_deeper_than(tree.root_node(), MAX_TREE_DEPTH)) else {
            self.commands.extend(tokens(text));
            return false;
        };
        let root = tree.root_node();
        if root.has_error() {
            // Commands inside a faulty part would be lost, so that every word counts as well.
            self.commands.extend(tokens(text));
        }
        let first = self.commands.len();
        let unused: Vec<_> =
            children(root).into_iter().flat_map(|statement| self.statement(statement, text, depth)).collect();
        let commands = &self.commands[first..];
        let is_run = |input: &InputText| {
            let names = || commands.iter().flat_map(|words| scripts(words)).map(base_name);
            input.targets.iter().any(|target| names().any(|name| name == base_name(target)))
        };
        let written: Vec<_> = unused.into_iter().filter(is_run).collect();
        if depth > 0 {
            for input in &written {
                self.text(&input.text, depth - 1);
            }
        }
        is_plain(root, text)
    }

    /// Adds the commands of one statement, and those that it passes to shells and interpreters. Returns the input
    /// texts that it passes to other programs.
    fn statement(&mut self, node: Node<'_>, source: &str, depth: usize) -> Vec<InputText> {
        let first = self.commands.len();
        let mut inputs = Vec::new();
        self.walk(node, source, &mut inputs);
        let commands: Vec<Vec<String>> = self.commands[first..].to_vec();
        // The command line of `-c` is one word with spaces; other arguments are flags and file names.
        let spaced = |words: &[String]| -> Vec<String> {
            words.iter().filter(|word| word.contains(char::is_whitespace)).cloned().collect()
        };
        // Code needs no spaces.
        let is_code = |word: &&String| word.contains(|c: char| c.is_whitespace() || "(\"'".contains(c));
        let runs_shell = commands.iter().flatten().any(|word| SHELLS.contains(&base_name(word)));
        let runs_interpreter = commands.iter().flatten().any(|word| is_interpreter(word));
        let mut programs: Vec<String> = std::mem::take(&mut self.programs);
        let mut arguments: Vec<String> = Vec::new();
        for words in &commands {
            let shell = words.iter().position(|word| SHELLS.contains(&base_name(word)));
            match shell {
                Some(at) if words[at] == "eval" => programs.push(words[at + 1..].join(" ")),
                Some(at) => programs.extend(spaced(&words[at + 1..])),
                // `echo 'git push' | sh`, `env -S 'git push'`
                None if runs_shell || words.iter().any(|word| word == "-S") => {
                    programs.extend(spaced(words));
                }
                // `trap 'git push' EXIT`, `tmux new 'git push'`
                None if !is_text_program(words) => arguments.extend(spaced(words)),
                None => {}
            }
            if words.iter().any(|word| base_name(word) == "git") {
                programs.extend(program_values(words).map(str::to_owned));
            }
            // Only a program that prints its arguments passes them to an interpreter.
            let prints = || words.first().is_some_and(|word| ["echo", "printf"].contains(&word.as_str()));
            if runs_interpreter && (prints() || words.iter().any(|word| is_interpreter(word))) {
                self.commands.extend(words.iter().filter(is_code).filter_map(|code| tokens(code)));
            }
        }
        if runs_interpreter {
            self.commands.extend(inputs.iter().filter_map(|input| tokens(&input.text)));
        }
        if runs_shell {
            programs.extend(inputs.drain(..).map(|input| input.text));
        }
        // `read a b <<< 'git push'; $a $b`
        if commands.iter().any(|words| words.first().is_some_and(|word| READING.contains(&word.as_str()))) {
            arguments.extend(inputs.iter().map(|input| input.text.clone()));
        }
        if depth > 0 {
            for program in &programs {
                self.text(program, depth - 1);
            }
            for argument in &arguments {
                let first = self.commands.len();
                self.text(argument, depth - 1);
                // Most arguments are no command lines. Those that run git are, and other words must not count as programs.
                let added = self.commands.split_off(first).into_iter();
                self.commands.extend(added.filter(|words| {
                    program_positions(words).into_iter().any(|at| base_name(&words[at]).starts_with("git"))
                }));
            }
        }
        inputs
    }

    /// Adds the commands below a node, outer ones first.
    fn walk(&mut self, node: Node<'_>, source: &str, inputs: &mut Vec<InputText>) {
        match node.kind() {
            "command" | "declaration_command" | "unset_command" | "test_command" => {
                let mut words = Vec::new();
                let mut targets = Vec::new();
                let mut texts = Vec::new();
                for child in children(node) {
                    match child.kind() {
                        "file_redirect" => targets.extend(self.targets(child, source)),
                        "herestring_redirect" => texts.push(self.words(child, source).join(" ")),
                        "subshell" => {}
                        _ => words.extend(self.words(child, source)),
                    }
                }
                words.extend(targets);
                self.bind(&words);
                if let Some(value) = words.first().and_then(|name| self.aliases.get(name)) {
                    words.splice(..1, value.iter().cloned());
                }
                if !words.is_empty() {
                    self.commands.push(words);
                }
                inputs.extend(texts.into_iter().map(|text| InputText { text, targets: Vec::new() }));
            }
            "variable_assignment" => self.assign(node, source),
            "for_statement" => {
                let name = node.child_by_field_name("variable").map(|name| text_of(name, source));
                self.variables.extend(name.map(|name| (name.to_owned(), UNKNOWN.to_string())));
            }
            "redirected_statement" => {
                let body = node.child_by_field_name("body");
                if let Some(body) = body {
                    self.walk(body, source, inputs);
                }
                let redirects = || children(node).into_iter().filter(|child| Some(*child) != body);
                let targets: Vec<String> =
                    redirects().flat_map(|child| self.targets(child, source)).collect();
                let statement = self.commands.last().cloned().unwrap_or_default();
                match self.commands.last_mut().filter(|_| body.is_some()) {
                    Some(words) => words.extend(targets.iter().cloned()),
                    None if targets.is_empty() => {}
                    None => self.commands.push(targets.clone()),
                }
                // `echo 'git push' > x.sh` may write a script.
                let spaced = statement.iter().filter(|word| word.contains(char::is_whitespace));
                inputs.extend(
                    spaced
                        .map(|word| InputText { text: word.clone(), targets: targets.clone() })
                        .filter(|_| !targets.is_empty()),
                );
                for redirect in redirects() {
                    // `tee FILE` writes to its arguments.
                    let targets = targets.iter().chain(statement.iter().skip(1)).cloned().collect();
                    let text = match redirect.kind() {
                        "heredoc_redirect" => child_text(redirect, "heredoc_body", source),
                        "herestring_redirect" => Some(self.words(redirect, source).join(" ")),
                        _ => None,
                    };
                    inputs.extend(text.map(|text| InputText { text, targets }));
                    self.walk(redirect, source, inputs);
                }
                return;
            }
            _ => {}
        }
        for child in children(node) {
            self.walk(child, source, inputs);
        }
    }

    fn assign(&mut self, node: Node<'_>, source: &str) {
        let name = node.child_by_field_name("name").map(|name| text_of(name, source));
        let value = node.child_by_field_name("value").map(|value| self.words(value, source).join(" "));
        if let Some(name) = name {
            let value = value.unwrap_or_default();
            if is_program_variable(name) {
                self.programs.push(value.clone());
            }
            // Which of several values applies depends on conditions and functions.
            let value = match self.variables.get(name) {
                Some(other) if *other != value && !value.starts_with(UNKNOWN) => format!("{UNKNOWN}{value}"),
                _ => value,
            };
            self.variables.insert(name.to_owned(), value);
        }
    }

    /// Records the variables and aliases that a builtin sets.
    fn bind(&mut self, words: &[String]) {
        let Some((program, arguments)) = words.split_first() else { return };
        let is_variable = |word: &&String| is_name(word);
        if READING.contains(&program.as_str()) {
            let names = arguments.iter().filter(is_variable);
            self.variables.extend(names.map(|name| (name.clone(), UNKNOWN.to_string())));
        }
        if program == "printf" {
            let names = arguments.windows(2).filter(|pair| pair[0] == "-v").map(|pair| &pair[1]);
            self.variables.extend(names.map(|name| (name.clone(), UNKNOWN.to_string())));
        }
        if program == "alias" {
            let aliases = arguments.iter().filter_map(|word| word.split_once('='));
            self.aliases.extend(aliases.map(|(name, value)| {
                (name.to_owned(), value.split_whitespace().map(str::to_owned).collect())
            }));
        }
    }

    /// Returns the files that a redirection names.
    fn targets(&mut self, node: Node<'_>, source: &str) -> Vec<String> {
        match node.kind() {
            "file_redirect" => {
                let destination = node.child_by_field_name("destination");
                destination.map(|node| self.words(node, source)).unwrap_or_default()
            }
            "heredoc_redirect" => {
                children(node).into_iter().flat_map(|child| self.targets(child, source)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the words of an argument. An unquoted variable may contain several.
    fn words(&mut self, node: Node<'_>, source: &str) -> Vec<String> {
        if node.kind() == "variable_assignment" {
            self.assign(node, source);
            return vec![self.expand_home(&unescape(text_of(node, source)))];
        }
        let mut word = String::new();
        self.append(node, source, false, &mut word);
        let words = word.split(SEPARATOR).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(|word| self.expand_home(word)).collect();
        // An empty string in quotes is an argument.
        if words.is_empty() && matches!(node.kind(), "string" | "raw_string") {
            vec![String::new()]
        } else {
            words
        }
    }

    fn append(&self, node: Node<'_>, source: &str, is_quoted: bool, word: &mut String) {
        let text = text_of(node, source);
        match node.kind() {
            "raw_string" => word.push_str(text.trim_start_matches('\'').trim_end_matches('\'')),
            "ansi_c_string" => word.push_str(&unescape_ansi(text)),
            "string_content" => word.push_str(&unescape_double_quoted(text)),
            "simple_expansion" | "expansion" => {
                let name = text.trim_start_matches(['$', '{']).trim_end_matches('}');
                let value = match self.variables.get(name) {
                    Some(value) => value.as_str(),
                    None if name == "HOME" => self.home,
                    None if name == "IFS" => " ",
                    None => {
                        word.push(UNKNOWN);
                        word.push_str(text);
                        return;
                    }
                };
                if is_quoted {
                    word.push_str(value);
                } else {
                    word.push_str(&value.replace(char::is_whitespace, &SEPARATOR.to_string()));
                }
            }
            "command_substitution" | "process_substitution" | "arithmetic_expansion" => word.push(UNKNOWN),
            _ if node.named_child_count() == 0 => word.push_str(&unescape(text)),
            kind => {
                let is_quoted = is_quoted || kind == "string";
                for child in children(node) {
                    self.append(child, source, is_quoted, word);
                }
            }
        }
    }

    /// Replaces references to the home directory.
    fn expand_home(&self, word: &str) -> String {
        let word = word.replace("${HOME}", self.home).replace("$HOME", self.home);
        match word.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", self.home),
            _ => word,
        }
    }
}

/// Replaces every byte of other characters. None of them has a meaning for a shell, and the scanner of the grammar
/// accesses memory out of bounds for characters beyond its tables. The offsets stay those of the original text.
fn ascii_of_equal_length(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| if byte.is_ascii() && byte != 0 { byte } else { b'_' }).collect()
}

/// Separates the words of an unquoted variable; cannot occur in a command line.
const SEPARATOR: char = '\0';

fn is_deeper_than(root: Node<'_>, limit: usize) -> bool {
    let mut cursor = root.walk();
    loop {
        if cursor.goto_first_child() {
            if cursor.depth() as usize > limit {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn text_of<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

fn child_text(node: Node<'_>, kind: &str, source: &str) -> Option<String> {
    children(node)
        .into_iter()
        .find(|child| child.kind() == kind)
        .map(|child| text_of(child, source).to_owned())
}

/// Returns whether a tree is a single command whose words are literal.
fn is_plain(root: Node<'_>, source: &str) -> bool {
    let has_one_command =
        root.child_count() == 1 && root.child(0).is_some_and(|node| node.kind() == "command");
    has_one_command && !root.has_error() && is_literal(root, source)
}

fn is_literal(node: Node<'_>, source: &str) -> bool {
    match node.kind() {
        "word" => !text_of(node, source).contains(['*', '?', '[', '{']),
        "program" | "command" | "command_name" | "concatenation" | "string" => {
            let text = text_of(node, source);
            // A literal `$` in double quotes is rare, and harmless to reject.
            (node.kind() != "string" || !text.contains(['$', '`']))
                && children(node).into_iter().all(|child| is_literal(child, source))
        }
        "raw_string" | "string_content" | "number" | "comment" => true,
        _ => false,
    }
}

/// Returns the words of a text that is not parsed, as one command.
fn tokens(text: &str) -> Option<Vec<String>> {
    let is_part = |c: char| c.is_alphanumeric() || "_./=@:~+-".contains(c);
    // An operator between two strings, as in `"git" + "push"`, is no word.
    let words =
        text.split(|c: char| !is_part(c)).filter(|word| !word.trim_matches(['+', '=', ':']).is_empty());
    let words: Vec<String> = words.map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

/// Removes the backslashes of an unquoted word; a backslash before a line break continues the line.
fn unescape(text: &str) -> String {
    let mut word = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next().filter(|next| *next != '\n')),
            c => word.push(c),
        }
    }
    word
}

/// Removes the backslashes that have a meaning in double quotes.
fn unescape_double_quoted(text: &str) -> String {
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next_if_eq(&'\n').is_some() => {}
            '\\' if chars.peek().is_some_and(|next| matches!(next, '"' | '\\' | '$' | '`')) => {
                word.extend(chars.next())
            }
            c => word.push(c),
        }
    }
    word
}

/// Decodes `$'…'`.
fn unescape_ansi(text: &str) -> String {
    let inner = text.strip_prefix("$'").and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
    let mut word = String::new();
    let mut rest = inner;
    while let Some((before, after)) = rest.split_once('\\') {
        let (decoded, remaining) = escape_sequence(after);
        word.push_str(before);
        word.extend(decoded);
        rest = remaining;
    }
    word.push_str(rest);
    word
}

/// Decodes the escape sequence at the start of a text, which follows a backslash, and returns the rest of the text.
fn escape_sequence(text: &str) -> (Option<char>, &str) {
    let mut chars = text.chars();
    let first = chars.next();
    let rest = chars.as_str();
    match first {
        Some('x') => code_point(rest, 16, 2),
        Some('u') => code_point(rest, 16, 4),
        Some('U') => code_point(rest, 16, 8),
        Some('0'..='7') => code_point(text, 8, 3),
        Some('n') => (Some('\n'), rest),
        Some('t') => (Some('\t'), rest),
        other => (other, rest),
    }
}

fn code_point(text: &str, radix: u32, max_digits: usize) -> (Option<char>, &str) {
    let count = text.chars().take(max_digits).take_while(|c| c.is_digit(radix)).count();
    // Digits are ASCII, so that their count is their length in bytes.
    let (digits, rest) = text.split_at(count);
    (u32::from_str_radix(digits, radix).ok().and_then(char::from_u32), rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        ParsedCommandLine::read(text, "/home/u").commands
    }

    #[test]
    fn quotes_and_home_are_resolved() {
        assert_eq!(
            words(r#"cat "$HOME/.ssh/x" '~/y' ~/z a\ b"#),
            [["cat", "/home/u/.ssh/x", "/home/u/y", "/home/u/z", "a b"]]
        );
        assert_eq!(words("a; b && c | d > e # f"), [vec!["a"], vec!["b"], vec!["c"], vec!["d", "e"]]);
    }

    #[test]
    fn nested_commands_are_parsed() {
        let all =
            |text| ParsedCommandLine::read(text, "/h").programs().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(all("echo $(pkill x) `killall y`"), ["echo", "pkill", "killall"]);
        assert_eq!(all("bash -c 'sudo pkill x'"), ["bash", "sudo", "pkill"]);
        assert_eq!(all("git commit -m 'pkill the loop; killall'"), ["git"]);
        assert_eq!(all("A=1 env B=2 /usr/bin/killall x"), ["env", "killall"]);
        assert_eq!(all("echo \"now $(pkill z)\""), ["echo", "pkill"]);
    }

    #[test]
    fn programs_of_shells_and_interpreters_are_parsed() {
        for text in [
            "bash <<'END'\ngit push\nEND",
            "cat <<END | sh\ngit push\nEND",
            "bash <<< 'git push'",
            "echo 'git push' | bash",
            "env -S 'git push'",
            "cat > x.sh <<'END'\ngit push\nEND\nbash x.sh",
            "echo 'git push' > x.sh && sh x.sh",
            "printf 'a\ngit push' > ./x.sh; chmod +x x.sh; ./x.sh",
            "tee ./x.sh <<'END'\ngit push\nEND\nchmod +x x.sh && ./x.sh",
            "python3 - <<'END'\nimport subprocess\nsubprocess.run(['git', 'push'])\nEND",
            "python3 -c 'import os; os.system(\"git push\")'",
            "eval \"git\" push",
            "echo $((1 << 2)); git push",
            "echo '<<END'\ngit push",
            "g=git; $g push",
            "c='git push'; $c",
            "git${IFS}push",
            "$'\\x67it' push",
            "g''it p\\ush",
            "{ git push; }",
            "git \\\n  push",
            // Syntax errors do not hide a command.
            "echo ( git push",
            "cat <<END; git push\nx\nEND",
        ] {
            let commands = words(text);
            let pushes = |words: &Vec<String>| words.windows(2).any(|pair| pair == ["git", "push"]);
            assert!(commands.iter().any(pushes), "{text}: {commands:?}");
        }
        for text in [
            "cat > x.md <<'END'\ngit push\nEND\ncat x.md",
            "echo 'git push'",
            "echo 'git push' > x.md; sh x.sh",
        ] {
            assert!(
                !words(text).iter().any(|words| words.windows(2).any(|pair| pair == ["git", "push"])),
                "{text}"
            );
        }
    }

    #[test]
    fn only_a_single_command_without_operators_is_simple() {
        for text in ["ls .loopgate/work", "cat 'a b'"] {
            assert!(ParsedCommandLine::read(text, "/h").simple, "{text}");
        }
        for text in ["ls; rm x", "ls $(x)", "ls > y", "ls *", "ls $A", "ls & x", "", "ls \"$(x)\""] {
            assert!(!ParsedCommandLine::read(text, "/h").simple, "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_parsed_without_panic(text in ".{0,200}") {
            let line = ParsedCommandLine::read(&text, "/h");
            prop_assert!(line.commands.iter().flatten().count() <= text.len() * 8);
        }
    }
}
