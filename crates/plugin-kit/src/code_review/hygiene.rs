//! `loopgate code-review hygiene`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use loopgate_api::terminal_text::escape_control;
use loopgate_code_review::diff_data::DiffData;
use loopgate_code_review::finding::{Finding, FindingList, IssueSeverity};
use loopgate_code_review::hygiene::{HygieneCheck, check_change, local_files};

use super::change::{self, PatchContext, ReadChange, ScopeArgs};
use crate::console::{print_error, print_line};
use crate::project_git::BlockingGit;

/// Exit code if the change could not be checked.
const NOT_CHECKED: u8 = 2;

/// Arguments of `code-review hygiene`.
#[derive(Debug, clap::Args)]
pub struct HygieneArgs {
    #[command(flatten)]
    scope: ScopeArgs,
    /// Check the change in this output of parse-diff, `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["base", "staged"])]
    diff_data: Option<PathBuf>,
    /// Print one line for each finding instead of JSON; the default on a terminal
    #[arg(long)]
    text: bool,
}

/// Checks a change and prints the findings.
pub fn run(args: &HygieneArgs) -> ExitCode {
    let findings = match findings(args) {
        Ok(findings) => findings,
        Err(message) => {
            print_error(format!("Error: {message}"));
            return ExitCode::from(NOT_CHECKED);
        }
    };
    let must_be_resolved = |finding: &Finding| finding.severity.priority() <= IssueSeverity::High.priority();
    let code = if findings.iter().any(must_be_resolved) { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if args.text || io::stdout().is_terminal() {
        findings.iter().for_each(|finding| print_line(line(finding)));
        return code;
    }
    match super::json(&FindingList { findings }) {
        Ok(text) => print_line(text),
        Err(message) => {
            print_error(format!("Error: {message}"));
            return ExitCode::from(NOT_CHECKED);
        }
    }
    code
}

pub(super) fn findings(args: &HygieneArgs) -> Result<Vec<Finding>, String> {
    let ReadChange { data, ignored } = match &args.diff_data {
        None => change::read(&args.scope, PatchContext::OneLine)?,
        Some(path) => {
            let data: DiffData = super::read(path)?;
            let git = BlockingGit::new()?;
            let candidates: Vec<&str> = local_files(&data).collect();
            let ignored = match git.position(&args.scope.workdir) {
                Some((root, _)) => git.ignored_among(&root, &candidates),
                None => None,
            };
            // Outside of a repository no file is ignored.
            ReadChange { ignored: ignored.unwrap_or_default(), data }
        }
    };
    Ok(check_change(&data, &ignored))
}

/// Returns a finding as one line, with the name of the check, as an allowing comment needs it.
pub(super) fn line(finding: &Finding) -> String {
    let severity = String::from(finding.severity.clone());
    let check = HygieneCheck::of(finding).map_or("", HygieneCheck::name);
    let place = format!("{}:{}", finding.file, finding.line.unwrap_or(1));
    let title = finding.issue.split_once(' ').map_or(finding.issue.as_str(), |(_, title)| title);
    let code = match finding.code_snippet.as_str() {
        "" => String::new(),
        code => format!(": {code}"),
    };
    escape_control(&format!("{severity} {place} {title} [{check}]{code}"))
}
