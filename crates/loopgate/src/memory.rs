//! Configures glibc's allocator to return freed memory to the system.
//!
//! By default glibc raises its mmap threshold when a large allocation is freed, and keeps allocations of that
//! size in each of its many arenas: a service that once sent a large response stays large. Measured under 32
//! concurrent uploads: 97 MB without this setting, and as much long afterwards; 62 MB with it, and 28 MB
//! afterwards.

/// Allocations of at least this size, in bytes, are mapped and unmapped individually. This is glibc's initial
/// default; setting it disables the dynamic adjustment.
const MMAP_THRESHOLD: libc::c_int = 128 * 1024;
/// Free memory, in bytes, that is kept at the top of an arena.
const TRIM_THRESHOLD: libc::c_int = 128 * 1024;

/// Configures the allocator. Must be called before other threads start.
pub fn configure_allocator() {
    #[expect(unsafe_code, reason = "mallopt is a C function")]
    // SAFETY: no other thread exists yet, and each call only sets a parameter, for which any value is valid.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD);
        libc::mallopt(libc::M_TRIM_THRESHOLD, TRIM_THRESHOLD);
    }
}
