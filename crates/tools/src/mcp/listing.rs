//! Parses the output of the two programs' `mcp` sub-commands.

use super::normal_form;

/// An entry of a server list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedServer {
    pub(super) name: String,
    /// The URL as configured, not in normal form.
    pub(super) url: String,
    pub(super) available: bool,
}

/// A single server, as printed by `claude mcp get`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerDetails {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) available: bool,
    /// Whether the server is configured for a single project only.
    pub(super) project_local: bool,
}

/// Finds the first line of `claude mcp list` with the wanted URL: `<name>: <url> … - <status>`.
pub(super) fn in_assistant_list(printed: &str, normal_url: &str) -> Option<ListedServer> {
    printed.lines().find_map(|line| {
        let (server, status) = line.rsplit_once(" - ")?;
        let (before, url) = url_in(server, normal_url)?;
        let name = before.trim().trim_end_matches(':').trim();
        let name = Some(name).filter(|name| !name.is_empty())?;
        Some(ListedServer { name: name.to_owned(), url: url.to_owned(), available: is_connected(status) })
    })
}

/// Parses `claude mcp get <name>`. Returns `None` when the URL is not the wanted one.
pub(super) fn in_assistant_description(printed: &str, normal_url: &str) -> Option<ServerDetails> {
    let name =
        printed.lines().find_map(|line| line.trim().strip_suffix(':').filter(|name| !name.is_empty()))?;
    let value = |label: &str| printed.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim);
    let url = value("URL:").filter(|url| normal_form(url).as_deref() == Some(normal_url))?;
    Some(ServerDetails {
        name: name.to_owned(),
        url: url.to_owned(),
        available: value("Status:").is_some_and(is_connected),
        project_local: value("Scope:").is_some_and(|scope| scope.to_lowercase().contains("local config")),
    })
}

/// Finds the first line of `codex mcp list` with the wanted URL. The name is its first column.
pub(super) fn in_reviewer_list(printed: &str, normal_url: &str) -> Option<ListedServer> {
    printed.lines().filter(|line| !line.starts_with("Name ")).find_map(|line| {
        let (before, url) = url_in(line, normal_url)?;
        let name = before.split_whitespace().next()?;
        let available = line.split_whitespace().any(|word| word == "enabled");
        Some(ListedServer { name: name.to_owned(), url: url.to_owned(), available })
    })
}

fn is_connected(status: &str) -> bool {
    status.contains("Connected") || status.contains('✓')
}

/// Returns the wanted URL as it appears in a line, and the text before it.
fn url_in<'a>(line: &'a str, normal_url: &str) -> Option<(&'a str, &'a str)> {
    let words = line.split_whitespace();
    let mut urls = words.filter(|word| word.contains("://"));
    let url = urls.find(|word| normal_form(word).as_deref() == Some(normal_url))?;
    line.split_once(url).map(|(before, _)| (before, url))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WANTED: &str = "https://mcp.example.test/mcp";

    #[test]
    fn assistant_list_is_parsed() {
        // Names may contain colons, and URLs a trailing slash.
        let printed = "Checking MCP server health...\n\nother: https://other.test/mcp (HTTP) - ✓ Connected\n\
                       plugin:team:mcp: https://mcp.example.test/mcp/ (HTTP) - ✗ Failed to connect\n";
        let listed = in_assistant_list(printed, WANTED).unwrap();
        assert_eq!((listed.name.as_str(), listed.available), ("plugin:team:mcp", false));
        assert_eq!(listed.url, "https://mcp.example.test/mcp/", "as configured");
        assert_eq!(in_assistant_list("No MCP servers configured.", WANTED), None);
        let connected = format!("team: {WANTED} (HTTP) - ✓ Connected");
        assert!(in_assistant_list(&connected, WANTED).unwrap().available);
    }

    #[test]
    fn assistant_description_is_parsed() {
        let text = |scope: &str, status: &str| {
            format!(
                "team:\n  Scope: {scope}\n  Status: {status}\n  Type: http\n  URL: {WANTED}\n\nTo remove it: …\n"
            )
        };
        let user = in_assistant_description(&text("User config", "✓ Connected"), WANTED).unwrap();
        assert_eq!((user.name.as_str(), user.available, user.project_local), ("team", true, false));
        let local =
            in_assistant_description(&text("Local config (private to you)", "✗ Failed"), WANTED).unwrap();
        assert_eq!((local.available, local.project_local), (false, true));
        assert_eq!(in_assistant_description(&text("User config", "✓"), "https://elsewhere.test/"), None);
        assert_eq!(in_assistant_description("No MCP server found with name: team", WANTED), None);
    }

    #[test]
    fn reviewer_list_is_parsed() {
        let printed = format!(
            "Name  Url                           Bearer Token Env Var  Status   Auth\n\
             team  {WANTED}  -                     enabled  OAuth\n"
        );
        let listed = in_reviewer_list(&printed, WANTED).unwrap();
        assert_eq!((listed.name.as_str(), listed.available), ("team", true));
        let off = in_reviewer_list(&printed.replace("enabled", "disabled"), WANTED).unwrap();
        assert!(!off.available);
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "(?s)(.{0,40}https://mcp.example.test/mcp.{0,40}|.{0,80})") {
            for listed in [in_assistant_list(&text, WANTED), in_reviewer_list(&text, WANTED)].into_iter().flatten() {
                prop_assert_eq!(normal_form(&listed.url), normal_form(WANTED));
                prop_assert!(!listed.name.is_empty());
            }
            let _ = in_assistant_description(&text, WANTED);
        }
    }
}
