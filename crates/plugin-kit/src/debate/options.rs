//! Arguments of `loopgate debate run` and `loopgate debate review`.

use std::path::{Path, PathBuf};

/// Default model of the reviewer.
const REVIEWER_MODEL: &str = "gpt-5.3-codex";
/// Default limit of rounds.
const DEFAULT_MAX_ROUNDS: u32 = 15;

/// Text of `loopgate debate run --help`.
pub const RUN_USAGE: &str = "\
Lets the assistant write a plan and revise it until the reviewer approves.

Usage: loopgate debate run [OPTIONS] \"<PROMPT>\"

Options:
      --max-rounds <N>          Maximum number of reviews [default: 15]
      --plan-file <FILE>        File to write the plan to [default: ./debate-plan.md]
      --reviewer-model <MODEL>  Model of the reviewer [default: gpt-5.3-codex]
      --model <MODEL>           Model of the assistant [default: opus[1m]]
      --add-dir <DIR>...        Further directories that the assistant may read
      --verbose                 Print all text and tool calls of the assistant
  -h, --help                    Print this help

A debate whose plan and sidecar files exist is resumed. Exit codes: 0 finished, 1 failed, 130 interrupted.
";

/// Text of `loopgate debate review --help`.
pub const REVIEW_USAGE: &str = "\
Lets the reviewer review a plan once, and prints a line VERDICT:…, REVIEWER_EMPTY or REVIEWER_FAILED:….

Usage: loopgate debate review --plan-file <FILE> --feedback-file <FILE> [OPTIONS]

Options:
      --plan-file <FILE>        Plan to review
      --feedback-file <FILE>    File to write the findings to
      --request-file <FILE>     Request that the plan is for
      --revisions-file <FILE>   Responses to the findings of earlier rounds
      --round <N>               Number of the round [default: 1]
      --reviewer-model <MODEL>  Model of the reviewer [default: gpt-5.3-codex]
      --session-id <ID>         Session of the reviewer to resume
      --log-id <UUID>           Log to append to
  -h, --help                    Print this help
";

/// Arguments of `debate run`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebateOptions {
    pub max_rounds: u32,
    pub plan_file: PathBuf,
    pub reviewer_model: String,
    pub model: String,
    pub add_dirs: Vec<PathBuf>,
    pub verbose: bool,
    pub prompt: String,
}

/// Arguments of `debate review`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewOptions {
    pub plan_file: PathBuf,
    pub feedback_file: PathBuf,
    pub request_file: Option<PathBuf>,
    pub revisions_file: Option<PathBuf>,
    pub round: u32,
    pub model: String,
    pub session: Option<String>,
    pub log_id: Option<String>,
}

impl DebateOptions {
    /// Parses the arguments.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn parse(words: Vec<String>) -> Result<Self, String> {
        let mut options = Self {
            max_rounds: DEFAULT_MAX_ROUNDS,
            plan_file: PathBuf::from("./debate-plan.md"),
            reviewer_model: REVIEWER_MODEL.to_owned(),
            model: "opus[1m]".to_owned(),
            add_dirs: Vec::new(),
            verbose: false,
            prompt: String::new(),
        };
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let mut value = || words.next_if(|next| !next.starts_with("--")).ok_or_else(|| missing(&word));
            match word.as_str() {
                "--max-rounds" => options.max_rounds = rounds(&value()?)?,
                "--plan-file" => options.plan_file = plan_file(value()?)?,
                "--reviewer-model" => options.reviewer_model = value()?,
                "--model" => options.model = value()?,
                "--verbose" => options.verbose = true,
                "--add-dir" => {
                    options.add_dirs.push(directory(value()?)?);
                    // One flag may be followed by several directories; the first other word is the prompt.
                    while let Some(next) =
                        words.next_if(|next| !next.starts_with("--") && Path::new(next).is_dir())
                    {
                        options.add_dirs.push(PathBuf::from(next));
                    }
                }
                flag if flag.starts_with("--") => return Err(format!("Error: Unknown option: {flag}")),
                _ if options.prompt.is_empty() => options.prompt = word,
                _ => return Err("Error: Multiple prompts provided. Wrap your prompt in quotes.".to_owned()),
            }
        }
        if options.prompt.trim().is_empty() {
            return Err("Error: No prompt provided".to_owned());
        }
        Ok(options)
    }
}

impl ReviewOptions {
    /// Parses the arguments.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn parse(words: Vec<String>) -> Result<Self, String> {
        let (mut plan_file, mut feedback_file) = (None, None);
        let mut options = Self::of(PathBuf::new(), PathBuf::new(), REVIEWER_MODEL);
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().filter(|value| !value.is_empty()).ok_or_else(|| missing(&word));
            match word.as_str() {
                "--plan-file" => plan_file = Some(PathBuf::from(value()?)),
                "--feedback-file" => feedback_file = Some(PathBuf::from(value()?)),
                "--request-file" => options.request_file = Some(PathBuf::from(value()?)),
                "--revisions-file" => options.revisions_file = Some(PathBuf::from(value()?)),
                "--round" => {
                    options.round =
                        rounds(&value()?).map_err(|_| "Error: --round requires a positive integer")?
                }
                "--reviewer-model" => options.model = value()?,
                "--session-id" => options.session = Some(value()?).filter(|id| id != "none"),
                "--log-id" => options.log_id = Some(value()?).filter(|id| id != "none"),
                flag => return Err(format!("Error: Unknown option: {flag}")),
            }
        }
        options.plan_file = plan_file.ok_or("Error: --plan-file is required")?;
        options.feedback_file = feedback_file.ok_or("Error: --feedback-file is required")?;
        Ok(options)
    }

    /// Creates the options of a first round, without a session.
    pub fn of(plan_file: PathBuf, feedback_file: PathBuf, model: &str) -> Self {
        Self {
            plan_file,
            feedback_file,
            request_file: None,
            revisions_file: None,
            round: 1,
            model: model.to_owned(),
            session: None,
            log_id: None,
        }
    }
}

fn missing(flag: &str) -> String {
    format!("Error: {flag} requires a value")
}

fn rounds(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| "Error: --max-rounds requires a positive integer".to_owned())
}

fn plan_file(text: String) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if parent.is_dir() {
        Ok(path)
    } else {
        Err(format!("Error: Parent directory does not exist: {}", parent.display()))
    }
}

fn directory(text: String) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() {
        return Ok(path);
    }
    Err(format!("Error: --add-dir path does not exist or is not a directory: {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Result<DebateOptions, String> {
        DebateOptions::parse(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn only_the_prompt_is_required() {
        let options =
            run(&["--max-rounds", "3", "--add-dir", "/", "/tmp", "--verbose", "a request"]).unwrap();
        assert_eq!(
            (options.max_rounds, options.add_dirs.len(), options.prompt.as_str()),
            (3, 2, "a request")
        );
        assert_eq!(options.plan_file, Path::new("./debate-plan.md"));
    }

    #[test]
    fn invalid_arguments_are_rejected_with_their_message() {
        for (words, expected) in [
            (vec![], "Error: No prompt provided"),
            (vec!["a", "b"], "Error: Multiple prompts provided. Wrap your prompt in quotes."),
            (vec!["--max-rounds", "0", "a"], "Error: --max-rounds requires a positive integer"),
            (vec!["--plan-file", "/nope/plan.md", "a"], "Error: Parent directory does not exist: /nope"),
            (
                vec!["--add-dir", "/nope", "a"],
                "Error: --add-dir path does not exist or is not a directory: /nope",
            ),
            (vec!["--model"], "Error: --model requires a value"),
            (vec!["--fast", "a"], "Error: Unknown option: --fast"),
        ] {
            assert_eq!(run(&words), Err(expected.to_owned()));
        }
        let review =
            |words: &[&str]| ReviewOptions::parse(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(review(&["--plan-file", "p"]), Err("Error: --feedback-file is required".to_owned()));
        assert_eq!(review(&["--fast"]), Err("Error: Unknown option: --fast".to_owned()));
        let options = review(&["--plan-file", "p", "--feedback-file", "f", "--session-id", "none"]).unwrap();
        assert_eq!((options.round, options.session), (1, None));
    }
}
