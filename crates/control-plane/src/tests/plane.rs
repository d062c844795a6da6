//! A running control plane for one test, and its test data.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use loopgate_api::ids::RepoFullName;
use loopgate_api::launch::RepoRef;
use secrecy::ExposeSecret;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::desktop::DesktopIdentity;
use super::{LinkedDesktop, TestClient};
use crate::accounts::{FirstOwner, Owner, Profile, insert_identity, insert_user};
use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::credentials::session;
use crate::store::entity::user::{self, Role};
use crate::store::entity::{agent_loop, organization};
use crate::store::now;
use crate::{Config, ControlPlane, MachineRepositories, Secrets};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;

/// Origin of both the API and the web app.
pub const ORIGIN: &str = "http://127.0.0.1:19440";

/// A control plane with its first owner, in a temporary directory.
pub struct TestApp {
    pub plane: ControlPlane,
    pub app: ControlPlaneState,
    pub owner: Owner,
    router: Router,
    folder: TempDir,
}

impl TestApp {
    /// Starts a control plane with the owner Ada.
    pub async fn start() -> Self {
        Self::start_at(ORIGIN).await
    }

    /// Starts a control plane whose web app has another origin.
    pub async fn start_at(web_origin: &str) -> Self {
        Self::start_with(|config| web_origin.clone_into(&mut config.web_origin)).await
    }

    /// Starts a control plane with a changed configuration.
    pub async fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("control-plane.sqlite");
        let (database_url, database_schema) = match std::env::var("LOOPGATE_TEST_POSTGRES") {
            Ok(url) => (url.clone(), Some(fresh_schema(&url).await)),
            Err(_) => (format!("sqlite://{}?mode=rwc", file.display()), None),
        };
        let mut config = Config {
            database_url,
            database_schema,
            storage_dir: folder.path().join("storage"),
            api_origin: ORIGIN.to_owned(),
            web_origin: ORIGIN.to_owned(),
            code_host_url: Some("http://127.0.0.1:8080".to_owned()),
            gateway_port: None,
            demonstration: None,
            trusted_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            machine_repositories: Some(Arc::new(TestMachineRepositories)),
            code_host_app: None,
            oidc: None,
            secrets: Secrets::generate(),
        };
        change(&mut config);
        Self::open(config, folder).await
    }

    async fn open(config: Config, folder: TempDir) -> Self {
        let plane = ControlPlane::open(config).await.unwrap();
        let owner = plane.ensure_first_owner(&first_owner()).await.unwrap();
        let (router, app) = (plane.router(), plane.app());
        Self { plane, app, owner, router, folder }
    }

    /// Shuts the control plane down and opens it again with the same database and directory.
    pub async fn restart(self) -> Self {
        let config = self.app.config.clone();
        self.plane.shutdown().await.unwrap();
        Self::open(config, self.folder).await
    }

    /// Starts another instance on the same database; `None` on SQLite, which has one process.
    pub async fn second_instance(&self) -> Option<Self> {
        if self.app.store.is_embedded() {
            return None;
        }
        Some(Self::open(self.app.config.clone(), tempfile::tempdir().unwrap()).await)
    }

    /// Returns a client without credentials.
    pub fn anonymous(&self) -> TestClient {
        TestClient::new(self.router.clone())
    }

    /// Signs the owner in.
    pub async fn owner(&self) -> TestClient {
        self.sign_in(self.owner.user_id).await
    }

    /// Adds a member to the owner's organization and signs the member in.
    pub async fn member(&self, email: &str) -> TestClient {
        let identity = insert_identity(self.app.store.writer()).await.unwrap();
        let id = self.join(self.owner.organization_id, identity, email, Role::Member).await;
        self.sign_in(id).await
    }

    /// Adds a user to an organization and returns the user's id.
    pub async fn join(&self, organization: Uuid, identity: Uuid, email: &str, role: Role) -> Uuid {
        let profile = Profile::named("Ben", email);
        insert_user(self.app.store.writer(), organization, identity, profile, role).await.unwrap().id
    }

    /// Returns the identity of a user; one identity can have users in several organizations.
    pub async fn identity(&self, user_id: Uuid) -> Uuid {
        let user = user::Entity::find_by_id(user_id).one(self.app.store.reader()).await.unwrap();
        user.unwrap().identity_id
    }

    /// Creates another organization and returns its id.
    pub async fn organization(&self, slug: &str) -> Uuid {
        let id = Uuid::now_v7();
        let row = organization::ActiveModel {
            id: Set(id),
            name: Set(slug.to_owned()),
            slug: Set(slug.to_owned()),
            active: Set(true),
            settings: Set(json!({})),
            created_at: Set(now()),
        };
        organization::Entity::insert(row).exec_without_returning(self.app.store.writer()).await.unwrap();
        id
    }

    /// Creates another organization and signs its administrator in.
    pub async fn stranger(&self) -> TestClient {
        let organization = self.organization("elsewhere").await;
        let identity = insert_identity(self.app.store.writer()).await.unwrap();
        let user = self.join(organization, identity, "eve@example.org", Role::Admin).await;
        self.sign_in(user).await
    }

    /// Signs a user in with a one-time link.
    pub async fn sign_in(&self, user_id: Uuid) -> TestClient {
        let token = session::create_link(&self.app.store, user_id, "link", None).await.unwrap();
        let client = self.anonymous().with_header("origin", ORIGIN);
        let reply = client.post("/auth/sign-in-link", json!({"token": token})).await;
        assert_eq!(reply.status, 200, "{}", reply.json);
        client.signed_in(&reply)
    }

    /// Creates an API key of the owner and returns a client that uses it.
    pub async fn key(&self) -> TestClient {
        self.key_with(json!({"name": "test"})).await
    }

    /// Creates an API key with this request body and returns a client that uses it.
    pub async fn key_with(&self, body: serde_json::Value) -> TestClient {
        let reply = self.owner().await.post("/api-keys", body).await;
        let key = reply.json["data"]["plaintext"].as_str().unwrap().to_owned();
        self.anonymous().with_bearer(&key)
    }

    /// Creates a loop and returns its id with a client that uses its runner token.
    pub async fn running(&self, command: &str) -> (Uuid, TestClient) {
        let body = json!({"command": command, "repo": {"fullName": "acme/shop", "branch": "main"}});
        let created = self.owner().await.post("/loops", body).await;
        assert_eq!(created.status, 200, "{}", created.json);
        let id: Uuid = created.data("loopId").as_str().unwrap().parse().unwrap();
        let runner = self.runner(id).await;
        (id, runner)
    }

    /// Issues a runner token for a loop and returns a client that uses it.
    pub async fn runner(&self, id: Uuid) -> TestClient {
        use agent_loop::Column;
        // A launch stores the token's id before it sends the command, and these tests have no desktop to
        // launch on.
        let issued = self.app.runner_tokens.issue(id, self.owner.organization_id, now()).unwrap();
        agent_loop::Entity::update_many()
            .col_expr(Column::ActiveTokenJti, Expr::value(issued.jti))
            .col_expr(Column::LastTokenJti, Expr::value(issued.jti))
            .col_expr(Column::TokenExpiresAt, Expr::value(issued.expires_at))
            .filter(Column::Id.eq(id))
            .exec(self.app.store.writer())
            .await
            .unwrap();
        self.anonymous().with_bearer(issued.token.expose_secret())
    }

    pub async fn row(&self, id: Uuid) -> agent_loop::Model {
        agent_loop::Entity::find_by_id(id).one(self.app.store.reader()).await.unwrap().unwrap()
    }

    /// Overwrites a column of a loop, for example to make the loop older.
    pub async fn set_column(&self, id: Uuid, column: agent_loop::Column, value: impl Into<sea_orm::Value>) {
        agent_loop::Entity::update_many()
            .col_expr(column, Expr::value(value))
            .filter(agent_loop::Column::Id.eq(id))
            .exec(self.app.store.writer())
            .await
            .unwrap();
    }

    /// Serves the control plane on a free loopback port, until it shuts down.
    pub async fn serve(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (router, shutdown) = (self.router.clone(), self.app.shutdown.clone());
        tokio::spawn(async move {
            axum::serve(listener, router).with_graceful_shutdown(shutdown.cancelled_owned()).await.unwrap();
        });
        address
    }

    /// Serves the control plane and connects a desktop that claims its API key first.
    pub async fn desktop(&self) -> LinkedDesktop {
        let identity = DesktopIdentity::claim(self).await;
        self.desktop_as(identity).await
    }

    /// Serves the control plane and connects a desktop that has claimed its API key before.
    pub async fn desktop_as(&self, identity: DesktopIdentity) -> LinkedDesktop {
        LinkedDesktop::connect(identity, self.serve().await).await
    }

    /// Closes the connection of a desktop and waits until the control plane has removed it.
    pub async fn disconnect(&self, target: Uuid) {
        self.app.desktops.close_target(target);
        let mut wake = self.app.bus.subscribe(Topic::Organization(self.owner.organization_id));
        while self.app.desktops.is_connected(target) {
            wake.changed().await.unwrap();
        }
    }
}

pub fn first_owner() -> FirstOwner {
    FirstOwner {
        organization: "Home".to_owned(),
        name: "Ada Lovelace".to_owned(),
        email: "ada@example.org".to_owned(),
    }
}

/// The repository that most tests use; [`TestMachineRepositories`] contains it.
pub fn shop() -> RepoRef {
    RepoRef { full_name: "acme/shop".to_owned(), branch: "main".to_owned() }
}

/// The repositories that exist on the simulated machine.
#[derive(Debug)]
struct TestMachineRepositories;

impl MachineRepositories for TestMachineRepositories {
    fn full_names(&self) -> Result<Vec<RepoFullName>, Box<dyn Error + Send + Sync>> {
        let names = ["acme/shop", "acme/docs", "acme/api", "acme/odd", "acme/failed", "acme/other"];
        names.into_iter().map(|name| Ok(name.parse()?)).collect()
    }
}

/// Creates an empty schema in the PostgreSQL server of the tests.
pub async fn fresh_schema(url: &str) -> String {
    // The schema is not dropped: a failed test leaves its data for inspection, and the server is disposable.
    let schema = format!("test_{}", Uuid::now_v7().simple());
    let db = sea_orm::Database::connect(url).await.unwrap();
    db.execute_unprepared(&format!("CREATE SCHEMA \"{schema}\"")).await.unwrap();
    db.close().await.unwrap();
    schema
}
