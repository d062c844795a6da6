//! What indicates that a file or a dependency belongs to a domain.

/// A domain and its signs.
#[derive(Debug)]
pub struct DomainSignals {
    /// Name of the domain.
    pub name: &'static str,
    /// Beginnings of the names of packages.
    pub packages: &'static [&'static str],
    /// Words of directories and file names, in lower case.
    pub words: &'static [&'static str],
    /// Extensions, or whole file names.
    pub files: &'static [&'static str],
    /// Whether a file that imports one of the packages belongs to the domain. Libraries for logs and metrics are imported
    /// everywhere.
    pub has_own_imports: bool,
}

/// Name of the domain of tests.
pub const TESTING: &str = "testing";
/// Domains that the agent `security-privacy` reviews unless they have an agent of their own.
pub const SECURITY: [&str; 2] = ["authentication", "authorization"];

/// All domains. When a file has as many signs of two domains, it belongs to the first of them.
pub const DOMAINS: [DomainSignals; 12] = [
    DomainSignals {
        name: TESTING,
        packages: &[
            "@playwright/test",
            "cypress",
            "jest",
            "junit",
            "mocha",
            "mockito",
            "phpunit",
            "pytest",
            "proptest",
            "rspec",
            "testify",
            "github.com/stretchr/testify",
            "vitest",
            "xunit",
        ],
        words: &[],
        files: &[],
        has_own_imports: false,
    },
    DomainSignals {
        name: "authentication",
        packages: &[
            "argon2",
            "auth0",
            "authlib",
            "bcrypt",
            "devise",
            "django-allauth",
            "github.com/golang-jwt",
            "jose",
            "jsonwebtoken",
            "next-auth",
            "oauth2",
            "openidconnect",
            "passport",
            "pyjwt",
            "spring-security",
        ],
        words: &[
            "auth",
            "authentication",
            "authn",
            "credentials",
            "jwt",
            "login",
            "logout",
            "oauth",
            "oidc",
            "password",
            "passwords",
            "signin",
            "signup",
            "sso",
        ],
        files: &[],
        has_own_imports: true,
    },
    DomainSignals {
        name: "authorization",
        packages: &["@casl/ability", "cancancan", "casbin", "github.com/casbin", "oso", "pundit"],
        words: &["acl", "authorization", "authz", "permission", "permissions", "rbac", "roles"],
        files: &[],
        has_own_imports: true,
    },
    DomainSignals {
        name: "caching",
        packages: &[
            "cachetools",
            "dalli",
            "github.com/redis/go-redis",
            "ioredis",
            "lru-cache",
            "memcached",
            "moka",
            "redis",
        ],
        words: &["cache", "caches", "caching"],
        files: &[],
        has_own_imports: true,
    },
    DomainSignals {
        name: "real-time-communication",
        packages: &[
            "channels",
            "github.com/gorilla/websocket",
            "pusher",
            "socket.io",
            "tokio-tungstenite",
            "websockets",
            "ws",
        ],
        words: &["realtime", "socket", "sockets", "sse", "webrtc", "websocket", "websockets"],
        files: &[],
        has_own_imports: true,
    },
    DomainSignals {
        name: "analytics",
        packages: &["@segment/analytics-node", "amplitude", "mixpanel", "posthog", "react-ga"],
        words: &["analytics", "tracking"],
        files: &[],
        has_own_imports: true,
    },
    DomainSignals {
        name: "monitoring-observability",
        packages: &[
            "@opentelemetry",
            "@sentry",
            "datadog",
            "github.com/prometheus",
            "go.uber.org/zap",
            "log4j",
            "logback",
            "loguru",
            "opentelemetry",
            "pino",
            "prometheus",
            "sentry",
            "slf4j",
            "structlog",
            "tracing",
            "winston",
        ],
        words: &["logging", "metrics", "monitoring", "observability", "telemetry", "tracing"],
        files: &[],
        has_own_imports: false,
    },
    DomainSignals {
        name: "mobile-native",
        packages: &["androidx", "expo", "flutter", "react-native"],
        words: &["android", "ios"],
        files: &["dart", "storyboard", "swift", "xib", "AndroidManifest.xml"],
        has_own_imports: true,
    },
    DomainSignals {
        name: "data-persistence",
        packages: &[
            "@prisma",
            "activerecord",
            "better-sqlite3",
            "diesel",
            "drizzle-orm",
            "gorm.io",
            "hibernate",
            "jakarta.persistence",
            "javax.persistence",
            "knex",
            "mongodb",
            "mongoose",
            "mysql",
            "pg",
            "prisma",
            "psycopg",
            "rusqlite",
            "sea-orm",
            "sequelize",
            "sqlalchemy",
            "sqlite3",
            "sqlx",
            "typeorm",
            "database/sql",
        ],
        words: &[
            "dao",
            "database",
            "databases",
            "db",
            "entities",
            "entity",
            "migration",
            "migrations",
            "model",
            "models",
            "persistence",
            "repositories",
            "schema",
            "sql",
            "storage",
            "store",
            "stores",
        ],
        files: &["prisma", "sql"],
        has_own_imports: true,
    },
    DomainSignals {
        name: "api-backend",
        packages: &[
            "@nestjs",
            "actix-web",
            "axum",
            "django",
            "express",
            "fastapi",
            "fastify",
            "flask",
            "github.com/gin-gonic",
            "github.com/go-chi",
            "github.com/gofiber",
            "github.com/labstack/echo",
            "koa",
            "laravel",
            "net/http",
            "rails",
            "rocket",
            "sinatra",
            "spring-boot",
            "spring-web",
            "tonic",
            "warp",
        ],
        words: &[
            "api",
            "controller",
            "controllers",
            "endpoint",
            "endpoints",
            "gateway",
            "graphql",
            "grpc",
            "handler",
            "handlers",
            "middleware",
            "rest",
            "route",
            "router",
            "routes",
            "server",
            "services",
        ],
        files: &["graphql", "proto"],
        has_own_imports: true,
    },
    DomainSignals {
        name: "web-frontend",
        packages: &[
            "@angular",
            "@tanstack/react",
            "astro",
            "lit",
            "next",
            "nuxt",
            "preact",
            "react",
            "react-dom",
            "solid-js",
            "svelte",
            "tailwindcss",
            "vue",
        ],
        words: &["components", "frontend", "hooks", "pages", "styles", "ui", "views", "web"],
        files: &["css", "html", "jsx", "less", "sass", "scss", "svelte", "tsx", "vue"],
        has_own_imports: true,
    },
    DomainSignals {
        name: "build-deployment",
        packages: &["aws-cdk-lib", "pulumi"],
        words: &[
            "ci",
            "deploy",
            "deployment",
            "docker",
            "helm",
            "infra",
            "infrastructure",
            "k8s",
            "kubernetes",
            "terraform",
        ],
        files: &[
            "tf",
            "Dockerfile",
            "Jenkinsfile",
            "Makefile",
            "docker-compose.yml",
            "docker-compose.yaml",
            "compose.yaml",
        ],
        has_own_imports: true,
    },
];

impl DomainSignals {
    /// Returns whether a package is a sign of the domain. Letter case and the difference of `-` and `_` do not count.
    pub fn has_package(&self, package: &str) -> bool {
        let package = package.to_lowercase().replace('_', "-");
        self.packages.iter().any(|known| {
            package
                .strip_prefix(known)
                .is_some_and(|rest| rest.chars().next().is_none_or(|next| !next.is_alphanumeric()))
                || package.split(':').any(|part| part == *known)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_matched_by_their_first_words() {
        let has = |domain: &str, package: &str| {
            DOMAINS.iter().find(|known| known.name == domain).unwrap().has_package(package)
        };
        assert!(has("data-persistence", "sea_orm") && has("data-persistence", "psycopg-binary"));
        assert!(has("data-persistence", "gorm.io/driver/sqlite") && has("web-frontend", "next/link"));
        assert!(has("api-backend", "github.com/gin-gonic/gin") && has("api-backend", "Flask"));
        assert!(!has("web-frontend", "reactor") && !has("real-time-communication", "wsl"));
        assert!(has("mobile-native", "androidx.core:core-ktx"));
    }
}
