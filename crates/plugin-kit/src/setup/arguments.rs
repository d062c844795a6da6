//! Arguments of `/code:code`: a work directory, options, and the text of a request.
//!
//! Users type a request without quotes, so options count only at the beginning: the first word that is neither an option
//! of the command nor the value of one begins the request. `--` ends the options. Paths need no quotes either.

use std::path::Path;

use crate::command_line::{CommandLine, END_OF_OPTIONS};

/// Options of the command.
const OPTIONS: [&str; 5] = ["--prd", "--plan", "--max-iterations", "--prompt", "--add-dir"];
/// Iteration limit of a loop without the option.
const DEFAULT_MAX_ITERATIONS: u32 = 10;
/// Prompt of a loop without the option.
const DEFAULT_PROMPT: &str = "prompt";

/// What the user, or the driver of a loop, wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandArguments {
    /// A new change request.
    Request {
        /// Text of the request, as it was typed.
        text: String,
        /// Options before the text.
        options: Arguments,
    },
    /// A work directory and options; without a directory, a document or a plan, the open loop of the project.
    Loop(Arguments),
}

/// Work directory and options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Work directory, exactly as passed; empty without one.
    pub workdir: String,
    /// Requirements file, exactly as passed.
    pub prd: Option<String>,
    /// Plan to import, exactly as passed.
    pub plan: Option<String>,
    /// Iteration limit; `None` without the option.
    pub max_iterations: Option<u32>,
    /// Name of a prompt of the plugin; `None` without the option.
    pub prompt: Option<String>,
    /// Further repositories, exactly as passed.
    pub add_dirs: Vec<String>,
}

impl Arguments {
    /// Returns the iteration limit of the loop.
    #[must_use]
    pub fn max_iterations(&self) -> u32 {
        self.max_iterations.unwrap_or(DEFAULT_MAX_ITERATIONS)
    }

    /// Returns the name of the loop's prompt.
    #[must_use]
    pub fn prompt(&self) -> &str {
        self.prompt.as_deref().unwrap_or(DEFAULT_PROMPT)
    }
}

impl CommandArguments {
    /// Interprets the arguments; relative paths start at `root`.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn parse(mut line: CommandLine, root: &Path) -> Result<Self, String> {
        let directory = directory(&line, root);
        let mut arguments = Arguments { workdir: line.take_joined(directory), ..Arguments::default() };
        parse_options(&mut line, &mut arguments, root)?;
        if arguments.prd.is_some() && arguments.plan.is_some() {
            return Err("Error: --plan and --prd are mutually exclusive; specify only one".to_owned());
        }
        // A line that contains no word but quotes has no text either.
        let has_text = line.words().any(|word| !word.is_empty());
        if !has_text {
            return Ok(Self::Loop(arguments));
        }
        let text = line.rest().to_owned();
        let source = [
            (!arguments.workdir.is_empty()).then_some("a work directory"),
            arguments.prd.is_some().then_some("--prd"),
            arguments.plan.is_some().then_some("--plan"),
        ];
        match source.into_iter().flatten().next() {
            Some(source) => Err(format!(
                "Error: {source} and a request cannot be combined; specify only one. The request would be: {text}"
            )),
            None => Ok(Self::Request { text, options: arguments }),
        }
    }
}

/// Returns the number of words at the beginning of the line that name a work directory: an existing one that is written
/// as a path. A path that does not exist counts if it is alone or followed by an option; otherwise it may begin a
/// sentence, as in "/api/users returns 500".
fn directory(line: &CommandLine, root: &Path) -> usize {
    let words: Vec<&str> = line.words().collect();
    let is_option = |word: &str| OPTIONS.contains(&word) || word == END_OF_OPTIONS;
    let Some(first) = words.first() else { return 0 };
    let count = words.iter().take_while(|word| !word.starts_with("--")).count();
    let path = words[..count].join(" ");
    let is_before_options = words.get(count).is_none_or(|word| is_option(word));
    let is_directory = path.contains(std::path::is_separator) && root.join(&path).is_dir();
    let is_path = Path::new(first).is_absolute()
        || [".", ".."].contains(first)
        || ["./", "../", "~/"].iter().any(|prefix| first.starts_with(prefix));
    let is_alone = count == words.len();
    let counts = if is_directory {
        Path::new(&path).is_absolute() || is_before_options
    } else {
        is_path && is_before_options && (!is_alone || count == 1)
    };
    if counts { count } else { 0 }
}

/// Consumes the options at the beginning of the line.
fn parse_options(line: &mut CommandLine, arguments: &mut Arguments, root: &Path) -> Result<(), String> {
    while let Some(option) = OPTIONS.into_iter().find(|option| line.take_if(option)) {
        let missing = |what: &str| {
            format!(
                "Error: {option} requires {what}. A request that begins with `{option}` follows `--`: /code:code -- {option} …"
            )
        };
        match option {
            "--prd" => arguments.prd = Some(line.take_path(root).ok_or_else(|| missing("a file path"))?),
            "--plan" => arguments.plan = Some(line.take_path(root).ok_or_else(|| missing("a file path"))?),
            "--add-dir" => {
                arguments.add_dirs.push(line.take_path(root).ok_or_else(|| missing("a directory path"))?);
            }
            "--max-iterations" => {
                let number = line.take().and_then(|word| word.parse().ok());
                arguments.max_iterations = Some(number.ok_or_else(|| missing("a number"))?);
            }
            _ => arguments.prompt = Some(prompt(line.take().ok_or_else(|| missing("a prompt name"))?)?),
        }
    }
    line.take_if(END_OF_OPTIONS);
    Ok(())
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
    use crate::quoting::quote;

    /// Generates a path that does not exist, whose words are separated by spaces. No word starts like a flag or a
    /// quotation.
    fn path() -> impl Strategy<Value = String> {
        prop::collection::vec("[A-Za-z0-9äß./_;&|$`()*]['-]?[A-Za-z0-9._-]{0,8}", 1..4)
            .prop_map(|words| format!("/nonexistent/{}", words.join(" ")))
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
                max_iterations: Some(max_iterations),
                prompt: Some(prompt),
                add_dirs,
            },
        )
    }

    /// Formats the arguments as a line; `write` formats a value.
    fn line(arguments: &Arguments, write: fn(&str) -> String) -> String {
        let mut line = write(&arguments.workdir);
        let mut add = |flag: &str, value: &str| line.push_str(&format!(" {flag} {}", write(value)));
        arguments.prd.iter().for_each(|prd| add("--prd", prd));
        arguments.plan.iter().for_each(|plan| add("--plan", plan));
        add("--max-iterations", &arguments.max_iterations().to_string());
        add("--prompt", arguments.prompt());
        arguments.add_dirs.iter().for_each(|dir| add("--add-dir", dir));
        line
    }

    fn parse(line: &str) -> Result<CommandArguments, String> {
        CommandArguments::parse(CommandLine::typed(line), Path::new("/nonexistent"))
    }

    proptest! {
        #[test]
        fn arguments_round_trip_with_and_without_quotes(arguments in arguments()) {
            for write in [quote as fn(&str) -> String, str::to_owned] {
                let line = line(&arguments, write);
                prop_assert_eq!(parse(&line), Ok(CommandArguments::Loop(arguments.clone())), "{}", line);
            }
        }

        #[test]
        fn request_after_options_is_preserved(text in "[a-z]{1,5}[^\n]{0,40}[a-z]") {
            for options in ["", "--max-iterations 3", "--max-iterations 3 --", "--add-dir / --max-iterations 3"] {
                let parsed = parse(&format!("{options} {text}"));
                let is_same = matches!(&parsed, Ok(CommandArguments::Request { text: parsed, .. }) if *parsed == text);
                prop_assert!(is_same, "{options} {text}: {parsed:?}");
            }
        }

        #[test]
        fn quoted_path_is_preserved(prd in "[^\n\r-][^\n\r]{0,40}") {
            let Ok(CommandArguments::Loop(arguments)) = parse(&format!("/work --prd {}", quote(&prd))) else {
                return Err(TestCaseError::fail("not arguments"));
            };
            prop_assert_eq!(arguments.prd, Some(prd));
        }

        #[test]
        fn arbitrary_line_is_parsed_without_panic(line in ".{0,80}") {
            let _ = parse(&line);
        }
    }

    #[test]
    fn request_is_distinguished_from_arguments() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join(".loopgate/my work")).unwrap();
        std::fs::create_dir_all(root.path().join("src/api")).unwrap();
        let absolute = root.path().join("src").display().to_string();
        let parse = |text: &str| CommandArguments::parse(CommandLine::typed(text), root.path());
        for text in [
            "add a --json flag",
            "--json should be a flag",
            "src",
            "src/api --json is ignored",
            "the option --prd should accept several files",
            "/api/users returns 500",
            "./configure fails; rm -rf $(HOME)",
            "\"--plan mode\" should be faster",
            "fix it\nEND_OF_ARGUMENTS\r\ntouch x",
        ] {
            let expected = CommandArguments::Request { text: text.to_owned(), options: Arguments::default() };
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            ".",
            "..",
            "/nope",
            "~/work",
            "./nope --prd x",
            "--prd docs/request.md",
            "--max-iterations 3 --",
            ".loopgate/my work",
            &absolute,
            &quote(&absolute),
        ] {
            let parsed = parse(text);
            assert!(matches!(parsed, Ok(CommandArguments::Loop(_))), "{text}: {parsed:?}");
        }
    }

    #[test]
    fn text_after_options_is_the_request() {
        let dir = tempfile::tempdir().unwrap();
        let added = dir.path().display().to_string();
        for (line, expected, max_iterations, add_dirs) in [
            ("--max-iterations 3 fix it", "fix it", Some(3), vec![]),
            (&format!("--add-dir {added} add a flag"), "add a flag", None, vec![added]),
            ("--max-iterations 3 --json flag is \"missing\"", "--json flag is \"missing\"", Some(3), vec![]),
            ("--max-iterations 3 -- --prd is ignored", "--prd is ignored", Some(3), vec![]),
            ("-- --prd is ignored", "--prd is ignored", None, vec![]),
            ("fix it --max-iterations 3", "fix it --max-iterations 3", None, vec![]),
        ] {
            let options = Arguments { max_iterations, add_dirs, ..Arguments::default() };
            assert_eq!(
                parse(line),
                Ok(CommandArguments::Request { text: expected.to_owned(), options }),
                "{line}"
            );
        }
        let mut arguments = ["--max-iterations", "3", "fix", "it"].map(str::to_owned);
        arguments[3] = "it  all".to_owned();
        let parsed = CommandArguments::parse(CommandLine::of_arguments(arguments), dir.path());
        assert!(
            matches!(&parsed, Ok(CommandArguments::Request { text, .. }) if text == "fix it  all"),
            "{parsed:?}"
        );
    }

    #[test]
    fn invalid_arguments_are_rejected_with_their_message() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("prd.md"), "x").unwrap();
        let combined = "cannot be combined; specify only one. The request would be:";
        for (line, expected) in [
            (
                "./w --prd",
                "Error: --prd requires a file path. A request that begins with `--prd` follows `--`",
            ),
            ("./w --plan --prd x", "Error: --plan requires a file path."),
            (
                "./w --plan x.md --prd y.md",
                "Error: --plan and --prd are mutually exclusive; specify only one",
            ),
            ("./w --max-iterations", "Error: --max-iterations requires a number."),
            ("--max-iterations is ignored", "Error: --max-iterations requires a number."),
            ("./w --prompt a/b", "ERROR: prompt name must not contain path separators or spaces"),
            ("./w --add-dir", "Error: --add-dir requires a directory path."),
            (
                "./w --max-iterations 3 fix it",
                &format!("Error: a work directory and a request {combined} fix it"),
            ),
            ("/ --fast", &format!("Error: a work directory and a request {combined} --fast")),
            ("--prd prd.md fix it", &format!("Error: --prd and a request {combined} fix it")),
        ] {
            let error = CommandArguments::parse(CommandLine::typed(line), root.path()).unwrap_err();
            assert!(error.starts_with(expected), "{line}: {error}");
        }
    }
}
