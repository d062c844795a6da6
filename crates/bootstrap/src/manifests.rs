//! Dependencies that the manifests of a repository declare. Versions are not read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::scan::RepositoryScan;

/// Maximum number of manifests that are read.
const MAX_MANIFESTS: usize = 200;

static XML_ARTIFACT: LazyLock<Regex> =
    constant_regex!(r#"<artifactId>([\w.\-]+)</artifactId>|<PackageReference\s+Include="([\w.\-]+)""#);
static GRADLE: LazyLock<Regex> = constant_regex!(
    r#"(?m)^\s*(?:implementation|api|testImplementation|kapt|ksp|runtimeOnly|androidTestImplementation)[ (]+["']([\w.\-]+:[\w.\-]+)"#
);
static GEM: LazyLock<Regex> = constant_regex!(r#"(?m)^\s*gem\s+["']([\w\-]+)["']"#);
static MODULE: LazyLock<Regex> = constant_regex!(r"(?m)^(?:require\s+)?\s*([a-z0-9.\-]+\.[a-z]+/\S+)\s+v\d");
static REQUIREMENT: LazyLock<Regex> = constant_regex!(r"^\s*([A-Za-z0-9][\w.\-]*)");
static PUB: LazyLock<Regex> = constant_regex!(r"(?m)^  ([a-z_][a-z0-9_]*):");

/// Declared dependencies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectDependencies {
    /// Names of packages, by the path of their manifest.
    pub by_manifest: BTreeMap<String, BTreeSet<String>>,
}

impl ProjectDependencies {
    /// Returns the names of all manifests.
    pub fn names(&self) -> BTreeSet<&str> {
        self.by_manifest.values().flatten().map(String::as_str).collect()
    }
}

/// Reads the manifests of a repository.
#[must_use]
pub fn dependencies(scan: &RepositoryScan) -> ProjectDependencies {
    let manifests = scan.files().iter().filter_map(|file| Some((&file.path, reader(&file.path)?)));
    let mut by_manifest = BTreeMap::new();
    for (path, read) in manifests.take(MAX_MANIFESTS) {
        let names: BTreeSet<String> = scan.text(path).map(|text| read(&text)).unwrap_or_default();
        // The prompt of an agent quotes names.
        let plain = |name: &String| {
            name.len() <= 100 && !name.contains(|letter: char| letter.is_control() || letter == '`')
        };
        let names: BTreeSet<String> = names.into_iter().filter(plain).collect();
        if !names.is_empty() {
            by_manifest.insert(path.clone(), names);
        }
    }
    ProjectDependencies { by_manifest }
}

/// Reads the names of a manifest's dependencies.
type ManifestReader = fn(&str) -> BTreeSet<String>;

fn reader(path: &str) -> Option<ManifestReader> {
    let name = path.rsplit('/').next()?;
    Some(match name {
        "Cargo.toml" => cargo,
        "package.json" => package_json,
        "pyproject.toml" => pyproject,
        "go.mod" => |text| captures(&MODULE, text),
        "Gemfile" => |text| captures(&GEM, text),
        "composer.json" => |text| json_members(text, &["require", "require-dev"]),
        "pom.xml" => |text| captures(&XML_ARTIFACT, text),
        "build.gradle" | "build.gradle.kts" => |text| captures(&GRADLE, text),
        "pubspec.yaml" => |text| captures(&PUB, text),
        _ if name.ends_with(".csproj") || name.ends_with(".fsproj") => |text| captures(&XML_ARTIFACT, text),
        _ if name.contains("requirements") && name.ends_with(".txt") => requirements,
        _ => return None,
    })
}

fn captures(regex: &Regex, text: &str) -> BTreeSet<String> {
    let found = regex.captures_iter(text);
    found.filter_map(|found| found.iter().flatten().nth(1)).map(|name| name.as_str().to_owned()).collect()
}

fn requirements(text: &str) -> BTreeSet<String> {
    text.lines().filter_map(|line| Some(REQUIREMENT.captures(line)?[1].to_owned())).collect()
}

fn members(value: &Value) -> impl Iterator<Item = String> {
    value.as_object().into_iter().flat_map(|object| object.keys().cloned())
}

fn json_members(text: &str, sections: &[&str]) -> BTreeSet<String> {
    let manifest: Value = serde_json::from_str(text).unwrap_or_default();
    sections.iter().flat_map(|section| members(&manifest[section]).collect::<Vec<_>>()).collect()
}

fn package_json(text: &str) -> BTreeSet<String> {
    json_members(text, &["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"])
}

fn toml(text: &str) -> Value {
    toml_edit::de::from_str(text).unwrap_or_default()
}

fn cargo(text: &str) -> BTreeSet<String> {
    let manifest = toml(text);
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let own = sections.iter().flat_map(|section| members(&manifest[section]).collect::<Vec<_>>());
    own.chain(members(&manifest["workspace"]["dependencies"])).collect()
}

fn pyproject(text: &str) -> BTreeSet<String> {
    let manifest = toml(text);
    let poetry = &manifest["tool"]["poetry"];
    let groups = members(&manifest["project"]["optional-dependencies"]).collect::<Vec<_>>();
    let listed = groups.iter().map(|group| &manifest["project"]["optional-dependencies"][group]);
    let listed = listed.chain([&manifest["project"]["dependencies"]]);
    let mut names: BTreeSet<String> = listed
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(Value::as_str)
        .flat_map(requirements)
        .collect();
    names.extend(members(&poetry["dependencies"]));
    names.extend(members(&poetry["group"]["dev"]["dependencies"]));
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scan::tests::scan;

    fn names(path: &str, text: &str) -> String {
        let fixture = scan(&[(path, text)]);
        let found = dependencies(&fixture.scan);
        found.names().into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn dependencies_of_each_manifest() {
        for (path, text, expected) in [
            (
                "Cargo.toml",
                "[dependencies]\naxum = \"1\"\nb.workspace = true\n[dev-dependencies]\nc = \"1\"\n",
                "axum b c",
            ),
            ("Cargo.toml", "[workspace.dependencies]\nserde = \"1\"\n", "serde"),
            (
                "web/package.json",
                r#"{"dependencies": {"react": "1"}, "devDependencies": {"@types/x": "2"}}"#,
                "@types/x react",
            ),
            (
                "pyproject.toml",
                "[project]\ndependencies = [\"flask>=2\", \"sqlalchemy[asyncio]\"]\n",
                "flask sqlalchemy",
            ),
            (
                "pyproject.toml",
                "[tool.poetry.dependencies]\npython = \"3\"\ndjango = \"5\"\n",
                "django python",
            ),
            ("requirements-dev.txt", "# tools\npytest==8\n-r other.txt\n", "pytest"),
            (
                "go.mod",
                "module a.b/c\nrequire github.com/x/y v1.2.3\nrequire (\n\tgorm.io/gorm v1\n)\n",
                "github.com/x/y gorm.io/gorm",
            ),
            ("Gemfile", "source 'x'\ngem 'rails', '7'\n", "rails"),
            ("composer.json", r#"{"require": {"laravel/framework": "1"}}"#, "laravel/framework"),
            ("pom.xml", "<dependency><artifactId>spring-web</artifactId></dependency>", "spring-web"),
            (
                "app/build.gradle.kts",
                "  implementation(\"androidx.core:core-ktx:1\")\n",
                "androidx.core:core-ktx",
            ),
            ("A.csproj", "<PackageReference Include=\"Dapper\" />", "Dapper"),
            ("pubspec.yaml", "dependencies:\n  flutter:\n    sdk: flutter\n", "flutter"),
        ] {
            assert_eq!(names(path, text), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn malformed_manifests_have_no_dependencies(text in "\\PC{0,60}(\n\\PC{0,40}){0,4}") {
            for read in [cargo, package_json, pyproject, requirements] {
                let _ = read(&text);
            }
            let list = format!("[{text}");
            prop_assert!(json_members(&list, &["require"]).is_empty());
        }
    }
}
