use proptest::prelude::*;
use proptest::string::string_regex;
use proptest::test_runner::{Config, TestRunner};
use serde::Deserialize;
use serde_json::json;
use sha2::Digest;

use super::*;

/// A notation in which secrets occur, with the expected result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CorpusEntry {
    place: String,
    text: String,
    secret: String,
    cleaned: String,
    /// Regular expression for other secrets of this kind; any password when absent.
    like: Option<String>,
}

const BASE64_ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const ANY_PASSWORD: &str = "[A-Za-z]{3}[0-9][A-Za-z0-9!@$%^*_+=~.-]{6,24}[A-Za-z0-9]";

fn corpus() -> Vec<CorpusEntry> {
    serde_json::from_str(include_str!("corpus.json")).unwrap()
}

#[test]
fn corpus_secrets_are_redacted() {
    for entry in corpus() {
        assert!(entry.text.contains(&entry.secret), "{entry:?}");
        assert_eq!(credentials(&entry.text), entry.cleaned, "{}", entry.place);
        // Redacting a redacted text must not change it: texts pass through several layers that redact.
        assert_eq!(credentials(&entry.cleaned), entry.cleaned, "again: {}", entry.place);
    }
}

#[test]
fn other_secrets_of_the_same_kind_are_redacted() {
    for entry in corpus() {
        let secrets = string_regex(entry.like.as_deref().unwrap_or(ANY_PASSWORD)).unwrap();
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(32) });
        let outcome = runner.run(&secrets, |secret| {
            let cleaned = credentials(&entry.text.replace(&entry.secret, &secret));
            prop_assert_eq!(&cleaned, &entry.cleaned, "{} was {}", entry.place, secret);
            prop_assert!(!message(&entry.text.replace(&entry.secret, &secret)).contains(&secret));
            // Proptest's panic message would not name the corpus entry.
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{}: {error}", entry.place));
    }
}

#[test]
fn corpus_secrets_are_redacted_in_json_and_in_tails() {
    for entry in corpus() {
        let cleaned = json(json!({"logTail": entry.text, "lines": [entry.text]}));
        assert_eq!(cleaned, json!({"logTail": entry.cleaned, "lines": [entry.cleaned]}));
        let output = format!("first\n{}\nlast", entry.text);
        let tail = tail(&output, 4096, 50).unwrap();
        assert!(!tail.contains(&entry.secret) && tail.ends_with("\nlast"), "{}: {tail}", entry.place);
    }
}

#[test]
fn ordinary_text_is_unchanged() {
    for text in [
        "commit 0123456789abcdef0123456789abcdef01234567\nAuthor: Sam <sam@example.com>",
        "/home/sam/src/shop-loop-plan-7/.loopgate/work/plan.json",
        "loop 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b is over",
        "# Plan\n\n- [ ] **Cart**: keep `items` for 30 days\n- see [docs](https://example.com/a?page=2#top)",
        "error: unexpected token: `}`, expected expression",
        "Bearer token is missing; use Basic authentication",
        "tokens=1500 max_tokens: 4096 tokenUsage={\"inputTokens\":12}",
        "password_file=/run/secrets/db author: sam",
        "git@github.com:acme/shop.git ssh://git@github.com/acme/shop.git",
        "http://localhost:4873/@scope/pkg and https://example.com/@sam",
        "docker run -p 8080:80 nginx; mkdir -p a/b",
        "export PATH=$PATH:/opt/bin TOKEN=$CI_TOKEN PASSWORD=${DB_PASSWORD}",
        "let token = lexer.next(); if token == other {",
        "task-management-system and risk-assessment-report",
        "fetch(url, { credentials: 'include' }) // password: string;",
        "WWW-Authenticate: Bearer realm=\"api\"",
        "name\tage\nsam\t42",
        "Füße – 日本語 ✓",
    ] {
        assert_eq!(credentials(text), text);
    }
}

// Output that programs print in large amounts. False positives here would make logs and diffs unreadable.
#[test]
fn hashes_and_base64_data_are_unchanged() {
    let mut digest = [7; 32];
    let (mut image, mut log) = (String::from("data:image/png;base64,"), String::new());
    for n in 0..512 {
        digest = sha2::Sha256::digest(digest).into();
        let word = hex::encode(digest);
        image.extend(digest.map(|byte| char::from(BASE64_ALPHABET[usize::from(byte % 64)])));
        let (commit, uuid) = (&word[..40], uuid::Uuid::from_slice(&digest[..16]).unwrap());
        log.push_str(&format!("{commit} {word} {uuid} src/loop-{n}/a_b.{n}/{}.rs:{n}\n", &word[..12]));
    }
    assert!(credentials(&image) == image, "the image was changed");
    for line in log.lines() {
        assert_eq!(credentials(line), line);
    }
}

#[test]
fn formatted_secrets_are_redacted_in_plain_and_percent_encoded_paths() {
    // Only tokens that are recognizable by their own format are redacted in a path: it has no names before
    // values.
    let shapes = corpus().into_iter().filter(|entry| entry.text.starts_with("saw "));
    for CorpusEntry { place, secret, .. } in shapes {
        let encoded: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let slashes = secret.replace('/', "%2F");
        for path in [
            format!("/api/gateway/{secret}/x"),
            format!("/api/gateway/x?q={slashes}"),
            format!("/{encoded}"),
            format!("/x%2F{slashes}%2Fy"),
        ] {
            let shown = target(&path);
            assert!(shown.contains("[REDACTED") && !shown.contains(&secret[8..]), "{place}: {path}: {shown}");
        }
    }
}

#[test]
fn message_redacts_users_and_long_words_but_not_paths() {
    for (text, cleaned) in [
        ("\u{1b}[31mfailed\u{1b}[0m at 0123456789abcdef0123456789abcdef0123456", "failed at [REDACTED]"),
        ("clone https://a:b@h/x and ssh://git@h/y", "clone https://***@h/x and ssh://***@h/y"),
        ("hash 0123456789abcdef012 is short", "hash 0123456789abcdef012 is short"),
        ("blob QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2w= here", "blob [REDACTED] here"),
        (
            "no home/sam/projects/acme/shop/src/components/ButtonGroup2 there",
            "no home/sam/projects/acme/shop/src/components/ButtonGroup2 there",
        ),
    ] {
        assert_eq!(message(text), cleaned);
    }
}

#[test]
fn commit_ids_are_no_secrets() {
    let id = "0123456789abcdef0123456789abcdef01234567";
    for text in [
        format!("fatal: bad object {id}"),
        format!("fatal: bad object {}", &id[..12]),
        format!("error: cannot lock ref 'refs/heads/x': is at {id} but expected {id}"),
        format!("cannot read acme/shop/commit/{id}"),
    ] {
        assert_eq!(message(&text), text);
        assert_eq!(log_line(&text), text);
    }
    for text in [
        format!("token={id}"),
        format!("Authorization: token {id}"),
        format!("https://{id}@example.com/x"),
        id.to_uppercase(),
        format!("{id}ab"),
    ] {
        assert!(message(&text).contains("***") || message(&text).contains("[REDACTED"), "{text}");
    }
}

#[test]
fn message_keeps_the_start_and_the_end() {
    let banner = "OpenAI Codex v0.171.0\n--------\nworkdir: /w\n".to_owned();
    let text =
        format!("{banner}{}ERROR: You’ve hit your usage limit.\n", "warning: a hook failed\n".repeat(60));
    let shown = message(&text);
    assert!(shown.starts_with("OpenAI Codex") && shown.contains(" […] "), "{shown}");
    assert!(shown.ends_with("ERROR: You’ve hit your usage limit."), "{shown}");
    assert!(shown.chars().count() <= 500, "{shown}");
    assert_eq!(message(&shown), shown, "texts pass through several layers");
    assert_eq!(shorten("short", 5), "short");
    assert_eq!(shorten(&"ä".repeat(30), 25), format!("{} […] {}", "ä".repeat(5), "ä".repeat(15)));
}

#[test]
fn replacement_names_kind_of_secret() {
    for (text, cleaned) in [
        ("https://user:secret@host/x", "https://[REDACTED]@host/x"),
        ("AKIAABCDEFGHIJKLMNOP", "[REDACTED_AWS_KEY]"),
        ("ASIAABCDEFGHIJKLMNOP AROAABCDEFGHIJKLMNOP", "[REDACTED_AWS_KEY] [REDACTED_AWS_KEY]"),
        ("Bearer abc.def-ghi", "Bearer [REDACTED]"),
        ("sk-0123456789", "[REDACTED_SK_KEY]"),
        ("ghp_01234567890123456789", "[REDACTED_GH_TOKEN]"),
        ("github_pat_01234567890123456789", "[REDACTED_GH_TOKEN]"),
        ("a password=x", "a password=[REDACTED]"),
        ("a secret=x", "a secret=[REDACTED]"),
        ("a passwd=x", "a passwd=[REDACTED]"),
        ("a api_key=x apikey=x", "a api_key=[REDACTED] apikey=[REDACTED]"),
        ("a auth_token=x access_token=x", "a auth_token=[REDACTED] access_token=[REDACTED]"),
        ("a token=x client_secret=x", "a token=[REDACTED] client_secret=[REDACTED]"),
    ] {
        assert_eq!(credentials(text), cleaned);
    }
}

#[test]
fn cause_contains_no_local_path() {
    for (text, cleaned) in [
        ("couldn't write '/home/sam/src/shop/.git/refs/x.lock'", "couldn't write '…/x.lock'"),
        ("File too large at path \"/tmp/a/b\"", "File too large at path \"…/b\""),
        ("/srv/x: Not a directory", "…/x: Not a directory"),
        ("fetch https://github.com/acme/shop.git failed", "fetch https://github.com/acme/shop.git failed"),
        ("origin/main and a/b are branches", "origin/main and a/b are branches"),
    ] {
        assert_eq!(cause(text), cleaned);
    }
}

#[test]
fn json_is_redacted_by_member_name() {
    let cleaned = json(json!({
        "password": "hunter", "tokenUsage": {"inputTokens": 3}, "commitSha": "0123456789abcdef0123456789abcdef01234567",
        "headers": {"Authorization": "Bearer abc"}, "env": [{"name": "GH_TOKEN", "value": "abc"}],
        "args": ["--token", "abc", "--region", "eu"], "secret": null, "auth": "none",
        "curl": ["-u", "sam:abc", "https://example.com"],
    }));
    let expected = json!({
        "password": "[REDACTED]", "tokenUsage": {"inputTokens": 3}, "commitSha": "0123456789abcdef0123456789abcdef01234567",
        "headers": {"Authorization": "Bearer [REDACTED]"}, "env": [{"name": "GH_TOKEN", "value": "[REDACTED]"}],
        "args": ["--token", "[REDACTED]", "--region", "eu"], "secret": null, "auth": "none",
        "curl": ["-u", "[REDACTED]", "https://example.com"],
    });
    assert_eq!(cleaned, expected);
}

#[test]
fn arguments_are_redacted_individually() {
    let long = "x".repeat(201);
    let arguments = [
        "-p",
        "the request",
        "--model",
        "m",
        &long,
        "--prompt=the request",
        "--api-key",
        "abc",
        "--token=abc",
        "-u",
        "sam:abc",
        "https://a:b@h/x",
        "--token-file",
        "/run/token",
    ];
    assert_eq!(
        args(arguments.map(Cow::Borrowed)),
        [
            "-p",
            "[REDACTED]",
            "--model",
            "m",
            "[REDACTED_LONG_ARG]",
            "--prompt=[REDACTED]",
            "--api-key",
            "[REDACTED]",
            "--token=[REDACTED]",
            "-u",
            "[REDACTED]",
            "https://[REDACTED]@h/x",
            "--token-file",
            "/run/token",
        ]
    );
}

#[test]
fn tail_starts_at_line_or_word_boundary() {
    let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
    let lines = tail(&text, 64, 50).unwrap();
    assert!(lines.starts_with("line ") && lines.ends_with("line 99") && lines.len() <= 64);
    assert_eq!(tail("alpha beta gamma", 9, 50).unwrap(), "gamma");
    assert_eq!(skip_partial_line("ret=half\nwhole"), "whole");
}

#[test]
fn log_line_preserves_colours() {
    let line = "\u{1b}[2mWARN\u{1b}[0m token=abc of 0123456789abcdef0123456789abcdef012345\n";
    assert_eq!(log_line(line), "\u{1b}[2mWARN\u{1b}[0m token=[REDACTED] of [REDACTED]\n");
}

/// Generates texts of fragments that rules react to.
fn pieces() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "password",
        "token",
        "Authorization",
        "Cookie",
        "--api-key",
        "auth",
        "name",
        "value",
        "secret_test",
        "=",
        ":",
        " = ",
        ": ",
        "==",
        "=>",
        " ",
        "\n",
        "\t",
        "\"",
        "\\\"",
        "\\\\\\\"",
        "'",
        "`",
        ",",
        ";",
        "&",
        "<",
        ">",
        "[",
        "]",
        "{",
        "}",
        "|\n  ",
        "https://",
        "@",
        "/",
        "Bearer ",
        "Basic ",
        "sk-",
        "ghp_",
        "AKIA",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "\\n",
        "[REDACTED]",
        "[REDACTED_SK_KEY]",
        "***",
        "\u{1b}[1m",
        "\u{1b}]0;",
        "abcdefghijklmnop",
        "ABCDEFGHIJKLMNOP",
        "0123456789012345678901",
        "é",
    ]);
    let pieces = prop_oneof![4 => words.prop_map(str::to_owned), 1 => "\\PC{0,6}"];
    prop::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) })]

    #[test]
    fn redaction_is_idempotent(text in pieces()) {
        let once = credentials(&text);
        prop_assert_eq!(credentials(&once), once);
        let line = log_line(&text);
        prop_assert_eq!(log_line(&line), line);
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in any::<String>()) {
        let once = credentials(&text);
        prop_assert_eq!(credentials(&once), once);
        let _ = (message(&text), cause(&text), args([Cow::Borrowed(text.as_str())]));
        let _ = json(json!({ text.clone(): text }));
    }

    #[test]
    fn token_is_redacted_in_any_context(before in "[ -~]{0,40}", after in "[ -~]{0,40}") {
        let secret = "ghp_abcdefghijklmnopqrstuvwx";
        let text = format!("{before} {secret} {after}");
        prop_assert!(!credentials(&text).contains(secret));
        prop_assert!(!message(&text).contains(secret));
    }

    #[test]
    fn tail_respects_limits(text in "(?s).{0,400}", bytes in 1usize..200, lines in 1usize..10) {
        if let Some(tail) = tail(&text, bytes, lines) {
            prop_assert!(tail.lines().count() <= lines);
            prop_assert!(tail.len() <= bytes);
        }
    }
}

#[test]
fn holds_key_detects_keys_but_not_placeholders() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n";
    for text in [
        key,
        "token: ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "const key = 'sk-ant-api03-9fQzL2xVbT7mKcWdR4yHnJsPgE1uAoXi'",
        "AWS_KEY=AKIAZ7QFJ2M4XNW6PT3B",
    ] {
        assert!(super::holds_key(text), "{text}");
    }
    for text in [
        "-----BEGIN PRIVATE KEY-----",
        "password = hunter2",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        ".sk-loading-spinner-container { }",
        "https://user:secret@host/x",
    ] {
        assert!(!super::holds_key(text), "{text}");
    }
}

#[test]
fn keys_are_located_and_agree_with_the_check_of_a_text() {
    let body = "MIIEowIBAAKCAQEA7Qx3bN9sVt0pLw2k\nKj8Zr4TfYhUe1Gd6CmWaXo5RqBvPnSy\n";
    let block = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----");
    let token = format!("gh{}_{}", 'p', "a1B2c3D4e5F6g7H8i9J0k1L2");
    let text = format!("first\n{block}\nmiddle\n\nkey = '{token}'\n-----BEGIN PRIVATE KEY-----\n");
    let located: Vec<&str> = keys(&text).into_iter().map(|range| &text[range]).collect();
    assert_eq!(located, [block.as_str(), token.as_str()]);
    // The rule for this prefix matches the character before it.
    let text = "a\nsk-a1B2c3D4e5F6g7H8i9J0";
    assert_eq!(keys(text)[0], 2..text.len());
    for entry in corpus() {
        assert_eq!(!keys(&entry.text).is_empty(), holds_key(&entry.text), "{}", entry.text);
    }
}

#[test]
fn time_for_beginnings_without_an_end_is_linear() {
    let text = "-----BEGIN PRIVATE KEY-----\n".repeat(100_000);
    assert!(keys(&text).is_empty());
}

#[test]
fn values_of_secret_names_are_located() {
    let text = "user = 'sam'\npassword = 'Tr0ub4dor&3xyz'\nclient_secret: \"s3cr3t-Value9\"\n";
    let located: Vec<&str> = named_values(text).into_iter().map(|range| &text[range]).collect();
    assert_eq!(located, ["Tr0ub4dor&3xyz", "s3cr3t-Value9"]);
}
