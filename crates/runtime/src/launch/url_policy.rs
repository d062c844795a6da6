//! Restricts the URLs that a loop can make this desktop request (SSRF protection): virtual-hosted S3 URLs and
//! the configured control plane. All other hosts and all IP literals are denied.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Reason for denying a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UrlDenial {
    InvalidUrl,
    Credentialed,
    Protocol,
    Metadata,
    LinkLocal,
    Private,
    IpLiteral,
    PathStyle,
    Host,
}

impl UrlDenial {
    /// Returns the code of the reason, as written into the list of skipped attachments.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidUrl => "invalid_url",
            Self::Credentialed => "credentialed_url",
            Self::Protocol => "unsupported_protocol",
            Self::Metadata => "metadata_address_not_allowed",
            Self::LinkLocal => "link_local_address_not_allowed",
            Self::Private => "private_address_not_allowed",
            Self::IpLiteral => "ip_literal_not_allowed",
            Self::PathStyle => "path_style_s3_not_allowed",
            Self::Host => "attachment_host_not_allowed",
        }
    }
}

/// Kind of an allowed URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UrlTarget {
    /// Object store; connections to non-public addresses are refused.
    ObjectStore(Url),
    /// The configured control plane, which may listen on loopback.
    ControlPlane(Url),
}

/// Checks the URL of an attachment.
pub(crate) fn check(text: &str, api_origin: Option<&str>) -> Result<UrlTarget, UrlDenial> {
    let url = Url::parse(text).map_err(|_| UrlDenial::InvalidUrl)?;
    let host = url.host().ok_or(UrlDenial::InvalidUrl)?.to_owned();
    // Credentials in a URL are a common way to disguise the host.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlDenial::Credentialed);
    }
    let control_plane = api_origin.and_then(|origin| Url::parse(origin).ok());
    if control_plane.is_some_and(|control_plane| control_plane.origin() == url.origin()) {
        return Ok(UrlTarget::ControlPlane(url));
    }
    if url.scheme() != "https" {
        return Err(UrlDenial::Protocol);
    }
    match host {
        Host::Ipv4(address) => Err(literal(IpAddr::V4(address))),
        Host::Ipv6(address) => Err(literal(IpAddr::V6(address))),
        Host::Domain(name) => object_store(&name).map(|()| UrlTarget::ObjectStore(url)),
    }
}

// The `url` crate has already normalized hexadecimal, octal and integer notations of IPv4 addresses.
fn literal(address: IpAddr) -> UrlDenial {
    match unmapped(address) {
        IpAddr::V4(v4) if v4 == Ipv4Addr::new(169, 254, 169, 254) => UrlDenial::Metadata,
        IpAddr::V4(v4) if v4.is_link_local() => UrlDenial::LinkLocal,
        IpAddr::V6(v6) if v6.is_unicast_link_local() => UrlDenial::LinkLocal,
        IpAddr::V4(v4) if v4.is_private() => UrlDenial::Private,
        IpAddr::V6(v6) if v6.is_unique_local() => UrlDenial::Private,
        _ => UrlDenial::IpLiteral,
    }
}

fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Accepts `<bucket>.s3.<region>.amazonaws.com`. Path-style URLs are denied, because their host does not name
/// the bucket.
fn object_store(host: &str) -> Result<(), UrlDenial> {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let Some(prefix) = host.strip_suffix(".amazonaws.com") else { return Err(UrlDenial::Host) };
    let labels: Vec<&str> = prefix.split('.').collect();
    match labels.as_slice() {
        ["s3"] | ["s3", _] => Err(UrlDenial::PathStyle),
        [only] if only.starts_with("s3-") => Err(UrlDenial::PathStyle),
        [bucket @ .., "s3", region] if !bucket.is_empty() && is_region(region) => Ok(()),
        _ => Err(UrlDenial::Host),
    }
}

fn is_region(label: &str) -> bool {
    label.contains('-') && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// DNS resolver that returns public addresses only. Checking at connect time defeats DNS rebinding: the name
/// may resolve to another address than during an earlier check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublicAddressResolver;

impl Resolve for PublicAddressResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = addresses.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err("the host has no public address".into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

fn is_public(address: IpAddr) -> bool {
    match unmapped(address) {
        IpAddr::V4(v4) => {
            // 100.64.0.0/10, the shared address space of carrier-grade NAT (RFC 6598).
            let shared = v4.octets()[0] == 100 && (v4.octets()[1] & 0b1100_0000) == 64;
            !(v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || v4.is_documentation()
                || shared)
        }
        IpAddr::V6(v6) => {
            !(v6 == Ipv6Addr::LOCALHOST
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn denied_url_reports_its_reason() {
        let cases = [
            ("nonsense", "invalid_url"),
            ("https://u:p@b.s3.eu-west-1.amazonaws.com/x", "credentialed_url"),
            ("http://b.s3.eu-west-1.amazonaws.com/x", "unsupported_protocol"),
            ("https://169.254.169.254/", "metadata_address_not_allowed"),
            ("https://2852039166/", "metadata_address_not_allowed"),
            ("https://[::ffff:169.254.169.254]/", "metadata_address_not_allowed"),
            ("https://169.254.1.1/", "link_local_address_not_allowed"),
            ("https://[fe80::1]/", "link_local_address_not_allowed"),
            ("https://10.0.0.1/", "private_address_not_allowed"),
            ("https://0x7f.1/", "ip_literal_not_allowed"),
            ("https://8.8.8.8/", "ip_literal_not_allowed"),
            ("https://s3.eu-west-1.amazonaws.com/b/x", "path_style_s3_not_allowed"),
            ("https://s3-eu-west-1.amazonaws.com/b/x", "path_style_s3_not_allowed"),
            ("https://example.org/", "attachment_host_not_allowed"),
            ("https://b.s3.eu-west-1.amazonaws.com.evil.org/", "attachment_host_not_allowed"),
            ("https://s3.amazonaws.com.evil.org/", "attachment_host_not_allowed"),
        ];
        for (url, reason) in cases {
            assert_eq!(check(url, None).unwrap_err().as_str(), reason, "{url}");
        }
        assert!(matches!(
            check("https://b.s3.eu-west-1.amazonaws.com/x?sig=1", None),
            Ok(UrlTarget::ObjectStore(_))
        ));
    }

    #[test]
    fn control_plane_is_allowed_only_at_its_exact_origin() {
        let origin = Some("http://127.0.0.1:19440");
        assert!(matches!(check("http://127.0.0.1:19440/storage/x", origin), Ok(UrlTarget::ControlPlane(_))));
        assert!(check("http://127.0.0.1:19441/storage/x", origin).is_err());
        assert!(check("https://127.0.0.1:19440/storage/x", origin).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in ".{0,60}") {
            let _ = check(&text, Some("http://127.0.0.1:1"));
        }

        #[test]
        fn ip_literal_is_always_denied(bits in any::<u32>()) {
            let url = format!("https://{}/", Ipv4Addr::from(bits));
            prop_assert!(check(&url, None).is_err());
        }
    }
}
