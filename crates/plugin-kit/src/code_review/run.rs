//! `loopgate code-review run`: a review from the change to the verdict. A program selects, counts and decides; models report
//! findings, which are held against the lines that they quote, and a second reviewer tries to disprove the severe ones.
//!
//! An interrupted review continues from its stored answers, and leaves nothing else. At its end, a review stores the findings
//! about the files that were reviewed, for later reviews, and writes `verdict.json`. If nothing was left out, it records its
//! commit as the last reviewed one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use loopgate_api::usd::Usd;
use loopgate_code_review::finding::{Finding, FindingList};
use loopgate_code_review::incremental::ReviewExtent;
use loopgate_code_review::quotation::check_quotations;
use loopgate_code_review::validation::{DiscardReason, DiscardedFinding, Validation, validate};
use loopgate_code_review::verdict::{VerdictReport, incomplete_verdict, verdict};
use loopgate_home::{expand_home, untrusted};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::agents::{AgentCall, AgentCost, AskingEnd, ReviewAgents, SharedText};
use super::cache::{CACHED_AUTHOR, ReviewCache, lookup_files};
use super::collect::{ENDING, PREFIX, collect};
use super::division::DividedChange;
use super::incremental::{ExtentArgs, LOOPS};
use super::preparation::{PreparationInput, PreparedReview, excerpts, prepare};
use super::report::{self, ReviewSummary};
use super::reviewers::{ChangeReviewer, ReviewPrompts, prompts};
use super::scope::RequestedChange;
use super::session::{ReviewSession, ReviewSessionId};
use super::{answer, challenge};
use crate::clock::now;
use crate::console::{print_error, print_line};
use crate::loop_run::{self, stop};
use crate::model_calls::{IsolatedAssistant, LimitWait};

/// Exit code of an interrupted review.
const INTERRUPTED: u8 = 130;

/// Arguments of `code-review run`.
#[derive(Debug, clap::Args)]
pub struct ReviewArgs {
    /// `branch`, `staged`, the number of a pull request, or files and directories [default: branch]
    #[arg(value_name = "SCOPE")]
    scope: Vec<String>,
    /// Branch or commit to compare with [default: that of the pull request, else the default branch]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    #[command(flatten)]
    extent: ExtentArgs,
    /// Check without a model, and end
    #[arg(long)]
    hygiene_only: bool,
    /// Id of the session, `cr-…` [default: that of an interrupted review of the same change, else a new one]
    #[arg(long, value_name = "ID")]
    session: Option<ReviewSessionId>,
    /// What to consider in addition
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// Spending limit in US dollars for all models together; 0 is no limit
    #[arg(long, value_name = "USD")]
    max_budget_usd: Option<Usd>,
    /// Wait for the end of a usage limit of the assistant's account, as loops do
    #[arg(long)]
    wait_for_limits: bool,
    /// Print the records that a loop reads instead of text
    #[arg(long, hide = true)]
    stream: bool,
    /// Directory in the repository
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    workdir: PathBuf,
}

/// A review to run.
#[derive(Debug, Clone)]
pub struct ReviewRun {
    /// Directory in the repository.
    pub dir: PathBuf,
    pub change: RequestedChange,
    /// How much of the change is reviewed.
    pub extent: ReviewExtent,
    /// The user's home directory, with the cache of findings and the last reviewed commits.
    pub home: PathBuf,
    pub session: Option<ReviewSessionId>,
    pub is_hygiene_only: bool,
    /// What the person who asks wants to be considered.
    pub instructions: Option<String>,
    /// Spending limit of all calls together; `None` without one.
    pub limit: Option<Usd>,
    pub assistant: OsString,
    pub env: BTreeMap<OsString, OsString>,
    /// `None` ends the review at a usage limit.
    pub wait: Option<LimitWait>,
    pub stop: CancellationToken,
}

/// How a review ended.
#[derive(Debug)]
pub struct EndedReview {
    /// Cost of this run.
    pub cost: Usd,
    pub outcome: ReviewOutcome,
}

#[derive(Debug)]
pub enum ReviewOutcome {
    Completed(FinishedCodeReview),
    Interrupted,
    /// Message for the user. The answers are stored.
    Failed(String),
}

/// A completed review.
#[derive(Debug)]
pub struct FinishedCodeReview {
    /// Session directory.
    pub directory: PathBuf,
    /// `None` for a review without a model.
    pub verdict: Option<VerdictReport>,
    /// The report; its last line is the tag of the verdict, if there is one.
    pub text: String,
}

/// Runs the command to its end. Creates an async runtime, so it must not be called from within one.
pub fn run(args: &ReviewArgs) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.map_err(|error| error.to_string()).and_then(|runtime| {
        runtime.block_on(async {
            let stop = CancellationToken::new();
            stop::on_signals(stop.clone()).map_err(|error| error.to_string())?;
            let change = RequestedChange::parse(&args.scope, args.base.clone())?;
            let whole = change.scope.always_whole().or(args.stream.then_some(LOOPS));
            let run = ReviewRun {
                dir: args.workdir.clone(),
                change,
                extent: args.extent.extent(whole)?,
                home: expand_home("~"),
                session: args.session.clone(),
                is_hygiene_only: args.hygiene_only,
                instructions: args.instructions.clone(),
                limit: args.max_budget_usd.filter(|usd| !usd.is_zero()),
                assistant: loop_run::assistant(),
                env: loop_run::environment(),
                wait: args.wait_for_limits.then(LimitWait::of_environment),
                stop,
            };
            Ok(run.run().await)
        })
    });
    let ended = ended.unwrap_or_else(|message| EndedReview {
        cost: Usd::default(),
        outcome: ReviewOutcome::Failed(message),
    });
    if args.stream {
        let session = args.session.clone().unwrap_or_default();
        report::records(&session, &ended).iter().for_each(print_line);
    }
    match ended.outcome {
        ReviewOutcome::Completed(review) => {
            if !args.stream {
                print_line(review.text);
            }
            ExitCode::SUCCESS
        }
        ReviewOutcome::Interrupted => {
            print_error(
                "The review was interrupted. Its answers are kept; run the same command to continue.",
            );
            ExitCode::from(INTERRUPTED)
        }
        ReviewOutcome::Failed(message) => {
            print_error(format!("Error: {message}"));
            ExitCode::FAILURE
        }
    }
}

impl ReviewRun {
    /// Runs the review to its end.
    pub async fn run(&self) -> EndedReview {
        let mut cost = Usd::default();
        let outcome = match self.review(&mut cost).await {
            Ok(review) => ReviewOutcome::Completed(review),
            Err(_) if self.stop.is_cancelled() => ReviewOutcome::Interrupted,
            Err(AskingEnd::Stopped) => ReviewOutcome::Interrupted,
            Err(AskingEnd::Failed(message)) => ReviewOutcome::Failed(message),
        };
        EndedReview { cost, outcome }
    }

    async fn review(&self, spent: &mut Usd) -> Result<FinishedCodeReview, AskingEnd> {
        let started = Instant::now();
        let run = self.clone();
        // It waits for git with a runtime of its own, which cannot be nested.
        let prepared = tokio::task::spawn_blocking(move || {
            prepare(PreparationInput {
                dir: &run.dir,
                change: &run.change,
                considerations: run.instructions,
                extent: run.extent,
                home: &run.home,
            })
        });
        let mut prepared = prepared.await.map_err(failed)?.map_err(AskingEnd::Failed)?;
        let session = ReviewSession::open(&prepared.root, self.session.as_ref(), &self.request(&prepared))
            .map_err(AskingEnd::Failed)?;
        write_change(&session, &prepared).map_err(AskingEnd::Failed)?;
        if self.is_hygiene_only {
            session.finish();
            let validation = validate(prepared.hygiene.clone(), &prepared.data);
            let report = ReviewSummary {
                prepared: &prepared,
                session: &session,
                reviewers: &[],
                cache: None,
                validation: &validation,
                unreviewed: &[],
            };
            let text = report.text(&report.footer(started.elapsed(), &BTreeMap::new()));
            return Ok(FinishedCodeReview { directory: session.directory().to_owned(), verdict: None, text });
        }
        if prepared.data.files_to_review.is_empty() {
            let base = match prepared.extent.since() {
                Some(commit) => format!("the commit of the previous review, {commit}"),
                None => prepared.scope.base_ref.clone(),
            };
            // An approval would hide that the base is not the one that the caller meant.
            return Err(AskingEnd::Failed(format!("there are no changes against {base}")));
        }
        if self.stop.is_cancelled() {
            return Err(AskingEnd::Stopped);
        }
        let base_commit = prepared.scope.base_commit.clone().unwrap_or_default();
        let cache = ReviewCache::new(&prepared.cache_dir, prepared.material.part_prompt_hash(), base_commit);
        let divided = DividedChange::new(&prepared.reviewed, &prepared.route, &cache);
        let prompts = prompts(&prepared.reviewed, &prepared.material, &prepared.route, &divided.partitions);
        remove_other_answers(&session, &prompts.reviewers);
        write_prompts(&session, &prepared, &divided, &prompts).map_err(AskingEnd::Failed)?;
        let assistant = IsolatedAssistant::new(
            self.assistant.clone(),
            self.env.clone(),
            self.wait.clone(),
            self.stop.clone(),
        )
        .map_err(failed)?;
        let shared = |name, text: &str| -> Result<Arc<SharedText>, AskingEnd> {
            let part = assistant.share(name, text).map_err(failed)?;
            Ok(Arc::new(SharedText { name, text: text.to_owned(), part }))
        };
        let (common, whole) =
            (shared("shared", &prompts.shared)?, shared("whole-change", &prompts.whole_change)?);
        let mut agents = ReviewAgents::new(assistant, &session, self.limit);
        let result = self.ask(&mut agents, &prepared, &divided, &prompts, (&common, &whole)).await;
        *spent = agents.spent();
        let ModelResults { validation, mut unreviewed, answered, warnings } = result?;
        divided.store_findings(&cache, &prepared.reviewed, &prompts, &agents, &answered);
        unreviewed.extend(prompts.left_out.iter().map(|path| format!("{path}: too long for a prompt")));
        let is_complete = unreviewed.is_empty() && warnings.is_empty();
        prepared.warnings.extend(warnings);
        let verdict = match unreviewed.first() {
            None => verdict(&validation),
            Some(first) => incomplete_verdict(&validation, &format!("Not reviewed: {first}")),
        };
        let report = ReviewSummary {
            prepared: &prepared,
            session: &session,
            reviewers: &prompts.reviewers,
            cache: divided.cached.as_ref().map(|found| &found.result),
            validation: &validation,
            unreviewed: &unreviewed,
        };
        let footer = report.footer(started.elapsed(), agents.costs());
        let text = format!("{}\n{}", report.text(&footer), verdict.tag);
        let write = || {
            session.write_json("validate_output.json", &validation)?;
            session.write_json(
                "footer.json",
                &json!({"footer_line": footer, "agents": agents.costs(), "total_usd": agents.total()}),
            )?;
            session.write("report.md", &format!("{text}\n"))?;
            // Written last: the verdict says that the review is complete.
            session.write_json("verdict.json", &verdict)?;
            session.complete()
        };
        write().map_err(AskingEnd::Failed)?;
        if let Some(commit) = prepared.reviewed_commit.filter(|_| is_complete)
            && let Err(message) = prepared.history.record(commit)
        {
            print_error(format!("Warning: {message}"));
        }
        Ok(FinishedCodeReview { directory: session.directory().to_owned(), verdict: Some(verdict), text })
    }

    /// Returns the identity of what is reviewed.
    fn request(&self, prepared: &PreparedReview) -> String {
        let request = json!({"scope": prepared.scope, "files": prepared.data.files_to_review, "instructions": self.instructions,
            "hygiene_only": self.is_hygiene_only});
        hex::encode(Sha256::digest(request.to_string()))
    }

    async fn ask(
        &self,
        agents: &mut ReviewAgents<'_>,
        prepared: &PreparedReview,
        divided: &DividedChange,
        prompts: &ReviewPrompts,
        (common, whole): (&Arc<SharedText>, &Arc<SharedText>),
    ) -> Result<ModelResults, AskingEnd> {
        let reviewers: BTreeMap<String, &ChangeReviewer> =
            prompts.reviewers.iter().map(|reviewer| (answer_name(reviewer), reviewer)).collect();
        let calls = prompts.reviewers.iter().map(|reviewer| {
            let shared = if reviewer.reads_whole_change { whole } else { common };
            AgentCall::new(
                answer_name(reviewer),
                reviewer.model.clone(),
                Arc::clone(shared),
                reviewer.request.clone(),
            )
        });
        let check = |name: &str, text: &str| {
            let reviewer = reviewers.get(name).ok_or("there is no such reviewer")?;
            checked_answer(text, reviewer)
        };
        let answers = agents.ask(calls.collect(), check).await?;
        let unreviewed: Vec<String> = answers
            .iter()
            .filter_map(|(name, answer)| Some((reviewers.get(name)?, answer.as_ref().err()?)))
            .map(|(reviewer, reason)| format!("{} ({}): {reason}", reviewer.scope, reviewer.id))
            .collect();
        let answered: BTreeSet<String> =
            answers.iter().filter(|(_, answer)| answer.is_ok()).map(|(name, _)| name.clone()).collect();
        let collected = collect(agents.session.directory(), prepared.hygiene.clone());
        let is_cached = |(name, _): &&(String, String)| *name == format!("{PREFIX}{CACHED_AUTHOR}{ENDING}");
        if let Some((name, reason)) = collected.skipped.iter().find(is_cached) {
            // Its files were given to no reviewer.
            return Err(AskingEnd::Failed(format!("cannot read {name}: {reason}")));
        }
        let list = FindingList { findings: collected.findings };
        agents.session.write_json("findings.json", &list.findings).map_err(AskingEnd::Failed)?;
        let (claims, facts): (Vec<Finding>, Vec<Finding>) =
            list.findings.into_iter().partition(|finding| finding.more.contains_key("agent"));
        let (claims, mut discarded) = check_quotations(claims, &prepared.reviewed);
        let (claims, foreign): (Vec<Finding>, Vec<Finding>) =
            claims.into_iter().partition(|finding| divided.is_assigned(finding, &prompts.reviewers));
        let reason = DiscardReason::NotAssigned;
        discarded.extend(foreign.into_iter().map(|finding| DiscardedFinding { finding, reason }));
        let mut validation = validate(claims.into_iter().chain(facts).collect(), &prepared.data);
        validation.add_discarded(discarded);
        let mut warnings = Vec::new();
        self.challenge(agents, prepared, &mut validation, prompts, whole, &mut warnings).await?;
        Ok(ModelResults { validation, unreviewed, answered, warnings })
    }

    /// Gives the findings that decide about the verdict to the second reviewer.
    async fn challenge(
        &self,
        agents: &mut ReviewAgents<'_>,
        prepared: &PreparedReview,
        validation: &mut Validation,
        prompts: &ReviewPrompts,
        whole: &Arc<SharedText>,
        warnings: &mut Vec<String>,
    ) -> Result<(), AskingEnd> {
        let claims: Vec<&Finding> =
            validation.validated.iter().filter(|finding| challenge::is_claim(finding)).collect();
        let mut counts = BTreeMap::new();
        let mut calls = Vec::new();
        for (number, claims) in claims.chunks(challenge::MAX_CLAIMS).enumerate() {
            let places: BTreeSet<(String, u64)> =
                claims.iter().filter_map(|claim| Some((claim.file.clone(), claim.line?))).collect();
            let (root, scope) = (prepared.root.clone(), prepared.scope.clone());
            let places: Vec<(String, u64)> = places.into_iter().collect();
            let excerpts = tokio::task::spawn_blocking(move || excerpts(&root, &scope, &places)).await;
            let excerpts = excerpts.map_err(failed)?;
            // The excerpts contain unchanged lines, which can contain the mark of the changed ones.
            let is_marked = excerpts.iter().any(|(_, text)| text.contains(&prompts.mark));
            let excerpts = if is_marked { Vec::new() } else { excerpts };
            let name = format!("challenge_{number}");
            counts.insert(name.clone(), claims.len());
            let request = challenge::request(claims, &excerpts, &prompts.mark);
            calls.push(AgentCall::new(name, challenge::MODEL.to_owned(), Arc::clone(whole), request));
        }
        let names: Vec<(String, usize)> = calls
            .iter()
            .map(|call| (call.name.clone(), counts.get(&call.name).copied().unwrap_or(0)))
            .collect();
        let check = |name: &str, text: &str| {
            challenge::parse(text, counts.get(name).copied().unwrap_or(0))?;
            Ok(crate::model_calls::without_fence(text).to_owned())
        };
        let answers = agents.ask(calls, check).await?;
        let mut results = Vec::new();
        for (name, count) in names {
            let answer = answers.get(&name).cloned().unwrap_or_else(|| Err("there is no answer".to_owned()));
            match answer.and_then(|text| challenge::parse(&text, count)) {
                Ok(list) => results.extend(list.into_iter().map(Ok)),
                Err(reason) => {
                    warnings
                        .push(format!("{count} findings were not checked by a second reviewer: {reason}"));
                    results.extend(std::iter::repeat_n(Err(reason), count));
                }
            }
        }
        challenge::apply(validation, &results);
        Ok(())
    }
}

/// Result of the models.
struct ModelResults {
    validation: Validation,
    /// What was not reviewed, with the reasons.
    unreviewed: Vec<String>,
    /// Names of the stored answers.
    answered: BTreeSet<String>,
    warnings: Vec<String>,
}

fn failed(error: impl std::fmt::Display) -> AskingEnd {
    AskingEnd::Failed(error.to_string())
}

/// Returns the name of a reviewer's answer.
pub fn answer_name(reviewer: &ChangeReviewer) -> String {
    format!("{PREFIX}{}", reviewer.id)
}

/// Returns a reviewer's answer in the form that is stored, or what is wrong with it. A stored answer has that form already.
fn checked_answer(text: &str, reviewer: &ChangeReviewer) -> Result<String, String> {
    let is_own = |finding: &Finding| finding.more.get("agent").and_then(Value::as_str) == Some(&reviewer.id);
    if let Ok(stored) = serde_json::from_str::<FindingList>(text)
        && !stored.findings.is_empty()
        && stored.findings.iter().all(is_own)
    {
        return Ok(text.to_owned());
    }
    let findings = answer::parse(text, reviewer)?;
    serde_json::to_string(&FindingList { findings }).map_err(|error| error.to_string())
}

fn write_change(session: &ReviewSession, prepared: &PreparedReview) -> Result<(), String> {
    let setup =
        json!({"started_at": now(), "session": session.id, "current_branch": prepared.scope.review_branch});
    session.write_json("setup.json", &setup)?;
    session.write_json("scope.json", &prepared.scope)?;
    session.write_json("auto_incremental.json", &prepared.extent)?;
    session.write_json("diff_data.json", &prepared.data)?;
    session.write_json("hygiene.json", &FindingList { findings: prepared.hygiene.clone() })
}

fn write_prompts(
    session: &ReviewSession,
    prepared: &PreparedReview,
    divided: &DividedChange,
    prompts: &ReviewPrompts,
) -> Result<(), String> {
    if let Some(found) = &divided.cached {
        for (name, text) in lookup_files(found)? {
            session.write(&name, &text)?;
        }
    }
    session.write_json("intent_context.json", &prepared.material.intent)?;
    session.write_json("intent.json", &json!({"intent": prepared.intent}))?;
    session.write_json("route.json", &prepared.route)?;
    session.write_json("partitions.json", &json!({"partitions": divided.partitions}))?;
    session.write("shared_prompt.txt", &prompts.shared)?;
    session.write("patches_all.txt", &prompts.whole_change)?;
    for reviewer in &prompts.reviewers {
        session.write(&format!("request_{}.txt", reviewer.id), &reviewer.request)?;
    }
    Ok(())
}

/// Removes answers of reviewers that this review does not have: they were about another state of the change.
fn remove_other_answers(session: &ReviewSession, reviewers: &[ChangeReviewer]) {
    let current: BTreeSet<String> = reviewers.iter().map(answer_name).collect();
    for entry in untrusted::entries(session.directory()) {
        let Ok(name) = entry.name.into_string() else { continue };
        let stem = name.strip_suffix(ENDING).or_else(|| name.strip_suffix(".key"));
        if stem.is_some_and(|stem| stem.starts_with(PREFIX) && !current.contains(stem)) {
            // A remaining answer is skipped or discarded, because its lines are not in the change.
            let _ = untrusted::remove(&session.directory().join(&name));
        }
    }
}

/// Returns the sum of what agents were sent, in bytes, and their calls.
pub fn sent(costs: &BTreeMap<String, AgentCost>) -> (usize, u32) {
    costs.values().fold((0, 0), |(bytes, calls), cost| {
        (bytes + cost.shared_bytes + cost.request_bytes, calls + cost.calls)
    })
}

#[cfg(test)]
pub(super) mod tests;
