//! `loopgate code-review …`: a code review, and its steps that need no model.

mod agents;
mod answer;
mod cache;
mod challenge;
mod change;
mod collect;
mod division;
pub(crate) mod fix;
mod hygiene;
pub(crate) mod incremental;
mod posting;
mod preparation;
pub(crate) mod report;
mod reviewers;
pub(crate) mod run;
pub(crate) mod scope;
pub(crate) mod session;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::critic_gates::CriticGates;
use loopgate_code_review::diff_data::DiffData;
use loopgate_code_review::finding::FindingList;
use loopgate_code_review::partition::{PartitionLimits, partition};
use loopgate_code_review::route::{ReviewIntent, route};
use loopgate_code_review::validation::{Validation, validate};
use loopgate_code_review::verdict::verdict;
use loopgate_home::untrusted;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::console::{print_error, print_result};

/// Bytes of a document, which may contain all lines of a large change.
const MAX_DOCUMENT: u64 = 256 * 1024 * 1024;
/// Name of standard input.
const STANDARD_INPUT: &str = "-";
const VERDICT: &str = "verdict.json";

/// Reviews of a change, and their steps that need no model.
///
/// The steps, except `hygiene --text`, print JSON. They exit with 0, or with 1 and the reason on standard error; `hygiene` has exit
/// codes of its own.
#[derive(Debug, clap::Subcommand)]
pub enum CodeReviewCommand {
    /// Review a change with models, and print the findings and the verdict
    ///
    /// An interrupted review continues when the same command is run again. Exit codes: 0 with a verdict, whatever it is,
    /// 1 without one, 130 if it was interrupted.
    Run(run::ReviewArgs),
    /// Correct the confirmed findings of a review, one file after the other
    ///
    /// The repository's tests run before and after each correction. One that makes a test fail or weakens one is taken back.
    /// `fix_result.json` in the session directory says what became of each finding.
    Fix(fix::FixArgs),
    /// Check a change for secrets, local files, and paths of a machine
    ///
    /// Exit codes: 0 without findings of severity HIGH, 1 with such findings, 2 if the change could not be checked.
    Hygiene(hygiene::HygieneArgs),
    /// Print a change as the other commands read it
    ParseDiff(ParseDiffArgs),
    /// Merge the findings of all reviewers of a session
    CollectFindings(CollectArgs),
    /// Validate the findings of reviewers against the change
    Validate(ValidateFindingsArgs),
    /// Derive the verdict from validated findings, and write it to verdict.json next to them
    Verdict(VerdictArgs),
    /// Decide by size and paths how a change is reviewed
    Route(RouteArgs),
    /// Divide a change among reviewers
    Partition(PartitionArgs),
    /// Print and create the directory of the repository's cache of findings
    FinalizeCache(cache::FinalizeCacheArgs),
    /// Look up findings about files whose change was reviewed before
    CacheCheck(cache::CacheCheckArgs),
    /// Store the findings about the reviewed files
    CacheUpdate(cache::CacheUpdateArgs),
    /// Decide whether only the commits since the last review are reviewed
    AutoIncremental(incremental::AutoIncrementalArgs),
    /// Print the last complete review of a branch
    ReviewStateRead(incremental::ReviewStateReadArgs),
    /// Record a complete review of a branch
    ReviewStateWrite(incremental::ReviewStateWriteArgs),
    /// Post findings on a pull request, in one review and each only once
    ///
    /// Requires the code host's program, gh. Exits with 0 also if the code host rejects the review; the output counts it.
    PostComments(posting::PostCommentsArgs),
    /// Resolve threads about findings that no longer apply
    ///
    /// Threads of other accounts, and those in which another account has written, are left alone.
    ResolveThreads(posting::ResolveThreadsArgs),
}

/// Arguments of `code-review parse-diff`.
#[derive(Debug, clap::Args)]
pub struct ParseDiffArgs {
    #[command(flatten)]
    scope: change::ScopeArgs,
    /// Leave out the texts of the changed lines
    #[arg(long)]
    no_patch_lines: bool,
}

/// Arguments of `code-review collect-findings`.
#[derive(Debug, clap::Args)]
pub struct CollectArgs {
    /// Session directory with the files `agent_*.json`
    #[arg(long, value_name = "DIRECTORY")]
    cr_dir: PathBuf,
    /// File to write in the session directory
    #[arg(long, default_value = "findings.json", value_name = "NAME")]
    output: PathBuf,
    /// File with the output of hygiene
    #[arg(long, value_name = "FILE")]
    hygiene: Option<PathBuf>,
}

/// Arguments of `code-review validate`.
#[derive(Debug, clap::Args)]
pub struct ValidateFindingsArgs {
    /// File with the findings of all reviewers
    #[arg(long, value_name = "FILE")]
    findings: PathBuf,
    /// File with the output of parse-diff
    #[arg(long, value_name = "FILE")]
    diff_data: PathBuf,
}

/// Arguments of `code-review verdict`.
#[derive(Debug, clap::Args)]
pub struct VerdictArgs {
    /// File with the output of validate
    #[arg(long, value_name = "FILE")]
    validate_output: PathBuf,
}

/// Arguments of `code-review route`.
#[derive(Debug, clap::Args)]
pub struct RouteArgs {
    /// File with the output of parse-diff
    #[arg(long, value_name = "FILE")]
    diff_data: PathBuf,
    /// File with the critics of the project; a missing or malformed one contains none
    #[arg(long, value_name = "FILE")]
    critic_gates: Option<PathBuf>,
    /// Purpose of the change: feature, fix, refactor or mixed
    #[arg(long, default_value = "mixed", value_parser = intent)]
    intent: ReviewIntent,
}

/// Arguments of `code-review partition`.
#[derive(Debug, clap::Args)]
pub struct PartitionArgs {
    /// File with the output of parse-diff
    #[arg(long, value_name = "FILE")]
    diff_data: PathBuf,
    /// Changed lines of a partition
    #[arg(long, default_value_t = PartitionLimits::default().lines)]
    loc_budget: u64,
    /// Files of a partition
    #[arg(long, default_value_t = PartitionLimits::default().files)]
    max_files: usize,
    /// Number of partitions
    #[arg(long, default_value_t = PartitionLimits::default().partitions)]
    max_bha_agents: usize,
}

impl CodeReviewCommand {
    /// Runs the command.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let result = match self {
            Self::Run(args) => return run::run(&args),
            Self::Fix(args) => return fix::run(&args),
            Self::Hygiene(args) => return hygiene::run(&args),
            Self::CollectFindings(args) => collect_findings(&args),
            Self::ParseDiff(args) => parse_diff(&args),
            Self::Validate(args) => validate_findings(&args),
            Self::Verdict(args) => write_verdict(&args.validate_output),
            Self::Route(args) => route_change(&args),
            Self::FinalizeCache(args) => args.run(),
            Self::CacheCheck(args) => args.run(),
            Self::CacheUpdate(args) => args.run(),
            Self::AutoIncremental(args) => args.run(),
            Self::ReviewStateRead(args) => args.run(),
            Self::ReviewStateWrite(args) => args.run(),
            Self::PostComments(args) => args.run(),
            Self::ResolveThreads(args) => args.run(),
            Self::Partition(args) => read(&args.diff_data).and_then(|data: DiffData| {
                let PartitionArgs { loc_budget: lines, max_files: files, max_bha_agents: partitions, .. } =
                    args;
                json(&partition(&data, PartitionLimits { lines, files, partitions }))
            }),
        };
        print_result(result.map_err(|message| format!("Error: {message}")))
    }
}

fn parse_diff(args: &ParseDiffArgs) -> Result<String, String> {
    let mut data = change::read(&args.scope, change::PatchContext::None)?.data;
    if args.no_patch_lines {
        data.patch_lines.clear();
    }
    json(&data)
}

/// Returns the numbers of findings and files, after the findings were written into the session directory.
fn collect_findings(args: &CollectArgs) -> Result<String, String> {
    let hygiene: Option<FindingList> = args.hygiene.as_deref().map(read).transpose()?;
    let is_included = hygiene.is_some();
    let session = absolute(&args.cr_dir)?;
    let collected = collect::collect(&session, hygiene.unwrap_or_default().findings);
    for (name, reason) in &collected.skipped {
        print_error(format!("Warning: {name} is skipped: {reason}"));
    }
    let path = session.join(&args.output);
    untrusted::write(&path, json(&collected.findings)?.as_bytes())
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    json(
        &serde_json::json!({"total_findings": collected.findings.len(), "agent_files": collected.agent_files,
        "hygiene_included": is_included}),
    )
}

fn validate_findings(args: &ValidateFindingsArgs) -> Result<String, String> {
    let list: FindingList = read(&args.findings)?;
    let data: DiffData = read(&args.diff_data)?;
    json(&validate(list.findings, &data))
}

/// Returns the verdict as JSON, after it was written next to the input.
fn write_verdict(input: &Path) -> Result<String, String> {
    let validation: Validation = read(input)?;
    let text = json(&verdict(&validation))?;
    let path = absolute(input)?.with_file_name(VERDICT);
    untrusted::write(&path, text.as_bytes())
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(text)
}

fn route_change(args: &RouteArgs) -> Result<String, String> {
    let data: DiffData = read(&args.diff_data)?;
    let gates: Option<CriticGates> = args.critic_gates.as_deref().and_then(|path| read(path).ok());
    json(&route(&data, &gates.unwrap_or_default(), args.intent))
}

fn intent(text: &str) -> Result<ReviewIntent, String> {
    serde_json::from_value(text.into()).map_err(|_| "expected feature, fix, refactor or mixed".to_owned())
}

/// Reads a JSON document from a file, or from standard input for `-`.
fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
    let bytes = if path == Path::new(STANDARD_INPUT) {
        let mut bytes = Vec::new();
        let limited = std::io::stdin().take(MAX_DOCUMENT).read_to_end(&mut bytes);
        limited.map(|_| bytes)
    } else {
        untrusted::read(&absolute(path)?, MAX_DOCUMENT)
    };
    serde_json::from_slice(&bytes.map_err(|error| failed(&error))?).map_err(|error| failed(&error))
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
