//! The discovery file: tells local programs which port the gateway holds. Nobody may depend on it,
//! so a failure is a warning.

use std::path::PathBuf;

const NAME: &str = "gateway-port";

/// The file, while it is ours.
pub(crate) struct DiscoveryFile {
    path: PathBuf,
    port: u16,
}

impl DiscoveryFile {
    /// Writes the port, in decimal, without a line end.
    pub(crate) async fn announce(dir: PathBuf, port: u16) -> Option<Self> {
        let path = dir.join(NAME);
        let written = tokio::task::spawn_blocking({
            let path = path.clone();
            move || loopgate_home::files::write_atomic(&path, port.to_string().as_bytes())
        })
        .await;
        match written {
            Ok(Ok(())) => Some(Self { path, port }),
            Ok(Err(error)) => {
                tracing::warn!(%error, file = %path.display(), "the discovery file could not be written");
                None
            }
            Err(_) => None,
        }
    }

    /// Removes the file, if no other gateway has written its port since.
    pub(crate) async fn withdraw(self) {
        let Self { path, port } = self;
        let _ = tokio::task::spawn_blocking(move || {
            let ours = std::fs::read_to_string(&path).is_ok_and(|text| text == port.to_string());
            if ours && let Err(error) = std::fs::remove_file(&path) {
                tracing::warn!(%error, file = %path.display(), "the discovery file could not be removed");
            }
        })
        .await;
    }
}
