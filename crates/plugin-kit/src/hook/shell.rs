//! Reads a shell command far enough to judge it: its words, and where commands begin.
//!
//! Never runs or completes anything. Quotes and escapes are undone, `~` and the home variables are
//! replaced, substitutions are read as commands of their own.

/// A command line, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedCommandLine {
    /// The commands in it, each as its words.
    pub commands: Vec<Vec<String>>,
    /// One command, no operator, redirection, variable, glob or substitution.
    pub simple: bool,
}

/// Programs that run the words behind them.
const RUNNERS: [&str; 12] =
    ["sudo", "env", "nohup", "xargs", "time", "exec", "command", "doas", "nice", "timeout", "setsid", "eval"];
/// Shells that run a text.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];
/// How deep commands within commands are read.
const DEPTH: usize = 4;

impl ParsedCommandLine {
    /// Takes a command line apart.
    pub fn read(text: &str, home: &str) -> Self {
        let mut reader = ShellReader { home, commands: Vec::new(), plain: true };
        reader.line(text, DEPTH);
        let simple = reader.plain && reader.commands.len() == 1;
        Self { commands: reader.commands, simple }
    }

    /// Names of the programs that run, also behind runners such as `sudo`.
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
        let mut begun = false;
        let mut inner = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' => word.extend(chars.next().filter(|next| *next != '\n')),
                '\'' => {
                    begun = true;
                    word.extend(chars.by_ref().take_while(|c| *c != '\''));
                }
                '"' => {
                    begun = true;
                    let quoted = double_quoted(&mut chars);
                    if quoted.contains(['$', '`']) {
                        self.plain = false;
                        inner.extend(substitutions(&quoted));
                    }
                    word.push_str(&self.expanded(&quoted));
                }
                ' ' | '\t' => end_word(&mut words, &mut word, &mut begun),
                ';' | '&' | '|' | '\n' | '(' | ')' | '{' | '}' | '<' | '>' => {
                    self.plain = false;
                    end_word(&mut words, &mut word, &mut begun);
                    // A redirection's target belongs to the command; everything else ends it.
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
                '#' if word.is_empty() && !begun => {
                    chars.by_ref().take_while(|c| *c != '\n').for_each(drop);
                    self.command(&mut words, depth);
                }
                _ => word.push(c),
            }
        }
        end_word(&mut words, &mut word, &mut begun);
        self.command(&mut words, depth);
        if depth > 0 {
            inner.iter().for_each(|text| self.line(text, depth - 1));
        }
    }

    /// Keeps a command, and reads the text that it hands to a shell.
    fn command(&mut self, words: &mut Vec<String>, depth: usize) {
        if words.is_empty() {
            return;
        }
        let words: Vec<String> = std::mem::take(words).iter().map(|word| self.expanded(word)).collect();
        let mut texts = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let name = word.rsplit('/').next().unwrap_or(word);
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

    /// Replaces what stands for the home directory.
    fn expanded(&self, word: &str) -> String {
        let word = word.replace("${HOME}", self.home).replace("$HOME", self.home);
        match word.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", self.home),
            _ => word,
        }
    }
}

fn end_word(words: &mut Vec<String>, word: &mut String, begun: &mut bool) {
    if !word.is_empty() || *begun {
        words.push(std::mem::take(word));
    }
    *begun = false;
}

/// Up to the closing quote; only the escapes that the shell knows there are undone.
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

/// Texts of the substitutions inside double quotes.
fn substitutions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '`' {
            found.push(chars.by_ref().take_while(|c| *c != '`').collect());
        } else if c == '$' && chars.next_if_eq(&'(').is_some() {
            found.push(balanced(&mut chars));
        }
    }
    found
}

/// Up to the parenthesis that closes an opened one.
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
    fn quotes_and_home_are_undone() {
        assert_eq!(
            words(r#"cat "$HOME/.ssh/x" '~/y' ~/z a\ b"#),
            [["cat", "/home/u/.ssh/x", "/home/u/y", "/home/u/z", "a b"]]
        );
        assert_eq!(words("a; b && c | d > e # f"), [vec!["a"], vec!["b"], vec!["c"], vec!["d", "e"]]);
    }

    #[test]
    fn commands_within_commands_are_seen() {
        let all =
            |text| ParsedCommandLine::read(text, "/h").programs().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(all("echo $(pkill x) `killall y`"), ["echo", "pkill", "killall"]);
        assert_eq!(all("bash -c 'sudo pkill x'"), ["bash", "sudo", "pkill"]);
        assert_eq!(all("git commit -m 'pkill the loop; killall'"), ["git"]);
        assert_eq!(all("A=1 env B=2 /usr/bin/killall x"), ["env", "killall"]);
        assert_eq!(all("echo \"now $(pkill z)\""), ["echo", "pkill"]);
    }

    #[test]
    fn only_a_plain_command_is_simple() {
        for text in ["ls .loopgate/work", "cat 'a b'"] {
            assert!(ParsedCommandLine::read(text, "/h").simple, "{text}");
        }
        for text in ["ls; rm x", "ls $(x)", "ls > y", "ls *", "ls $A", "ls & x", "", "ls \"$(x)\""] {
            assert!(!ParsedCommandLine::read(text, "/h").simple, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in ".{0,200}") {
            let line = ParsedCommandLine::read(&text, "/h");
            prop_assert!(line.commands.iter().flatten().count() <= text.len() * 8);
        }
    }
}
