//! The repository's configuration variables that git must not follow, and the overrides for them.
//!
//! A repository's configuration can name programs, and files anywhere. In a repository that the user has not
//! trusted, such a variable is overridden by the value in the user's own configuration, else by a value
//! without effect. Some variables are overridden in every repository.

use std::collections::{BTreeMap, BTreeSet};

use loopgate_home::ConfigEntry;

/// Overrides for every command and repository.
pub(super) const ALWAYS: [(&str, &str); 9] = [
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("protocol.ext.allow", "never"),
    // Submodules are not changed together with the superproject.
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("status.submoduleSummary", "false"),
    // Only the named branch is pushed or rewritten.
    ("push.followTags", "false"),
    ("rebase.updateRefs", "false"),
];
/// Overrides for commands whose output is parsed: git's defaults for each option that changes what a command reports,
/// or how. An empty output means that there is nothing, so no configuration may hide anything. They come last, and git
/// passes them on to the processes that it starts in submodules.
pub(super) const OUTPUT: [(&str, &str); 33] = [
    ("core.abbrev", "auto"),
    // Marks files as unchanged that a checkout has written.
    ("core.ignoreStat", "false"),
    // The reflog of a worktree shows which commits a loop created.
    ("core.logAllRefUpdates", "true"),
    ("core.quotePath", "true"),
    ("color.ui", "false"),
    ("color.branch", "false"),
    ("color.diff", "false"),
    ("color.push", "false"),
    ("color.remote", "false"),
    ("color.status", "false"),
    ("color.transport", "false"),
    // Drops lines of a message that begin with `#`.
    ("commit.cleanup", "default"),
    ("i18n.commitEncoding", "UTF-8"),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("apply.ignoreWhitespace", "no"),
    ("apply.whitespace", "warn"),
    ("diff.algorithm", "default"),
    ("diff.colorMoved", "no"),
    ("diff.context", "3"),
    ("diff.dstPrefix", "b/"),
    ("diff.ignoreSubmodules", "none"),
    ("diff.interHunkContext", "0"),
    ("diff.mnemonicPrefix", "false"),
    ("diff.noPrefix", "false"),
    ("diff.orderFile", "/dev/null"),
    ("diff.relative", "false"),
    ("diff.renames", "true"),
    ("diff.srcPrefix", "a/"),
    ("diff.submodule", "short"),
    ("diff.suppressBlankEmpty", "false"),
    ("log.showSignature", "false"),
    ("status.renames", "true"),
    ("status.showUntrackedFiles", "normal"),
];
/// Disables hooks: there is no directory at this path.
pub(super) const NO_HOOKS: (&str, &str) = ("core.hooksPath", "/dev/null");

/// A variable that a repository may not set: section, whether it has a subsection, name (`*` for any), and a
/// value without effect.
struct ConfigRule(&'static str, Subsection, &'static str, &'static str);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Subsection {
    None,
    Some,
    Either,
}
use Subsection::{Either, None as Without, Some as With};

/// From git-config(1) and the manuals of the commands that are used: every variable that names a program, or
/// a file that git then reads.
const RULES: [ConfigRule; 56] = [
    ConfigRule("alias", Either, "*", ""),
    ConfigRule("blame", Without, "ignorerevsfile", ""),
    ConfigRule("browser", With, "*", "true"),
    ConfigRule("commit", Without, "template", ""),
    ConfigRule("core", Without, "alternaterefscommand", "true"),
    ConfigRule("core", Without, "askpass", ""),
    ConfigRule("core", Without, "attributesfile", "/dev/null"),
    ConfigRule("core", Without, "editor", "true"),
    ConfigRule("core", Without, "excludesfile", "/dev/null"),
    ConfigRule("core", Without, "gitproxy", "none"),
    ConfigRule("core", Without, "hookspath", "/dev/null"),
    ConfigRule("core", Without, "pager", "cat"),
    ConfigRule("core", Without, "sshcommand", "ssh"),
    ConfigRule("credential", Either, "helper", ""),
    ConfigRule("diff", With, "command", ""),
    ConfigRule("diff", With, "textconv", "cat"),
    ConfigRule("diff", Without, "external", ""),
    ConfigRule("diff", Without, "orderfile", "/dev/null"),
    ConfigRule("difftool", With, "*", "true"),
    ConfigRule("fetch", Without, "bundleuri", ""),
    ConfigRule("filter", With, "clean", ""),
    ConfigRule("filter", With, "process", ""),
    ConfigRule("filter", With, "smudge", ""),
    ConfigRule("fsck", Without, "skiplist", "/dev/null"),
    ConfigRule("gc", Without, "recentobjectshook", "true"),
    ConfigRule("gpg", Either, "program", "false"),
    ConfigRule("gpg", With, "defaultkeycommand", ""),
    ConfigRule("gpg", With, "allowedsignersfile", "/dev/null"),
    ConfigRule("gpg", With, "revocationfile", "/dev/null"),
    ConfigRule("guitool", With, "*", "true"),
    ConfigRule("hook", With, "*", ""),
    ConfigRule("http", Either, "cookiefile", ""),
    ConfigRule("http", Either, "savecookies", "false"),
    ConfigRule("http", Either, "sslcert", ""),
    ConfigRule("http", Either, "sslkey", ""),
    ConfigRule("imap", Without, "tunnel", "false"),
    ConfigRule("instaweb", Without, "*", "true"),
    ConfigRule("interactive", Without, "difffilter", "cat"),
    ConfigRule("lfs", With, "*", ""),
    ConfigRule("lfs", Without, "standalonetransferagent", ""),
    ConfigRule("mailmap", Without, "file", "/dev/null"),
    ConfigRule("man", With, "*", "true"),
    ConfigRule("merge", With, "driver", "false"),
    ConfigRule("mergetool", With, "*", "true"),
    ConfigRule("pager", Without, "*", "false"),
    ConfigRule("protocol", Either, "allow", "user"),
    ConfigRule("receive", Without, "procreceiverefs", ""),
    ConfigRule("remote", With, "receivepack", "git-receive-pack"),
    ConfigRule("remote", With, "uploadpack", "git-upload-pack"),
    ConfigRule("remote", With, "vcs", ""),
    ConfigRule("sendemail", Either, "*", ""),
    ConfigRule("sequence", Without, "editor", "true"),
    ConfigRule("submodule", With, "update", "checkout"),
    ConfigRule("tar", With, "command", "false"),
    ConfigRule("trailer", With, "*", ""),
    ConfigRule("web", Without, "browser", "true"),
];

/// Finds the rule for a variable.
fn rule(entry: &ConfigEntry) -> Option<&'static ConfigRule> {
    RULES.iter().find(|ConfigRule(section, subsection, name, _)| {
        let shape = match subsection {
            Without => entry.subsection.is_none(),
            With => entry.subsection.is_some(),
            Either => true,
        };
        entry.section == *section && shape && (*name == "*" || entry.name == *name)
    })
}

/// Returns whether a variable makes a directory of this machine a remote. A push to it would change that
/// repository and run its hooks.
fn is_local_remote(entry: &ConfigEntry) -> bool {
    // A URL with a scheme other than `file`, or the scp-like `host:path`, is not local.
    let local = |url: &str| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        let host = url.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'));
        scheme.map_or(!host, |scheme| scheme.eq_ignore_ascii_case("file"))
    };
    match (entry.section.as_str(), entry.name.as_str()) {
        ("remote", "url" | "pushurl") => entry.value.as_deref().is_some_and(local),
        ("url", "insteadof" | "pushinsteadof") => entry.subsection.as_deref().is_some_and(local),
        _ => false,
    }
}

/// Returns whether a configuration includes other files.
pub(super) fn includes(entries: &[ConfigEntry]) -> bool {
    entries.iter().any(|entry| matches!(entry.section.as_str(), "include" | "includeif"))
}

/// Returns whether any variable is one that a repository may not set.
pub(super) fn has_restricted(entries: &[ConfigEntry]) -> bool {
    entries.iter().any(|entry| rule(entry).is_some())
}

/// Returns whether any remote is a directory of this machine.
pub(super) fn has_local_remote(entries: &[ConfigEntry]) -> bool {
    entries.iter().any(is_local_remote)
}

/// A variable as printed by git, and whether it is set by the repository itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigVariable {
    pub(super) by_repository: bool,
    pub(super) key: String,
    pub(super) value: Option<String>,
}

impl ConfigVariable {
    /// Returns whether the variable belongs to a content filter.
    pub(super) fn is_filter(&self) -> bool {
        self.key.starts_with("filter.")
    }

    pub(super) fn entry(&self) -> Option<ConfigEntry> {
        ConfigEntry::of_key(&self.key, self.value.as_deref())
    }
}

/// Parses the output of `git config --list --show-scope -z`.
pub(super) fn parse_scopes(printed: &[u8]) -> Vec<ConfigVariable> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut fields = printed.split(|byte| *byte == 0);
    let mut variables = Vec::new();
    while let (Some(scope), Some(variable)) = (fields.next(), fields.next()) {
        let mut parts = variable.splitn(2, |byte| *byte == b'\n').map(text);
        let key = parts.next().unwrap_or_default();
        let by_repository = matches!(scope, b"local" | b"worktree");
        variables.push(ConfigVariable { by_repository, key, value: parts.next() });
    }
    variables
}

/// Returns the variables by which a repository names programs or files, with all values of each.
pub(super) fn executable_variables(variables: &[ConfigVariable]) -> BTreeMap<String, String> {
    let mut values_by_key: BTreeMap<String, String> = BTreeMap::new();
    for variable in variables.iter().filter(|variable| variable.by_repository) {
        if variable.entry().is_some_and(|entry| rule(&entry).is_some() || is_local_remote(&entry)) {
            let values = values_by_key.entry(variable.key.clone()).or_default();
            values.push_str(variable.value.as_deref().unwrap_or("true"));
            values.push('\n');
        }
    }
    values_by_key
}

/// Returns the overrides that keep git from following the repository's variables, in the order in which they
/// apply. `writes` is for a command that changes something: content must not bypass a filter that is
/// disabled, so git fails there.
pub(super) fn overrides(variables: &[ConfigVariable], writes: bool) -> Vec<(String, String)> {
    let mut overridden = BTreeSet::new();
    let mut overrides = Vec::new();
    // With `url.<base>.insteadOf`, any remote may become a local one, so the transport itself is disabled.
    let mut entries =
        variables.iter().filter(|variable| variable.by_repository).filter_map(ConfigVariable::entry);
    if entries.any(|entry| is_local_remote(&entry)) {
        overrides.push(("protocol.file.allow".to_owned(), "never".to_owned()));
    }
    for (variable, entry) in variables.iter().filter_map(|variable| Some((variable, variable.entry()?))) {
        let Some(ConfigRule(section, .., name, harmless)) = rule(&entry) else { continue };
        if !variable.by_repository || !overridden.insert(variable.key.clone()) {
            continue;
        }
        let own = variables.iter().filter(|own| !own.by_repository && own.key == variable.key);
        let own: Vec<&ConfigVariable> = own.collect();
        // Credential helpers accumulate over all scopes; an empty value resets the list before the user's
        // own.
        if *name == "helper" || own.is_empty() {
            overrides.push((variable.key.clone(), (*harmless).to_owned()));
        }
        overrides.extend(own.iter().map(|own| (own.key.clone(), own.value.clone().unwrap_or_default())));
        if *section == "filter"
            && own.is_empty()
            && let Some(filter) = &entry.subsection
        {
            overrides.push((format!("filter.{filter}.required"), writes.to_string()));
        }
    }
    overrides
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(lines: &[(&str, &str, &str)]) -> Vec<ConfigVariable> {
        let printed: String =
            lines.iter().map(|(scope, key, value)| format!("{scope}\0{key}\n{value}\0")).collect();
        parse_scopes(printed.as_bytes())
    }

    fn keys(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn user_config_applies_and_repository_config_does_not() {
        let variables = variables(&[
            ("global", "core.sshcommand", "ssh -i mine"),
            ("global", "credential.helper", "one"),
            ("global", "credential.helper", "two"),
            ("local", "core.sshcommand", "evil"),
            ("local", "credential.helper", "evil"),
            ("worktree", "core.editor", "evil"),
            ("local", "remote.a.b.uploadpack", "evil"),
            ("local", "remote.a.b.url", "https://example.org/x.git"),
            ("local", "user.name", "Ada"),
        ]);
        let expected = keys(&[
            ("core.sshcommand", "ssh -i mine"),
            ("credential.helper", ""),
            ("credential.helper", "one"),
            ("credential.helper", "two"),
            ("core.editor", "true"),
            ("remote.a.b.uploadpack", "git-upload-pack"),
        ]);
        assert_eq!(overrides(&variables, false), expected);
    }

    #[test]
    fn local_remote_of_untrusted_repository_is_disabled() {
        let is_allowed =
            |key: &str, value: &str| overrides(&variables(&[("local", key, value)]), true).is_empty();
        for url in ["https://x.org/a/b.git", "git@x.org:a/b.git", "ssh://x.org/a", "x.org:b"] {
            assert!(is_allowed("remote.origin.url", url), "{url}");
        }
        for url in ["/srv/a.git", "../a", "file:///srv/a", "FILE:///a", "a/b:c", ":a"] {
            assert!(!is_allowed("remote.origin.url", url) && !is_allowed("remote.x.pushurl", url), "{url}");
        }
        assert!(!is_allowed("url./srv/.insteadof", "https://x.org/"));
        assert!(
            overrides(&variables(&[("global", "url./srv/.insteadof", "https://x.org/")]), true).is_empty()
        );
    }

    #[test]
    fn missing_filter_blocks_writes_but_not_reads() {
        let variables =
            variables(&[("local", "filter.crypt.clean", "evil"), ("local", "filter.crypt.required", "true")]);
        for writes in [false, true] {
            let expected = keys(&[
                ("filter.crypt.clean", ""),
                ("filter.crypt.required", if writes { "true" } else { "false" }),
            ]);
            assert_eq!(overrides(&variables, writes), expected);
        }
    }

    #[test]
    fn rules_are_lower_case_and_match_variables() {
        let names: Vec<_> = RULES.iter().map(|ConfigRule(section, _, name, _)| (section, name)).collect();
        assert!(names.iter().all(|(_, name)| name.to_lowercase() == **name), "names are in lower case");
        let parsed = loopgate_home::parse_git_config;
        for (text, expected) in [
            ("[core]\nSSHCommand = x", true),
            ("[filter \"a.b\"]\nclean = x", true),
            ("[filter]\nclean = x", false),
            ("[pager]\nlog = x", true),
            ("[credential \"https://x\"]\nhelper = !x", true),
            ("[core]\nbare = false\n[remote \"origin\"]\nurl = x\nfetch = y", false),
            ("[remote \"origin\"]\nurl = /srv/x", false),
        ] {
            assert_eq!(has_restricted(&parsed(text.as_bytes()).unwrap()), expected, "{text}");
        }
        assert!(includes(&parsed(b"[includeIf \"gitdir:x\"]\npath = y").unwrap()));
    }
}
