//! Files that a request names by signed URLs: fetched before the loop starts, or left out.
//!
//! A file that cannot be had never stops a loop. The URLs are secrets and never logged.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use loopgate_api::ids::safe_id;
use loopgate_api::launch::Attachment;
use loopgate_home::untrusted::{make_private_directory, write_private};
use serde_json::json;

use crate::launch::url_policy::{self, PublicAddressResolver, UrlTarget};

const DIRECTORY: &str = "attachments";
const SKIPPED: &str = "skipped-attachments.json";
/// One file, from the first byte asked to the last written.
const DOWNLOAD_TIME: Duration = Duration::from_secs(120);
/// Files at a time.
const TOGETHER: usize = 4;
/// A file that is announced as larger is left out.
const MAX_BYTES: u64 = 50 * 1024 * 1024;

/// Fetches the files of a request into a folder of a directory; answers the folder when there are
/// any.
pub(crate) async fn fetch(
    attachments: &[Attachment],
    work_dir: &Path,
    api_origin: Option<&str>,
) -> Option<PathBuf> {
    if attachments.is_empty() {
        return None;
    }
    let directory = work_dir.join(DIRECTORY);
    let (mut refused, mut wanted) = (Vec::new(), Vec::new());
    for attachment in attachments {
        match url_policy::check(&attachment.signed_url, api_origin) {
            _ if is_expired(attachment) => skip(attachment, "its link has expired"),
            Err(denied) => refused.push(json!({"id": attachment.id, "reason": denied.as_str()})),
            Ok(target) => wanted.push((attachment, target)),
        }
    }
    if !refused.is_empty() {
        let all = refused.len() == attachments.len();
        let document = json!({"skippedAttachments": refused, "allAttachmentsSkipped": all});
        let path = work_dir.join(SKIPPED);
        note(
            tokio::task::spawn_blocking(move || write_private(&path, document.to_string().as_bytes())).await,
        );
    }
    let made = directory.clone();
    note(tokio::task::spawn_blocking(move || make_private_directory(&made).map(drop)).await);
    stream::iter(wanted)
        .for_each_concurrent(TOGETHER, |(attachment, target)| {
            let place = directory.join(file_name(attachment));
            async move {
                let fetched = tokio::time::timeout(DOWNLOAD_TIME, download(attachment, target, place)).await;
                match fetched {
                    Ok(Ok(())) => {}
                    Ok(Err(reason)) => skip(attachment, &reason),
                    Err(_) => skip(attachment, "it took too long"),
                }
            }
        })
        .await;
    Some(directory)
}

async fn download(attachment: &Attachment, target: UrlTarget, place: PathBuf) -> Result<(), String> {
    let plain = |error: reqwest::Error| error.without_url().to_string();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let (client, url) = match target {
        // No proxy: it would look the name up itself.
        UrlTarget::ObjectStore(url) => {
            (client.dns_resolver(std::sync::Arc::new(PublicAddressResolver)).no_proxy(), url)
        }
        UrlTarget::ControlPlaneClient(url) => (client, url),
    };
    let response = client.build().map_err(plain)?.get(url).send().await.map_err(plain)?;
    if !response.status().is_success() {
        return Err(format!("the store answered {}", response.status().as_u16()));
    }
    let limit = attachment.size_bytes.min(MAX_BYTES);
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(chunk) = body.next().await {
        bytes.extend_from_slice(&chunk.map_err(plain)?);
        if bytes.len() as u64 > limit {
            return Err("it is larger than announced".to_owned());
        }
    }
    if (bytes.len() as u64) < attachment.size_bytes {
        tracing::warn!(attachment = attachment.id, "an attachment is smaller than announced");
    }
    tokio::task::spawn_blocking(move || write_private(&place, &bytes))
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())
}

/// `<safe id>-<name>`, with nothing in the name that could leave the directory.
fn file_name(attachment: &Attachment) -> String {
    let base = attachment.filename.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = base
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' })
        .collect();
    format!("{}-{name}", safe_id(&attachment.id))
}

fn is_expired(attachment: &Attachment) -> bool {
    let end: Result<jiff::Timestamp, _> = attachment.signed_url_expires_at.parse();
    end.is_ok_and(|end| end <= jiff::Timestamp::now())
}

fn skip(attachment: &Attachment, reason: &str) {
    tracing::warn!(attachment = attachment.id, reason, "an attachment is left out");
}

fn note<E: std::fmt::Display>(written: Result<std::io::Result<()>, E>) {
    match written {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the loop's attachments could not be written"),
        Err(error) => tracing::warn!(%error, "the loop's attachments could not be written"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_stays_in_its_directory() {
        let attachment = |id: &str, filename: &str| Attachment {
            id: id.to_owned(),
            filename: filename.to_owned(),
            mime_type: String::new(),
            size_bytes: 1,
            signed_url: String::new(),
            signed_url_expires_at: String::new(),
        };
        assert_eq!(file_name(&attachment("a/b", "../../etc/pass wd")), "a_b-pass_wd");
        assert_eq!(file_name(&attachment("..", "..")), "__-..");
        assert_eq!(file_name(&attachment("1", "C:\\x\\y.png")), "1-y.png");
    }
}
