//! Arguments of `loopgate loop run`.
//!
//! Parsed by hand instead of with clap: callers depend on the exact error messages, and the driver's only
//! exit codes are 0, 1 and 130.

use std::path::PathBuf;

use loopgate_api::usd::Usd;

use super::progress_form::ProgressForm;

/// Help text. Written by hand like the parser.
pub const USAGE: &str = "\
Plans a change and implements it: runs the assistant again and again until its work is done.

Usage: loopgate loop run [WORKDIR] [OPTIONS]

Run it in the directory of your project, on a separate branch. WORKDIR is the directory for the loop's
files (plan.md, its state, the assistant's output), for example .loopgate/work. Write your request into
a file, and start:

    loopgate loop run .loopgate/work --prd request.md

The loop explores the project, writes WORKDIR/plan.md and stops. Read the plan, change it, answer
its open questions, and run the same command again: the loop implements the plan task by task and
checks the result. It changes files and commits nothing. It ends with a summary and the next
steps. Ctrl-C interrupts it; without WORKDIR the command resumes the interrupted loop of the current
directory.

Options:
      --prd <FILE>                 Your request, in your own words
      --max-iterations <N>         Runs of the assistant before the loop stops, 0 = no limit [default: 5]
      --max-spend-usd <AMOUNT>     US dollars that the loop may spend, 0 = no limit [default: no limit]
      --add-dir <DIR>              A further repository that the loop may change; repeatable
      --progress <FORM>            Output format [default: auto]
                                     live    readable lines with a status line below
                                     plain   readable lines, for a file or a simple terminal
                                     stream  all text and tool calls of the assistant
                                     auto    live on a terminal, otherwise stream
      --allow-tools <LIST>         Further tools that the assistant may use, comma-separated
      --self-learning              Use and record learnings; asks the model once more if work was corrected
      --prompt <NAME>              Prompt of the plugin `code` to follow [default: prompt]
      --completion-promise <TEXT>  Text with which the assistant reports completion [default: COMPLETE]
  -h, --help                       Print this help

Environment:
  LOOPGATE_ASSISTANT_BIN           Assistant to run [default: claude]
  LOOPGATE_COMMAND                 PLAN ends with a valid plan, EXECUTE implements one; if unset, the
                                   loop does whichever is next
  LOOPGATE_LOOP_MODEL              Model of the assistant, and loop_model in settings.toml
                                   [default: claude-opus-4-6]
  LOOPGATE_LOOP_EFFORT             Effort of the assistant, and loop_effort in settings.toml [default: high]
  LOOPGATE_MAX_SPEND_USD           Same as --max-spend-usd, and as max_spend_usd in settings.toml
  LOOPGATE_ITERATION_TIMEOUT_MS    Time limit of a run of the assistant [default: 4 hours]
  POST_LOOP_REVIEW_CYCLES          Maximum number of reviews after the loop [default: 2]
  LOOPGATE_PLUGIN_DIR              Plugin `code` that the assistant loads

Exit codes: 0 the loop is done or waits for you, 1 it failed or reached a limit, 130 it was interrupted.
";

/// Default iteration limit, also stated in [`USAGE`].
const DEFAULT_MAX_ITERATIONS: u64 = 5;

/// Options of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopOptions {
    /// Work directory; `None` resumes the interrupted loop of the current directory.
    pub workdir: Option<PathBuf>,
    /// Requirements file, exactly as passed.
    pub prd: Option<String>,
    /// Name of a prompt of the plugin `code`.
    pub prompt: Option<String>,
    /// Iteration limit; 0 = no limit.
    pub max_iterations: u64,
    /// Spending limit, 0 = no limit; `None` defers to the environment and the settings.
    pub max_spend: Option<Usd>,
    /// Text inside the promise tag.
    pub completion_promise: String,
    /// Further repositories, exactly as passed.
    pub add_dirs: Vec<String>,
    /// Further tools that need no permission, comma-separated.
    pub allowed_tools: Option<String>,
    /// Whether learnings are captured.
    pub self_learning: bool,
    /// Format of standard output.
    pub progress: ProgressForm,
}

/// Result of parsing the arguments.
#[derive(Debug, PartialEq, Eq)]
pub enum ParsedArguments {
    /// Run the loop with these options.
    Run(LoopOptions),
    /// Print the help text.
    Help,
}

/// Parses the arguments.
///
/// # Errors
/// Returns the line to print before exiting with code 1.
pub fn parse(words: impl IntoIterator<Item = String>) -> Result<ParsedArguments, String> {
    let mut options = LoopOptions {
        workdir: None,
        prd: None,
        prompt: None,
        max_iterations: DEFAULT_MAX_ITERATIONS,
        max_spend: None,
        completion_promise: "COMPLETE".to_owned(),
        add_dirs: Vec::new(),
        allowed_tools: None,
        self_learning: false,
        progress: ProgressForm::of_stdout(),
    };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut value = |kind: &str| {
            words
                .next()
                .filter(|value| !value.is_empty())
                .ok_or_else(|| format!("Error: {word} requires {kind}"))
        };
        match word.as_str() {
            "-h" | "--help" => return Ok(ParsedArguments::Help),
            "--prd" => options.prd = Some(value("a file path")?),
            "--prompt" => options.prompt = Some(prompt_name(value("a prompt name")?)?),
            "--max-iterations" => options.max_iterations = count(&value("a positive integer")?)?,
            "--max-spend-usd" => options.max_spend = Some(amount(&value("an amount of US dollars")?)?),
            "--completion-promise" => options.completion_promise = value("a text")?,
            "--add-dir" => options.add_dirs.push(directory(value("a directory path")?)?),
            "--allow-tools" => options.allowed_tools = Some(value("a list of tools")?),
            "--progress" => options.progress = progress_form(&value("auto, live, plain or stream")?)?,
            "--self-learning" => options.self_learning = true,
            flag if flag.starts_with('-') => return Err(format!("Error: Unknown option: {flag}")),
            _ if options.workdir.is_some() => return Err(format!("Error: Unexpected argument: {word}")),
            _ => options.workdir = Some(PathBuf::from(word)),
        }
    }
    reject_line_breaks(&options)?;
    Ok(ParsedArguments::Run(options))
}

fn prompt_name(name: String) -> Result<String, String> {
    if name.contains(['/', '\\']) || name.contains("..") || name.contains(char::is_whitespace) {
        return Err("Error: --prompt name must not contain spaces or path separators".to_owned());
    }
    Ok(name)
}

fn count(text: &str) -> Result<u64, String> {
    // `u64::from_str` accepts a leading plus sign; only digits are valid here.
    Some(text)
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| "Error: --max-iterations requires a positive integer".to_owned())
}

fn amount(text: &str) -> Result<Usd, String> {
    text.parse().map_err(|error| format!("Error: --max-spend-usd: {error}"))
}

fn progress_form(name: &str) -> Result<ProgressForm, String> {
    match name {
        "auto" => Ok(ProgressForm::of_stdout()),
        "live" => Ok(ProgressForm::Live),
        "plain" => Ok(ProgressForm::Plain),
        "stream" => Ok(ProgressForm::Stream),
        _ => Err("Error: --progress requires auto, live, plain or stream".to_owned()),
    }
}

fn directory(path: String) -> Result<String, String> {
    if std::path::Path::new(&path).is_dir() {
        return Ok(path);
    }
    Err(format!("Error: --add-dir path does not exist or is not a directory: {path}"))
}

/// Rejects line breaks: the state file and `config.env` store one value per line.
fn reject_line_breaks(options: &LoopOptions) -> Result<(), String> {
    let workdir = options.workdir.as_ref().map(|path| path.to_string_lossy());
    let texts = [workdir.as_deref(), options.prd.as_deref(), Some(options.completion_promise.as_str())];
    let broken = texts
        .into_iter()
        .flatten()
        .chain(options.add_dirs.iter().map(String::as_str))
        .any(|text| text.contains(['\n', '\r']));
    if broken { Err("Error: arguments must not contain line breaks".to_owned()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &[&str]) -> Result<ParsedArguments, String> {
        parse(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn arguments_are_optional() {
        let Ok(ParsedArguments::Run(options)) = parse_words(&[]) else { panic!("not a run") };
        assert_eq!((options.workdir, options.max_iterations), (None, 5));
        assert_eq!(options.completion_promise, "COMPLETE");
    }

    #[test]
    fn invalid_arguments_are_rejected_with_their_message() {
        let refusals = [
            (vec!["--prd"], "Error: --prd requires a file path"),
            (vec!["w", "--max-iterations", "ten"], "Error: --max-iterations requires a positive integer"),
            (vec!["w", "--max-iterations", "+5"], "Error: --max-iterations requires a positive integer"),
            (
                vec!["w", "--max-spend-usd", "-5"],
                "Error: --max-spend-usd: expected an amount of US dollars, for example 5 or 0.50",
            ),
            (vec!["--prompt", "../x"], "Error: --prompt name must not contain spaces or path separators"),
            (vec!["--add-dir", "/nope"], "Error: --add-dir path does not exist or is not a directory: /nope"),
            (vec!["w", "--allow-tools"], "Error: --allow-tools requires a list of tools"),
            (vec!["w", "--progress", "fast"], "Error: --progress requires auto, live, plain or stream"),
            (vec!["--fast"], "Error: Unknown option: --fast"),
            (vec!["a", "b"], "Error: Unexpected argument: b"),
        ];
        for (words, expected) in refusals {
            assert_eq!(parse_words(&words), Err(expected.to_owned()));
        }
        assert_eq!(parse_words(&["x", "-h"]), Ok(ParsedArguments::Help));
    }

    #[test]
    fn zero_means_no_limit() {
        let Ok(ParsedArguments::Run(options)) =
            parse_words(&["w", "--max-iterations", "0", "--self-learning"])
        else {
            panic!()
        };
        assert!(options.max_iterations == 0 && options.self_learning);
    }
}
