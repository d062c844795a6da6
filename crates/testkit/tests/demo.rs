//! The demo's own command line.

use std::process::{Command, Stdio};

#[test]
#[expect(clippy::disallowed_methods, reason = "starts the program whose command line it judges")]
fn what_the_demo_chooses_itself_cannot_be_given() {
    for arguments in [&["--sandbox", "/tmp"][..], &["--no-open", "--home=/tmp"], &["--port", "0"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_demo"))
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("the demo starts");
        let message = String::from_utf8_lossy(&output.stderr);
        let own = arguments.iter().rfind(|word| word.starts_with("--")).expect("a flag");
        let own = own.split('=').next().unwrap_or_default();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(&format!("{own} cannot be chosen")), "{message}");
        assert!(!message.contains("backtrace"), "{message}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "starts the program whose end it judges")]
fn start_that_fails_ends_with_a_message() {
    let output = Command::new(env!("CARGO_BIN_EXE_demo"))
        .args(["--no-open", "--no-such-flag"])
        .envs([("LOOPGATE_BIN", "/bin/false"), ("RUST_BACKTRACE", "1")])
        .stdin(Stdio::null())
        .output()
        .expect("the demo starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("error: it ended before it was ready"), "{message}");
    assert!(!message.to_lowercase().contains("backtrace"), "{message}");
}
