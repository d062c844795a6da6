//! The memory of this machine.

/// Returns the memory that programs can allocate without causing others to be swapped out, in bytes. Returns
/// [`u64::MAX`] when the system does not report it, so that admission control then imposes no limit.
pub async fn available_memory() -> u64 {
    tokio::task::spawn_blocking(query_memory).await.ok().flatten().unwrap_or(u64::MAX)
}

#[cfg(target_os = "linux")]
fn query_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(not(target_os = "linux"))]
fn query_memory() -> Option<u64> {
    use sysinfo::{MemoryRefreshKind, RefreshKind, System};
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    Some(System::new_with_specifics(memory).available_memory())
}

#[cfg(test)]
mod tests {
    #[test]
    fn available_memory_is_reported() {
        let megabyte = 1024 * 1024;
        let bytes = super::query_memory().unwrap();
        assert!((megabyte..1 << 50).contains(&bytes), "{bytes}");
    }
}
