//! The repository's configuration variables that git must not follow, and the overrides for them.
//!
//! A repository's configuration can name programs, servers, and files anywhere. In a repository that the user has not
//! trusted, git follows only variables that are known to be harmless. Each other variable is overridden by the value in
//! the user's own configuration, else by a value without effect. Some variables are overridden in every repository.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use loopgate_home::{ConfigEntry, GitConfigError, parse_config_line};

/// Overrides for every command and repository.
pub(super) const ALWAYS: [(&str, &str); 10] = [
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("protocol.ext.allow", "never"),
    // A file with the parents of commits, which git does not compare with the commits: it could hide some of those that
    // are pushed.
    ("core.commitGraph", "false"),
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
pub(super) const OUTPUT: [(&str, &str); 34] = [
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
    // `minimal` compares seconds, but git decides by nanoseconds whether the index may be out of date: a change of
    // equal size in the second of the last one would be missed.
    ("core.checkStat", "default"),
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

/// Variables of a repository that git may follow although the user has not trusted it: they are known to name no program,
/// no file and no server, to lift no restriction, and to lose no work. A pattern is `section.name` or
/// `section.*.name`, where `*` is any subsection, and a name `*` is any name.
///
/// Some of them cannot be overridden, because git needs them to read the repository, or adds up the values of all files.
/// What remotes name is checked by [`is_local_remote`] and the rules for protocols.
const HARMLESS: [&str; 299] = [
    "advice.*",
    "am.keepcr",
    "am.threeway",
    "author.email",
    "author.name",
    "blame.blankboundary",
    "blame.coloring",
    "blame.date",
    "blame.markignoredlines",
    "blame.markunblamablelines",
    "blame.showemail",
    "blame.showroot",
    "branch.*.description",
    "branch.*.gh-merge-base",
    "branch.*.github-pr-owner-number",
    "branch.*.merge",
    "branch.*.pushremote",
    "branch.*.rebase",
    "branch.*.remote",
    "branch.*.vscode-merge-base",
    "branch.autosetupmerge",
    "branch.autosetuprebase",
    "checkout.defaultremote",
    "checkout.guess",
    "checkout.thresholdforparallelism",
    "checkout.workers",
    "color.*",
    "color.*.*",
    "column.*",
    "commit.cleanup",
    "commit.gpgsign",
    "commit.status",
    "commit.verbose",
    "commitgraph.changedpathsversion",
    "commitgraph.generationversion",
    "commitgraph.maxnewfilters",
    "commitgraph.readchangedpaths",
    "committer.email",
    "committer.name",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.bigfilethreshold",
    "core.checkroundtripencoding",
    "core.checkstat",
    "core.commentchar",
    "core.commentstring",
    "core.commitgraph",
    "core.compression",
    "core.deltabasecachelimit",
    "core.eol",
    "core.filemode",
    "core.filesreflocktimeout",
    "core.fscache",
    "core.fsync",
    "core.fsyncmethod",
    "core.fsyncobjectfiles",
    "core.hidedotfiles",
    "core.ignorecase",
    "core.ignorestat",
    "core.logallrefupdates",
    "core.longpaths",
    "core.loosecompression",
    "core.multipackindex",
    "core.notesref",
    "core.packedgitlimit",
    "core.packedgitwindowsize",
    "core.packedrefstimeout",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.splitindex",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "core.warnambiguousrefs",
    "core.whitespace",
    "core.worktree",
    "credential.*.usehttppath",
    "credential.*.username",
    "credential.usehttppath",
    "credential.username",
    "diff.*.algorithm",
    "diff.*.binary",
    "diff.*.cachetextconv",
    "diff.*.funcname",
    "diff.*.wordregex",
    "diff.*.xfuncname",
    "diff.algorithm",
    "diff.autorefreshindex",
    "diff.colormoved",
    "diff.colormovedws",
    "diff.context",
    "diff.dirstat",
    "diff.dstprefix",
    "diff.ignoresubmodules",
    "diff.indentheuristic",
    "diff.interhunkcontext",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.relative",
    "diff.renamelimit",
    "diff.renames",
    "diff.srcprefix",
    "diff.statgraphwidth",
    "diff.statnamewidth",
    "diff.submodule",
    "diff.suppressblankempty",
    "diff.wordregex",
    "diff.wserrorhighlight",
    "extensions.*",
    "feature.experimental",
    "feature.manyfiles",
    "fetch.all",
    "fetch.negotiationalgorithm",
    "fetch.output",
    "fetch.parallel",
    "fetch.prune",
    "fetch.prunetags",
    "fetch.recursesubmodules",
    "fetch.showforcedupdates",
    "fetch.unpacklimit",
    "fetch.writecommitgraph",
    "gc.auto",
    "gc.autodetach",
    "gc.autopacklimit",
    "gc.bigpackthreshold",
    "gc.cruftpacks",
    "gc.packrefs",
    "gc.writecommitgraph",
    "gpg.format",
    "grep.column",
    "grep.extendedregexp",
    "grep.fallbacktonoindex",
    "grep.fullname",
    "grep.linenumber",
    "grep.patterntype",
    "grep.threads",
    "gui.geometry",
    "gui.wmstate",
    "http.*.lowspeedlimit",
    "http.*.lowspeedtime",
    "http.*.postbuffer",
    "http.*.version",
    "http.lowspeedlimit",
    "http.lowspeedtime",
    "http.maxrequests",
    "http.minsessions",
    "http.postbuffer",
    "http.version",
    "i18n.commitencoding",
    "i18n.filesencoding",
    "i18n.logoutputencoding",
    "index.recordendofindexentries",
    "index.recordoffsettable",
    "index.skiphash",
    "index.sparse",
    "index.threads",
    "index.version",
    "init.defaultbranch",
    "lfs.*.access",
    "lfs.*.locksverify",
    "lfs.activitytimeout",
    "lfs.allowincompletepush",
    "lfs.basictransfersonly",
    "lfs.concurrenttransfers",
    "lfs.contenttype",
    "lfs.dialtimeout",
    "lfs.fetchexclude",
    "lfs.fetchinclude",
    "lfs.fetchrecentalways",
    "lfs.fetchrecentcommitsdays",
    "lfs.fetchrecentrefsdays",
    "lfs.fetchrecentremoterefs",
    "lfs.gitprotocol",
    "lfs.keepalive",
    "lfs.lockignoredfiles",
    "lfs.locksverify",
    "lfs.pushurl",
    "lfs.repositoryformatversion",
    "lfs.setlockablereadonly",
    "lfs.skipdownloaderrors",
    "lfs.tlstimeout",
    "lfs.transfer.maxretries",
    "lfs.url",
    "log.abbrevcommit",
    "log.date",
    "log.decorate",
    "log.follow",
    "log.mailmap",
    "log.showroot",
    "mailmap.blob",
    "maintenance.*.enabled",
    "maintenance.*.schedule",
    "maintenance.auto",
    "maintenance.autodetach",
    "maintenance.strategy",
    "merge.*.name",
    "merge.*.recursive",
    "merge.autostash",
    "merge.branchdesc",
    "merge.conflictstyle",
    "merge.defaulttoupstream",
    "merge.directoryrenames",
    "merge.ff",
    "merge.log",
    "merge.renamelimit",
    "merge.renames",
    "merge.renormalize",
    "merge.stat",
    "merge.suppressdest",
    "merge.verbosity",
    "pack.compression",
    "pack.deltacachelimit",
    "pack.deltacachesize",
    "pack.depth",
    "pack.indexversion",
    "pack.packsizelimit",
    "pack.threads",
    "pack.usebitmaps",
    "pack.usesparse",
    "pack.window",
    "pack.windowmemory",
    "pack.writereverseindex",
    "protocol.version",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "push.followtags",
    "push.gpgsign",
    "push.negotiate",
    "push.recursesubmodules",
    "push.useforceifincludes",
    "rebase.abbreviatecommands",
    "rebase.autosquash",
    "rebase.autostash",
    "rebase.backend",
    "rebase.forkpoint",
    "rebase.maxlabellength",
    "rebase.missingcommitscheck",
    "rebase.rebasemerges",
    "rebase.reschedulefailedexec",
    "rebase.stat",
    "rebase.updaterefs",
    "remote.*.fetch",
    "remote.*.followremotehead",
    "remote.*.gh-resolved",
    "remote.*.lfspushurl",
    "remote.*.lfsurl",
    "remote.*.partialclonefilter",
    "remote.*.promisor",
    "remote.*.prune",
    "remote.*.prunetags",
    "remote.*.push",
    "remote.*.pushurl",
    "remote.*.skipdefaultupdate",
    "remote.*.skipfetchall",
    "remote.*.tagopt",
    "remote.*.url",
    "remote.pushdefault",
    "rerere.autoupdate",
    "rerere.enabled",
    "sparse.expectfilesoutsideofpatterns",
    "splitindex.maxpercentchange",
    "splitindex.sharedindexexpire",
    "stash.showincludeuntracked",
    "stash.showpatch",
    "stash.showstat",
    "status.aheadbehind",
    "status.branch",
    "status.displaycommentprefix",
    "status.relativepaths",
    "status.renamelimit",
    "status.renames",
    "status.short",
    "status.showstash",
    "status.showuntrackedfiles",
    "status.submodulesummary",
    "submodule.*.active",
    "submodule.*.branch",
    "submodule.*.ignore",
    "submodule.*.path",
    "submodule.*.shallow",
    "submodule.*.url",
    "submodule.active",
    "submodule.fetchjobs",
    "submodule.recurse",
    "tag.forcesignannotated",
    "tag.gpgsign",
    "user.email",
    "user.name",
    "user.useconfigonly",
    "worktree.guessremote",
    "worktree.userelativepaths",
];
/// Values without effect for variables that are not [`HARMLESS`], where the empty value, which is "no", "none" or an
/// empty list, has an effect or is an error. The first pattern that matches applies.
const NEUTRAL: [(&str, &str); 76] = [
    ("branch.sort", "refname"),
    ("browser.*.*", "true"),
    ("clean.requireforce", "true"),
    ("core.alternaterefscommand", "true"),
    ("core.attributesfile", "/dev/null"),
    ("core.createobject", "link"),
    ("core.disambiguate", "none"),
    ("core.editor", "true"),
    ("core.excludesfile", "/dev/null"),
    ("core.hookspath", "/dev/null"),
    ("core.maxtreedepth", "2048"),
    ("core.pager", "cat"),
    ("core.protecthfs", "true"),
    ("core.protectntfs", "true"),
    ("core.sharedrepository", "umask"),
    ("core.sshcommand", "ssh"),
    ("credential.protectprotocol", "true"),
    ("credential.sanitizeprompt", "true"),
    ("credential.*.protectprotocol", "true"),
    ("credential.*.sanitizeprompt", "true"),
    ("diff.orderfile", "/dev/null"),
    ("diff.*.textconv", "cat"),
    ("format.filenamemaxlength", "64"),
    ("format.pretty", "medium"),
    ("fsck.skiplist", "/dev/null"),
    ("gc.aggressivedepth", "50"),
    ("gc.aggressivewindow", "250"),
    ("gc.logexpiry", "1.day.ago"),
    ("gc.maxcruftsize", "0"),
    ("gc.pruneexpire", "2.weeks.ago"),
    ("gc.recentobjectshook", "true"),
    ("gc.reflogexpire", "90.days.ago"),
    ("gc.reflogexpireunreachable", "30.days.ago"),
    ("gc.worktreepruneexpire", "3.months.ago"),
    ("gc.*.reflogexpire", "90.days.ago"),
    ("gc.*.reflogexpireunreachable", "30.days.ago"),
    ("gpg.program", "false"),
    ("gpg.*.allowedsignersfile", "/dev/null"),
    ("gpg.*.program", "false"),
    ("gpg.*.revocationfile", "/dev/null"),
    ("help.autocorrect", "0"),
    ("http.delegation", "none"),
    ("http.emptyauth", "auto"),
    ("http.followredirects", "initial"),
    ("http.proactiveauth", "none"),
    ("http.proxyauthmethod", "anyauth"),
    ("http.sslverify", "true"),
    ("http.*.delegation", "none"),
    ("http.*.emptyauth", "auto"),
    ("http.*.followredirects", "initial"),
    ("http.*.proactiveauth", "none"),
    ("http.*.proxyauthmethod", "anyauth"),
    ("http.*.sslverify", "true"),
    ("interactive.difffilter", "cat"),
    ("log.diffmerges", "separate"),
    ("mailmap.file", "/dev/null"),
    ("merge.*.driver", "false"),
    ("notes.rewritemode", "concatenate"),
    ("pager.*", "false"),
    ("protocol.allow", "user"),
    ("protocol.git.allow", "always"),
    ("protocol.http.allow", "always"),
    ("protocol.https.allow", "always"),
    ("protocol.ssh.allow", "always"),
    ("protocol.*.allow", "never"),
    ("pull.octopus", "octopus"),
    ("pull.twohead", "ort"),
    ("remote.*.proxyauthmethod", "anyauth"),
    ("sequence.editor", "true"),
    ("ssh.variant", "auto"),
    ("submodule.*.fetchrecursesubmodules", "false"),
    ("submodule.*.update", "checkout"),
    ("tag.sort", "refname"),
    ("tar.*.command", "false"),
    ("transfer.credentialsinurl", "allow"),
    ("web.browser", "true"),
];
/// Variables with a list of values, which the empty value resets.
const LISTS: [&str; 8] = [
    "blame.ignorerevsfile",
    "http.curloptresolve",
    "http.*.curloptresolve",
    "http.extraheader",
    "http.*.extraheader",
    "push.pushoption",
    "remote.*.pushoption",
    "remote.*.serveroption",
];
/// Variables that redirect a connection or run a program at its end, and of which git uses the first or longest value:
/// no later value overrides them, so that a repository that sets one has no connections.
const REDIRECTIONS: [&str; 5] = [
    "core.gitproxy",
    "remote.*.receivepack",
    "remote.*.uploadpack",
    "url.*.insteadof",
    "url.*.pushinsteadof",
];
/// Variables with the URL of a server of Git LFS, to which the rules for protocols do not apply.
const LFS_SERVERS: [&str; 4] = ["lfs.url", "lfs.pushurl", "remote.*.lfsurl", "remote.*.lfspushurl"];
/// Name in the section `lfs` and value that keep git-lfs from using a directory as its server. A file `.lfsconfig` of the
/// working tree can name one, and the rules for protocols do not apply to it.
const NO_LFS_DIRECTORY: (&str, &str) = ("standalonetransferagent", "");
/// Schemes of URLs that git handles itself.
const SCHEMES: [&str; 7] = ["file", "git", "git+ssh", "http", "https", "ssh", "ssh+git"];
/// The protocols that git allows by default, or may be configured to allow.
const PROTOCOLS: [&str; 6] = ["ext", "file", "git", "http", "https", "ssh"];

/// Returns whether a variable matches a pattern.
fn matches(entry: &ConfigEntry, pattern: &str) -> bool {
    let Some((section, rest)) = pattern.split_once('.') else { return false };
    let (subsection, name) = rest.rsplit_once('.').map_or((None, rest), |(sub, name)| (Some(sub), name));
    let has_subsection = match (subsection, &entry.subsection) {
        (None, None) | (Some("*"), Some(_)) => true,
        (expected, actual) => expected == actual.as_deref(),
    };
    entry.section == section && has_subsection && (name == "*" || entry.name == name)
}

fn matches_any(entry: &ConfigEntry, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| matches(entry, pattern))
}

/// Returns whether git may follow a variable of a repository that the user has not trusted.
fn is_harmless(entry: &ConfigEntry) -> bool {
    let is_local_server = || matches_any(entry, &LFS_SERVERS) && entry.text().is_none_or(is_local_url);
    matches_any(entry, &HARMLESS) && !is_local_server()
}

/// Returns a value without effect for a variable that is not harmless.
fn neutral(entry: &ConfigEntry) -> &'static str {
    NEUTRAL.iter().find(|(pattern, _)| matches(entry, pattern)).map_or("", |(_, value)| value)
}

/// Returns whether a URL names a directory of this machine. A URL with a scheme other than `file`, or the scp-like
/// `host:path`, does not.
fn is_local_url(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    let host = url.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'));
    scheme.map_or(!host, |scheme| scheme.eq_ignore_ascii_case("file"))
}

/// Returns the protocol of a URL for which git starts another program, `git-remote-<protocol>`: of `hg::/srv/x` and
/// `s3://x`, for example. Such a program may run what the address contains.
fn helper_protocol(url: &str) -> Option<&str> {
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if let Some((name, _)) = url.split_once("::").filter(|(name, _)| is_name(name)) {
        return Some(name);
    }
    let (scheme, _) = url.split_once("://")?;
    (!SCHEMES.iter().any(|own| own.eq_ignore_ascii_case(scheme))).then_some(scheme)
}

/// Returns the URL that a variable names as a remote. Where it may also be the name of a remote, only text with a
/// character that no such name has.
fn remote_url(entry: &ConfigEntry) -> Option<&str> {
    match (entry.section.as_str(), entry.name.as_str()) {
        ("remote", "url" | "pushurl") => entry.text(),
        ("branch", "remote" | "pushremote") | ("remote", "pushdefault") => {
            entry.text().filter(|name| name.contains(['/', ':']))
        }
        _ => None,
    }
}

/// Returns whether a variable makes a directory of this machine a remote, or an address for a program
/// `git-remote-<protocol>`. A push to a directory would change that repository and run its hooks.
fn is_local_remote(entry: &ConfigEntry) -> bool {
    if let Some(url) = remote_url(entry) {
        return is_local_url(url) || helper_protocol(url).is_some();
    }
    match (entry.section.as_str(), entry.name.as_str()) {
        ("url", "insteadof" | "pushinsteadof") => entry.subsection.as_deref().is_some_and(is_local_url),
        _ => false,
    }
}

/// Returns whether a configuration includes other files.
pub(super) fn includes(entries: &[ConfigEntry]) -> bool {
    entries.iter().any(is_include)
}

fn is_include(entry: &ConfigEntry) -> bool {
    matches!(entry.section.as_str(), "include" | "includeif")
}

/// Returns whether any variable is one that a repository may not set.
pub(super) fn has_restricted(entries: &[ConfigEntry]) -> bool {
    entries.iter().any(|entry| !is_harmless(entry))
}

/// Returns whether any remote is a directory of this machine.
pub(super) fn has_local_remote(entries: &[ConfigEntry]) -> bool {
    entries.iter().any(is_local_remote)
}

/// A variable as printed by git, and whether it is set by the repository itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigVariable {
    pub(super) by_repository: bool,
    pub(super) entry: ConfigEntry,
}

impl ConfigVariable {
    /// Returns whether the variable belongs to a content filter.
    pub(super) fn is_filter(&self) -> bool {
        self.entry.section == "filter"
    }

    fn is_restricted(&self) -> bool {
        self.by_repository && !is_harmless(&self.entry)
    }
}

/// Parses a variable and its scope, as `git config --list --show-scope -z` prints them. Returns `None` for a key of the
/// user's own configuration that is not UTF-8: no repository can have the same.
///
/// # Errors
/// Fails when the repository has a key that is not UTF-8.
pub(super) fn parse_variable(
    scope: &[u8],
    variable: &[u8],
) -> Result<Option<ConfigVariable>, GitConfigError> {
    let by_repository = !matches!(scope, b"system" | b"global");
    match parse_config_line(variable) {
        Ok(entry) => Ok(Some(ConfigVariable { by_repository, entry })),
        Err(error) if by_repository => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns the variables that git does not follow until the user trusts the repository, with all values of each.
pub(super) fn executable_variables(variables: &[ConfigVariable]) -> BTreeMap<String, Vec<u8>> {
    let mut values_by_key: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for variable in variables.iter().filter(|variable| variable.by_repository) {
        if variable.is_restricted() || is_local_remote(&variable.entry) {
            let values = values_by_key.entry(variable.entry.to_string()).or_default();
            values.extend(variable.entry.value.as_deref().unwrap_or(OsStr::new("true")).as_bytes());
            values.push(b'\n');
        }
    }
    values_by_key
}

/// Returns why the variables of a repository cannot be overridden. Files that it includes may change while git runs, and
/// conditions may have another result in a process that git starts.
pub(super) fn not_overridable(variables: &[ConfigVariable], writes: bool) -> Option<&'static str> {
    let sections =
        || variables.iter().filter(|variable| variable.by_repository).map(|it| it.entry.section.as_str());
    if sections().any(|section| section == "includeif") {
        return Some("its configuration includes files under a condition");
    }
    (writes && sections().any(|section| section == "include")).then_some("its configuration includes files")
}

/// Returns the overrides that keep git from following the repository's variables, in the order in which they
/// apply. `writes` is for a command that changes something: content must not bypass a filter that is
/// disabled, so git fails there.
pub(super) fn overrides(variables: &[ConfigVariable], writes: bool) -> Vec<(String, OsString)> {
    let mut overridden = BTreeSet::new();
    let mut overrides: Vec<(String, OsString)> = Vec::new();
    let own = || variables.iter().filter(|variable| !variable.by_repository).map(|variable| &variable.entry);
    let value = |entry: &ConfigEntry| entry.value.clone().unwrap_or_else(|| "true".into());
    for ConfigVariable { entry, .. } in variables.iter().filter(|variable| variable.is_restricted()) {
        let is_overridable = !is_include(entry) && !matches_any(entry, &REDIRECTIONS);
        if !is_overridable || !overridden.insert(entry.to_string()) {
            continue;
        }
        // Helpers accumulate over all URLs and files. One reset applies to all of them.
        if entry.section == "credential" && entry.name == "helper" {
            if overridden.insert("credential.helper, all".to_owned()) {
                overrides.push(("credential.helper".to_owned(), OsString::new()));
                let helpers = own().filter(|own| own.section == "credential" && own.name == "helper");
                overrides.extend(helpers.map(|own| (own.to_string(), value(own))));
            }
            continue;
        }
        let general = fallback(entry);
        let named = |key: &str| own().filter(|own| own.to_string() == key).collect::<Vec<_>>();
        let mut own_values = named(&entry.to_string());
        if own_values.is_empty() {
            own_values = general.map(|key| named(&key)).unwrap_or_default();
        }
        let is_required = entry.section == "filter" && entry.name == "required";
        if own_values.is_empty() || matches_any(entry, &LISTS) {
            let neutral = if is_required { if writes { "true" } else { "false" } } else { neutral(entry) };
            overrides.push((entry.to_string(), neutral.into()));
        }
        let is_own = !own_values.is_empty();
        overrides.extend(own_values.into_iter().map(|own| (entry.to_string(), value(own))));
        if let ("filter", Some(filter)) = (entry.section.as_str(), &entry.subsection)
            && !is_own
            && !is_required
        {
            overrides.push((format!("filter.{filter}.required"), writes.to_string().into()));
        }
    }
    overrides.extend(protocol_overrides(variables));
    overrides
}

/// Returns the more general variable that applies without this one.
fn fallback(entry: &ConfigEntry) -> Option<String> {
    entry.subsection.as_ref()?;
    match (entry.section.as_str(), entry.name.as_str()) {
        ("http", name) => Some(format!("http.{name}")),
        ("remote", name @ ("proxy" | "proxyauthmethod")) => Some(format!("http.{name}")),
        _ => None,
    }
}

/// Returns the overrides that limit where a repository's remotes may be. They are directories of this machine only where
/// the user's own configuration says so, and nothing in the repository's does.
fn protocol_overrides(variables: &[ConfigVariable]) -> Vec<(String, OsString)> {
    let never = |protocol: &str| (format!("protocol.{protocol}.allow"), OsString::from("never"));
    let of = |by_repository: bool| {
        variables.iter().filter(move |variable| variable.by_repository == by_repository).map(|it| &it.entry)
    };
    let has_agent = of(false).any(|entry| entry.is("lfs", NO_LFS_DIRECTORY.0));
    let no_lfs_directory =
        (!has_agent).then(|| (format!("lfs.{}", NO_LFS_DIRECTORY.0), OsString::from(NO_LFS_DIRECTORY.1)));
    if of(true).any(|entry| matches_any(entry, &REDIRECTIONS)) {
        let configured =
            variables.iter().map(|variable| &variable.entry).filter(|entry| entry.section == "protocol");
        let mut protocols: BTreeSet<&str> =
            configured.filter_map(|entry| entry.subsection.as_deref()).collect();
        protocols.extend(PROTOCOLS);
        let general = ("protocol.allow".to_owned(), OsString::from("never"));
        return [general]
            .into_iter()
            .chain(protocols.into_iter().map(never))
            .chain(no_lfs_directory)
            .collect();
    }
    let helpers: BTreeSet<&str> = of(true).filter_map(remote_url).filter_map(helper_protocol).collect();
    let is_permission = |entry: &ConfigEntry| {
        entry.to_string() == "protocol.file.allow" || (entry.section == "url" && is_local_remote(entry))
    };
    if of(false).any(is_permission) && !of(true).any(is_local_remote) {
        Vec::new()
    } else {
        helpers.into_iter().chain(["file"]).map(never).chain(no_lfs_directory).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_scopes(printed: &[u8]) -> Result<Vec<ConfigVariable>, GitConfigError> {
        let mut fields = printed.split(|byte| *byte == 0);
        let mut variables = Vec::new();
        while let (Some(scope), Some(variable)) = (fields.next(), fields.next()) {
            variables.extend(parse_variable(scope, variable)?);
        }
        Ok(variables)
    }

    fn variables(lines: &[(&str, &str, &str)]) -> Vec<ConfigVariable> {
        let printed: String =
            lines.iter().map(|(scope, key, value)| format!("{scope}\0{key}\n{value}\0")).collect();
        parse_scopes(printed.as_bytes()).unwrap()
    }

    fn keys(pairs: &[(&str, &str)]) -> Vec<(String, OsString)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect()
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
            ("local", "remote.a.b.proxyauthmethod", "evil"),
            ("local", "remote.a.b.url", "https://example.org/x.git"),
            ("local", "user.name", "Ada"),
        ]);
        let expected = keys(&[
            ("core.sshcommand", "ssh -i mine"),
            ("credential.helper", ""),
            ("credential.helper", "one"),
            ("credential.helper", "two"),
            ("core.editor", "true"),
            ("remote.a.b.proxyauthmethod", "anyauth"),
            ("protocol.file.allow", "never"),
            ("lfs.standalonetransferagent", ""),
        ]);
        assert_eq!(overrides(&variables, false), expected);
    }

    #[test]
    fn unknown_variables_are_overridden() {
        let variables = variables(&[
            ("local", "http.sslverify", "false"),
            ("local", "http.https://example.org/.curloptresolve", "example.org:443:127.0.0.1"),
            ("global", "http.proxy", "http://proxy:8080"),
            ("local", "http.https://example.org/.proxy", "http://evil"),
            ("global", "http.extraheader", "X: 1"),
            ("local", "http.extraheader", "X: 2"),
            ("global", "credential.https://example.org.helper", "mine"),
            ("global", "credential.helper", "general"),
            ("local", "credential.https://example.org.helper", "evil"),
            ("local", "later.release", "x"),
            ("local", "later.release.of.git", "x"),
        ]);
        let expected = keys(&[
            ("http.sslverify", "true"),
            ("http.https://example.org/.curloptresolve", ""),
            ("http.https://example.org/.proxy", "http://proxy:8080"),
            ("http.extraheader", ""),
            ("http.extraheader", "X: 1"),
            ("credential.helper", ""),
            ("credential.https://example.org.helper", "mine"),
            ("credential.helper", "general"),
            ("later.release", ""),
            ("later.release.of.git", ""),
            ("protocol.file.allow", "never"),
            ("lfs.standalonetransferagent", ""),
        ]);
        assert_eq!(overrides(&variables, false), expected);
    }

    #[test]
    fn local_remotes_are_only_those_of_the_user() {
        let local = |key: &str, value: &str| {
            let variables = variables(&[("local", key, value), ("global", "protocol.file.allow", "always")]);
            !executable_variables(&variables).is_empty() && !overrides(&variables, true).is_empty()
        };
        for url in ["https://x.org/a/b.git", "git@x.org:a/b.git", "ssh://x.org/a", "x.org:b"] {
            assert!(!local("remote.origin.url", url), "{url}");
        }
        for url in ["/srv/a.git", "../a", "file:///srv/a", "FILE:///a", "a/b:c", ":a"] {
            assert!(local("remote.origin.url", url) && local("remote.x.pushurl", url), "{url}");
        }
        for (url, protocol) in
            [("hg::/srv/a", "hg"), ("ext::sh -c x", "ext"), ("s3://x/y", "s3"), ("A1::", "A1")]
        {
            for key in ["remote.origin.url", "remote.x.pushurl", "branch.main.remote", "remote.pushdefault"] {
                let variables =
                    variables(&[("local", key, url), ("global", "protocol.file.allow", "always")]);
                assert!(!executable_variables(&variables).is_empty(), "{key}: {url}");
                let never = (format!("protocol.{protocol}.allow"), OsString::from("never"));
                assert!(overrides(&variables, true).contains(&never), "{key}: {url}");
            }
        }
        for key in ["branch.main.remote", "branch.main.pushremote", "remote.pushdefault"] {
            assert!(
                local(key, "./target.git") && local(key, "file:///srv/a") && !local(key, "origin"),
                "{key}"
            );
        }
        for key in ["lfs.url", "remote.origin.lfspushurl"] {
            assert!(local(key, "file:///srv/a") && !local(key, "https://x.org/lfs"), "{key}");
        }
        let never = keys(&[("protocol.file.allow", "never"), ("lfs.standalonetransferagent", "")]);
        assert_eq!(overrides(&variables(&[]), true), never, "whatever the repository contains");
        let own_agent = variables(&[("global", "lfs.standalonetransferagent", "mine")]);
        assert_eq!(
            overrides(&own_agent, true),
            keys(&[("protocol.file.allow", "never")]),
            "the user's agent"
        );
        let redirected = variables(&[("global", "url./srv/.insteadof", "https://x.org/")]);
        assert_eq!(overrides(&redirected, true), [], "the user's own redirection");
    }

    /// Git uses the first or longest of these values, so that a later one is no override.
    #[test]
    fn redirected_connections_are_disabled() {
        for (key, value) in [
            ("core.gitproxy", "evil"),
            ("remote.origin.receivepack", "evil"),
            ("remote.origin.uploadpack", "evil"),
            ("url.https://evil/.insteadof", "https://x.org/"),
            ("url.https://evil/.pushinsteadof", "https://x.org/"),
        ] {
            let variables = variables(&[
                ("global", "protocol.https.allow", "always"),
                ("local", key, value),
                ("local", "protocol.mine.allow", "always"),
            ]);
            let overrides = overrides(&variables, true);
            for protocol in ["", "ext.", "file.", "git.", "http.", "https.", "mine.", "ssh."] {
                let name = format!("protocol.{protocol}allow");
                let last = overrides.iter().rfind(|(key, _)| *key == name).map(|(_, value)| value.to_str());
                assert_eq!(last, Some(Some("never")), "{key}: {name}");
            }
        }
    }

    #[test]
    fn included_files_are_not_overridable() {
        let reason = |scope: &str, key: &str, writes: bool| {
            not_overridable(&variables(&[(scope, key, "x")]), writes).is_some()
        };
        assert!(reason("local", "includeif.gitdir:/proc/**.path", false));
        assert!(reason("local", "include.path", true) && !reason("local", "include.path", false));
        assert!(!reason("global", "includeif.gitdir:~/work/.path", true));
    }

    #[test]
    fn keys_of_the_repository_are_utf8() {
        let filter = b"filter.\xff.clean\nevil\0";
        let of = |scope: &[u8]| parse_scopes(&[scope, b"\0", filter].concat());
        assert_eq!(of(b"local"), Err(GitConfigError::NotUtf8));
        assert_eq!(of(b"worktree"), Err(GitConfigError::NotUtf8));
        assert_eq!(of(b"global"), Ok(Vec::new()));
        let own = parse_scopes(b"global\0core.editor\n/bin/\xff\0local\0core.editor\nevil\0").unwrap();
        assert_eq!(overrides(&own, false)[0].1.as_bytes(), b"/bin/\xff", "the user's value in its bytes");
    }

    #[test]
    fn missing_filter_blocks_writes_but_not_reads() {
        let variables =
            variables(&[("local", "filter.crypt.clean", "evil"), ("local", "filter.crypt.required", "true")]);
        for writes in [false, true] {
            let expected = keys(&[
                ("filter.crypt.clean", ""),
                ("filter.crypt.required", if writes { "true" } else { "false" }),
                ("filter.crypt.required", if writes { "true" } else { "false" }),
                ("protocol.file.allow", "never"),
                ("lfs.standalonetransferagent", ""),
            ]);
            assert_eq!(overrides(&variables, writes), expected);
        }
    }

    /// With the overrides for every variable that this git knows, it still works.
    #[test]
    fn overrides_of_all_variables_are_valid() {
        let dir = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| loopgate_testkit::git::git(dir.path(), args).unwrap();
        git(&["init", "--quiet"]);
        let known = git(&["help", "--config-for-completion"]).to_lowercase();
        let lines: Vec<_> = known
            .lines()
            .filter(|key| !key.ends_with('.') && !key.contains('_'))
            .map(|key| ("local", key, "x"))
            .collect();
        assert!(lines.len() > 500, "{known}");
        let overrides = overrides(&variables(&lines), true);
        let overrides = overrides.iter().map(|(key, value)| format!("{key}={}", value.to_str().unwrap()));
        let options: Vec<String> = overrides.flat_map(|value| ["-c".to_owned(), value]).collect();
        for command in [
            ["commit", "--quiet", "--allow-empty", "--message=First"].as_slice(),
            &["checkout", "--quiet", "-b", "topic"],
            &["status"],
            &["log", "-1", "-p"],
            &["diff", "HEAD"],
            &["branch", "--list"],
            &["merge", "--no-edit", "HEAD"],
            &["stash", "list"],
            &["worktree", "add", "--quiet", "tree"],
            &["gc", "--auto"],
        ] {
            git(&options.iter().map(String::as_str).chain(command.iter().copied()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn patterns_are_lower_case_and_match_variables() {
        let patterns = HARMLESS.iter().chain(NEUTRAL.iter().map(|(pattern, _)| pattern)).chain(&LISTS);
        for pattern in patterns.chain(&REDIRECTIONS).chain(&LFS_SERVERS) {
            assert!(pattern.to_lowercase() == **pattern && pattern.contains('.'), "{pattern}");
        }
        assert!(NEUTRAL.iter().all(|(pattern, _)| !HARMLESS.contains(pattern)));
        let parsed = loopgate_home::parse_git_config;
        for (text, expected) in [
            ("[core]\nSSHCommand = x", true),
            ("[filter \"a.b\"]\nclean = x", true),
            ("[filter.a \"b\"]\nclean = x", true),
            ("[filter]\nclean = x", true),
            ("[pager]\nlog = x", true),
            ("[credential \"https://x\"]\nhelper = !x", true),
            ("[include]\npath = x", true),
            ("[core]\nbare = false\n[remote \"origin\"]\nurl = x\nfetch = y", false),
            ("[remote \"origin\"]\nurl = /srv/x", false),
            ("[color \"branch\"]\ncurrent = blue", false),
        ] {
            assert_eq!(has_restricted(&parsed(text.as_bytes()).unwrap()), expected, "{text}");
        }
        assert!(includes(&parsed(b"[includeIf \"gitdir:x\"]\npath = y").unwrap()));
    }
}
