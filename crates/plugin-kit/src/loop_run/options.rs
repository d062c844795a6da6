//! Arguments of `loopgate loop run`.
//!
//! Read by hand, because the exact words of each refusal are known to callers, and because the
//! driver's exit codes are 0, 1 and 130 only.

use std::path::PathBuf;

use loopgate_api::usd::Usd;

use super::progress_form::ProgressForm;

/// What `--help` prints.
pub const USAGE: &str = "\
Plans a change and implements it: runs the assistant again and again until its work is done.

Usage: loopgate loop run [WORKDIR] [OPTIONS]

Run it in the directory of your project, on a branch of its own. WORKDIR is where the loop keeps its
files (plan.md, its state, everything that the assistant said), for example .loopgate/work. Write
what you want into a file, and start:

    loopgate loop run .loopgate/work --prd wish.md

The loop explores the project, writes WORKDIR/plan.md and stops. Read the plan, change it, answer
its open questions, and run the same command again: the loop implements the plan task by task and
checks the result. It changes files and commits nothing. Its end says what was done and what to do
next. Ctrl-C interrupts it; without WORKDIR the interrupted loop of the current directory goes on.

Options:
      --prd <FILE>                 What you want, in your own words
      --max-iterations <N>         Runs of the assistant before the loop stops, 0 = no limit [default: 5]
      --max-spend-usd <AMOUNT>     US dollars that the loop may spend, 0 = no limit [default: no limit]
      --add-dir <DIR>              A further repository that the loop may change; may be repeated
      --progress <FORM>            What is printed [default: auto]
                                     live    lines for people, with a status line below them
                                     plain   lines for people, for a file or a simple terminal
                                     stream  everything that the assistant says and does
                                     auto    live on a terminal, else stream
      --allow-tools <LIST>         Further tools that the assistant may use, joined by commas
      --self-learning              Capture what the loop has learned
      --prompt <NAME>              Prompt of the plugin `code` to follow [default: prompt]
      --completion-promise <TEXT>  What the assistant promises when it is done [default: COMPLETE]
  -h, --help                       Print this help

Environment:
  LOOPGATE_ASSISTANT_BIN           Assistant to run [default: claude]
  LOOPGATE_COMMAND                 PLAN ends with a valid plan, EXECUTE implements one; without it the
                                   loop does whichever comes next
  LOOPGATE_MAX_SPEND_USD           See --max-spend-usd; max_spend_usd in settings.toml does the same
  LOOPGATE_ITERATION_TIMEOUT_MS    Time limit of a run of the assistant [default: 4 hours]
  POST_LOOP_REVIEW_CYCLES          Reviews after the loop at most [default: 2]
  LOOPGATE_PLUGIN_DIR              Plugin `code` that the assistant loads

Exit codes: 0 the loop is done or waits for you, 1 it failed or reached a limit, 130 it was interrupted.
";

/// Iterations without `--max-iterations`.
const DEFAULT_MAX_ITERATIONS: u64 = 5;

/// What the caller asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopOptions {
    /// Work directory; `None` resumes.
    pub workdir: Option<PathBuf>,
    /// Requirements file, as given.
    pub prd: Option<String>,
    /// Name of the prompt.
    pub prompt: Option<String>,
    /// 0 = no limit.
    pub max_iterations: u64,
    /// What the loop may spend, 0 = no limit; `None` leaves it to environment and settings.
    pub max_spend: Option<Usd>,
    /// Text inside the promise tag.
    pub completion_promise: String,
    /// Further repositories, as given.
    pub add_dirs: Vec<String>,
    /// Further tools that the assistant may use without asking, joined by commas.
    pub allowed_tools: Option<String>,
    /// Capture learnings.
    pub self_learning: bool,
    /// What is printed.
    pub progress: ProgressForm,
}

/// Result of reading the arguments.
#[derive(Debug, PartialEq, Eq)]
pub enum ParsedArguments {
    /// Run with these.
    Run(LoopOptions),
    /// Print the help text.
    Help,
}

/// Reads the arguments.
///
/// # Errors
/// The line to print before leaving with exit code 1.
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
        let mut value = |what: &str| {
            words
                .next()
                .filter(|value| !value.is_empty())
                .ok_or_else(|| format!("Error: {word} requires {what}"))
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

/// The state file and `config.env` keep one value a line.
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

    fn read(words: &[&str]) -> Result<ParsedArguments, String> {
        parse(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn everything_has_a_default() {
        let Ok(ParsedArguments::Run(options)) = read(&[]) else { panic!("not a run") };
        assert_eq!((options.workdir, options.max_iterations), (None, 5));
        assert_eq!(options.completion_promise, "COMPLETE");
    }

    #[test]
    fn each_refusal_has_its_words() {
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
            assert_eq!(read(&words), Err(expected.to_owned()));
        }
        assert_eq!(read(&["x", "-h"]), Ok(ParsedArguments::Help));
    }

    #[test]
    fn zero_means_no_limit() {
        let Ok(ParsedArguments::Run(options)) = read(&["w", "--max-iterations", "0", "--self-learning"])
        else {
            panic!()
        };
        assert!(options.max_iterations == 0 && options.self_learning);
    }
}
