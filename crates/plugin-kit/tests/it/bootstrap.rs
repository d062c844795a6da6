//! The plugin `bootstrap` with the real assistant and a scripted model.

use std::path::PathBuf;

use loopgate_testkit::git::git;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, Script};

use crate::support::{Ended, example, plugin};

const FILES: [(&str, &str); 8] = [
    ("README.md", "# Shop\n\nSells plants over an API.\n"),
    ("pyproject.toml", "[project]\ndependencies = [\"flask\", \"sqlalchemy\"]\n[tool.pytest.ini_options]\n"),
    ("shop/store/orders.py", "from sqlalchemy import select\n\nclass OrderStore:\n    def save(self): ...\n"),
    ("shop/store/plants.py", "class PlantStore:\n    def find(self): ...\n"),
    ("tests/test_orders.py", "def test_order(): ...\n"),
    ("web/package.json", "{\"dependencies\": {\"react\": \"19\"}, \"scripts\": {\"test\": \"vitest run\"}}"),
    ("web/pages/Cart.tsx", "import { useState } from 'react';\nexport function CartPage() {}\n"),
    ("web/pages/Orders.tsx", "export function OrdersPage() {}\n"),
];
/// Text of an agent, with the first names of its facts.
const TEXT: &str = r#"{"description": "Ask about {{agent}}.", "responsibilities": [{"area": "{{agent}}", "blocking": ["{{one}} is lost"], "major": ["{{two}} is stale"], "minor": ["{{three}} is slow"]}], "guidance": []}"#;
/// Upper bound of the characters of a request about this repository, with the first part.
const MAX_REQUEST_CHARS: usize = 6000;

fn texts() -> Conversation {
    let captures = [("one", 0), ("two", 1), ("three", 2)].map(|(group, skipped)| {
        format!("begin \"facts\"\n(?:[^`]*`[^`]+`){{{skipped}}}[^`]*(?P<{group}>`[^`]+`)")
    });
    Conversation {
        toolless: true,
        captures: captures.to_vec(),
        ..Conversation::when("texts", r"Write the agent (?P<agent>[a-z-]+)\.")
    }
    .says(TEXT)
}

struct Session {
    model: ModelServer,
    home: UserHome,
    project: PathBuf,
}

impl Session {
    /// Creates a repository, and a home without anything of Loopgate except the plugin.
    async fn new() -> Self {
        let session = Conversation::when("session", "# Write the agents of this repository")
            .and(r"Arguments: (?P<options>[^\n]*)")
            .runs("loopgate bootstrap run {{options}}")
            .says("The agents are in .claude/agents.");
        let model = ModelServer::start(Script::new([texts(), session])).await.unwrap();
        let mut home = UserHome::temporary().unwrap();
        home.reach_model(&model).unwrap();
        let project = home.path().join("project");
        for (name, text) in FILES {
            let path = project.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        git(&project, &["init", "--quiet"]).unwrap();
        Self { model, home, project }
    }

    async fn run(&self, prompt: &str) -> (Ended, String) {
        let before = self.model.requests_of("session").len();
        let mut command = self.home.command("claude");
        command.current_dir(&self.project).args(["--plugin-dir", &plugin("bootstrap").display().to_string()]);
        let ended = Ended::from(command.args(["-p", prompt]).output().await.unwrap());
        let requests = self.model.requests_of("session");
        let results = requests[before..].last().map(|request| request.tool_results());
        (ended, results.unwrap_or_default())
    }
}

#[tokio::test]
async fn session_writes_the_agents_without_a_permission_prompt() {
    let session = Session::new().await;
    session.home.link("loopgate", &example()).unwrap();
    let (ended, results) = session.run("/bootstrap:agent-bootstrap --dry-run").await;
    assert_eq!(ended.stdout.trim(), "The agents are in .claude/agents.", "{}", ended.stderr);
    assert!(results.contains("6 agents: 6 to be written; about "), "{results}");
    assert!(session.model.requests_of("texts").is_empty() && !session.project.join(".claude").exists());

    let (_, results) = session.run("/bootstrap:agent-bootstrap").await;
    assert!(
        results.contains("6 agents: 6 valid, 0 failed; 6 written by a model, 0 unchanged; cost $"),
        "{results}"
    );
    let agent = std::fs::read_to_string(session.project.join(".claude/agents/data-persistence.md")).unwrap();
    assert!(agent.contains("`shop/store"), "{agent}");
    // Agents read nothing but their prompt, and have no tools.
    let requests = session.model.requests_of("texts");
    assert_eq!(requests.len(), 6);
    for request in &requests {
        assert!(request.tools().is_empty() && request.model().contains("sonnet"), "{:?}", request.tools());
        assert_eq!(request.system(), requests[0].system());
        let chars = request.system().len() + request.user_text().len();
        assert!(chars < MAX_REQUEST_CHARS, "{chars} characters");
    }
    let (_, results) = session.run("/bootstrap:agent-bootstrap").await;
    assert!(results.contains("0 written by a model, 6 unchanged; cost $0.00"), "{results}");
    assert_eq!(session.model.requests_of("texts").len(), 6);
    let check = session
        .home
        .command("loopgate")
        .current_dir(&session.project)
        .args(["bootstrap", "validate"])
        .output();
    let check = Ended::from(check.await.unwrap());
    assert_eq!(check.stdout.trim(), "6 agents: 0 invalid", "{}", check.stderr);
}

#[tokio::test]
async fn session_without_the_program_shows_that_it_is_missing() {
    let session = Session::new().await;
    let (ended, results) = session.run("/bootstrap:agent-bootstrap").await;
    assert!(
        results.contains("loopgate: command not found") || results.contains("loopgate: not found"),
        "{results} {}",
        ended.stderr
    );
    let page = session.model.requests_of("session")[0].user_text();
    assert!(page.contains("`cargo install --path crates/loopgate`"), "{page}");
}
