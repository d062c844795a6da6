//! Configurations that git printed before, so that reading commands need not start git again to list them.
//!
//! A repository that the user has not trusted decides by its configuration which overrides git gets. Its part is
//! therefore compared by content with the files that were read for the current command. The part of the user and the
//! system is compared by the metadata of its files.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopgate_home::{FileVersions, Repository};

use super::config::{self, ConfigVariable};
use super::config_listing::ConfigListing;
use super::{Git, GitError};

/// Maximum number of configurations; all are dropped when it is reached. One has a few kilobytes.
const MAX_CONFIGS: usize = 1000;

/// The configurations, by git directory: conditions of includes depend on it.
#[derive(Debug, Default)]
pub(super) struct KnownConfigs(Mutex<HashMap<PathBuf, Arc<KnownConfig>>>);

#[derive(Debug)]
struct KnownConfig {
    listing: ConfigListing,
    /// The files outside of the repository from which git read the configuration.
    external: FileVersions,
    variables: Vec<ConfigVariable>,
}

impl Git {
    /// As [`Git::effective_config`], for reading commands: lists the configuration only if it may have changed.
    pub(super) async fn config_for_reading(
        &self,
        repository: &Arc<Repository>,
    ) -> Result<Vec<ConfigVariable>, GitError> {
        // Included files of the repository are not among those that were read for this command.
        if config::includes(&repository.config) {
            return self.effective_config(repository).await;
        }
        let known = self.known_configs.lock().get(&repository.git_dir).cloned();
        if let Some(known) = known
            && is_config_of(&known.variables, repository)
            && known.listing.program == self.executable().await
            && known.listing.environment == self.environment().await
        {
            let compared = known.clone();
            let unchanged = tokio::task::spawn_blocking(move || compared.external.are_unchanged());
            if unchanged.await.unwrap_or(false) {
                return Ok(known.variables.clone());
            }
        }
        let listing = self.config_listing(repository).await?;
        let variables = listing.variables()?;
        if is_config_of(&variables, repository) {
            self.add_known(repository, listing, variables.clone()).await?;
        }
        Ok(variables)
    }

    /// Adds a configuration, unless its files changed recently or while it was listed.
    async fn add_known(
        &self,
        repository: &Arc<Repository>,
        listing: ConfigListing,
        variables: Vec<ConfigVariable>,
    ) -> Result<(), GitError> {
        let Ok(files) = listing.external_files() else { return Ok(()) };
        let external = tokio::task::spawn_blocking(move || FileVersions::read(files)).await;
        let Ok(Ok(Some(external))) = external else { return Ok(()) };
        // The metadata was read after the files, which may have changed in between.
        if self.config_listing(repository).await? != listing {
            return Ok(());
        }
        let mut configs = self.known_configs.lock();
        if configs.len() >= MAX_CONFIGS {
            configs.clear();
        }
        configs.insert(repository.git_dir.clone(), Arc::new(KnownConfig { listing, external, variables }));
        Ok(())
    }
}

impl KnownConfigs {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<KnownConfig>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether the variables of the repository are exactly those of its files, in the same order.
fn is_config_of(variables: &[ConfigVariable], repository: &Repository) -> bool {
    let own = variables.iter().filter(|variable| variable.by_repository).map(|variable| &variable.entry);
    own.eq(&repository.config)
}
