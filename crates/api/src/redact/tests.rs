use proptest::prelude::*;
use proptest::string::string_regex;
use proptest::test_runner::{Config, TestRunner};
use serde::Deserialize;
use serde_json::json;
use sha2::Digest;

use super::*;

/// A place where a secret hides, and what is left of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CorpusEntry {
    place: String,
    text: String,
    secret: String,
    cleaned: String,
    /// The secrets of this kind, as a regular expression; any password when absent.
    like: Option<String>,
}

const BASE64_ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const ANY_PASSWORD: &str = "[A-Za-z]{3}[0-9][A-Za-z0-9!@$%^*_+=~.-]{6,24}[A-Za-z0-9]";

fn corpus() -> Vec<CorpusEntry> {
    serde_json::from_str(include_str!("corpus.json")).unwrap()
}

#[test]
fn corpus_secrets_are_redacted() {
    for hidden in corpus() {
        assert!(hidden.text.contains(&hidden.secret), "{hidden:?}");
        assert_eq!(credentials(&hidden.text), hidden.cleaned, "{}", hidden.place);
        assert_eq!(credentials(&hidden.cleaned), hidden.cleaned, "again: {}", hidden.place);
    }
}

#[test]
fn no_other_secret_of_the_same_kind_survives_there() {
    for hidden in corpus() {
        let secrets = string_regex(hidden.like.as_deref().unwrap_or(ANY_PASSWORD)).unwrap();
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(32) });
        let outcome = runner.run(&secrets, |secret| {
            let cleaned = credentials(&hidden.text.replace(&hidden.secret, &secret));
            prop_assert_eq!(&cleaned, &hidden.cleaned, "{} was {}", hidden.place, secret);
            prop_assert!(!message(&hidden.text.replace(&hidden.secret, &secret)).contains(&secret));
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{}: {error}", hidden.place));
    }
}

#[test]
fn every_place_is_clean_in_a_document_and_at_the_end_of_an_output_too() {
    for hidden in corpus() {
        let cleaned = json(json!({"logTail": hidden.text, "lines": [hidden.text]}));
        assert_eq!(cleaned, json!({"logTail": hidden.cleaned, "lines": [hidden.cleaned]}));
        let output = format!("first\n{}\nlast", hidden.text);
        let tail = tail(&output, 4096, 50).unwrap();
        assert!(!tail.contains(&hidden.secret) && tail.ends_with("\nlast"), "{}: {tail}", hidden.place);
    }
}

#[test]
fn ordinary_text_stays_as_it_is() {
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

/// What programs print in masses; a rule that trips over it would make it useless.
#[test]
fn masses_of_hashes_and_encoded_bytes_stay_as_they_are() {
    let mut digest = [7; 32];
    let (mut image, mut log) = (String::from("data:image/png;base64,"), String::new());
    for n in 0..512 {
        digest = sha2::Sha256::digest(digest).into();
        let word = hex::encode(digest);
        image.extend(digest.map(|byte| char::from(BASE64_ALPHABET[usize::from(byte % 64)])));
        let (commit, uuid) = (&word[..40], uuid::Uuid::from_slice(&digest[..16]).unwrap());
        log.push_str(&format!("{commit} {word} {uuid} src/loop-{n}/a_b.{n}/{}.rs:{n}\n", &word[..12]));
    }
    assert!(credentials(&image) == image, "an image changed");
    for line in log.lines() {
        assert_eq!(credentials(line), line);
    }
}

#[test]
fn every_secret_of_a_shape_is_hidden_in_a_path_encoded_or_not() {
    let shapes = corpus().into_iter().filter(|hidden| hidden.text.starts_with("saw "));
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
fn message_loses_every_user_and_long_words_but_no_path() {
    for (text, cleaned) in [
        ("\u{1b}[31mfailed\u{1b}[0m at 0123456789abcdef0123456789abcdef01234567", "failed at [REDACTED]"),
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
    assert_eq!(message(&"words ".repeat(200)).chars().count(), 500);
}

#[test]
fn each_rule_has_its_own_replacement() {
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
fn document_is_cleaned_by_the_names_of_its_members() {
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
fn arguments_are_cleaned_one_by_one() {
    let long = "x".repeat(201);
    let given = [
        "-p",
        "the wish",
        "--model",
        "m",
        &long,
        "--prompt=the wish",
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
        args(given.map(Cow::Borrowed)),
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
fn tail_begins_with_a_whole_line_or_word() {
    let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
    let lines = tail(&text, 64, 50).unwrap();
    assert!(lines.starts_with("line ") && lines.ends_with("line 99") && lines.len() <= 64);
    assert_eq!(tail("alpha beta gamma", 9, 50).unwrap(), "gamma");
    assert_eq!(after_the_cut("ret=half\nwhole"), "whole");
}

#[test]
fn log_line_keeps_its_colours() {
    let line = "\u{1b}[2mWARN\u{1b}[0m token=abc of 0123456789abcdef0123456789abcdef01234567\n";
    assert_eq!(log_line(line), "\u{1b}[2mWARN\u{1b}[0m token=[REDACTED] of [REDACTED]\n");
}

/// Words out of which texts are made that rules may trip over.
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
    fn no_token_survives_its_surroundings(before in "[ -~]{0,40}", after in "[ -~]{0,40}") {
        let secret = "ghp_abcdefghijklmnopqrstuvwx";
        let text = format!("{before} {secret} {after}");
        prop_assert!(!credentials(&text).contains(secret));
        prop_assert!(!message(&text).contains(secret));
    }

    #[test]
    fn tail_keeps_its_limits(text in "(?s).{0,400}", bytes in 1usize..200, lines in 1usize..10) {
        if let Some(tail) = tail(&text, bytes, lines) {
            prop_assert!(tail.lines().count() <= lines);
            prop_assert!(tail.len() <= bytes);
        }
    }
}

#[test]
fn keys_are_found_and_their_placeholders_are_not() {
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
