//! What a source file defines and imports, from its lines. An approximation by regular expressions: a definition inside a
//! comment counts, and one with unusual white space does not.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::languages::LanguageSyntax;

/// Definitions and imports that are read per file.
const MAX_NAMES: usize = 200;
/// Characters of the description.
const MAX_SUMMARY: usize = 160;

static RUST: LazyLock<Regex> = constant_regex!(
    r"(?m)^\s*pub(?:\([^)\n]*\))?\s+(?:async\s+|const\s+|unsafe\s+)*(?:fn|struct|enum|trait|type|static)\s+([A-Za-z_]\w*)"
);
static SCRIPT: LazyLock<Regex> = constant_regex!(
    r"(?m)^\s*export\s+(?:default\s+|async\s+|abstract\s+|declare\s+)*(?:function\*?|class|const|let|interface|type|enum)\s+([A-Za-z_$][\w$]*)"
);
static PYTHON: LazyLock<Regex> = constant_regex!(r"(?m)^(?:async\s+)?(?:def|class)\s+([A-Za-z_]\w*)");
static GO: LazyLock<Regex> = constant_regex!(r"(?m)^(?:func\s+(?:\([^)\n]*\)\s*)?|type\s+)([A-Z]\w*)");
static CLASSES: LazyLock<Regex> = constant_regex!(
    r"(?m)^\s*(?:[\w@]+\s+)*(?:class|interface|enum|record|struct|trait|object|protocol)\s+([A-Z]\w*)"
);
static RUBY: LazyLock<Regex> = constant_regex!(r"(?m)^\s*(?:class|module|def)\s+([A-Za-z_][\w:.]*)");

static RUST_IMPORT: LazyLock<Regex> = constant_regex!(r"(?m)^\s*(?:pub\s+)?use\s+(?:::)?([a-z_]\w*)");
static SCRIPT_IMPORT: LazyLock<Regex> =
    constant_regex!(r#"(?m)(?:\bfrom\s+|\bimport\s+|\brequire\(\s*)["']([^"'\n]+)["']"#);
static PYTHON_IMPORT: LazyLock<Regex> = constant_regex!(r"(?m)^\s*(?:from|import)\s+([A-Za-z_]\w*)");
static GO_IMPORT: LazyLock<Regex> = constant_regex!(
    r#"(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"([a-z0-9.\-]+/[^"\n]+|[a-z]+(?:/[a-z0-9]+)*)"\s*$"#
);
static CLASS_IMPORT: LazyLock<Regex> =
    constant_regex!(r"(?m)^\s*(?:import|using|use)\s+(?:static\s+)?(?:'package:)?([A-Za-z][\w.\\]*)");
static RUBY_IMPORT: LazyLock<Regex> = constant_regex!(r#"(?m)^\s*require\s+['"]([^'"\n]+)['"]"#);

/// What a file defines and imports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileOutline {
    /// Names that other files can use, in the order of the file.
    pub definitions: Vec<String>,
    /// Packages, without local modules.
    pub imports: BTreeSet<String>,
    /// First sentence of the comment at the beginning; empty without one.
    pub summary: String,
}

/// Reads the outline of a source.
pub fn outline(text: &str, syntax: LanguageSyntax) -> FileOutline {
    let (definition, import) = match syntax {
        LanguageSyntax::Rust => (&RUST, &RUST_IMPORT),
        LanguageSyntax::Script => (&SCRIPT, &SCRIPT_IMPORT),
        LanguageSyntax::Python => (&PYTHON, &PYTHON_IMPORT),
        LanguageSyntax::Go => (&GO, &GO_IMPORT),
        LanguageSyntax::Classes => (&CLASSES, &CLASS_IMPORT),
        LanguageSyntax::Ruby => (&RUBY, &RUBY_IMPORT),
        LanguageSyntax::None => return FileOutline { summary: summary(text), ..FileOutline::default() },
    };
    let mut definitions: Vec<String> = Vec::new();
    for name in definition.captures_iter(text).filter_map(|found| found.get(1)) {
        if definitions.len() < MAX_NAMES && !definitions.iter().any(|known| known == name.as_str()) {
            definitions.push(name.as_str().to_owned());
        }
    }
    let imports = import.captures_iter(text).filter_map(|found| package(found.get(1)?.as_str(), syntax));
    FileOutline { definitions, imports: imports.take(MAX_NAMES).collect(), summary: summary(text) }
}

/// Returns the package of an import; `None` for a module of the project.
fn package(import: &str, syntax: LanguageSyntax) -> Option<String> {
    if syntax != LanguageSyntax::Script {
        let is_local = matches!(import, "crate" | "self" | "super");
        return (!is_local).then(|| import.to_owned());
    }
    if import.starts_with(['.', '/', '~', '#']) || import.starts_with("@/") {
        return None;
    }
    let parts = if import.starts_with('@') { 2 } else { 1 };
    Some(import.split('/').take(parts).collect::<Vec<_>>().join("/"))
}

/// Returns the first sentence of the comment with which a text begins.
fn summary(text: &str) -> String {
    let mut words = String::new();
    for line in text.lines().take(8) {
        let line = line.trim();
        if line.is_empty() || line.starts_with("#!") || line.starts_with("//go:") {
            continue;
        }
        let is_comment =
            ["//", "#", "/*", "*", "\"\"\"", "<!--", "--"].iter().any(|mark| line.starts_with(mark));
        // `#[…]` and `#include` are code.
        if !is_comment || line.starts_with("#[") || line.starts_with("#include") {
            break;
        }
        let content =
            line.trim_matches(|letter: char| "/*#\"!<>-".contains(letter) || letter.is_whitespace());
        if !words.is_empty() && !content.is_empty() {
            words.push(' ');
        }
        words.push_str(content);
        if let Some((sentence, _)) = words.split_once(". ") {
            words.truncate(sentence.len());
            break;
        }
    }
    words.retain(|letter| !letter.is_control());
    words.trim_end_matches('.').chars().take(MAX_SUMMARY).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, syntax: LanguageSyntax) -> (Vec<String>, Vec<String>) {
        let outline = outline(text, syntax);
        (outline.definitions, outline.imports.into_iter().collect())
    }

    #[test]
    fn definitions_and_imports_of_each_syntax() {
        let (names, imports) = read(
            "use axum::Router;\nuse crate::a;\npub struct Order;\n    pub async fn save() {}\nfn private() {}\n\
             pub(crate) enum Kind {}\n",
            LanguageSyntax::Rust,
        );
        assert_eq!((names.join(" "), imports.join(" ")), ("Order save Kind".into(), "axum".into()));
        let (names, imports) = read(
            "import { x } from \"@tanstack/react-query/build\";\nimport y from './local';\nconst z = require('ws');\n\
             import \"@/own\";\nexport default function Page() {}\nexport const limit = 1;\n",
            LanguageSyntax::Script,
        );
        assert_eq!(
            (names.join(" "), imports.join(" ")),
            ("Page limit".into(), "@tanstack/react-query ws".into())
        );
        let (names, imports) = read(
            "from flask import Flask\nimport os\n\nclass Shop:\n    def inner(self): ...\n\nasync def serve(): ...\n",
            LanguageSyntax::Python,
        );
        assert_eq!((names.join(" "), imports.join(" ")), ("Shop serve".into(), "flask os".into()));
        let (names, imports) = read(
            "package a\nimport (\n\t\"net/http\"\n\tx \"github.com/gin-gonic/gin\"\n)\nfunc (s *Shop) Save() {}\n\
             type Shop struct{}\nfunc local() {}\n",
            LanguageSyntax::Go,
        );
        assert_eq!(
            (names.join(" "), imports.join(" ")),
            ("Save Shop".into(), "github.com/gin-gonic/gin net/http".into())
        );
        let (names, imports) = read(
            "package a;\nimport javax.persistence.Entity;\n@Entity\npublic final class Order {}\n",
            LanguageSyntax::Classes,
        );
        assert_eq!((names.join(" "), imports.join(" ")), ("Order".into(), "javax.persistence.Entity".into()));
        let (names, imports) = read("require 'pg'\nmodule Shop\n  def self.run\n", LanguageSyntax::Ruby);
        assert_eq!((names.join(" "), imports.join(" ")), ("Shop self.run".into(), "pg".into()));
    }

    #[test]
    fn summary_is_the_first_sentence_of_the_comment() {
        assert_eq!(summary("//! Stores orders. In a file.\n"), "Stores orders");
        assert_eq!(summary("#!/bin/sh\n# Builds the\n# page.\nset -e\n"), "Builds the page");
        assert_eq!(summary("/**\n * The page of orders.\n */\n"), "The page of orders");
        assert_eq!(summary("#include <x>\n// later"), "");
        assert_eq!(summary("fn main() {}"), "");
    }

    proptest! {
        #[test]
        fn any_text_has_an_outline(text in "\\PC{0,200}(\n\\PC{0,80}){0,5}") {
            for syntax in [LanguageSyntax::Rust, LanguageSyntax::Script, LanguageSyntax::Python, LanguageSyntax::Go,
                LanguageSyntax::Classes, LanguageSyntax::Ruby, LanguageSyntax::None] {
                let outline = outline(&text, syntax);
                prop_assert!(outline.summary.chars().count() <= MAX_SUMMARY);
                prop_assert!(outline.definitions.iter().all(|name| text.contains(name.as_str())));
            }
        }
    }
}
