//! Downloads the attachments of a request before its loop starts.
//!
//! Best-effort: a failed download is logged and skipped. The signed URLs grant access, so they are never
//! logged.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use loopgate_api::ids::safe_id;
use loopgate_api::launch::Attachment;
use loopgate_home::untrusted::{make_private_directory, write_private};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::launch::url_policy::{self, PublicAddressResolver, UrlTarget};

const DIRECTORY: &str = "attachments";
const SKIPPED: &str = "skipped-attachments.json";
// Limit per file, including the connection. Long enough for 50 MiB over a slow line.
const DOWNLOAD_TIME: Duration = Duration::from_secs(120);
const MAX_CONCURRENT_DOWNLOADS: usize = 4;
// 50 MiB per file.
const MAX_BYTES: u64 = 50 * 1024 * 1024;

/// Downloads the attachments into a subdirectory of `work_dir`. Returns the subdirectory, or `None` without
/// attachments.
pub(crate) async fn fetch(
    attachments: &[Attachment],
    work_dir: &Path,
    api_origin: Option<&str>,
) -> Option<PathBuf> {
    if attachments.is_empty() {
        return None;
    }
    let directory = work_dir.join(DIRECTORY);
    let (mut denied, mut downloads) = (Vec::new(), Vec::new());
    for attachment in attachments {
        match url_policy::check(&attachment.signed_url, api_origin) {
            _ if is_expired(attachment) => skip(attachment, "the signed URL has expired"),
            Err(reason) => denied.push(json!({"id": attachment.id, "reason": reason.as_str()})),
            Ok(target) => downloads.push((attachment, target)),
        }
    }
    // The assistant reads this file to learn why an attachment is missing.
    if !denied.is_empty() {
        let all = denied.len() == attachments.len();
        let document = json!({"skippedAttachments": denied, "allAttachmentsSkipped": all});
        let path = work_dir.join(SKIPPED);
        log_error(
            tokio::task::spawn_blocking(move || write_private(&path, document.to_string().as_bytes())).await,
        );
    }
    let path = directory.clone();
    log_error(tokio::task::spawn_blocking(move || make_private_directory(&path).map(drop)).await);
    stream::iter(downloads)
        .for_each_concurrent(MAX_CONCURRENT_DOWNLOADS, |(attachment, target)| {
            let path = directory.join(file_name(attachment));
            async move {
                let fetched = tokio::time::timeout(DOWNLOAD_TIME, download(attachment, target, path)).await;
                match fetched {
                    Ok(Ok(())) => {}
                    Ok(Err(reason)) => skip(attachment, &reason),
                    Err(_) => skip(attachment, "the download timed out"),
                }
            }
        })
        .await;
    Some(directory)
}

async fn download(attachment: &Attachment, target: UrlTarget, path: PathBuf) -> Result<(), String> {
    // reqwest includes the URL in its messages, and with it the signature.
    let message = |error: reqwest::Error| error.without_url().to_string();
    // The policy checked only this URL, so redirects are not followed.
    let client = loopgate_http_client::builder().redirect(reqwest::redirect::Policy::none());
    let (client, url) = match target {
        // A proxy would resolve the host name itself and bypass the resolver's check.
        UrlTarget::ObjectStore(url) => {
            (client.dns_resolver(std::sync::Arc::new(PublicAddressResolver)).no_proxy(), url)
        }
        UrlTarget::ControlPlane(url) => (client, url),
    };
    let client = loopgate_http_client::build(client).map_err(|error| error.to_string())?;
    let response = client.get(url).send().await.map_err(message)?;
    if !response.status().is_success() {
        return Err(format!("the server returned status {}", response.status().as_u16()));
    }
    // Check while reading: the Content-Length header cannot be trusted.
    let limit = attachment.size_bytes.min(MAX_BYTES);
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(chunk) = body.next().await {
        bytes.extend_from_slice(&chunk.map_err(message)?);
        if bytes.len() as u64 > limit {
            return Err("the file exceeds its announced size or the limit of 50 MiB".to_owned());
        }
    }
    if attachment.sha256.as_ref().is_some_and(|sha256| *sha256 != hex::encode(Sha256::digest(&bytes))) {
        return Err("its content is not the announced one".to_owned());
    }
    if (bytes.len() as u64) < attachment.size_bytes {
        tracing::warn!(attachment = attachment.id, "attachment is smaller than announced");
    }
    tokio::task::spawn_blocking(move || write_private(&path, &bytes))
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())
}

/// Returns `<safe id>-<name>`. The name cannot contain path separators.
fn file_name(attachment: &Attachment) -> String {
    let base = attachment.filename.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = base
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' })
        .collect();
    format!("{}-{name}", safe_id(&attachment.id))
}

fn is_expired(attachment: &Attachment) -> bool {
    // An expiry that cannot be parsed is left to the server to enforce.
    let end: Result<jiff::Timestamp, _> = attachment.signed_url_expires_at.parse();
    end.is_ok_and(|end| end <= jiff::Timestamp::now())
}

fn skip(attachment: &Attachment, reason: &str) {
    tracing::warn!(attachment = attachment.id, reason, "skipping attachment");
}

fn log_error<E: std::fmt::Display>(written: Result<std::io::Result<()>, E>) {
    match written {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "failed to write the attachments"),
        Err(error) => tracing::warn!(%error, "failed to write the attachments"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_cannot_leave_its_directory() {
        let attachment = |id: &str, filename: &str| Attachment {
            id: id.to_owned(),
            filename: filename.to_owned(),
            mime_type: String::new(),
            size_bytes: 1,
            sha256: None,
            signed_url: String::new(),
            signed_url_expires_at: String::new(),
        };
        assert_eq!(file_name(&attachment("a/b", "../../etc/pass wd")), "a_b-pass_wd");
        assert_eq!(file_name(&attachment("..", "..")), "__-..");
        assert_eq!(file_name(&attachment("1", "C:\\x\\y.png")), "1-y.png");
    }
}
