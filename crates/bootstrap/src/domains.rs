//! The domains of a repository: each file belongs to one at most, so that a change of one domain changes the facts of one
//! agent.

use std::collections::{BTreeMap, BTreeSet};

use loopgate_api::bootstrap::BootstrapDepth;
use serde::Serialize;

use crate::languages::extension;
use crate::manifests::ProjectDependencies;
use crate::scan::{RepositoryScan, ScannedFile};
use crate::signals::{DOMAINS, DomainSignals, TESTING};

/// Lowest score of a file's domain.
const MIN_SCORE: u32 = 2;
/// Files from which a domain is of medium, and of high complexity.
const MEDIUM_FILES: usize = 8;
const HIGH_FILES: usize = 40;
/// Files from which a part of the repository without a domain has an agent, at the greatest depth.
const COMPONENT_FILES: usize = 20;
/// A package that more files import, and more than a quarter of all, says nothing about a file.
const COMMON_IMPORTS: usize = 8;
/// Number of signals that the report names.
const MAX_SIGNALS: usize = 12;

/// Content of `domains.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DomainReport {
    /// Time of the detection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The only area that was requested; null for all.
    pub focus: Option<String>,
    /// Domains by name.
    pub domains: BTreeMap<String, DomainEntry>,
    /// Counts.
    pub summary: DomainSummary,
    /// What could not be detected.
    pub warnings: Vec<String>,
}

/// A domain in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DomainEntry {
    /// Whether the repository has files or dependencies of it.
    pub present: bool,
    /// Share of the signs that point to it, between 0 and 1.
    pub confidence: f64,
    /// Packages that are signs of it.
    pub technologies: Vec<String>,
    /// Size.
    pub complexity: DomainComplexity,
    /// Reasons for the complexity.
    pub complexity_reasons: Vec<String>,
    /// Examples of what was found.
    pub signals_found: Vec<String>,
}

/// Counts of the domains that are present.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DomainSummary {
    /// Domains that are present.
    pub total_domains: usize,
    /// Those with many files.
    pub high_complexity: usize,
    /// Those with some files.
    pub medium_complexity: usize,
    /// Those with few files.
    pub low_complexity: usize,
    /// The largest domains.
    pub primary_domains: Vec<String>,
}

/// Size of a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DomainComplexity {
    /// Few files.
    Low,
    /// At least 8 files.
    Medium,
    /// At least 40 files.
    High,
}

impl DomainComplexity {
    pub(crate) const fn of(files: usize) -> Self {
        match files {
            HIGH_FILES.. => Self::High,
            MEDIUM_FILES.. => Self::Medium,
            _ => Self::Low,
        }
    }
}

/// Domains with their files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectDomains {
    /// Paths by domain, sorted.
    pub files: BTreeMap<String, Vec<String>>,
    /// Packages by domain.
    pub technologies: BTreeMap<String, BTreeSet<String>>,
    /// Directories and names of packages by domain that led to it.
    signals: BTreeMap<String, BTreeSet<String>>,
    warnings: Vec<String>,
}

impl ProjectDomains {
    /// Assigns the files of a repository to domains. `added`: further domains, whose name is a word of the paths.
    #[must_use]
    pub fn detect(
        scan: &RepositoryScan,
        dependencies: &ProjectDependencies,
        depth: BootstrapDepth,
        added: &[String],
    ) -> Self {
        let mut found = Self::default();
        let names = dependencies.names();
        for domain in &DOMAINS {
            let packages = names.iter().filter(|name| domain.has_package(name));
            let packages: BTreeSet<String> = packages.map(|name| (*name).to_owned()).collect();
            if !packages.is_empty() {
                found.signals.entry(domain.name.to_owned()).or_default().extend(packages.iter().cloned());
                found.technologies.insert(domain.name.to_owned(), packages);
            }
        }
        let common = common_imports(scan);
        let mut rest = Vec::new();
        for file in scan.files() {
            match added_domain(file, added).or_else(|| domain_of(file, &common)) {
                Some(domain) => found.add(&domain, file),
                None => rest.push(file),
            }
        }
        if depth == BootstrapDepth::Deep {
            found.add_components(&rest);
        }
        for domain in added {
            if !found.files.contains_key(domain) {
                found
                    .warnings
                    .push(format!("no file has the word {domain} in its path: the domain has no agent"));
            }
        }
        found
    }

    fn add(&mut self, domain: &str, file: &ScannedFile) {
        self.files.entry(domain.to_owned()).or_default().push(file.path.clone());
        let directory = file.path.rsplit_once('/').map_or("./", |(directory, _)| directory);
        self.signals.entry(domain.to_owned()).or_default().insert(directory.to_owned());
    }

    /// Adds a domain for each large part of the repository that belongs to no other one.
    fn add_components(&mut self, rest: &[&ScannedFile]) {
        let mut components: BTreeMap<String, Vec<&ScannedFile>> = BTreeMap::new();
        for file in rest.iter().filter(|file| file.language().is_some_and(|language| language.is_general)) {
            components.entry(component(&file.path)).or_default().push(file);
        }
        for (component, files) in components {
            let name = loopgate_api::ids::slug(&component);
            if files.len() >= COMPONENT_FILES && !name.trim_matches('-').is_empty() {
                files.iter().for_each(|file| self.add(&format!("component-{name}"), file));
            }
        }
    }

    /// Returns the files of a domain.
    #[must_use]
    pub fn files_of(&self, domain: &str) -> &[String] {
        self.files.get(domain).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the size of a domain.
    #[must_use]
    pub fn complexity(&self, domain: &str) -> DomainComplexity {
        DomainComplexity::of(self.files_of(domain).len())
    }

    /// Summarizes the domains. `focus`: the only area that was requested.
    #[must_use]
    pub fn report(&self, focus: Option<&str>, timestamp: Option<String>) -> DomainReport {
        let total: usize = self.files.values().map(Vec::len).sum();
        let known = DOMAINS.iter().map(|domain| domain.name).chain(self.files.keys().map(String::as_str));
        let mut domains = BTreeMap::new();
        let mut summary = DomainSummary::default();
        for name in known.collect::<BTreeSet<_>>() {
            let files = self.files_of(name);
            let technologies = self.technologies.get(name).cloned().unwrap_or_default();
            let present = !files.is_empty() || !technologies.is_empty();
            let complexity = DomainComplexity::of(files.len());
            if present {
                summary.total_domains += 1;
                *match complexity {
                    DomainComplexity::High => &mut summary.high_complexity,
                    DomainComplexity::Medium => &mut summary.medium_complexity,
                    DomainComplexity::Low => &mut summary.low_complexity,
                } += 1;
            }
            let signals = self.signals.get(name).into_iter().flatten().take(MAX_SIGNALS).cloned();
            let entry = DomainEntry {
                present,
                confidence: files.len() as f64 / total.max(1) as f64,
                technologies: technologies.into_iter().collect(),
                complexity,
                complexity_reasons: if present { vec![format!("{} files", files.len())] } else { Vec::new() },
                signals_found: signals.collect(),
            };
            domains.insert(name.to_owned(), entry);
        }
        let mut largest: Vec<(&String, usize)> =
            self.files.iter().map(|(name, files)| (name, files.len())).collect();
        largest.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        summary.primary_domains = largest.into_iter().take(3).map(|(name, _)| name.clone()).collect();
        DomainReport {
            timestamp,
            focus: focus.map(str::to_owned),
            domains,
            summary,
            warnings: self.warnings.clone(),
        }
    }
}

/// Returns the part of the repository to which a file belongs: its first two directories.
pub fn component(path: &str) -> String {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    directory.split('/').take(2).collect::<Vec<_>>().join("/")
}

/// Returns the packages that so many files import that they say nothing about one of them.
fn common_imports(scan: &RepositoryScan) -> BTreeSet<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    scan.files()
        .iter()
        .flat_map(|file| &file.outline.imports)
        .for_each(|name| *counts.entry(name).or_default() += 1);
    let limit = COMMON_IMPORTS.max(scan.files().len() / 4);
    counts.into_iter().filter(|(_, count)| *count > limit).map(|(name, _)| name.clone()).collect()
}

/// Returns the requested domain whose words are in the path of a file.
fn added_domain(file: &ScannedFile, added: &[String]) -> Option<String> {
    let words = words(&file.path);
    added.iter().find(|domain| domain.split('-').all(|word| words.iter().any(|known| known == word))).cloned()
}

fn domain_of(file: &ScannedFile, common: &BTreeSet<String>) -> Option<String> {
    if file.is_test {
        return Some(TESTING.to_owned());
    }
    let is_workflow = file.path.starts_with(".github/workflows/") || file.path.starts_with(".gitlab-ci");
    if is_workflow {
        return Some("build-deployment".to_owned());
    }
    let name = file.path.rsplit('/').next().unwrap_or_default();
    // Texts and data are about everything.
    let known_file = |domain: &DomainSignals| {
        domain.files.contains(&name) || extension(&file.path).is_some_and(|end| domain.files.contains(&end))
    };
    let is_program = file.language().is_some_and(|language| language.is_general);
    let words = words(&file.path);
    let score = |domain: &DomainSignals| {
        let mut score = if known_file(domain) { 2 } else { 0 };
        if is_program || score > 0 {
            score += 2 * words.iter().filter(|word| domain.words.contains(&word.as_str())).count();
        }
        if domain.has_own_imports {
            let imports = file.outline.imports.iter().filter(|name| !common.contains(*name));
            score += 3 * imports.filter(|name| domain.has_package(name)).take(2).count();
        }
        u32::try_from(score).unwrap_or(u32::MAX)
    };
    let mut best: Option<(&DomainSignals, u32)> = None;
    for domain in &DOMAINS {
        let score = score(domain);
        if score >= MIN_SCORE && best.is_none_or(|(_, highest)| score > highest) {
            best = Some((domain, score));
        }
    }
    best.map(|(domain, _)| domain.name.to_owned())
}

/// Returns the words of a path in lower case, without the extension: `src/LoginForm.tsx` has `src`, `login` and `form`.
fn words(path: &str) -> BTreeSet<String> {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut was_lower = false;
    for letter in stem.chars() {
        let is_start = letter.is_uppercase() && was_lower;
        if (is_start || !letter.is_alphanumeric()) && !word.is_empty() {
            words.insert(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    if !word.is_empty() {
        words.insert(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::dependencies;
    use crate::scan::tests::scan;

    fn detected(files: &[(&str, &str)], depth: BootstrapDepth, added: &[&str]) -> ProjectDomains {
        let fixture = scan(files);
        let added: Vec<String> = added.iter().map(|domain| (*domain).to_owned()).collect();
        ProjectDomains::detect(&fixture.scan, &dependencies(&fixture.scan), depth, &added)
    }

    #[test]
    fn file_belongs_to_the_domain_with_most_signs() {
        let found = detected(
            &[
                ("src/api/orders.rs", "use axum::Router;"),
                ("src/store/orders.rs", "use sqlx::Pool;"),
                ("src/plain.rs", ""),
                ("src/http.rs", "use axum::Json;"),
                ("src/auth/token.rs", ""),
                ("web/src/auth/LoginPage.tsx", "import { useState } from \"react\";"),
                ("tests/api.rs", ""),
                (".github/workflows/ci.yml", ""),
                ("docs/database.md", ""),
                ("Cargo.toml", "[dependencies]\naxum = \"1\"\nsqlx = \"1\"\ntracing = \"1\""),
            ],
            BootstrapDepth::Medium,
            &[],
        );
        let files = |domain: &str| found.files_of(domain).join(" ");
        assert_eq!(files("api-backend"), "src/api/orders.rs src/http.rs");
        assert_eq!(files("data-persistence"), "src/store/orders.rs");
        assert_eq!(files("authentication"), "src/auth/token.rs");
        assert_eq!(files("web-frontend"), "web/src/auth/LoginPage.tsx");
        assert_eq!(files(TESTING), "tests/api.rs");
        assert_eq!(files("build-deployment"), ".github/workflows/ci.yml");
        let report = found.report(None, None);
        assert_eq!(report.domains["data-persistence"].technologies, ["sqlx"]);
        assert!(report.domains["monitoring-observability"].present, "a dependency without files");
        assert!(!report.domains["caching"].present);
        assert_eq!(report.summary.total_domains, 7);
        assert_eq!(report.summary.primary_domains[0], "api-backend");
    }

    #[test]
    fn package_that_most_files_import_is_no_sign() {
        let names: Vec<String> = (0..12).map(|at| format!("src/m{at}.py")).collect();
        let files: Vec<(&str, &str)> =
            names.iter().map(|name| (name.as_str(), "import sqlalchemy\n")).collect();
        assert!(detected(&files, BootstrapDepth::Medium, &[]).files_of("data-persistence").is_empty());
        assert_eq!(detected(&files[..3], BootstrapDepth::Medium, &[]).files_of("data-persistence").len(), 3);
    }

    #[test]
    fn requested_domains_and_components_are_added() {
        let names: Vec<String> = (0..20).map(|at| format!("src/billing/m{at}.py")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let found = detected(&files, BootstrapDepth::Medium, &["billing", "travel"]);
        assert_eq!(found.files_of("billing").len(), 20);
        assert!(found.report(None, None).warnings[0].contains("travel"));
        let found = detected(&files, BootstrapDepth::Deep, &[]);
        assert_eq!(found.files_of("component-src-billing").len(), 20);
        assert!(detected(&files, BootstrapDepth::Medium, &[]).files.is_empty());
    }
}
