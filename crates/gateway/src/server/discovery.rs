//! The discovery file, which contains the port of the gateway for local programs. Best-effort: failures are
//! logged only.

use std::path::PathBuf;

const NAME: &str = "gateway-port";

/// The file, as long as it contains our port.
pub(crate) struct DiscoveryFile {
    path: PathBuf,
    port: u16,
}

impl DiscoveryFile {
    /// Writes the port in decimal, without a newline.
    pub(crate) async fn announce(dir: PathBuf, port: u16) -> Option<Self> {
        let path = dir.join(NAME);
        let result = tokio::task::spawn_blocking({
            let path = path.clone();
            move || loopgate_home::files::write_atomic(&path, port.to_string().as_bytes())
        })
        .await;
        match result {
            Ok(Ok(())) => Some(Self { path, port }),
            Ok(Err(error)) => {
                tracing::warn!(%error, file = %path.display(), "failed to write the discovery file");
                None
            }
            Err(_) => None,
        }
    }

    /// Removes the file unless another gateway has overwritten it.
    pub(crate) async fn withdraw(self) {
        let Self { path, port } = self;
        let _ = tokio::task::spawn_blocking(move || {
            let ours = std::fs::read_to_string(&path).is_ok_and(|text| text == port.to_string());
            if ours && let Err(error) = std::fs::remove_file(&path) {
                tracing::warn!(%error, file = %path.display(), "failed to remove the discovery file");
            }
        })
        .await;
    }
}
