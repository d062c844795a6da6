//! Environment variables that configure proxies for HTTP clients and other programs.

/// Variables with the address of a proxy.
pub const PROXY_VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// Variables with the hosts that are accessed without a proxy. Programs read one of them or both.
pub const BYPASS_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Names of this machine. Addresses in addition to the network, because some programs compare text only.
const LOOPBACK: [&str; 4] = ["localhost", "127.0.0.1", "::1", "127.0.0.0/8"];

/// Adds the loopback addresses to a comma-separated list of hosts that are accessed without a proxy.
#[must_use]
pub fn bypass_with_loopback(hosts: &str) -> String {
    let mut list: Vec<&str> = hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).collect();
    // Some programs accept the wildcard only as the whole list.
    if list.contains(&"*") {
        return "*".to_owned();
    }
    for host in LOOPBACK {
        if !list.contains(&host) {
            list.push(host);
        }
    }
    list.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_added_to_the_bypass_list() {
        assert_eq!(bypass_with_loopback(""), "localhost,127.0.0.1,::1,127.0.0.0/8");
        let list = bypass_with_loopback(" .corp.test, 127.0.0.1 ,");
        assert_eq!(list, ".corp.test,127.0.0.1,localhost,::1,127.0.0.0/8");
        assert_eq!(bypass_with_loopback(&list), list);
        assert_eq!(bypass_with_loopback("a.test, *"), "*");
    }
}
