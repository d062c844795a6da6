//! The agents of a repository: those that every repository has, one for each important language, and one for each domain.

use std::collections::{BTreeMap, BTreeSet};

use loopgate_api::bootstrap::BootstrapDepth;
use serde::Serialize;

use crate::domains::{DomainComplexity, ProjectDomains, component};
use crate::languages::{LanguageReport, SourceLanguage};
use crate::signals::{SECURITY, TESTING};

/// Agents that every repository has.
pub const REQUIRED: [&str; 2] = ["test-strategist", "security-privacy"];
/// Agents of the plugin `code`, which are not written for a repository.
pub const UNIVERSAL: [&str; 6] =
    ["prd-analyst", "feature-locator", "plan-writer", "plan-stager", "plan-verifier", "agent-trainer"];
/// Files from which a domain of [`SECURITY`] has an agent of its own.
const SECURITY_FILES: usize = 4;
/// Files of a part of a domain that has an agent of its own at the greatest depth, and the number of such parts.
const PART_FILES: usize = 15;
const MAX_PARTS: usize = 3;
const SCHEMA: &str = "review-delta";
const BUDGET_SOURCE: &str = ".loopgate/settings/critic-gates.json";

/// What the roster of a repository contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosterOptions {
    /// Number of agents: quick has few, deep also has agents for parts of large domains.
    pub depth: BootstrapDepth,
    /// Only the required agents and that of the primary language.
    pub minimal: bool,
    /// Part of the name of the only domain that is wanted.
    pub focus: Option<String>,
    /// Domains in addition to the known ones.
    pub added: Vec<String>,
}

impl Default for RosterOptions {
    fn default() -> Self {
        Self { depth: BootstrapDepth::Medium, minimal: false, focus: None, added: Vec::new() }
    }
}

/// Why an agent exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentRole {
    /// Every repository has it.
    RequiredProjectSpecific,
    /// For a language.
    LanguageExpert,
    /// For a domain.
    DomainExpert,
}

/// Content of `expert-agents.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpertRoster {
    /// Time of the run.
    pub timestamp: String,
    /// `full` or `minimal`.
    pub mode: &'static str,
    /// Agents that are never written for a repository.
    pub universal_agents: Vec<&'static str>,
    /// Agents for this repository.
    pub candidate_experts: Vec<CandidateExpert>,
    /// Counts.
    pub summary: ExpertSummary,
    /// What was left out.
    pub warnings: Vec<String>,
}

/// Counts of candidates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ExpertSummary {
    total_candidates: usize,
    required_agents: usize,
    language_experts: usize,
    domain_experts: usize,
    decomposable_agents: usize,
}

/// An agent before large domains are divided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CandidateExpert {
    /// Name.
    pub agent: String,
    /// Why it exists.
    pub role: AgentRole,
    /// The same in words.
    pub reason: String,
    /// Whether its domain is so large that it may be divided.
    pub decomposable: bool,
    /// Domain that it reviews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Language that it reviews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Packages of the domain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub technologies: Vec<String>,
    /// Size of the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<DomainComplexity>,
    /// Whether it can review plans.
    pub supports_critic_mode: bool,
}

impl CandidateExpert {
    fn new(agent: &str, role: AgentRole, reason: String) -> Self {
        Self {
            agent: agent.to_owned(),
            role,
            reason,
            decomposable: false,
            domain: None,
            language: None,
            technologies: Vec::new(),
            complexity: None,
            supports_critic_mode: true,
        }
    }
}

/// Selects the agents of a repository.
#[must_use]
pub fn candidates(
    languages: &LanguageReport,
    domains: &ProjectDomains,
    options: &RosterOptions,
    timestamp: String,
) -> ExpertRoster {
    let required = |agent: &str| {
        CandidateExpert::new(agent, AgentRole::RequiredProjectSpecific, "every repository has it".to_owned())
    };
    let mut experts: Vec<CandidateExpert> = REQUIRED.iter().map(|agent| required(agent)).collect();
    experts[0].domain = Some(TESTING.to_owned());
    experts.extend(language_experts(languages, options));
    let mut warnings = Vec::new();
    if !options.minimal {
        for domain in domains.files.keys() {
            match domain_expert(domain, domains, options) {
                Ok(expert) => experts.push(expert),
                Err(Some(reason)) => warnings.push(format!("no agent for {domain}: {reason}")),
                Err(None) => {}
            }
        }
    }
    let count = |role: AgentRole| experts.iter().filter(|expert| expert.role == role).count();
    ExpertRoster {
        timestamp,
        mode: if options.minimal { "minimal" } else { "full" },
        universal_agents: UNIVERSAL.to_vec(),
        summary: ExpertSummary {
            total_candidates: experts.len(),
            required_agents: count(AgentRole::RequiredProjectSpecific),
            language_experts: count(AgentRole::LanguageExpert),
            domain_experts: count(AgentRole::DomainExpert),
            decomposable_agents: experts.iter().filter(|expert| expert.decomposable).count(),
        },
        candidate_experts: experts,
        warnings,
    }
}

fn language_experts(languages: &LanguageReport, options: &RosterOptions) -> Vec<CandidateExpert> {
    let has_secondary = options.depth != BootstrapDepth::Quick && !options.minimal;
    let secondary = languages.secondary_languages.iter().filter(|_| has_secondary);
    let names = std::iter::once(&languages.primary_language).chain(secondary);
    let languages = names.filter_map(|name| SourceLanguage::named(name));
    let expert = |language: &'static SourceLanguage| {
        let reason = format!("{} is an important language of the repository", language.name);
        let agent = format!("{}-expert", language.slug());
        CandidateExpert {
            language: Some(language.name.to_owned()),
            ..CandidateExpert::new(&agent, AgentRole::LanguageExpert, reason)
        }
    };
    languages.map(expert).collect()
}

/// Returns the agent of a domain, or the reason for which it has none, if it is of interest.
fn domain_expert(
    domain: &str,
    domains: &ProjectDomains,
    options: &RosterOptions,
) -> Result<CandidateExpert, Option<String>> {
    let files = domains.files_of(domain).len();
    if domain == TESTING || options.focus.as_ref().is_some_and(|focus| !domain.contains(focus.as_str())) {
        return Err(None);
    }
    let is_security = SECURITY.contains(&domain);
    let least = match options.depth {
        _ if options.added.iter().any(|added| added == domain) => 1,
        _ if is_security => SECURITY_FILES,
        BootstrapDepth::Quick => 8,
        BootstrapDepth::Medium => 2,
        BootstrapDepth::Deep => 1,
    };
    if files < least {
        let more = if is_security { "; security-privacy reviews it" } else { "" };
        return Err(Some(format!("{files} files{more}")));
    }
    let reason = format!("{files} files belong to the domain");
    Ok(CandidateExpert {
        decomposable: options.depth == BootstrapDepth::Deep && parts(domains.files_of(domain)).len() > 1,
        domain: Some(domain.to_owned()),
        technologies: domains.technologies.get(domain).into_iter().flatten().cloned().collect(),
        complexity: Some(domains.complexity(domain)),
        ..CandidateExpert::new(domain, AgentRole::DomainExpert, reason)
    })
}

/// Returns the large parts of a domain, the largest first. The files of the others belong to the first part.
fn parts(files: &[String]) -> Vec<(String, Vec<String>)> {
    if DomainComplexity::of(files.len()) != DomainComplexity::High {
        return Vec::new();
    }
    let mut by_component: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        by_component.entry(component(file)).or_default().push(file.clone());
    }
    let mut large: Vec<(String, Vec<String>)> = Vec::new();
    let mut rest = Vec::new();
    let mut sorted: Vec<_> = by_component.into_iter().collect();
    sorted.sort_by(|one, other| other.1.len().cmp(&one.1.len()).then_with(|| one.0.cmp(&other.0)));
    for (name, files) in sorted {
        if files.len() >= PART_FILES && large.len() < MAX_PARTS && !slug_of(&name).is_empty() {
            large.push((name, files));
        } else {
            rest.extend(files);
        }
    }
    if let Some((_, first)) = large.first_mut() {
        first.extend(rest);
        first.sort();
    }
    large
}

fn slug_of(component: &str) -> String {
    loopgate_api::ids::slug(component).trim_matches('-').to_owned()
}

/// Content of `decomposed-agents.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecomposedRoster {
    /// The agents that are written.
    pub final_agents: Vec<FinalAgent>,
    /// Names of the agents that every repository has.
    pub required_agents: Vec<&'static str>,
    /// Divided agents.
    pub decompositions: Vec<AgentDecomposition>,
    /// Names of the agents for languages.
    pub language_experts: Vec<String>,
}

/// A divided agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentDecomposition {
    /// The candidate.
    pub original: String,
    /// The agents in its place.
    pub into: Vec<String>,
}

/// An agent that is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalAgent {
    /// Name, which is also the name of its file.
    pub agent: String,
    /// Files that it reads.
    pub requires: Vec<String>,
    /// Files that it writes.
    pub produces: Vec<String>,
    /// What it reviews, in words.
    pub focus: String,
    /// Whether it may run at the same time as others.
    pub parallelizable: bool,
    /// Group of agents that run at the same time.
    pub group: &'static str,
    /// 0 (first) to 5.
    pub priority: u8,
    /// Domain that it reviews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Language that it reviews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Packages of the domain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub technologies: Vec<String>,
    /// Size of the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<DomainComplexity>,
    /// Whether it can review plans.
    pub supports_critic_mode: bool,
    /// What it reads and writes in each mode.
    pub modes: AgentModes,
    /// Files that it is written from.
    #[serde(skip)]
    pub files: Vec<String>,
}

/// Modes of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentModes {
    critic: CriticMode,
    legacy: LegacyMode,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct CriticMode {
    requires: Vec<String>,
    produces: Vec<String>,
    review_schema: &'static str,
    review_budget_source: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct LegacyMode {
    requires: Vec<String>,
    produces: Vec<String>,
}

impl FinalAgent {
    fn new(expert: &CandidateExpert, agent: &str, focus: String, files: Vec<String>) -> Self {
        let requires: Vec<String> = ["plan.md", "prd.md"].map(str::to_owned).to_vec();
        let produces = vec![format!("reviews/{agent}.review.json")];
        Self {
            agent: agent.to_owned(),
            modes: AgentModes {
                critic: CriticMode {
                    requires: requires.clone(),
                    produces: produces.clone(),
                    review_schema: SCHEMA,
                    review_budget_source: BUDGET_SOURCE,
                },
                legacy: LegacyMode { requires: requires.clone(), produces: produces.clone() },
            },
            requires,
            produces,
            focus,
            parallelizable: true,
            group: "critics",
            priority: match expert.role {
                AgentRole::RequiredProjectSpecific => 0,
                AgentRole::LanguageExpert => 1,
                AgentRole::DomainExpert => 2,
            },
            domain: expert.domain.clone(),
            language: expert.language.clone(),
            technologies: expert.technologies.clone(),
            complexity: expert.complexity,
            supports_critic_mode: expert.supports_critic_mode,
            files,
        }
    }
}

/// Divides large domains, and describes the agents that are written.
#[must_use]
pub fn decompose(roster: &ExpertRoster, domains: &ProjectDomains) -> DecomposedRoster {
    let own: BTreeSet<&str> = roster.candidate_experts.iter().map(|expert| expert.agent.as_str()).collect();
    let mut final_agents = Vec::new();
    let mut decompositions = Vec::new();
    for expert in &roster.candidate_experts {
        let files = match (&expert.domain, expert.agent.as_str()) {
            (Some(domain), _) => domains.files_of(domain).to_vec(),
            // The domains of security that have no agent of their own.
            (None, "security-privacy") => SECURITY
                .iter()
                .filter(|domain| !own.contains(*domain))
                .flat_map(|domain| domains.files_of(domain).to_vec())
                .collect(),
            (None, _) => Vec::new(),
        };
        let parts = if expert.decomposable { parts(&files) } else { Vec::new() };
        if parts.len() < 2 {
            let focus = match (&expert.domain, &expert.language) {
                (_, Some(language)) => format!("the {language} code"),
                (Some(domain), None) => format!("the domain {domain}"),
                (None, None) => "security and privacy".to_owned(),
            };
            final_agents.push(FinalAgent::new(expert, &expert.agent, focus, files));
            continue;
        }
        let mut into = Vec::new();
        for (component, files) in parts {
            let name = format!("{}-{}", expert.agent, slug_of(&component));
            let focus = format!("the domain {} in {component}", expert.agent);
            let agent = FinalAgent::new(expert, &name, focus, files);
            into.push(name);
            final_agents.push(agent);
        }
        decompositions.push(AgentDecomposition { original: expert.agent.clone(), into });
    }
    let languages = roster.candidate_experts.iter().filter(|expert| expert.role == AgentRole::LanguageExpert);
    DecomposedRoster {
        final_agents,
        required_agents: REQUIRED.to_vec(),
        decompositions,
        language_experts: languages.map(|expert| expert.agent.clone()).collect(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::manifests::dependencies;
    use crate::scan::tests::scan;

    /// Returns the roster of files without content.
    pub fn roster(names: &[String], options: &RosterOptions) -> (ExpertRoster, DecomposedRoster) {
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let fixture = scan(&files);
        let scan = &fixture.scan;
        let domains = ProjectDomains::detect(scan, &dependencies(scan), options.depth, &options.added);
        let languages = crate::languages::language_report(scan, None);
        let experts = candidates(&languages, &domains, options, "2026-01-02T03:04:05Z".to_owned());
        let agents = decompose(&experts, &domains);
        (experts, agents)
    }

    pub fn names(roster: &DecomposedRoster) -> Vec<&str> {
        roster.final_agents.iter().map(|agent| agent.agent.as_str()).collect()
    }

    fn files(directory: &str, count: usize, extension: &str) -> Vec<String> {
        (0..count).map(|at| format!("{directory}/m{at}.{extension}")).collect()
    }

    #[test]
    fn roster_follows_languages_domains_and_depth() {
        let mut paths = files("src/api", 9, "rs");
        paths.extend(files("src/store", 3, "rs"));
        paths.extend(files("src/auth", 2, "rs"));
        paths.extend(files("web/pages", 5, "ts"));
        let of = |options: &RosterOptions| {
            let (_, agents) = roster(&paths, options);
            names(&agents).join(" ")
        };
        let medium = RosterOptions::default();
        assert_eq!(
            of(&medium),
            "test-strategist security-privacy rust-expert typescript-expert api-backend data-persistence web-frontend"
        );
        let quick = RosterOptions { depth: BootstrapDepth::Quick, ..medium.clone() };
        assert_eq!(of(&quick), "test-strategist security-privacy rust-expert api-backend");
        let minimal = RosterOptions { minimal: true, ..medium.clone() };
        assert_eq!(of(&minimal), "test-strategist security-privacy rust-expert");
        let focus = RosterOptions { focus: Some("data".to_owned()), ..medium.clone() };
        assert!(of(&focus).ends_with("typescript-expert data-persistence"));
        let (experts, agents) = roster(&paths, &medium);
        assert!(
            experts
                .warnings
                .contains(&"no agent for authentication: 2 files; security-privacy reviews it".to_owned())
        );
        assert_eq!(agents.final_agents[1].files, ["src/auth/m0.rs", "src/auth/m1.rs"]);
        assert_eq!(agents.language_experts, ["rust-expert", "typescript-expert"]);
    }

    #[test]
    fn large_domains_are_divided_at_the_greatest_depth() {
        let mut paths = files("shop/api", 30, "py");
        paths.extend(files("admin/api", 16, "py"));
        paths.extend(files("api", 2, "py"));
        let deep = RosterOptions { depth: BootstrapDepth::Deep, ..RosterOptions::default() };
        let (experts, agents) = roster(&paths, &deep);
        assert_eq!(experts.summary.decomposable_agents, 1);
        assert_eq!(agents.decompositions[0].into, ["api-backend-shop-api", "api-backend-admin-api"]);
        let sizes: Vec<usize> = agents.final_agents.iter().skip(3).map(|agent| agent.files.len()).collect();
        assert_eq!(sizes, [32, 16], "the rest belongs to the largest part");
        let (_, agents) = roster(&paths, &RosterOptions::default());
        assert!(names(&agents).contains(&"api-backend"));
    }
}
