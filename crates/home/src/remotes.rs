//! The remotes of a clone by purpose, read from its git configuration.
//!
//! A clone can fetch from one repository, push to another one, and propose its changes to a third: a fork with the
//! remotes `origin` and `upstream`, `remote.<name>.pushurl`, `remote.pushDefault`, or `gh repo set-default`.

use std::fmt;

use loopgate_api::ids::RepoFullName;

use crate::git_config::ConfigEntry;

/// Remote that `git clone` creates, and that `gh` and git prefer.
const ORIGIN: &str = "origin";
/// Remote of the repository that was forked, by convention and as `gh repo fork` names it.
const UPSTREAM: &str = "upstream";
const GITHUB: &str = "github.com";

/// The remotes of a clone. Without any remote, all of them are `origin`, so that git reports the missing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remotes {
    /// Remote of the base repository, where the base branches of the work are.
    pub base: String,
    /// URL of the remote of the base repository.
    pub base_url: Option<String>,
    /// Repository that pull requests are merged into.
    pub base_repository: Option<RemoteRepository>,
    /// Remote that branches are pushed to.
    pub push: String,
    /// Repository that branches are pushed to.
    pub push_repository: Option<RemoteRepository>,
    /// Repository that the clone was created from, by which users name the clone.
    pub clone_repository: Option<RepoFullName>,
    /// URL that branches are pushed to when it differs from the one that `push` fetches from.
    push_url: Option<String>,
}

/// A repository as the URL of a remote names it. Its `Display` form is the value of `gh --repo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteRepository {
    /// Host name; `None` for a local path, and for an alias in the configuration of ssh.
    pub host: Option<String>,
    pub full_name: RepoFullName,
}

impl fmt::Display for RemoteRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) => write!(f, "{host}/{}", self.full_name),
            None => self.full_name.fmt(f),
        }
    }
}

impl RemoteRepository {
    /// Parses the URL of a remote.
    #[must_use]
    pub fn from_url(url: &str) -> Option<Self> {
        Some(Self { host: host_of(url), full_name: RepoFullName::from_remote_url(url)? })
    }

    /// Parses `[host/]owner/name`, as `gh repo set-default` records it.
    fn from_name(name: &str) -> Option<Self> {
        match name.split('/').count() {
            3 => Self::from_url(&format!("https://{name}")),
            _ => Some(Self { host: None, full_name: name.parse().ok()? }),
        }
    }

    /// Returns whether the repository has another owner at the same host. Its branches are then the head of a pull
    /// request only together with the owner.
    fn is_fork_of(&self, base: &Self) -> bool {
        let same_host = self.host.is_none() || base.host.is_none() || self.host == base.host;
        same_host && !self.full_name.org().eq_ignore_ascii_case(base.full_name.org())
    }
}

impl Remotes {
    /// Reads the remotes from the entries of a configuration, those of the files with precedence last.
    #[must_use]
    pub fn of(config: &[ConfigEntry]) -> Self {
        let values = |remote: &str, name: &str| {
            let of_remote = |entry: &&ConfigEntry| {
                entry.section == "remote" && entry.subsection.as_deref() == Some(remote) && entry.name == name
            };
            config.iter().filter(of_remote).filter_map(ConfigEntry::text).collect::<Vec<_>>()
        };
        let mut names: Vec<&str> = Vec::new();
        for entry in config.iter().filter(|entry| entry.section == "remote" && entry.name == "url") {
            // A configuration for all clones may describe a remote that this clone does not have: no URL, no remote.
            let name = entry.subsection.as_deref().filter(|name| is_name(name) && !names.contains(name));
            names.extend(name);
        }
        let has = |name: &&str| names.contains(name);
        let first = names.first().copied();
        let fetch = Some(ORIGIN).filter(has).or(Some(UPSTREAM).filter(has)).or(first).unwrap_or(ORIGIN);
        // git uses the first URL of several.
        let url = |remote: &str| values(remote, "url").first().map(|url| (*url).to_owned());
        let repository = |remote: &str| RemoteRepository::from_url(&url(remote)?);

        let push_default = config.iter().rev().find(|entry| entry.is("remote", "pushdefault"));
        let push = push_default.and_then(ConfigEntry::text).filter(has).unwrap_or(fetch);
        let push_url = values(push, "pushurl").first().map(|url| (*url).to_owned());
        // It becomes an argument of git, where a leading dash would start an option.
        let push_url =
            push_url.filter(|push_url| !push_url.starts_with('-') && Some(push_url) != url(push).as_ref());
        let push_repository = match &push_url {
            Some(push_url) => RemoteRepository::from_url(push_url),
            None => repository(push),
        };

        let selected = names.iter().find_map(|name| Some((*name, *values(name, "gh-resolved").last()?)));
        let is_base = |remote: &&str| {
            let (pushed, base) = (push_repository.as_ref(), repository(remote));
            pushed.zip(base.as_ref()).is_some_and(|(pushed, base)| pushed.is_fork_of(base))
        };
        let (base, base_repository) =
            match selected.map(|(name, value)| (name, RemoteRepository::from_name(value))) {
                // A repository that no remote of the clone had when it was selected.
                Some((name, Some(selected))) => {
                    let names_it = |remote: &&&str| {
                        repository(remote).is_some_and(|remote| remote.full_name.same_as(&selected.full_name))
                    };
                    (names.iter().find(names_it).copied().unwrap_or(name), Some(selected))
                }
                // The value `base` selects the remote itself.
                Some((name, None)) => (name, repository(name)),
                None => {
                    let base = Some(UPSTREAM).filter(has).filter(is_base).unwrap_or(fetch);
                    (base, repository(base))
                }
            };
        Self {
            base: base.to_owned(),
            base_url: url(base),
            base_repository,
            push: push.to_owned(),
            push_repository,
            clone_repository: repository(fetch).map(|repository| repository.full_name),
            push_url,
        }
    }

    /// Returns the remote-tracking branch of a branch of the base repository.
    #[must_use]
    pub fn base_ref(&self, branch: &str) -> String {
        format!("refs/remotes/{}/{branch}", self.base)
    }

    /// Returns the remote-tracking branch of a pushed branch.
    #[must_use]
    pub fn pushed_ref(&self, branch: &str) -> String {
        format!("refs/remotes/{}/{branch}", self.push)
    }

    /// Returns what git fetches pushed branches from: the remote, or the URL that it pushes to.
    #[must_use]
    pub fn push_source(&self) -> &str {
        self.push_url.as_deref().unwrap_or(&self.push)
    }

    /// Returns the owner that qualifies a pushed branch in the base repository; `None` when the branch is pushed to the
    /// base repository itself.
    #[must_use]
    pub fn head_owner(&self) -> Option<&str> {
        let (base, pushed) = (self.base_repository.as_ref()?, self.push_repository.as_ref()?);
        pushed.is_fork_of(base).then(|| pushed.full_name.org())
    }

    /// Returns a pushed branch as the head of a pull request: `branch`, or `owner:branch` from a fork.
    #[must_use]
    pub fn head(&self, branch: &str) -> String {
        self.head_owner().map_or_else(|| branch.to_owned(), |owner| format!("{owner}:{branch}"))
    }

    /// Returns the base repository if the clone was created from another one, its fork.
    #[must_use]
    pub fn parent_repository(&self) -> Option<&RepoFullName> {
        let (base, cloned) = (&self.base_repository.as_ref()?.full_name, self.clone_repository.as_ref()?);
        (!cloned.same_as(base)).then_some(base)
    }

    /// Returns the base repository for messages, or its remote when the URL names none.
    #[must_use]
    pub fn base_name(&self) -> &str {
        self.base_repository.as_ref().map_or(&self.base, |repository| repository.full_name.as_str())
    }
}

/// Returns whether the name of a remote is safe as an argument and in the name of a ref.
fn is_name(name: &str) -> bool {
    let valid = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    !name.is_empty() && !name.starts_with(['-', '.', '/']) && name.chars().all(valid) && !name.contains("..")
}

fn host_of(url: &str) -> Option<String> {
    let authority = match url.trim().split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => return None,
        Some((_, rest)) => rest.split('/').next()?,
        // The scp-like form `git@host:owner/name`.
        None => url.trim().split_once(':')?.0,
    };
    let host = authority.rsplit('@').next()?.split(':').next()?.to_ascii_lowercase();
    // `ssh.github.com` serves ssh on port 443, for networks that block port 22.
    if host == GITHUB || host.ends_with(".github.com") {
        return Some(GITHUB.to_owned());
    }
    // Aliases in the configuration of ssh, such as `work` and `github.com-work`, are no hosts of an API.
    let (_, top_level) = host.rsplit_once('.')?;
    let is_host = !top_level.is_empty() && top_level.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_host.then_some(host)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::git_config::{parse_config_list, parse_git_config};

    const FORK: &str = "[remote \"origin\"]\nurl = git@github.com:octo-dev/shop.git\n";
    const PARENT: &str = "[remote \"upstream\"]\nurl = https://github.com/acme/shop\n";

    fn remotes(text: &str) -> Remotes {
        Remotes::of(&parse_git_config(text.as_bytes()).unwrap())
    }

    /// Returns base remote, base repository, push remote, and the head of a pull request from branch `x`.
    fn summary(text: &str) -> [String; 4] {
        let remotes = remotes(text);
        let repository = remotes.base_repository.as_ref().map(ToString::to_string).unwrap_or_default();
        [remotes.base.clone(), repository, remotes.push.clone(), remotes.head("x")]
    }

    #[test]
    fn each_purpose_has_its_remote() {
        let only_fork = "[remote \"mine\"]\nurl = https://github.com/octo-dev/shop.git\n";
        let parent_as_origin = "[remote \"origin\"]\nurl = https://github.com/acme/shop.git\n";
        let same_owner = "[remote \"upstream\"]\nurl = https://github.com/Octo-Dev/store\n";
        let other_host = "[remote \"upstream\"]\nurl = https://gitlab.com/acme/shop\n";
        let (acme, octo) = ("github.com/acme/shop", "github.com/octo-dev/shop");
        for (config, expected) in [
            (String::new(), ["origin", "", "origin", "x"]),
            (FORK.to_owned(), ["origin", octo, "origin", "x"]),
            (only_fork.to_owned(), ["mine", octo, "mine", "x"]),
            (format!("{FORK}{PARENT}"), ["upstream", acme, "origin", "octo-dev:x"]),
            (format!("{PARENT}{FORK}"), ["upstream", acme, "origin", "octo-dev:x"]),
            (format!("{FORK}{same_owner}"), ["origin", octo, "origin", "x"]),
            (format!("{FORK}{other_host}"), ["origin", octo, "origin", "x"]),
            (
                format!("{parent_as_origin}pushurl = git@github.com:octo-dev/shop.git\n"),
                ["origin", acme, "origin", "octo-dev:x"],
            ),
            (
                format!("{parent_as_origin}{only_fork}[remote]\npushDefault = mine\n"),
                ["origin", acme, "mine", "octo-dev:x"],
            ),
            // A default for all clones names a remote that this one does not have.
            (format!("{parent_as_origin}[remote]\npushDefault = mine\n"), ["origin", acme, "origin", "x"]),
            (format!("{FORK}gh-resolved = base\n{PARENT}"), ["origin", octo, "origin", "x"]),
            (format!("{FORK}{PARENT}gh-resolved = base\n"), ["upstream", acme, "origin", "octo-dev:x"]),
            (format!("{FORK}gh-resolved = acme/shop\n"), ["origin", "acme/shop", "origin", "octo-dev:x"]),
            (
                format!("{FORK}gh-resolved = ghe.example.com/acme/shop\n{PARENT}"),
                ["upstream", "ghe.example.com/acme/shop", "origin", "x"],
            ),
            // A section without URL, and names that git or a program would not take for a remote.
            (format!("[remote \"origin\"]\nprune = true\n{PARENT}"), ["upstream", acme, "upstream", "x"]),
            (
                format!("[remote \"--all\"]\nurl = x\n[remote \"a b\"]\nurl = x\n{FORK}"),
                ["origin", octo, "origin", "x"],
            ),
        ] {
            assert_eq!(summary(&config), expected, "{config}");
        }
        let option = format!("{FORK}pushurl = --upload-pack=x\n");
        assert_eq!(remotes(&option).push_source(), "origin");
    }

    #[test]
    fn remotes_are_read_from_the_output_of_git() {
        let printed =
            b"remote.a.b.url\ngit@github.com:acme/shop.git\0remote.pushdefault\na.b\0remote.x.mirror\0";
        let remotes = Remotes::of(&parse_config_list(printed).unwrap());
        assert_eq!((remotes.base.as_str(), remotes.push.as_str()), ("a.b", "a.b"));
        assert_eq!(remotes.base_url.as_deref(), Some("git@github.com:acme/shop.git"));
        assert_eq!(Remotes::of(&parse_config_list(b"").unwrap()).base_url, None);
    }

    #[test]
    fn host_of_a_url_is_that_of_the_api() {
        for (url, repository) in [
            ("git@github.com:acme/shop.git", "github.com/acme/shop"),
            ("ssh://git@ssh.github.com:443/acme/shop.git", "github.com/acme/shop"),
            ("https://me:token@GHE.Example.com:8443/acme/shop", "ghe.example.com/acme/shop"),
            ("git@github.com-work:acme/shop.git", "acme/shop"),
            ("work:acme/shop.git", "acme/shop"),
            ("/srv/git/acme/shop.git", "acme/shop"),
            ("file:///srv/git/acme/shop.git", "acme/shop"),
        ] {
            assert_eq!(RemoteRepository::from_url(url).unwrap().to_string(), repository, "{url}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_names_are_no_options(name in ".{0,12}", url in ".{0,30}", pushurl in ".{0,30}") {
            let entry = |name: &str, variable: &str, value: &str| ConfigEntry {
                section: "remote".to_owned(),
                subsection: Some(name.to_owned()),
                name: variable.to_owned(),
                value: Some(value.into()),
            };
            let remotes = Remotes::of(&[entry(&name, "url", &url), entry(&name, "pushurl", &pushurl)]);
            prop_assert!(!remotes.base.starts_with('-') && !remotes.push_source().starts_with('-'));
        }
    }
}
