//! The words behind `/code:code`.
//!
//! Values that are paths reach up to the next word that begins with `--`, so that a path with blanks
//! works without quotes.

/// What the words say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// Work directory, as given.
    pub workdir: String,
    /// Requirements file, as given.
    pub prd: Option<String>,
    /// Plan to import, as given.
    pub plan: Option<String>,
    /// Iteration limit, unchecked.
    pub max_iterations: String,
    /// Name of the prompt.
    pub prompt: String,
    /// Further repositories, as given.
    pub add_dirs: Vec<String>,
}

/// Reads the words; unknown flags are named on standard error and skipped.
///
/// # Errors
/// The line to print.
pub fn parse(words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut words = words.peekable();
    let mut arguments = Arguments {
        workdir: String::new(),
        prd: None,
        plan: None,
        max_iterations: "10".to_owned(),
        prompt: "prompt".to_owned(),
        add_dirs: Vec::new(),
    };
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
    if arguments.workdir.is_empty() {
        arguments.workdir = ".".to_owned();
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
    use super::*;

    fn read(line: &str) -> Result<Arguments, String> {
        parse(line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned))
    }

    #[test]
    fn paths_reach_to_the_next_flag() {
        let arguments =
            read("/a/My Work --prd /a/My Work/the prd.md --max-iterations 5 more --add-dir /p q").unwrap();
        assert_eq!(arguments.workdir, "/a/My Work more");
        assert_eq!(arguments.prd.as_deref(), Some("/a/My Work/the prd.md"));
        assert_eq!((arguments.max_iterations.as_str(), arguments.add_dirs), ("5", vec!["/p q".to_owned()]));
    }

    #[test]
    fn each_refusal_has_its_words() {
        let refusals = [
            ("w --prd", "Error: --prd requires a file path"),
            ("w --plan --prd x", "Error: --plan requires a file path"),
            ("w --plan x.md --prd y.md", "Error: --plan and --prd are mutually exclusive; specify only one"),
            ("w --max-iterations", "Error: --max-iterations requires a value"),
            ("w --prompt a/b", "ERROR: prompt name must not contain path separators or spaces"),
            ("w --add-dir", "Error: --add-dir requires a directory path"),
        ];
        for (line, expected) in refusals {
            assert_eq!(read(line), Err(expected.to_owned()), "{line}");
        }
        assert_eq!(read("").unwrap().workdir, ".");
        assert!(read("w --fast -x").is_ok());
    }
}
