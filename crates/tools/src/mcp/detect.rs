//! Queries the assistant and the reviewer for their MCP servers.

use std::time::Duration;

use loopgate_api::mcp::McpRecord;

use super::listing::{in_assistant_description, in_assistant_list, in_reviewer_list};
use super::{DetectorInner, McpHost};
use crate::process::{Limits, ProcessStatus};

/// Timeout of `claude mcp list`, which connects to each server before it prints the list.
const ASSISTANT_LIST_TIMEOUT: Duration = Duration::from_secs(30);
const ASSISTANT_GET_TIMEOUT: Duration = Duration::from_secs(5);
const REVIEWER_LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// Cap on each output stream, in bytes.
const OUTPUT_LIMIT: usize = 256 * 1024;

/// The result, and the server's name if the next detection can query it by name.
pub(super) struct DetectedServer {
    pub(super) record: McpRecord,
    pub(super) name: Option<String>,
}

/// Why a program returned no list.
enum ProgramError {
    TimedOut,
    Failed,
}

/// What a program printed, and whether it exited with code 0.
struct ProgramOutput {
    text: String,
    success: bool,
}

/// Detects the server at `normal_url`, the normal form of the URL `expected`.
pub(super) async fn detect(
    inner: &DetectorInner,
    provider: McpHost,
    normal_url: &str,
    expected: &str,
    name: Option<String>,
) -> DetectedServer {
    match provider {
        McpHost::Assistant => assistant(inner, normal_url, expected, name).await,
        McpHost::Reviewer => reviewer(inner, normal_url).await,
    }
}

async fn assistant(
    inner: &DetectorInner,
    normal_url: &str,
    expected: &str,
    name: Option<String>,
) -> DetectedServer {
    // `mcp get` connects to a single server, so a known name saves connecting to all of them.
    if let Some(name) = name
        && let Some(detected) = by_name(inner, normal_url, expected, &name).await
    {
        return detected;
    }
    let printed = match run(inner, McpHost::Assistant, &["mcp", "list"], ASSISTANT_LIST_TIMEOUT).await {
        Ok(printed) => printed,
        Err(failure) => return unknown(&failure),
    };
    let Some(listed) = in_assistant_list(&printed.text, normal_url) else { return unlisted(&printed) };
    match by_name(inner, normal_url, expected, &listed.name).await {
        Some(detected) => detected,
        None => DetectedServer {
            record: McpRecord::new(listed.available, Some((listed.name.clone(), listed.url)), None),
            name: Some(listed.name),
        },
    }
}

/// Queries the server with this name. Returns `None` when it does not exist or has another URL.
async fn by_name(
    inner: &DetectorInner,
    normal_url: &str,
    expected: &str,
    name: &str,
) -> Option<DetectedServer> {
    // The program would parse such a name as an option.
    if name.starts_with('-') {
        return None;
    }
    let server = |url: &str| Some((name.to_owned(), url.to_owned()));
    let printed = match run(inner, McpHost::Assistant, &["mcp", "get", name], ASSISTANT_GET_TIMEOUT).await {
        Ok(printed) => printed,
        Err(ProgramError::Failed) => return None,
        Err(ProgramError::TimedOut) => {
            let record = McpRecord::new(false, server(expected), Some("Status check timed out"));
            return Some(DetectedServer { record, name: Some(name.to_owned()) });
        }
    };
    let described = in_assistant_description(&printed.text, normal_url)?;
    let server = Some((described.name.clone(), described.url));
    if described.project_local {
        // The name is not cached, so that the next detection reads the list: another scope may have the
        // server then.
        let record = McpRecord::new(false, server, Some("Project-local config unsupported"));
        return Some(DetectedServer { record, name: None });
    }
    Some(DetectedServer {
        record: McpRecord::new(described.available, server, None),
        name: Some(described.name),
    })
}

async fn reviewer(inner: &DetectorInner, normal_url: &str) -> DetectedServer {
    match run(inner, McpHost::Reviewer, &["mcp", "list"], REVIEWER_LIST_TIMEOUT).await {
        Err(failure) => unknown(&failure),
        Ok(printed) => match in_reviewer_list(&printed.text, normal_url) {
            None => unlisted(&printed),
            Some(listed) => DetectedServer {
                record: McpRecord::new(listed.available, Some((listed.name, listed.url)), None),
                name: None,
            },
        },
    }
}

fn unknown(failure: &ProgramError) -> DetectedServer {
    let error = match failure {
        ProgramError::TimedOut => "Discovery timed out",
        ProgramError::Failed => "Discovery failed",
    };
    DetectedServer { record: McpRecord::new(false, None, Some(error)), name: None }
}

/// Returns the result for a list without the server. A failed program does not prove that the server is
/// missing.
fn unlisted(printed: &ProgramOutput) -> DetectedServer {
    if printed.success {
        DetectedServer { record: McpRecord::negative(), name: None }
    } else {
        unknown(&ProgramError::Failed)
    }
}

async fn run(
    inner: &DetectorInner,
    provider: McpHost,
    arguments: &[&str],
    timeout: Duration,
) -> Result<ProgramOutput, ProgramError> {
    let mut command = inner.programs.command(provider.program()).await.args(arguments);
    // The programs also read the configuration of the project they run in; the base directory contains none.
    if let Some(base) = inner.sandbox.base().filter(|base| base.is_dir()) {
        command = command.directory(base);
    }
    let output =
        command.run(Limits::time(timeout).output(OUTPUT_LIMIT)).await.map_err(|_| ProgramError::Failed)?;
    if output.status == ProcessStatus::TimedOut {
        return Err(ProgramError::TimedOut);
    }
    let text = format!("{}\n{}", output.stdout_text(), output.stderr_text());
    Ok(ProgramOutput { text, success: output.status.success() })
}
