//! Extracts versions from program output and compares them.

use super::check::Check;

/// Returns the first match of `\d+\.\d+[\w.-]*`.
pub(super) fn first_version(text: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut start = 0;
    while let Some(offset) = text[start..].find(|c: char| c.is_ascii_digit()) {
        let candidate = &text[start + offset..];
        let major = digits(candidate);
        let minor = candidate[major..].strip_prefix('.').map_or(0, digits);
        if minor > 0 {
            let body = candidate.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-')));
            return Some(&candidate[..body.unwrap_or(candidate.len())]);
        }
        start += offset + major;
    }
    None
}

/// Returns the major and minor version.
pub(super) fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Parses a version of exactly three numbers. A leading `v` is accepted.
fn plain(version: &str) -> Option<[u64; 3]> {
    let mut parts = bare(version).split('.').map(|part| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    });
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

/// Result of comparing a version with the latest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VersionAge {
    /// Equal to the latest version, or newer.
    Current,
    /// Older than the latest version.
    Old,
}

/// Compares two versions. Returns `None` when one is not of the form `x.y.z`.
fn age(installed: &str, latest: &str) -> Option<VersionAge> {
    let (installed, latest) = (plain(installed)?, plain(latest)?);
    Some(if installed < latest { VersionAge::Old } else { VersionAge::Current })
}

fn bare(version: &str) -> &str {
    version.strip_prefix(['v', 'V']).unwrap_or(version)
}

/// Compares the version of the desktop with the latest one.
pub(crate) fn row(installed: &str, latest: &str) -> Check {
    const ID: &str = "app-version";
    const LABEL: &str = "Gateway Version";
    let (installed, latest) = (bare(installed), bare(latest));
    let version = Some(installed.to_owned());
    match age(installed, latest) {
        Some(VersionAge::Current) => Check::passed(ID, LABEL, true, version),
        Some(VersionAge::Old) => Check {
            version,
            ..Check::failed(
                ID,
                LABEL,
                true,
                format!("Update available: {latest}"),
                "Install the latest Loopgate and start it again.",
            )
        },
        None => {
            let latest: String = latest.chars().filter(|c| !c.is_control()).take(64).collect();
            Check {
                error: Some(format!(
                    "Version format unrecognized (installed: {installed}, latest: {latest})"
                )),
                ..Check::passed(ID, LABEL, true, version)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn first_version_is_extracted_from_program_output() {
        assert_eq!(first_version("git version 2.46.1"), Some("2.46.1"));
        assert_eq!(first_version("2.1.0 (Assistant)"), Some("2.1.0"));
        assert_eq!(first_version("gh version 2.50.0-rc.1 (2024-05-29)"), Some("2.50.0-rc.1"));
        assert_eq!(first_version("build 7 of 12, x1.5y"), Some("1.5y"));
        assert_eq!(first_version("no version 7."), None);
        assert_eq!(major_minor("3.9.2"), Some((3, 9)));
        assert_eq!(major_minor("3.14rc1"), Some((3, 14)));
    }

    #[test]
    fn only_an_outdated_desktop_fails() {
        assert!(row("0.13.18", "v0.13.18").passed);
        assert!(row("1.0.0", "0.99.99").passed);
        let old = row("0.13.18", "v99.0.0");
        assert_eq!((old.passed, old.error.as_deref()), (false, Some("Update available: 99.0.0")));
        let odd = row("0.13.18", "abc");
        assert!(odd.passed);
        assert_eq!(
            odd.error.as_deref(),
            Some("Version format unrecognized (installed: 0.13.18, latest: abc)")
        );
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "\\PC*") {
            if let Some(version) = first_version(&text) {
                prop_assert!(version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.'));
            }
            let _ = row("1.2.3", &text);
        }
    }
}
