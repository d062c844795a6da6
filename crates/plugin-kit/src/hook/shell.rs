//! Parses a shell command far enough to judge it: its words, and the boundaries of its commands.
//!
//! Executes and completes nothing. Quotes and escapes are removed, `~` and `$HOME` are replaced, and
//! substitutions are parsed as further commands.

/// Commands of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedCommandLine {
    /// The commands, each as its words.
    pub commands: Vec<Vec<String>>,
    /// Whether it is a single command without operator, redirection, variable, glob or substitution.
    pub simple: bool,
}

/// Programs that run the program in their arguments.
const RUNNERS: [&str; 12] =
    ["sudo", "env", "nohup", "xargs", "time", "exec", "command", "doas", "nice", "timeout", "setsid", "eval"];
/// Shells that run a command line in their arguments.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];
/// Maximum nesting of commands that is parsed; bounds the work for a hostile command line.
const MAX_DEPTH: usize = 4;

impl ParsedCommandLine {
    /// Parses a command line.
    pub fn read(text: &str, home: &str) -> Self {
        let mut reader = ShellReader { home, commands: Vec::new(), plain: true };
        reader.line(text, MAX_DEPTH);
        let simple = reader.plain && reader.commands.len() == 1;
        Self { commands: reader.commands, simple }
    }

    /// Returns the names of the programs, including those run by programs such as `sudo`.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().flat_map(|words| {
            let mut names = Vec::new();
            for word in words {
                if is_assignment(word) || word.starts_with('-') || word.parse::<f64>().is_ok() {
                    continue;
                }
                let name = word.rsplit('/').next().unwrap_or(word);
                names.push(name);
                if !RUNNERS.contains(&name) {
                    break;
                }
            }
            names
        })
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

struct ShellReader<'a> {
    home: &'a str,
    commands: Vec<Vec<String>>,
    plain: bool,
}

impl ShellReader<'_> {
    fn line(&mut self, text: &str, depth: usize) {
        let mut words = Vec::new();
        let mut word = String::new();
        let mut in_word = false;
        let mut inner = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' => word.extend(chars.next().filter(|next| *next != '\n')),
                '\'' => {
                    in_word = true;
                    word.extend(chars.by_ref().take_while(|c| *c != '\''));
                }
                '"' => {
                    in_word = true;
                    let quoted = double_quoted(&mut chars);
                    if quoted.contains(['$', '`']) {
                        self.plain = false;
                        inner.extend(substitutions(&quoted));
                    }
                    word.push_str(&self.expand_home(&quoted));
                }
                ' ' | '\t' => end_word(&mut words, &mut word, &mut in_word),
                ';' | '&' | '|' | '\n' | '(' | ')' | '{' | '}' | '<' | '>' => {
                    self.plain = false;
                    end_word(&mut words, &mut word, &mut in_word);
                    // The target of a redirection is kept as a word of the command, so that it is checked
                    // too.
                    if !matches!(c, '<' | '>') {
                        self.command(&mut words, depth);
                    }
                }
                '`' => {
                    self.plain = false;
                    inner.push(chars.by_ref().take_while(|c| *c != '`').collect());
                }
                '$' => {
                    self.plain = false;
                    match chars.peek() {
                        Some('(') => {
                            chars.next();
                            inner.push(balanced(&mut chars));
                        }
                        _ => word.push('$'),
                    }
                }
                '*' | '?' | '[' => {
                    self.plain = false;
                    word.push(c);
                }
                // A comment starts only at the beginning of a word.
                '#' if word.is_empty() && !in_word => {
                    chars.by_ref().take_while(|c| *c != '\n').for_each(drop);
                    self.command(&mut words, depth);
                }
                _ => word.push(c),
            }
        }
        end_word(&mut words, &mut word, &mut in_word);
        // Substitutions are parsed last, so their commands come after the enclosing command.
        self.command(&mut words, depth);
        if depth > 0 {
            inner.iter().for_each(|text| self.line(text, depth - 1));
        }
    }

    /// Stores a command, and parses the command lines that it passes to a shell.
    fn command(&mut self, words: &mut Vec<String>, depth: usize) {
        if words.is_empty() {
            return;
        }
        let words: Vec<String> = std::mem::take(words).iter().map(|word| self.expand_home(word)).collect();
        let mut texts = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let name = word.rsplit('/').next().unwrap_or(word);
            // The command line of `-c` is one word with spaces; other arguments are flags and file names.
            if SHELLS.contains(&name) {
                texts.extend(words[at + 1..].iter().filter(|word| word.contains(' ')).cloned());
            }
            if name == "eval" {
                texts.push(words[at + 1..].join(" "));
            }
        }
        self.commands.push(words);
        if depth > 0 {
            texts.iter().for_each(|text| self.line(text, depth - 1));
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

fn end_word(words: &mut Vec<String>, word: &mut String, in_word: &mut bool) {
    if !word.is_empty() || *in_word {
        words.push(std::mem::take(word));
    }
    *in_word = false;
}

/// Reads up to the closing quote. Only escaped quotes and backslashes are unescaped.
fn double_quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' if chars.peek().is_some_and(|next| matches!(next, '"' | '\\')) => text.extend(chars.next()),
            _ => text.push(c),
        }
    }
    text
}

/// Returns the command substitutions inside double quotes.
fn substitutions(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '`' {
            commands.push(chars.by_ref().take_while(|c| *c != '`').collect());
        } else if c == '$' && chars.next_if_eq(&'(').is_some() {
            commands.push(balanced(&mut chars));
        }
    }
    commands
}

/// Reads up to the parenthesis that closes an open one.
fn balanced(chars: &mut impl Iterator<Item = char>) -> String {
    let mut open = 1;
    chars
        .take_while(|c| {
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            open > 0
        })
        .collect()
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
