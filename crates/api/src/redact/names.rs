//! What a name says about its value.

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A person made it up, so that it may look like anything.
    Password,
    /// A header that holds several values.
    Cookie,
    /// A header with the name of a scheme before the secret.
    Authorization,
    /// A program made it.
    Token,
    /// Only a value that looks like one is a secret.
    Vague,
}

const PASSWORDS: [&str; 4] = ["password", "passwd", "passphrase", "passcode"];
const TOKENS: [&str; 21] = [
    "token",
    "secret",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "privkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "accountkey",
    "sharedkey",
    "authkey",
    "sessionkey",
    "deploykey",
    "sshkey",
    "licensekey",
    "servicekey",
    "credential",
    "jwt",
    "connectionstring",
];
/// Words that only say how a secret is written, or where it is used.
const ADDED: [&str; 22] = [
    "value",
    "base",
    "base64",
    "b64",
    "plain",
    "plaintext",
    "text",
    "hash",
    "raw",
    "header",
    "env",
    "str",
    "string",
    "current",
    "new",
    "old",
    "prod",
    "production",
    "dev",
    "staging",
    "test",
    "live",
];

/// Whether what has this name is a secret: `GH_TOKEN`, `clientSecret`, `x-api-key`, and not
/// `tokenUsage` or `password_file`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    kind(name).is_some()
}

pub(super) fn kind(name: &str) -> Option<NameKind> {
    let mut words = words(name);
    loop {
        if let Some(kind) = kind_of(&words) {
            return Some(kind);
        }
        let last = words.pop()?;
        let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
        if words.is_empty() || !(is_number || ADDED.contains(&last.as_str())) {
            return None;
        }
    }
}

fn kind_of(words: &[String]) -> Option<NameKind> {
    let (last, before) = words.split_last()?;
    let whole = words.concat();
    let whole = whole.trim_end_matches(|c: char| c.is_ascii_digit());
    let ends_with = |all: &[&str]| all.iter().any(|end| whole.ends_with(end));
    match last.as_str() {
        "pass" | "pwd" | "pw" if !before.is_empty() && whole != "oldpwd" => Some(NameKind::Password),
        "pat" if !before.is_empty() => Some(NameKind::Token),
        "auth" => Some(NameKind::Vague),
        "creds" | "credentials" => Some(NameKind::Token),
        _ if ends_with(&PASSWORDS) => Some(NameKind::Password),
        _ if ends_with(&["authorization"]) => Some(NameKind::Authorization),
        _ if ends_with(&["cookie", "cookies"]) => Some(NameKind::Cookie),
        _ if ends_with(&TOKENS) => Some(NameKind::Token),
        _ => None,
    }
}

/// The words of a name in any of the usual spellings, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        let begins = letter.is_ascii_uppercase() && before.is_ascii_lowercase();
        if begins || !letter.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphanumeric()) {
            word.push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Schemes that are followed by one word.
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "negotiate", "apikey", "dpop"];

impl NameKind {
    /// What follows the name of a scheme, when the kind has one.
    pub(super) fn without_scheme(self, value: &str) -> &str {
        let named = value.split_once([' ', '\t']).filter(|(scheme, _)| {
            self == Self::Authorization && SCHEMES.contains(&scheme.to_ascii_lowercase().as_str())
        });
        named.map_or(value, |(_, rest)| rest.trim_start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whether_they_mean_a_secret() {
        for name in [
            "password",
            "DB_PASSWORD",
            "dbPassword2",
            "PGPASSWORD",
            "mysql_pwd",
            "GH_TOKEN",
            "clientSecret",
            "x-api-key",
            "SecretAccessKey",
            "_authToken",
            "identitytoken",
            "SECRET_KEY_BASE",
            "AccountKey",
            "loopgateAuthToken",
            "Set-Cookie",
            "Proxy-Authorization",
            "GITHUB_PAT",
            "--api-key",
            "npm.password",
            "STRIPE_SECRET_TEST",
            "TOKEN_2",
            "connectionString",
            "APIKey",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "tokenUsage",
            "inputTokens",
            "tokens",
            "token_type",
            "tokensByModel",
            "password_file",
            "PWD",
            "OLDPWD",
            "authFilesExist",
            "author",
            "AWS_ACCESS_KEY_ID",
            "sessionId",
            "secretary",
            "keyboard",
            "passed",
            "path",
            "pattern",
            "apiKeySource",
            "gateway_token_file",
            "pass",
            "compass",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
