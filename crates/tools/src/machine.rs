//! What the machine has to give at this moment.

/// Bytes of memory that programs can have without others being swapped out; without limit where
/// the system does not tell.
pub async fn available_memory() -> u64 {
    tokio::task::spawn_blocking(available).await.ok().flatten().unwrap_or(u64::MAX)
}

#[cfg(target_os = "linux")]
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(not(target_os = "linux"))]
fn available() -> Option<u64> {
    use sysinfo::{MemoryRefreshKind, RefreshKind, System};
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    Some(System::new_with_specifics(memory).available_memory())
}

#[cfg(test)]
mod tests {
    #[test]
    fn available_memory_is_reported() {
        let megabyte = 1024 * 1024;
        let bytes = super::available().unwrap();
        assert!((megabyte..1 << 50).contains(&bytes), "{bytes}");
    }
}
