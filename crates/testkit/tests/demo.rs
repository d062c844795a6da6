//! Tests the command line of the demo.

use std::process::{Command, Stdio};

#[test]
#[expect(clippy::disallowed_methods, reason = "starts the program under test")]
fn arguments_that_the_demo_sets_itself_are_rejected() {
    for arguments in [&["--sandbox", "/tmp"][..], &["--no-open", "--home=/tmp"], &["--port", "0"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_demo"))
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("the demo starts");
        let message = String::from_utf8_lossy(&output.stderr);
        let flag = arguments.iter().rfind(|word| word.starts_with("--")).expect("a flag");
        let flag = flag.split('=').next().unwrap_or_default();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(&format!("{flag} cannot be set")), "{message}");
        assert!(!message.contains("backtrace"), "{message}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "starts the program under test")]
fn failed_start_exits_with_an_error_message() {
    let output = Command::new(env!("CARGO_BIN_EXE_demo"))
        .args(["--no-open", "--no-such-flag"])
        .envs([("LOOPGATE_BIN", "/bin/false"), ("RUST_BACKTRACE", "1")])
        .stdin(Stdio::null())
        .output()
        .expect("the demo starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("error: Loopgate exited before it was ready"), "{message}");
    assert!(!message.to_lowercase().contains("backtrace"), "{message}");
}
