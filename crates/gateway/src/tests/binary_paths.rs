//! Paths of the five programs, over HTTP.

use serde_json::json;

use super::place::Place;

const PATH: &str = "/api/gateway/settings/binary-paths";

#[tokio::test]
async fn a_path_is_set_by_its_target_and_cleared() {
    let place = Place::new().await;
    let get = || place.internal("GET", PATH).send();
    assert_eq!(get().await.json(), json!({"binaryPaths": {}}));
    let git = place.program("git", "echo git version 2.46.1");
    let link = place.sandbox().join("git-link");
    std::os::unix::fs::symlink(&git, &link).unwrap();
    let set = json!({"git": link}).to_string();
    let reply = place.internal("PATCH", PATH).body(set).send().await;
    let target = git.canonicalize().unwrap();
    assert_eq!((reply.status, reply.json()), (200, json!({"binaryPaths": {"git": target}})));
    assert_eq!(get().await.json(), json!({"binaryPaths": {"git": target}}));
    for nothing in ["", "{}"] {
        assert_eq!(place.internal("PATCH", PATH).body(nothing).send().await.status, 200);
    }
    let reply = place.internal("PATCH", PATH).body(r#"{"git":null}"#).send().await;
    assert_eq!(reply.json(), json!({"binaryPaths": {}}));
}

#[tokio::test]
async fn the_first_wrong_member_answers_and_nothing_is_stored() {
    let place = Place::new().await;
    let git = place.program("git", "");
    let plain = place.sandbox().join("plain");
    std::fs::write(&plain, "").unwrap();
    for (body, error, code) in [
        (json!({"git": git, "perl": "/x"}).to_string(), "unknown key: perl".to_owned(), "invalid_request"),
        (r#"{"git":""}"#.to_owned(), "value for git must not be empty".to_owned(), "invalid_request"),
        (
            r#"{"git":"rel/git"}"#.to_owned(),
            "Binary path for git must be an absolute path: rel/git".to_owned(),
            "invalid_request",
        ),
        (r#"{"git":5}"#.to_owned(), "value for git must be a string or null".to_owned(), "invalid_request"),
        ("[]".to_owned(), "body must be a JSON object".to_owned(), "invalid_request"),
        ("null".to_owned(), "body must be a JSON object".to_owned(), "invalid_request"),
        ("{".to_owned(), "invalid JSON body".to_owned(), "invalid_json_body"),
        (
            r#"{"git":"/nowhere/git"}"#.to_owned(),
            "Binary path for git does not exist: /nowhere/git".to_owned(),
            "invalid_request",
        ),
        (
            json!({"git": plain}).to_string(),
            format!("Binary path for git is not executable: {}", plain.display()),
            "invalid_request",
        ),
    ] {
        let reply = place.internal("PATCH", PATH).body(body).send().await;
        reply.assert_error(400, &error, code);
    }
    assert!(place.settings.get().binary_paths.is_empty());
}
