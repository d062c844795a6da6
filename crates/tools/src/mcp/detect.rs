//! Asks the two programs.

use std::time::Duration;

use loopgate_api::mcp::McpRecord;

use super::listing::{in_assistant_description, in_assistant_list, in_reviewer_list};
use super::{Inner, McpHost};
use crate::process::{Limits, RunStatus};

/// The assistant connects to each server before it prints its list.
const ASSISTANT_LIST_LIMIT: Duration = Duration::from_secs(30);
const ASSISTANT_GET_LIMIT: Duration = Duration::from_secs(5);
const REVIEWER_LIST_LIMIT: Duration = Duration::from_secs(10);
/// Bytes of either stream.
const OUTPUT_LIMIT: usize = 256 * 1024;

/// What came out, and the server's name if it may be asked for by name next time.
pub(super) struct DetectedServer {
    pub(super) record: McpRecord,
    pub(super) name: Option<String>,
}

/// Why a program gave no answer.
enum ProgramError {
    TimedOut,
    Failed,
}

/// What a program printed, and whether it ended well.
struct ProgramOutput {
    text: String,
    success: bool,
}

/// Looks for the server at `wanted`, a URL in normal form that was given as `expected`.
pub(super) async fn detect(
    inner: &Inner,
    provider: McpHost,
    wanted: &str,
    expected: &str,
    name: Option<String>,
) -> DetectedServer {
    match provider {
        McpHost::Assistant => assistant(inner, wanted, expected, name).await,
        McpHost::Reviewer => reviewer(inner, wanted).await,
    }
}

async fn assistant(inner: &Inner, wanted: &str, expected: &str, name: Option<String>) -> DetectedServer {
    if let Some(name) = name
        && let Some(found) = by_name(inner, wanted, expected, &name).await
    {
        return found;
    }
    let printed = match ask(inner, McpHost::Assistant, &["mcp", "list"], ASSISTANT_LIST_LIMIT).await {
        Ok(printed) => printed,
        Err(silence) => return unknown(&silence),
    };
    let Some(listed) = in_assistant_list(&printed.text, wanted) else { return unlisted(&printed) };
    match by_name(inner, wanted, expected, &listed.name).await {
        Some(found) => found,
        None => DetectedServer {
            record: McpRecord::new(listed.available, Some((listed.name.clone(), listed.url)), None),
            name: Some(listed.name),
        },
    }
}

/// The server of that name; `None` when it is another one.
async fn by_name(inner: &Inner, wanted: &str, expected: &str, name: &str) -> Option<DetectedServer> {
    if name.starts_with('-') {
        return None;
    }
    let server = |url: &str| Some((name.to_owned(), url.to_owned()));
    let printed = match ask(inner, McpHost::Assistant, &["mcp", "get", name], ASSISTANT_GET_LIMIT).await {
        Ok(printed) => printed,
        Err(ProgramError::Failed) => return None,
        Err(ProgramError::TimedOut) => {
            let record = McpRecord::new(false, server(expected), Some("Status check timed out"));
            return Some(DetectedServer { record, name: Some(name.to_owned()) });
        }
    };
    let described = in_assistant_description(&printed.text, wanted)?;
    let server = Some((described.name.clone(), described.url));
    if described.project_local {
        let record = McpRecord::new(false, server, Some("Project-local config unsupported"));
        return Some(DetectedServer { record, name: None });
    }
    Some(DetectedServer {
        record: McpRecord::new(described.available, server, None),
        name: Some(described.name),
    })
}

async fn reviewer(inner: &Inner, wanted: &str) -> DetectedServer {
    match ask(inner, McpHost::Reviewer, &["mcp", "list"], REVIEWER_LIST_LIMIT).await {
        Err(silence) => unknown(&silence),
        Ok(printed) => match in_reviewer_list(&printed.text, wanted) {
            None => unlisted(&printed),
            Some(listed) => DetectedServer {
                record: McpRecord::new(listed.available, Some((listed.name, listed.url)), None),
                name: None,
            },
        },
    }
}

fn unknown(silence: &ProgramError) -> DetectedServer {
    let error = match silence {
        ProgramError::TimedOut => "Discovery timed out",
        ProgramError::Failed => "Discovery failed",
    };
    DetectedServer { record: McpRecord::new(false, None, Some(error)), name: None }
}

/// A program that failed does not know that the server is missing.
fn unlisted(printed: &ProgramOutput) -> DetectedServer {
    if printed.success {
        DetectedServer { record: McpRecord::negative(), name: None }
    } else {
        unknown(&ProgramError::Failed)
    }
}

async fn ask(
    inner: &Inner,
    provider: McpHost,
    arguments: &[&str],
    limit: Duration,
) -> Result<ProgramOutput, ProgramError> {
    let mut command = inner.programs.command(provider.program()).await.args(arguments);
    if let Some(base) = inner.sandbox.base().filter(|base| base.is_dir()) {
        command = command.directory(base);
    }
    let output =
        command.run(Limits::time(limit).output(OUTPUT_LIMIT)).await.map_err(|_| ProgramError::Failed)?;
    if output.status == RunStatus::TimedOut {
        return Err(ProgramError::TimedOut);
    }
    let text = format!("{}\n{}", output.stdout_text(), output.stderr_text());
    Ok(ProgramOutput { text, success: output.status.success() })
}
