//! Files of loops in a local directory, accessed through signed URLs.
//!
//! A URL is valid for one method, one key and two hours; its signature is the only credential.

use std::io;
use std::path::{Path as FsPath, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use hmac::{Hmac, KeyInit, Mac};
use http::StatusCode;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use url::form_urlencoded;

use crate::credentials::secret::constant_time_eq;
use crate::error::{ApiError, ApiResult};

// Lifetime of a signed URL in seconds. A signature cannot be revoked, so it expires soon.
const TTL_SECONDS: i64 = 7200;
/// Size limit of an object in bytes. Objects are buffered in memory.
pub const OBJECT_LIMIT: usize = 50 * 1024 * 1024;
// Objects per loop. With `LOOP_BYTES`, keeps one loop from filling the disk.
const LOOP_OBJECTS: usize = 2000;
const LOOP_BYTES: u64 = 1024 * 1024 * 1024;
// Number of leading key segments that identify the loop: organization, `loops`, loop.
const LOOP_SEGMENTS: usize = 3;
// Bytes of a segment. File systems limit a name to 255, and the name of a temporary file is longer.
const SEGMENT_LIMIT: usize = 200;
// Number of objects in a listing; further objects are not returned.
const LISTING_LIMIT: usize = 1000;

/// The storage directory, and the secret that signs its URLs.
#[derive(Debug, Clone)]
pub struct Storage {
    folder: PathBuf,
    objects: Arc<dyn ObjectStore>,
    secret: SecretString,
    origin: String,
}

impl Storage {
    /// Opens the directory, creating it when missing, and removes temporary files of an earlier process that
    /// was killed.
    pub fn open(folder: &FsPath, origin: &str, secret: &SecretString) -> Result<Self, object_store::Error> {
        let storage_error = |source| object_store::Error::Generic { store: "local", source };
        create_private_dir(folder).map_err(|error| storage_error(error.into()))?;
        remove_temporary(folder).map_err(|error| storage_error(error.into()))?;
        let objects = LocalFileSystem::new_with_prefix(folder)?.with_automatic_cleanup(true);
        let (folder, origin) = (folder.to_owned(), origin.to_owned());
        Ok(Self { folder, objects: Arc::new(objects), secret: secret.clone(), origin })
    }

    /// Returns a URL that allows one method on one key for two hours.
    pub fn signed_url(&self, method: &str, key: &str, now_ms: i64) -> ApiResult<String> {
        self.signed_url_until(method, key, now_ms + TTL_SECONDS * 1000)
    }

    /// Returns a URL that allows one method on one key until a time, in milliseconds since the epoch.
    pub fn signed_url_until(&self, method: &str, key: &str, until_ms: i64) -> ApiResult<String> {
        parse(key)?;
        let expires = until_ms / 1000;
        let signature = self.signature(method, key, expires)?;
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("exp", &expires.to_string())
            .append_pair("method", method)
            .append_pair("sig", &signature)
            .finish();
        let path: Vec<String> = key.split('/').map(encode).collect();
        Ok(format!("{}/storage/{}?{query}", self.origin, path.join("/")))
    }

    /// Verifies a signature and its expiry.
    pub fn verify(&self, method: &str, key: &str, expires: i64, signature: &str, now_ms: i64) -> bool {
        let expected = self.signature(method, key, expires).unwrap_or_default();
        !expected.is_empty() && constant_time_eq(&expected, signature) && expires > now_ms / 1000
    }

    fn signature(&self, method: &str, key: &str, expires: i64) -> ApiResult<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.expose_secret().as_bytes())
            // Newlines separate the fields, so that no two combinations produce the same text.
            .map_err(ApiError::internal)?;
        mac.update(format!("{method}\n{key}\n{expires}").as_bytes());
        Ok(URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }

    /// Stores an object atomically. Returns 413 when the loop's quota is exceeded.
    pub async fn put(&self, key: &str, bytes: Bytes) -> ApiResult<()> {
        let path = parse(key)?;
        self.check_quota(&path, bytes.len() as u64).await?;
        // If the directory was deleted at runtime, the store would recreate it with the default mode.
        create_private_dir(&self.folder).map_err(ApiError::internal)?;
        self.objects.put(&path, bytes.into()).await.map_err(|error| {
            if is_path_conflict(&error) {
                let text = "Invalid storage key: another key of the loop is a directory of it, or below it";
                crate::error::bad_request(text)
            } else {
                ApiError::internal(error)
            }
        })?;
        Ok(())
    }

    // Rejects an object that would exceed its loop's quota. Best-effort: concurrent uploads do not see each
    // other.
    async fn check_quota(&self, path: &Path, size: u64) -> ApiResult<()> {
        let folder = Path::from_iter(path.parts().take(LOOP_SEGMENTS));
        let stored = self.objects.list(Some(&folder)).try_collect::<Vec<_>>().await;
        let others = stored.map_err(ApiError::internal)?;
        // A replaced object does not count against its own upload.
        let others = others.iter().filter(|object| object.location != *path);
        let (count, bytes) = others.fold((0, 0), |(count, bytes), object| (count + 1, bytes + object.size));
        if count < LOOP_OBJECTS && bytes + size <= LOOP_BYTES {
            return Ok(());
        }
        let text = format!(
            "Storage quota of the loop exceeded: at most {LOOP_OBJECTS} files and {} MiB",
            LOOP_BYTES >> 20
        );
        Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, text).code("artifacts_too_large"))
    }

    /// Reads an object. Returns `None` when it does not exist.
    pub async fn get(&self, key: &str) -> ApiResult<Option<Bytes>> {
        match self.objects.get(&parse(key)?).await {
            Ok(object) => Ok(Some(object.bytes().await.map_err(ApiError::internal)?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) if is_path_conflict(&error) => Ok(None),
            Err(error) => Err(ApiError::internal(error)),
        }
    }

    /// Lists the keys below a prefix. Objects above the size limit are omitted, because they cannot be
    /// downloaded.
    pub async fn list(&self, prefix: &str) -> ApiResult<Vec<String>> {
        let path = parse(prefix)?;
        let listed = self.objects.list(Some(&path)).take(LISTING_LIMIT).try_collect::<Vec<_>>().await;
        let listed = match listed {
            Err(error) if is_path_conflict(&error) => Vec::new(),
            listed => listed.map_err(ApiError::internal)?,
        };
        let small = listed.into_iter().filter(|object| object.size <= OBJECT_LIMIT as u64);
        Ok(small.map(|object| object.location.to_string()).collect())
    }
}

/// Creates a directory and its missing parents with mode 0700.
fn create_private_dir(folder: &FsPath) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Removes temporary files. The object store writes an object to `<name>#<number>` in the same directory and
/// renames it. It rejects keys of that form, so no object has such a name.
fn remove_temporary(folder: &FsPath) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| Some(name.split_once('#')?.1));
        let is_temporary =
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
        if kind.is_dir() {
            remove_temporary(&entry.path())?;
        } else if kind.is_file() && is_temporary {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Whether an object is where a key needs a directory, or a directory where it needs an object. Only keys of the
/// same loop collide.
fn is_path_conflict(error: &object_store::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory};
            return matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | IsADirectory | NotADirectory);
        }
        cause = error.source();
    }
    false
}

fn parse(key: &str) -> ApiResult<Path> {
    let invalid = || crate::error::bad_request("Invalid storage key");
    // The object store fails on NUL, uses `#` for temporary files, and changes characters outside of ASCII, so that
    // the listed key would differ from the stored one.
    if !key.bytes().all(|byte| matches!(byte, 0x20..0x7f) && byte != b'#') {
        return Err(invalid());
    }
    if key.split('/').any(|segment| segment.len() > SEGMENT_LIMIT) {
        return Err(invalid());
    }
    Path::parse(key.trim_end_matches('/')).map_err(|_| invalid())
}

/// Returns whether a key is below a prefix and contains no relative segments.
pub fn is_below(key: &str, prefix: &str) -> bool {
    key.starts_with(prefix) && !key.contains("..") && !key.contains("./")
}

// `byte_serialize` encodes for forms: a space becomes `+`, which means a plus sign in a path.
fn encode(segment: &str) -> String {
    form_urlencoded::byte_serialize(segment.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn temporary_objects_are_removed_when_storage_opens() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("storage");
        // Opening the storage again simulates a restart after a kill in the middle of an upload.
        let open = || Storage::open(&folder, "http://localhost", &SecretString::from("secret")).unwrap();
        let key = "org/loops/a/plan.md";
        open().put(key, Bytes::from_static(b"whole")).await.unwrap();
        let temporary = folder.join("org/loops/plan.md#1");
        std::fs::write(&temporary, "half").unwrap();
        assert_eq!(open().get(key).await.unwrap().unwrap(), "whole");
        assert!(!temporary.exists());
    }

    #[tokio::test]
    async fn upload_is_rejected_when_loop_exceeds_quota() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::open(dir.path(), "http://localhost", &SecretString::from("secret")).unwrap();
        let own = dir.path().join("org/loops/a/run");
        std::fs::create_dir_all(&own).unwrap();
        for number in 0..LOOP_OBJECTS {
            std::fs::File::create(own.join(number.to_string())).unwrap();
        }
        let put = async |key: &str| storage.put(key, Bytes::from_static(b"x")).await;
        let error = put("org/loops/a/run/another").await.unwrap_err();
        assert_eq!(error.status, StatusCode::PAYLOAD_TOO_LARGE);
        // Replacing an object does not add one, and the quota is per loop.
        put("org/loops/a/run/7").await.unwrap();
        put("org/loops/b/run/1").await.unwrap();
        // A sparse file reports its full size without occupying disk space.
        std::fs::File::create(dir.path().join("org/loops/b/run/large")).unwrap().set_len(LOOP_BYTES).unwrap();
        assert!(put("org/loops/b/run/2").await.is_err());
    }

    #[tokio::test]
    async fn colliding_keys_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::open(dir.path(), "http://localhost", &SecretString::from("secret")).unwrap();
        let put = async |key: &str| storage.put(key, Bytes::from_static(b"x")).await;
        put("org/loops/a/d/e").await.unwrap();
        let long = format!("org/loops/a/{}", "x".repeat(300));
        for key in ["org/loops/a/d", "org/loops/a/d/e/f", "org/loops/a/", &long] {
            let error = put(key).await.unwrap_err();
            assert_eq!(error.status, StatusCode::BAD_REQUEST, "{key}");
        }
        assert_eq!(storage.get("org/loops/a/d").await.unwrap(), None);
        assert_eq!(storage.get("org/loops/a/d/e/f").await.unwrap(), None);
        assert!(storage.list("org/loops/a/d/e/f").await.unwrap().is_empty());
        assert_eq!(storage.list("org/loops/a").await.unwrap(), ["org/loops/a/d/e"]);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn deleted_directory_is_recreated_with_mode_0700() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("data/storage");
        let storage = Storage::open(&folder, "http://localhost", &SecretString::from("secret")).unwrap();
        std::fs::remove_dir_all(dir.path().join("data")).unwrap();
        storage.put("a/b", Bytes::from_static(b"x")).await.unwrap();
        for path in [folder.parent().unwrap(), &folder] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
