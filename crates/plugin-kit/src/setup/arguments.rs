//! Arguments of `/code:code`: the text of a request, or a work directory and options.
//!
//! Users type a request without quotes, so the forms are distinguished by their first words. A path extends to the
//! next option, so that paths with spaces need no quotes either.

use std::path::Path;

/// Options of the command.
const OPTIONS: [&str; 5] = ["--prd", "--plan", "--max-iterations", "--prompt", "--add-dir"];

/// What the user, or the driver of a loop, wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandArguments {
    /// The text of a new change request.
    Request(String),
    /// A work directory and options; without any, the open loop of the project.
    Loop(Arguments),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// Work directory, exactly as passed; empty without one.
    pub workdir: String,
    /// Requirements file, exactly as passed.
    pub prd: Option<String>,
    /// Plan to import, exactly as passed.
    pub plan: Option<String>,
    /// Iteration limit, not validated.
    pub max_iterations: String,
    /// Name of a prompt of the plugin.
    pub prompt: String,
    /// Further repositories, exactly as passed.
    pub add_dirs: Vec<String>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            workdir: String::new(),
            prd: None,
            plan: None,
            max_iterations: "10".to_owned(),
            prompt: "prompt".to_owned(),
            add_dirs: Vec::new(),
        }
    }
}

impl CommandArguments {
    /// Interprets the arguments. `text` is what the user typed, `words` are its words; relative paths start at `root`.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn parse(text: &str, words: Vec<String>, root: &Path) -> Result<Self, String> {
        if is_request(&words, root) {
            return Ok(Self::Request(text.trim().to_owned()));
        }
        parse(words.into_iter()).map(Self::Loop)
    }
}

/// Returns whether the words are a request. They are arguments if they begin with an option of the command, or with an
/// existing directory that is written as a path. A path that does not exist is an argument if it is alone or followed by
/// an option; otherwise it may begin a sentence, as in "/api/users returns 500".
fn is_request(words: &[String], root: &Path) -> bool {
    let is_option = |word: &String| OPTIONS.contains(&word.as_str());
    let Some(first) = words.first().filter(|word| !is_option(word)) else { return false };
    let directory: Vec<&str> =
        words.iter().map(String::as_str).take_while(|word| !word.starts_with("--")).collect();
    let directory = directory.join(" ");
    let has_unknown_option = words.iter().any(|word| word.starts_with("--") && !is_option(word));
    if directory.contains(std::path::is_separator)
        && root.join(&directory).is_dir()
        && (Path::new(&directory).is_absolute() || !has_unknown_option)
    {
        return false;
    }
    let is_path = Path::new(first).is_absolute()
        || [".", ".."].contains(&first.as_str())
        || ["./", "../", "~/"].iter().any(|prefix| first.starts_with(prefix));
    !(is_path && (words.len() == 1 || words.iter().any(is_option)))
}

/// Parses work directory and options. Unknown options are reported on standard error and skipped.
fn parse(words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut words = words.peekable();
    let mut arguments = Arguments::default();
    while let Some(word) = words.next() {
        let mut path = || {
            let mut joined: Vec<String> = Vec::new();
            while let Some(word) = words.next_if(|word| !word.starts_with("--")) {
                joined.push(word);
            }
            Some(joined.join(" ")).filter(|path| !path.is_empty())
        };
        match word.as_str() {
            "--prd" => arguments.prd = Some(path().ok_or("Error: --prd requires a file path")?),
            "--plan" => arguments.plan = Some(path().ok_or("Error: --plan requires a file path")?),
            "--add-dir" => {
                arguments.add_dirs.push(path().ok_or("Error: --add-dir requires a directory path")?)
            }
            "--max-iterations" => {
                arguments.max_iterations = words.next().ok_or("Error: --max-iterations requires a value")?;
            }
            "--prompt" => {
                arguments.prompt = prompt(words.next().ok_or("Error: --prompt requires a prompt name")?)?;
            }
            // Reported but not fatal; the words after it are taken as part of the work directory.
            flag if flag.starts_with('-') => crate::console::print_error(format!("Unknown option: {flag}")),
            _ => {
                if !arguments.workdir.is_empty() {
                    arguments.workdir.push(' ');
                }
                arguments.workdir.push_str(&word);
            }
        }
    }
    if arguments.prd.is_some() && arguments.plan.is_some() {
        return Err("Error: --plan and --prd are mutually exclusive; specify only one".to_owned());
    }
    Ok(arguments)
}

fn prompt(name: String) -> Result<String, String> {
    if name.contains(['/', '\\']) || name.contains("..") || name.contains(char::is_whitespace) {
        return Err("ERROR: prompt name must not contain path separators or spaces".to_owned());
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::quoting::{quote, words};

    /// Generates a path whose words are separated by spaces. No word starts like a flag or a quotation.
    fn path() -> impl Strategy<Value = String> {
        prop::collection::vec("[A-Za-z0-9äß./_;&|$`()*]['-]?[A-Za-z0-9._-]{0,8}", 1..4)
            .prop_map(|words| words.join(" "))
    }

    fn arguments() -> impl Strategy<Value = Arguments> {
        let name = "[a-z][a-z0-9-]{0,8}";
        let source = prop_oneof![
            Just((None, None)),
            path().prop_map(|prd| (Some(prd), None)),
            path().prop_map(|plan| (None, Some(plan))),
        ];
        (path(), source, 0u32..1000, name, prop::collection::vec(path(), 0..3)).prop_map(
            |(workdir, (prd, plan), max_iterations, prompt, add_dirs)| Arguments {
                workdir,
                prd,
                plan,
                max_iterations: max_iterations.to_string(),
                prompt,
                add_dirs,
            },
        )
    }

    /// Formats the arguments as a line; `write` formats a value.
    fn line(arguments: &Arguments, write: fn(&str) -> String) -> String {
        let Arguments { workdir, prd, plan, max_iterations, prompt, add_dirs } = arguments;
        let mut line = write(workdir);
        let mut add = |flag: &str, value: &str| line.push_str(&format!(" {flag} {}", write(value)));
        prd.iter().for_each(|prd| add("--prd", prd));
        plan.iter().for_each(|plan| add("--plan", plan));
        add("--max-iterations", max_iterations);
        add("--prompt", prompt);
        add_dirs.iter().for_each(|dir| add("--add-dir", dir));
        line
    }

    proptest! {
        #[test]
        fn arguments_round_trip_with_and_without_quotes(arguments in arguments()) {
            for write in [quote as fn(&str) -> String, str::to_owned] {
                let line = line(&arguments, write);
                prop_assert_eq!(parse(words(&line).into_iter()), Ok(arguments.clone()), "{}", line);
            }
        }

        #[test]
        fn quoted_path_is_preserved(prd in "[^\n\r-][^\n\r]{0,40}") {
            let line = format!("/work --prd {}", quote(&prd));
            prop_assert_eq!(parse(words(&line).into_iter()).unwrap().prd, Some(prd));
        }

        #[test]
        fn arbitrary_line_is_parsed_without_panic(line in ".{0,80}") {
            let _ = parse(words(&line).into_iter());
        }
    }

    fn parse_line(line: &str) -> Result<Arguments, String> {
        parse(line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned))
    }

    #[test]
    fn path_extends_to_the_next_flag() {
        let arguments =
            parse_line("/a/My Work --prd /a/My Work/the prd.md --max-iterations 5 more --add-dir /p q")
                .unwrap();
        assert_eq!(arguments.workdir, "/a/My Work more");
        assert_eq!(arguments.prd.as_deref(), Some("/a/My Work/the prd.md"));
        assert_eq!((arguments.max_iterations.as_str(), arguments.add_dirs), ("5", vec!["/p q".to_owned()]));
    }

    #[test]
    fn request_is_distinguished_from_arguments() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join(".loopgate/my work")).unwrap();
        std::fs::create_dir_all(root.path().join("src/api")).unwrap();
        let absolute = root.path().join("src").display().to_string();
        for text in [
            "add a --json flag",
            "--json should be a flag",
            "src",
            "the option --prd should accept several files",
            "/api/users returns 500",
            "./configure fails; rm -rf $(HOME)",
            "\"--plan mode\" should be faster",
            "fix it\nEND_OF_ARGUMENTS\r\ntouch x",
        ] {
            let parsed = CommandArguments::parse(text, words(text), root.path());
            assert_eq!(parsed, Ok(CommandArguments::Request(text.to_owned())), "{text}");
        }
        for text in [
            "",
            ".",
            "..",
            "/nope",
            "~/work",
            "./nope --prd x",
            "--prd docs/request.md",
            ".loopgate/my work",
            &absolute,
            &format!("{absolute} --fast"),
            &quote(&absolute),
        ] {
            let parsed = CommandArguments::parse(text, words(text), root.path());
            assert!(matches!(parsed, Ok(CommandArguments::Loop(_))), "{text}: {parsed:?}");
        }
    }

    #[test]
    fn invalid_arguments_are_rejected_with_their_message() {
        let refusals = [
            ("w --prd", "Error: --prd requires a file path"),
            ("w --plan --prd x", "Error: --plan requires a file path"),
            ("w --plan x.md --prd y.md", "Error: --plan and --prd are mutually exclusive; specify only one"),
            ("w --max-iterations", "Error: --max-iterations requires a value"),
            ("w --prompt a/b", "ERROR: prompt name must not contain path separators or spaces"),
            ("w --add-dir", "Error: --add-dir requires a directory path"),
        ];
        for (line, expected) in refusals {
            assert_eq!(parse_line(line), Err(expected.to_owned()), "{line}");
        }
        assert_eq!(parse_line(""), Ok(Arguments::default()));
        assert!(parse_line("w --fast -x").is_ok());
    }
}
