//! Files of a document: images and texts that a user adds to a request. The loops on the document, and on the plan that
//! is derived from it, download them with signed URLs.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use loopgate_api::launch::Attachment;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryOrder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::error::{ApiResult, ValidationIssues};
use crate::storage::Storage;
use crate::store::entity::{document, document_attachment};
use crate::store::{iso, now};

// Files per document.
const COUNT_LIMIT: usize = 10;
// Bytes of all files of a document. They arrive in one request, which is buffered in memory.
const BYTES_LIMIT: usize = 10 * 1024 * 1024;
const NAME_LIMIT: usize = 200;
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const TEXT: &str = "text/plain";
// Validity of the download URLs in seconds: longer than a loop waits for an approval, a limit or its turn.
const URL_SECONDS: i64 = 7 * 24 * 60 * 60;

/// A file to store with a new document.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAttachment {
    /// File name, 1 to 200 characters.
    pub filename: String,
    /// `image/png`, `image/jpeg`, `image/gif`, `image/webp` or `text/plain`.
    pub mime_type: String,
    /// Content in base64.
    #[schema(value_type = String, content_encoding = "base64")]
    content: AttachmentBytes,
}

/// Bytes of a file, in base64 on the wire.
#[derive(PartialEq, Eq)]
struct AttachmentBytes(Bytes);

impl fmt::Debug for AttachmentBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl<'de> Deserialize<'de> for AttachmentBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(|bytes| Self(bytes.into())).map_err(serde::de::Error::custom)
    }
}

impl Serialize for AttachmentBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&base64::display::Base64Display::new(&self.0, &STANDARD))
    }
}

/// A file of a document.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentAttachment {
    /// Id of the file.
    pub id: Uuid,
    /// File name as uploaded.
    pub filename: String,
    /// Media type, for example `image/png`.
    pub mime_type: String,
    /// Size in bytes.
    pub size_bytes: i64,
    /// SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
}

impl From<document_attachment::Model> for DocumentAttachment {
    fn from(row: document_attachment::Model) -> Self {
        Self {
            id: row.id,
            filename: row.filename,
            mime_type: row.mime_type,
            size_bytes: row.size_bytes,
            sha256: row.sha256,
        }
    }
}

/// Validates the files of a new document.
pub fn check(issues: &mut ValidationIssues, files: &[NewAttachment]) {
    issues.require(files.len() <= COUNT_LIMIT, "attachments", "must have at most 10 items");
    let bytes: usize = files.iter().map(|file| file.content.0.len()).sum();
    issues.require(bytes <= BYTES_LIMIT, "attachments", "must have at most 10 MiB in total");
    for (index, NewAttachment { filename, mime_type, content }) in files.iter().enumerate() {
        let path = format!("attachments.{index}");
        issues.length(&format!("{path}.filename"), filename.trim(), 1, NAME_LIMIT);
        let is_text = mime_type == TEXT;
        if !is_text && !IMAGES.contains(&mime_type.as_str()) {
            issues.push(format!("{path}.mimeType"), "must be text/plain, or PNG, JPEG, GIF or WebP");
        }
        // Programs that expect text fail on other bytes.
        if is_text && std::str::from_utf8(&content.0).is_err() {
            issues.push(format!("{path}.content"), "must be UTF-8");
        }
    }
}

/// Stores the files of a new document. Called last in the transaction: if its commit fails, the storage contains files
/// that no document names, but no document lacks its files.
pub async fn insert(
    tx: &DatabaseTransaction,
    storage: &Storage,
    document: &document::Model,
    files: Vec<NewAttachment>,
) -> ApiResult<()> {
    for (position, file) in files.into_iter().enumerate() {
        let row = document_attachment::ActiveModel {
            document_id: Set(document.id),
            position: Set(i64::try_from(position).unwrap_or(i64::MAX)),
            id: Set(Uuid::now_v7()),
            filename: Set(file.filename.trim().to_owned()),
            mime_type: Set(file.mime_type),
            size_bytes: Set(i64::try_from(file.content.0.len()).unwrap_or(i64::MAX)),
            sha256: Set(hex::encode(Sha256::digest(&file.content.0))),
        };
        let row = document_attachment::Entity::insert(row).exec_with_returning(tx).await?;
        storage.put(&key(document, &row), file.content.0).await?;
    }
    Ok(())
}

fn key(document: &document::Model, row: &document_attachment::Model) -> String {
    format!("{}/documents/{}/{}", document.organization_id, document.id, row.id)
}

/// Returns the files of a document.
pub async fn of_document(
    db: &impl ConnectionTrait,
    document_id: Uuid,
) -> Result<Vec<document_attachment::Model>, DbErr> {
    document_attachment::Entity::find()
        .filter(document_attachment::Column::DocumentId.eq(document_id))
        .order_by_asc(document_attachment::Column::Position)
        .all(db)
        .await
}

/// Returns the files of a document with signed URLs, for a launch.
pub async fn for_launch(
    db: &impl ConnectionTrait,
    storage: &Storage,
    document: &document::Model,
) -> ApiResult<Vec<Attachment>> {
    let rows = of_document(db, document.id).await?;
    let expires = now() + URL_SECONDS * 1000;
    rows.into_iter()
        .map(|row| {
            Ok(Attachment {
                signed_url: storage.signed_url_until("GET", &key(document, &row), expires)?,
                signed_url_expires_at: iso(expires),
                id: row.id.to_string(),
                filename: row.filename,
                mime_type: row.mime_type,
                size_bytes: u64::try_from(row.size_bytes).unwrap_or_default(),
                sha256: Some(row.sha256),
            })
        })
        .collect()
}
