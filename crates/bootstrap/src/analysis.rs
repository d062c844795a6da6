//! Everything that is known about a repository without a model.

use loopgate_home::Directory;

use crate::commands::{ProjectCommand, project_commands};
use crate::domains::{DomainReport, ProjectDomains};
use crate::languages::{LanguageReport, language_report};
use crate::manifests::{ProjectDependencies, dependencies};
use crate::overview::{ProjectOverview, project_overview};
use crate::roster::{DecomposedRoster, ExpertRoster, RosterOptions, candidates, decompose};
use crate::scan::RepositoryScan;

/// The analysis of a repository.
#[derive(Debug)]
pub struct ProjectAnalysis {
    /// Files.
    pub scan: RepositoryScan,
    /// Excerpts of documents.
    pub overview: ProjectOverview,
    /// Languages.
    pub languages: LanguageReport,
    /// Declared dependencies.
    pub dependencies: ProjectDependencies,
    /// Commands.
    pub commands: Vec<ProjectCommand>,
    /// Domains and their files.
    pub domains: ProjectDomains,
    /// Summary of the domains.
    pub domain_report: DomainReport,
    /// Agents before large domains are divided.
    pub experts: ExpertRoster,
    /// Agents.
    pub agents: DecomposedRoster,
}

impl ProjectAnalysis {
    /// Analyzes a working tree. `paths`: the files that git lists. `timestamp`: time of the run, which the documents of the
    /// run contain. Blocks on disk I/O.
    #[must_use]
    pub fn new(
        tree: Directory,
        paths: impl IntoIterator<Item = String>,
        options: &RosterOptions,
        timestamp: &str,
    ) -> Self {
        let scan = RepositoryScan::new(tree, paths);
        let languages = language_report(&scan, Some(timestamp.to_owned()));
        let dependencies = dependencies(&scan);
        let domains = ProjectDomains::detect(&scan, &dependencies, options.depth, &options.added);
        let experts = candidates(&languages, &domains, options, timestamp.to_owned());
        Self {
            overview: project_overview(&scan),
            commands: project_commands(&scan),
            domain_report: domains.report(options.focus.as_deref(), Some(timestamp.to_owned())),
            agents: decompose(&experts, &domains),
            languages,
            dependencies,
            domains,
            experts,
            scan,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A repository in two languages with several domains.
    pub const SAMPLE: [(&str, &str); 14] = [
        ("README.md", "# Shop\n\nSells plants over an API.\n"),
        (
            "pyproject.toml",
            "[project]\ndependencies = [\"flask\", \"sqlalchemy\"]\n[tool.pytest.ini_options]\n",
        ),
        ("ruff.toml", ""),
        (
            "shop/store/orders.py",
            "\"\"\"Stores orders. In a database.\"\"\"\nfrom sqlalchemy import select\n\nclass OrderStore:\n    def save(self, \
             order): ...\n\ndef open_store(): ...\n",
        ),
        ("shop/store/plants.py", "class PlantStore:\n    ...\n"),
        ("shop/api/routes.py", "from flask import Flask\n\ndef create_app(): ...\n"),
        ("shop/api/orders.py", "def list_orders(): ...\n"),
        ("shop/auth/tokens.py", "def issue_token(): ...\n"),
        ("tests/test_orders.py", "def test_order(): ...\n"),
        (
            "web/package.json",
            "{\"dependencies\": {\"react\": \"19\"}, \"scripts\": {\"test\": \"vitest run\"}}",
        ),
        ("web/pages/Cart.tsx", "import { useState } from 'react';\nexport function CartPage() {}\n"),
        ("web/pages/Orders.tsx", "export function OrdersPage() {}\n"),
        ("web/state.ts", "export const cart = [];\n"),
        ("Makefile", "build:\n\ttrue\n"),
    ];

    /// An analysis of a temporary directory.
    pub struct AnalysisFixture {
        pub analysis: ProjectAnalysis,
        _root: tempfile::TempDir,
    }

    /// Returns the files with one of them changed or added.
    pub fn with<'a>(files: &[(&'a str, &'a str)], name: &'a str, text: &'a str) -> Vec<(&'a str, &'a str)> {
        let others = files.iter().copied().filter(|(known, _)| *known != name);
        others.chain([(name, text)]).collect()
    }

    /// Writes files and analyzes them with the defaults.
    pub fn analysis(files: &[(&str, &str)]) -> AnalysisFixture {
        let fixture = crate::scan::tests::scan(files);
        let tree = Directory::of(fixture.root.path()).unwrap();
        let paths = files.iter().map(|(name, _)| (*name).to_owned());
        let options = RosterOptions::default();
        let analysis = ProjectAnalysis::new(tree, paths, &options, "2026-01-02T03:04:05Z");
        AnalysisFixture { analysis, _root: fixture.root }
    }

    #[test]
    fn two_languages_and_their_domains() {
        let fixture = analysis(&SAMPLE);
        let names = crate::roster::tests::names(&fixture.analysis.agents);
        assert_eq!(
            names.join(" "),
            "test-strategist security-privacy python-expert typescript-expert api-backend data-persistence web-frontend"
        );
    }
}
