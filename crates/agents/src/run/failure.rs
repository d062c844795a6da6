//! The reason of a failed turn, as one message for the user: what happened, why, and what to do.

use loopgate_api::agent_failure::{self, AgentFailure, FailureKind};
use loopgate_api::provider::ProviderId;
use loopgate_api::redact;
use loopgate_home::Program;

use crate::provider::TurnError;

/// Lines at the end of an error text in which a known failure is searched. Above them, programs print the output of
/// the commands that they ran.
const SEARCHED_LINES: usize = 5;
/// SIGHUP, SIGINT and SIGTERM: requests to exit.
const STOP_SIGNALS: [i32; 3] = [1, 2, 15];
const SIGKILL: i32 = 9;
/// Exit codes above this report a signal.
const SIGNAL_CODES: i32 = 128;

/// How a program exited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProgramExit {
    Code(i32),
    /// A signal of this number terminated the program.
    Signal(i32),
    /// The exit status is unknown, for this reason.
    Unknown(String),
}

/// Returns the name under which users know the program of a provider.
pub(super) fn program_name(provider: &ProviderId) -> &str {
    match provider {
        id if *id == ProviderId::ASSISTANT => Program::Assistant.executable(),
        id if *id == ProviderId::REVIEWER => Program::Reviewer.executable(),
        other => other.as_str(),
    }
}

/// Describes an error that a program reported, in its output or on standard error. Names known failures.
pub(super) fn reported(program: &str, error: &TurnError) -> (Option<FailureKind>, String) {
    // Recognized before the text is shortened.
    let known = error.failure.clone().or_else(|| agent_failure::in_error(&last_lines(&error.text)));
    match known {
        Some(failure) => (Some(failure.kind), redact::cause(&known_failure(program, &failure, &error.text))),
        None => (None, redact::cause(error.text.trim())),
    }
}

/// Describes an exit without any error text.
pub(super) fn silent_exit(program: &str, exit: &ProgramExit) -> String {
    let signal = match exit {
        ProgramExit::Signal(signal) => *signal,
        ProgramExit::Code(code) if *code > SIGNAL_CODES => code - SIGNAL_CODES,
        ProgramExit::Code(0) => return format!("{program} reported a failure without a reason. Try again."),
        ProgramExit::Code(code) => {
            return format!(
                "{program} exited with code {code} without an error message. Try again; if it recurs, start {program} in \
                 a terminal to see why."
            );
        }
        ProgramExit::Unknown(reason) => return reason.clone(),
    };
    match signal {
        signal if STOP_SIGNALS.contains(&signal) => stopped(program),
        SIGKILL => format!(
            "{program} was killed (SIGKILL). If you did not stop it, the system probably ran out of memory: close other \
             programs, then try again."
        ),
        signal => {
            format!("{program} crashed (signal {signal}). Try again; if it recurs, update {program}.")
        }
    }
}

/// Describes a program that was stopped by a request.
pub(super) fn stopped(program: &str) -> String {
    format!("{program} was stopped before it finished. Start it again to get an answer.")
}

/// Describes an exit with code 0 without an answer. `output` is what the program printed instead.
pub(super) fn no_answer(program: &str, output: &str) -> String {
    let output = redact::cause(output.trim());
    let reason = if output.is_empty() { String::new() } else { format!(": {output}") };
    let text = sentence(&format!("{program} exited without an answer{reason}"));
    format!("{text} Try again; if it recurs, start {program} in a terminal to see why.")
}

fn known_failure(program: &str, failure: &AgentFailure, text: &str) -> String {
    let detail = if failure.detail.is_empty() { text.trim() } else { &failure.detail };
    let overloaded = detail.to_lowercase().contains("overloaded");
    let (what, remedy) = match failure.kind {
        FailureKind::RateLimit => (
            format!("The usage limit of {program} is reached"),
            "Wait until it resets, then try again.".to_owned(),
        ),
        FailureKind::ContextLimit => (
            format!("The conversation is too long for {program}"),
            "Start a new one, or send less.".to_owned(),
        ),
        FailureKind::Model => {
            (format!("{program} cannot use the model"), format!("Select another model, or update {program}."))
        }
        FailureKind::Policy => {
            ("The model's provider rejects the request".to_owned(), "Change it, then try again.".to_owned())
        }
        FailureKind::Account if overloaded => {
            ("The model's service is overloaded".to_owned(), "Try again later.".to_owned())
        }
        FailureKind::Account => (
            format!("{program} cannot use its account"),
            format!("Sign in to {program} in a terminal, then try again."),
        ),
    };
    let end = failure.resets_at.filter(|_| !detail.contains("resets"));
    let end = end.map(|at| format!(" It resets at {at}.")).unwrap_or_default();
    let text = if detail.is_empty() { what } else { format!("{what}: {detail}") };
    format!("{}{end} {remedy}", sentence(&text))
}

/// Ends a text with a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SEARCHED_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> (Option<FailureKind>, String) {
        reported("codex", &TurnError::new(text))
    }

    #[test]
    fn known_failures_are_named_with_their_remedy() {
        let cases = [
            (
                "You’ve hit your usage limit. Try again at 3:28 PM.",
                FailureKind::RateLimit,
                "The usage limit of codex is reached: You’ve hit your usage limit. Try again at 3:28 PM. Wait until it \
                 resets, then try again.",
            ),
            (
                "Claude AI usage limit reached|1767225600000",
                FailureKind::RateLimit,
                "The usage limit of codex is reached: Claude AI usage limit reached. It resets at 2026-01-01T00:00:00Z. \
                 Wait until it resets, then try again.",
            ),
            (
                "Your refresh token has expired. Please log out and sign in again.",
                FailureKind::Account,
                "codex cannot use its account: Your refresh token has expired. Please log out and sign in again. Sign in \
                 to codex in a terminal, then try again.",
            ),
            (
                "The model `x` does not exist or you do not have access to it",
                FailureKind::Model,
                "codex cannot use the model: The model `x` does not exist or you do not have access to it. Select \
                 another model, or update codex.",
            ),
            (
                "API Error: 529 overloaded_error",
                FailureKind::Account,
                "The model's service is overloaded: API Error: 529 overloaded_error. Try again later.",
            ),
        ];
        for (text, kind, expected) in cases {
            assert_eq!(message(text), (Some(kind), expected.to_owned()));
        }
        assert_eq!(message("boom\n"), (None, "boom".to_owned()));
    }

    #[test]
    fn output_of_commands_is_not_mistaken_for_the_reason() {
        let text = format!("exec: grep 'rate limit'\n{}boom", "src/a.rs: ok\n".repeat(9));
        assert_eq!(message(&text).0, None);
    }

    #[test]
    fn exits_without_a_message_are_described() {
        for (exit, part) in [
            (ProgramExit::Signal(SIGKILL), "ran out of memory"),
            (ProgramExit::Code(137), "ran out of memory"),
            (ProgramExit::Signal(15), "was stopped"),
            (ProgramExit::Code(143), "was stopped"),
            (ProgramExit::Signal(11), "crashed (signal 11)"),
            (ProgramExit::Code(3), "exited with code 3"),
            (ProgramExit::Unknown("the shim exited".to_owned()), "the shim exited"),
        ] {
            let text = silent_exit("claude", &exit);
            assert!(text.contains(part), "{exit:?}: {text}");
        }
        assert_eq!(
            no_answer("claude", "Unknown command: /x"),
            "claude exited without an answer: Unknown command: /x. Try again; if it recurs, start claude in a terminal \
             to see why."
        );
    }
}
