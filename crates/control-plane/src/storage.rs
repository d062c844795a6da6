//! Files of loops, in a local folder, reached through signed URLs.
//!
//! A URL is good for one method, one key and two hours; the signature is the only credential.

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

/// Seconds in which a URL can be used.
const TTL_SECONDS: i64 = 7200;
/// Largest object, in bytes.
pub const OBJECT_LIMIT: usize = 50 * 1024 * 1024;
/// Objects of one loop.
const LOOP_OBJECTS: usize = 2000;
/// Bytes of all objects of one loop.
const LOOP_BYTES: u64 = 1024 * 1024 * 1024;
/// Segments of a key that name its loop: organization, `loops`, loop.
const LOOP_SEGMENTS: usize = 3;
/// Objects of one listing.
const LISTING_LIMIT: usize = 1000;

/// The folder, and the key of its URLs.
#[derive(Debug, Clone)]
pub struct Storage {
    folder: PathBuf,
    objects: Arc<dyn ObjectStore>,
    secret: SecretString,
    origin: String,
}

impl Storage {
    /// Opens a folder, makes it when it is missing, and removes what a killed process left half-written.
    pub fn open(folder: &FsPath, origin: &str, secret: &SecretString) -> Result<Self, object_store::Error> {
        let failed = |source| object_store::Error::Generic { store: "local", source };
        make_private(folder).map_err(|error| failed(error.into()))?;
        remove_staged(folder).map_err(|error| failed(error.into()))?;
        let objects = LocalFileSystem::new_with_prefix(folder)?.with_automatic_cleanup(true);
        let (folder, origin) = (folder.to_owned(), origin.to_owned());
        Ok(Self { folder, objects: Arc::new(objects), secret: secret.clone(), origin })
    }

    /// A URL for one method and key.
    pub fn signed_url(&self, method: &str, key: &str, now_ms: i64) -> ApiResult<String> {
        let expires = now_ms / 1000 + TTL_SECONDS;
        let signature = self.signature(method, key, expires)?;
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("exp", &expires.to_string())
            .append_pair("method", method)
            .append_pair("sig", &signature)
            .finish();
        let path: Vec<String> = key.split('/').map(encode).collect();
        Ok(format!("{}/storage/{}?{query}", self.origin, path.join("/")))
    }

    /// Whether a signature is good for a request at this moment.
    pub fn verify(&self, method: &str, key: &str, expires: i64, signature: &str, now_ms: i64) -> bool {
        let expected = self.signature(method, key, expires).unwrap_or_default();
        !expected.is_empty() && constant_time_eq(&expected, signature) && expires > now_ms / 1000
    }

    fn signature(&self, method: &str, key: &str, expires: i64) -> ApiResult<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.expose_secret().as_bytes())
            .map_err(ApiError::internal)?;
        mac.update(format!("{method}\n{key}\n{expires}").as_bytes());
        Ok(URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }

    /// Stores an object under a key, atomically.
    pub async fn put(&self, key: &str, bytes: Bytes) -> ApiResult<()> {
        let path = parse(key)?;
        self.check_quota(&path, bytes.len() as u64).await?;
        // A recreated directory would be world-readable.
        make_private(&self.folder).map_err(ApiError::internal)?;
        self.objects.put(&path, bytes.into()).await.map_err(ApiError::internal)?;
        Ok(())
    }

    /// Refuses an object that does not fit beside the others of its loop.
    async fn check_quota(&self, path: &Path, size: u64) -> ApiResult<()> {
        let folder = Path::from_iter(path.parts().take(LOOP_SEGMENTS));
        let stored = self.objects.list(Some(&folder)).try_collect::<Vec<_>>().await;
        let others = stored.map_err(ApiError::internal)?;
        let others = others.iter().filter(|object| object.location != *path);
        let (count, bytes) = others.fold((0, 0), |(count, bytes), object| (count + 1, bytes + object.size));
        if count < LOOP_OBJECTS && bytes + size <= LOOP_BYTES {
            return Ok(());
        }
        let text = "The loop has stored more files than it may have";
        Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, text).code("artifacts_too_large"))
    }

    /// Reads an object; `None` when there is none.
    pub async fn get(&self, key: &str) -> ApiResult<Option<Bytes>> {
        match self.objects.get(&parse(key)?).await {
            Ok(found) => Ok(Some(found.bytes().await.map_err(ApiError::internal)?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(ApiError::internal(error)),
        }
    }

    /// Keys below a prefix; objects above the limit are left out.
    pub async fn list(&self, prefix: &str) -> ApiResult<Vec<String>> {
        let path = parse(prefix)?;
        let listed = self.objects.list(Some(&path)).take(LISTING_LIMIT).try_collect::<Vec<_>>().await;
        let listed = listed.map_err(ApiError::internal)?;
        let small = listed.into_iter().filter(|object| object.size <= OBJECT_LIMIT as u64);
        Ok(small.map(|object| object.location.to_string()).collect())
    }
}

/// Makes a folder that only the owner may enter, with its parents, where it is missing.
fn make_private(folder: &FsPath) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Removes objects that are not whole: the store writes each beside its place, with `#` and a number
/// after the name, which no key can end with.
fn remove_staged(folder: &FsPath) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| Some(name.split_once('#')?.1));
        let staged =
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
        if kind.is_dir() {
            remove_staged(&entry.path())?;
        } else if kind.is_file() && staged {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn parse(key: &str) -> ApiResult<Path> {
    Path::parse(key.trim_end_matches('/')).map_err(|_| crate::error::bad_request("Invalid storage key"))
}

/// Whether a key is below a prefix, without `..`.
pub fn is_below(key: &str, prefix: &str) -> bool {
    key.starts_with(prefix) && !key.contains("..") && !key.contains("./")
}

/// Percent-encodes one segment of a path.
fn encode(segment: &str) -> String {
    form_urlencoded::byte_serialize(segment.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn half_written_objects_are_removed_at_the_start() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("storage");
        let open = || Storage::open(&folder, "http://localhost", &SecretString::from("secret")).unwrap();
        let key = "org/loops/a#b/plan.md";
        open().put(key, Bytes::from_static(b"whole")).await.unwrap();
        let left = folder.join("org/loops/plan.md#1");
        std::fs::write(&left, "half").unwrap();
        assert_eq!(open().get(key).await.unwrap().unwrap(), "whole");
        assert!(!left.exists());
    }

    #[tokio::test]
    async fn loop_stores_only_so_many_files() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::open(dir.path(), "http://localhost", &SecretString::from("secret")).unwrap();
        let own = dir.path().join("org/loops/a/run");
        std::fs::create_dir_all(&own).unwrap();
        for number in 0..LOOP_OBJECTS {
            std::fs::File::create(own.join(number.to_string())).unwrap();
        }
        let put = async |key: &str| storage.put(key, Bytes::from_static(b"x")).await;
        let refused = put("org/loops/a/run/another").await.unwrap_err();
        assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
        put("org/loops/a/run/7").await.unwrap();
        put("org/loops/b/run/1").await.unwrap();
        // A sparse file has its size without its bytes.
        std::fs::File::create(dir.path().join("org/loops/b/run/large")).unwrap().set_len(LOOP_BYTES).unwrap();
        assert!(put("org/loops/b/run/2").await.is_err());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn deleted_directory_is_recreated_private() {
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
