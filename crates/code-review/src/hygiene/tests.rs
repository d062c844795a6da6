use std::collections::BTreeMap;

use serde_json::json;

use super::*;

mod corpus;

/// A change of files: path, whether it is added, and lines from line 1.
fn data(files: &[(&str, ChangeStatus, &[&str])]) -> DiffData {
    let mut data = DiffData::default();
    for (path, status, lines) in files {
        let added_lines: BTreeMap<u64, String> =
            (1..).zip(lines.iter().map(|line| (*line).to_owned())).collect();
        data.files_to_review.push((*path).to_owned());
        data.file_statuses.insert((*path).to_owned(), *status);
        data.patch_lines.insert((*path).to_owned(), PatchLines { added_lines, ..PatchLines::default() });
    }
    data
}

/// Findings of one modified file: severity, check and line.
fn found(path: &str, lines: &[&str]) -> Vec<(String, String, u64)> {
    found_in(&data(&[(path, ChangeStatus::Modified, lines)]))
}

fn found_in(data: &DiffData) -> Vec<(String, String, u64)> {
    let name = |finding: &Finding| {
        let check = HygieneCheck::ALL.into_iter().find(|check| check.issue() == finding.issue).unwrap();
        (finding.severity.clone().into(), check.name().to_owned(), finding.line.unwrap())
    };
    check_change(data, &BTreeSet::new()).iter().map(name).collect()
}

fn checks(path: &str, lines: &[&str]) -> Vec<String> {
    found(path, lines).into_iter().map(|(_, check, _)| check).collect()
}

fn expected(list: &[(&str, &str, u64)]) -> Vec<(String, String, u64)> {
    list.iter().map(|(severity, check, line)| ((*severity).to_owned(), (*check).to_owned(), *line)).collect()
}

/// A token with the form of a vendor, which must not occur in the sources of this test.
fn token() -> String {
    format!("gh{}_{}", 'p', "a1B2c3D4e5F6g7H8i9J0k1L2m3N4")
}

fn private_key() -> Vec<String> {
    let body = ["MIIEowIBAAKCAQEA7Qx3bN9sVt0pLw2kXy", "Kj8Zr4TfYhUe1Gd6CmWaXo5RqBvPnSy", "Qw9Lr2Ns7Vd0Pk=="];
    let frame = |word: &str| format!("-----{word} {} KEY-----", "RSA PRIVATE");
    std::iter::once(frame("BEGIN")).chain(body.map(str::to_owned)).chain([frame("END")]).collect()
}

// PR-12
#[test]
fn path_of_a_ci_machine_is_reported_in_source_code_only() {
    let lines = ["let a = 1;", "const root = '/home/runner/x';"];
    let both = expected(&[("HIGH", "ci-artifact", 2), ("HIGH", "path-leakage", 2)]);
    assert_eq!(found("src/a.ts", &lines), both);
    assert_eq!(found("docs/a.md", &lines), []);
    assert_eq!(found("src/a.rs", &["x /github/workspace/a"]), expected(&[("MEDIUM", "ci-artifact", 1)]));
    assert_eq!(found("a.rs", &["x /github/workspace/a"]), expected(&[("HIGH", "ci-artifact", 1)]));
    for path in [
        "src/a/tests.rs",
        "src/a_test.go",
        "src/test_a.py",
        "src/a.spec.ts",
        "benches/a.rs",
        "src/testdata/a.js",
    ] {
        assert_eq!(found(path, &lines), [], "{path}");
    }
    for path in
        ["tests/a.py", "src/__tests__/a.ts", "fixtures/a.json", "examples/a.js", "a/docs/b.ts", "NOTES.txt"]
    {
        assert_eq!(found(path, &lines), [], "{path}");
    }
    let finding = &check_change(&data(&[("src/a.ts", ChangeStatus::Added, &lines)]), &BTreeSet::new())[0];
    assert_eq!(
        serde_json::to_value(finding).unwrap(),
        json!({"file": "src/a.ts", "line": 2, "severity": "HIGH",
        "category": "Repo Hygiene", "issue": "[P1] Path of a CI machine", "explanation": HygieneCheck::CiArtifact.explanation(),
        "recommendation": HygieneCheck::CiArtifact.recommendation(), "code_snippet": "const root = '/home/runner/x';",
        "priority": 1, "confidence": 1.0})
    );
    assert!(HygieneCheck::ALL.iter().all(|check| check.issue().len() < 80));
}

#[test]
fn absolute_paths_are_reported_and_urls_are_not() {
    for line in [
        "cwd = \"/home/sam/src/shop\"",
        "load(file:///home/sam/.config/x)",
        "PATH=/usr/bin:/home/sam/bin:$PATH",
        "const a = '/Users/sam';",
        "#include \"/home/sam/x.h\"",
        "#!/home/sam/bin/python",
        "let dir = \"C:\\\\Users\\\\sam\";",
        "dir = 'D:\\work\\shop'",
        "dir = 'C:\\WindowsShop\\x'",
    ] {
        assert_eq!(checks("src/a.rs", &[line]), ["path-leakage"], "{line}");
    }
    for line in [
        "fetch('https://example.com/home/sam/photos')",
        "<a href=\"/home/settings/profile\">",
        "router.get('/home/settings/profile', show)",
        "<Route path='/home/settings/profile' />",
        "await api.post(`/Users/search`)",
        "@GetMapping(\"/Users/{id}\")",
        "GET /Users/me",
        "const page = '/home/settings';",
        "src/home/dashboard/index.tsx",
        "root + `${base}/home/sam/x`",
        "/// Reads a file such as `/home/sam/notes`.",
        " * The directory, for instance /Users/sam.",
        "# e.g. /home/sam/project",
        "at run (/home/sam/app/node_modules/x/y.js)",
        "** a file such as file:///home/sam/data.db",
        "let root = env(\"SystemRoot\") || \"C:\\\\Windows\";",
        "run('C:\\Program Files (x86)\\Editor\\editor.exe')",
        "input.value === \"C:\\\\fakepath\\\\\" + name",
        "println!(\"TOTAL:\\n\")",
        "label = \"Y:\\n\"",
        "~/home/sam/x",
    ] {
        assert_eq!(checks("src/a.rs", &[line]), [""; 0], "{line}");
    }
}

// PR-13
#[test]
fn local_file_that_is_not_ignored_is_drift() {
    let data = data(&[(".env.local", ChangeStatus::Added, &["A=1"])]);
    let both = expected(&[("HIGH", "gitignore-drift", 1), ("HIGH", "sensitive-file", 1)]);
    assert_eq!(found_in(&data), both);
    assert_eq!(local_files(&data).collect::<Vec<_>>(), [".env.local"]);
    let ignored = BTreeSet::from([".env.local".to_owned()]);
    let issues: Vec<String> =
        check_change(&data, &ignored).into_iter().map(|finding| finding.issue).collect();
    assert_eq!(issues, [HygieneCheck::SensitiveFile.issue()]);
    for (path, status, expected) in [
        ("src/a.generated", ChangeStatus::Added, vec!["gitignore-drift"]),
        (".dev-server.pid", ChangeStatus::Added, vec!["gitignore-drift"]),
        ("src/a.generated", ChangeStatus::Modified, vec![]),
        (".env.example", ChangeStatus::Added, vec![]),
        ("src/environment.ts", ChangeStatus::Added, vec![]),
        ("tests/x.local", ChangeStatus::Added, vec![]),
        (".env", ChangeStatus::Removed, vec![]),
    ] {
        let found: Vec<String> =
            found_in(&self::data(&[(path, status, &[])])).into_iter().map(|(_, check, _)| check).collect();
        assert_eq!(found, expected, "{path}");
    }
}

// PR-14
#[test]
fn files_with_names_for_secrets_are_reported() {
    let added = found_in(&data(&[("certs/server.pem", ChangeStatus::Added, &[])]));
    assert_eq!(added, expected(&[("HIGH", "gitignore-drift", 1), ("HIGH", "sensitive-file", 1)]));
    let mut changed = data(&[("src/credentials.py", ChangeStatus::Modified, &[])]);
    let lines = changed.patch_lines.get_mut("src/credentials.py").unwrap();
    lines.added_lines = BTreeMap::from([(7, "a = 1".to_owned()), (9, "b = 2".to_owned())]);
    assert_eq!(found_in(&changed), expected(&[("HIGH", "sensitive-file", 7)]));
    assert_eq!(found("src/secretary.ts", &["a"]), []);
    // Source code of compiled languages contains no settings.
    for path in ["src/secrets.rs", "src/secret_store.go", "Credentials.java"] {
        assert_eq!(found(path, &["a"]), [], "{path}");
    }
    for path in ["src/secrets.ts", "src/secrets.py", "src/secrets.yaml"] {
        assert_eq!(found(path, &["a"]).len(), 1, "{path}");
    }
    // Deliveries hold these names back everywhere.
    assert_eq!(found("tests/id_rsa", &["a"]), expected(&[("MEDIUM", "sensitive-file", 1)]));
    assert_eq!(found("tests/server.pem", &["a"]), []);
}

#[test]
fn keys_are_reported_everywhere_with_less_severity_in_documentation() {
    let key = private_key();
    let mut lines: Vec<&str> = vec!["first"];
    lines.extend(key.iter().map(String::as_str));
    assert_eq!(found("src/main.rs", &lines), expected(&[("HIGH", "key-material", 2)]));
    assert_eq!(found("docs/setup.md", &lines), expected(&[("MEDIUM", "key-material", 2)]));
    let token = token();
    let line = format!("curl -H 'Authorization: Bearer {token}'");
    for (path, severity) in [("src/a.sh", "HIGH"), ("tests/a.rs", "MEDIUM"), ("Cargo.lock", "HIGH")] {
        assert_eq!(found(path, &["a", &line]), expected(&[(severity, "key-material", 2)]), "{path}");
    }
    // One finding a line, also if the name says that the value is a secret.
    let twice = format!("token = \"{token}\"; other = \"{token}\"");
    assert_eq!(checks("src/a.ts", &[&twice]), ["key-material"]);
    let finding = &check_change(&data(&[("src/a.ts", ChangeStatus::Added, &[&twice])]), &BTreeSet::new())[0];
    assert!(!finding.code_snippet.contains(&token), "{}", finding.code_snippet);
    // Without a key, the first line of a block is text.
    assert_eq!(found("src/a.rs", &[&key[0]]), []);
}

#[test]
fn key_is_found_wherever_a_delivery_finds_it() {
    let key = private_key();
    let cases =
        [key.join("\n"), token(), format!("a\r\n{}\r\nb", token()), key[0].clone(), "plain".to_owned()];
    for content in cases {
        let lines: Vec<&str> = content.split('\n').collect();
        let is_reported = checks("src/a.rs", &lines).contains(&"key-material".to_owned());
        assert_eq!(is_reported, redact::holds_key(&content), "{content}");
    }
}

#[test]
fn generated_values_of_secret_names_are_reported() {
    let value = "q7Bx2Kd9Lm4Zt8Wp3";
    for (path, line) in [
        ("src/a.ts", format!("const apiKey = '{value}';")),
        ("src/a.py", format!("db_password=\"{value}\"")),
        ("config/app.yaml", format!("client_secret: {value}")),
        ("deploy/prod.properties", format!("auth.token={value}")),
        ("src/a.json", format!("{{\"accessToken\": \"{value}\"}}")),
    ] {
        assert_eq!(checks(path, &[&line]), ["secret"], "{path} {line}");
        let finding = &check_change(&data(&[(path, ChangeStatus::Added, &[&line])]), &BTreeSet::new())[0];
        assert!(!finding.code_snippet.contains(value), "{}", finding.code_snippet);
    }
    for (path, line) in [
        ("src/a.ts", "const token = await getToken(request1);".to_owned()),
        ("src/a.ts", format!("token = {value};")),
        ("src/a.ts", "password: string; secret = config.secretV2Name;".to_owned()),
        ("src/a.ts", "const secretId = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';".to_owned()),
        ("src/a.ts", "token = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'".to_owned()),
        ("src/a.ts", format!("const digest = '{value}'; const id = '{value}';")),
        ("src/a.ts", "password = 'correct-horse-battery-staple'".to_owned()),
        ("config/app.yaml", "password: ${DB_PASSWORD}".to_owned()),
        ("tests/a.ts", format!("password = '{value}'")),
        ("docs/a.md", format!("password = '{value}'")),
        ("web/package-lock.json", format!("\"token\": \"{value}\"")),
    ] {
        assert_eq!(checks(path, &[&line]), [""; 0], "{path} {line}");
    }
}

#[test]
fn tests_at_the_end_of_a_rust_file_are_examples() {
    let token = token();
    let value = "password = \"q7Bx2Kd9Lm4Zt8Wp3\"";
    let key = format!("call(\"{token}\");");
    let path = "open(\"/home/sam/x\")";
    let code = [path, value, &key];
    let tests = ["#[cfg(test)]", "mod tests {", path, value, &key];
    let all: Vec<&str> = code.into_iter().chain(tests).collect();
    assert_eq!(
        found("src/a.rs", &all),
        expected(&[
            ("MEDIUM", "path-leakage", 1),
            ("MEDIUM", "secret", 2),
            ("HIGH", "key-material", 3),
            ("MEDIUM", "key-material", 8),
        ])
    );
    // An attribute of something else, and another language.
    for (path, second) in [("src/a.rs", "mod tests;"), ("src/a.rs", "fn a() {"), ("src/a.c", "mod tests {")] {
        assert_eq!(checks(path, &["#[cfg(test)]", second, code[0]]), ["path-leakage"], "{path} {second}");
    }
}

#[test]
fn token_within_encoded_data_is_no_token() {
    let token = token();
    let data = "QUJDZGVm0123".repeat(20);
    assert_eq!(checks("src/a.ts", &[&format!("x = \"{data}/{token}\"")]), [""; 0]);
    assert_eq!(checks("src/a.ts", &[&format!("x = \"{token}+{data}\"")]), [""; 0]);
    assert_eq!(checks("src/a.ts", &[&format!("x = \"{}/{token}\"", &data[..60])]), ["key-material"]);
    assert!(!redact::holds_key(&format!("{data}/{token}")));
}

#[test]
fn comment_with_a_reason_allows_a_finding() {
    let path = "const a = '/Users/sam';";
    let with = |comment: &str| format!("{path} // {comment}");
    assert_eq!(checks("src/a.ts", &[&with("loopgate: allow path-leakage — path of the image")]), [""; 0]);
    assert_eq!(checks("src/a.ts", &[&with("loopgate: allow path-leakage")]), ["path-leakage"]);
    assert_eq!(checks("src/a.ts", &[&with("loopgate: allow secret — other check")]), ["path-leakage"]);
    assert_eq!(checks("src/a.ts", &["// loopgate: allow path-leakage - path of the image", path]), [""; 0]);
    assert_eq!(
        checks("src/a.ts", &["// loopgate: allow path-leakage - path of the image", "", path]),
        ["path-leakage"]
    );
    // A comment at the end of a line belongs to that line.
    assert_eq!(checks("src/a.ts", &[&with("loopgate: allow path-leakage - image"), path]), ["path-leakage"]);
    assert_eq!(
        checks("src/secrets.ts", &["x", "// loopgate: allow sensitive-file — reads a store"]),
        [""; 0]
    );
    // An unchanged comment above a changed line.
    let mut data = data(&[("src/a.ts", ChangeStatus::Modified, &[])]);
    let lines = data.patch_lines.get_mut("src/a.ts").unwrap();
    lines.added_lines.insert(5, path.to_owned());
    assert_eq!(found_in(&data), expected(&[("HIGH", "path-leakage", 5)]));
    let lines = data.patch_lines.get_mut("src/a.ts").unwrap();
    lines.context_lines.insert(4, "// loopgate: allow path-leakage: path of the image".to_owned());
    assert_eq!(found_in(&data), []);
}

#[test]
fn large_change_is_checked_completely() {
    let token = token();
    let files: Vec<(String, Vec<String>)> = (0..100)
        .map(|file| {
            let line = |line: u32| format!("    let value_{line} = compute(token_{file}, \"text {line}\", path.join(\"a/b\")); // {line}");
            let mut lines: Vec<String> = (0..1000).map(line).collect();
            lines[file * 7] = format!("call(\"{token}\");");
            lines[file * 7 + 3] = "open(\"/home/sam/x\")".to_owned();
            (format!("src/module_{file:03}/file.rs"), lines)
        })
        .collect();
    let mut data = DiffData::default();
    for (path, lines) in &files {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let file = self::data(&[(path, ChangeStatus::Modified, &lines)]);
        data.files_to_review.extend(file.files_to_review);
        data.file_statuses.extend(file.file_statuses);
        data.patch_lines.extend(file.patch_lines);
    }
    assert_eq!(data.patch_lines.values().map(|lines| lines.added_lines.len()).sum::<usize>(), 100_000);
    let expected: Vec<(String, String, u64)> = (0..100)
        .flat_map(|file| {
            expected(&[("HIGH", "key-material", file * 7 + 1), ("MEDIUM", "path-leakage", file * 7 + 4)])
        })
        .collect();
    assert_eq!(found_in(&data), expected);
}

#[test]
fn long_line_with_many_paths_and_many_block_starts_takes_linear_time() {
    let paths = "'/home/sam/x/node_modules',".repeat(20_000);
    assert_eq!(found("src/a.rs", &[&paths]), []);
    let names = "password = \"Tr0ub4dor&3xyz\"; ".repeat(20_000);
    let value = "password = \"Tr0ub4dor&3xyz\"";
    assert_eq!(
        found("src/a.rs", &[value, &names, value]),
        expected(&[("MEDIUM", "secret", 1), ("MEDIUM", "secret", 3)])
    );
    let begin = private_key()[0].repeat(20_000);
    assert_eq!(found("src/a.rs", &[&begin]), []);
}
