//! Reads the latest plugin versions from the local checkout of the marketplace. Does not access the network.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use loopgate_home::Program;
use loopgate_tools::programs::Programs;
use serde::Deserialize;
use serde_json::Value;

use super::programs::probe;

/// Name of the marketplace with the plugins that loops need.
pub(super) const MARKETPLACE: &str = "loopgate";
/// Marketplace sources that have a local checkout.
const WITH_CHECKOUT: [&str; 3] = ["directory", "github", "git"];

/// An entry of `claude plugin marketplace list --json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MarketplaceEntry {
    name: String,
    source: Option<String>,
    path: Option<PathBuf>,
    install_location: Option<PathBuf>,
}

/// Returns the latest version by plugin name. Empty when unknown.
pub(super) async fn latest_versions(programs: &Programs, limit: Duration) -> BTreeMap<String, String> {
    let listed = probe(programs, Program::Assistant, &["plugin", "marketplace", "list", "--json"], limit);
    let Ok(output) = listed.await else { return BTreeMap::new() };
    let read = move || checkout(&output.stdout).and_then(|root| versions_in(&root)).unwrap_or_default();
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}

/// Returns the local checkout of the marketplace.
fn checkout(stdout: &[u8]) -> Option<PathBuf> {
    let listed: Vec<MarketplaceEntry> = serde_json::from_slice(stdout).ok()?;
    let ours = listed.into_iter().find(|listed| listed.name == MARKETPLACE)?;
    let has_checkout = ours.source.as_deref().is_some_and(|source| WITH_CHECKOUT.contains(&source));
    let root = ours.path.into_iter().chain(ours.install_location).find(|path| path.is_absolute());
    root.filter(|_| has_checkout)
}

/// Returns the version of each plugin in the checkout. Plugins with a source outside of it are skipped.
fn versions_in(root: &Path) -> Option<BTreeMap<String, String>> {
    #[derive(Deserialize)]
    struct PluginOffer {
        name: String,
        source: Value,
    }
    #[derive(Deserialize)]
    struct Marketplace {
        plugins: Vec<PluginOffer>,
    }
    let offer = std::fs::read(root.join(".claude-plugin/marketplace.json")).ok()?;
    let offer: Marketplace = serde_json::from_slice(&offer).ok()?;
    let version = |PluginOffer { name, source }: PluginOffer| {
        let place = Path::new(source.as_str()?);
        // `..` and absolute paths would lead out of the checkout.
        let below = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
        place.components().all(below).then(|| version_at(&root.join(place)))?.map(|version| (name, version))
    };
    Some(offer.plugins.into_iter().filter_map(version).collect())
}

/// Returns the version in a plugin's manifest.
pub(super) fn version_at(plugin: &Path) -> Option<String> {
    let manifest = std::fs::read(plugin.join(".claude-plugin/plugin.json")).ok()?;
    let manifest: Value = serde_json::from_slice(&manifest).ok()?;
    manifest.get("version").and_then(Value::as_str).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn write(path: &Path, json: &Value) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, json.to_string()).unwrap();
    }

    #[test]
    fn versions_are_read_from_the_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let offered = json!({"plugins": [
            {"name": "code", "source": "./plugins/code"},
            {"name": "judges", "source": "../elsewhere"},
            {"name": "code-review", "source": {"source": "github", "repo": "acme/review"}},
            {"name": "self-learning", "source": "plugins/none"},
        ]});
        let root = dir.path().join("market");
        write(&root.join(".claude-plugin/marketplace.json"), &offered);
        write(&root.join("plugins/code/.claude-plugin/plugin.json"), &json!({"version": "1.2.3"}));
        write(&dir.path().join("elsewhere/.claude-plugin/plugin.json"), &json!({"version": "9.9.9"}));
        let versions = versions_in(&root).unwrap();
        assert_eq!(versions, BTreeMap::from([("code".to_owned(), "1.2.3".to_owned())]));
        assert_eq!(versions_in(dir.path()), None);
    }

    #[test]
    fn checkout_requires_an_absolute_path() {
        let listed = |source: &str, place: Value| {
            let mut entry = json!({"name": "loopgate", "source": source});
            entry.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
            checkout(json!([{"name": "other", "source": "git", "path": "/o"}, entry]).to_string().as_bytes())
        };
        assert_eq!(listed("directory", json!({"path": "/m"})), Some(PathBuf::from("/m")));
        assert_eq!(listed("github", json!({"installLocation": "/m"})), Some(PathBuf::from("/m")));
        assert_eq!(listed("git", json!({"path": "m", "installLocation": "/n"})), Some(PathBuf::from("/n")));
        assert_eq!(listed("git", json!({"path": "m"})), None);
        assert_eq!(listed("url", json!({"path": "/m"})), None);
        assert_eq!(checkout(b"nothing"), None);
    }
}
