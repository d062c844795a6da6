//! Conditional requests.

use super::TestApp;
use super::routes::documents::feature;

#[tokio::test]
async fn list_that_has_not_changed_is_not_sent_again() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    let first = owner.get("/change-requests").await;
    assert_eq!(first.header("cache-control"), Some("private, no-cache"));
    let tag = first.header("etag").unwrap();
    assert!(tag.starts_with("W/\""), "{tag}");
    for known in [tag.to_owned(), format!("\"other\", {tag}"), tag.trim_start_matches("W/").to_owned()] {
        let again = owner.with_header("if-none-match", &known).get("/change-requests").await;
        assert_eq!((again.status.as_u16(), again.text.as_str()), (304, ""), "{known}");
        assert_eq!(again.header("etag"), Some(tag));
        assert_eq!(again.header("content-type"), None);
    }
    feature(&owner).await;
    let changed = owner.with_header("if-none-match", tag).get("/change-requests").await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), Some(tag));
}

#[tokio::test]
async fn tag_of_another_content_has_no_effect() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    let tag = owner.get("/change-requests").await.header("etag").unwrap().to_owned();
    let stranger = plane.stranger().await.with_header("if-none-match", &tag);
    let list = stranger.get("/change-requests").await;
    assert_eq!((list.status.as_u16(), &list.json["data"]), (200, &serde_json::json!([])));
}

#[tokio::test]
async fn refusals_secrets_and_streams_have_no_tag() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    assert_eq!(owner.get("/change-requests/feature-9").await.header("etag"), None);
    assert_eq!(plane.anonymous().get("/me").await.header("etag"), None);
    // The body is not read: the stream has no end.
    let stream = owner.response("GET", "/compute-targets/status-stream", None).await;
    assert_eq!((stream.status().as_u16(), stream.headers().get("etag")), (200, None));
}
