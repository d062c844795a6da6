use serde_json::json;

use crate::tests::TestApp;

fn path_of(url: &str) -> &str {
    url.strip_prefix("http://127.0.0.1:19440").unwrap()
}

#[tokio::test]
async fn runner_uploads_and_downloads_files_below_its_prefix() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let scope = format!("{}/loops/{id}", plane.owner.organization_id);
    let key = format!("{scope}/run 1/artifacts/plan.json");
    let signed = runner.post(&format!("/loops/{id}/upload-urls"), json!({"keys": [key]})).await;
    let url = signed.json["data"]["urls"][0]["url"].as_str().unwrap();
    let put = plane.anonymous().send("PUT", path_of(url), Some("{\"a\":1}".to_owned())).await;
    assert_eq!(put.status, 200, "{}", put.text);

    let listed =
        runner.post(&format!("/loops/{id}/download-urls"), json!({"prefix": format!("{scope}/")})).await;
    let urls = &listed.json["data"]["urls"];
    assert_eq!(urls.as_array().unwrap().len(), 1, "{}", listed.text);
    assert_eq!(urls[0]["key"], key);
    let downloaded = plane.anonymous().get(path_of(urls[0]["url"].as_str().unwrap())).await;
    assert_eq!((downloaded.status.as_u16(), downloaded.text.as_str()), (200, "{\"a\":1}"));
    assert_eq!(downloaded.header("content-disposition"), Some("attachment"));
}

#[tokio::test]
async fn url_signature_covers_method_key_and_expiry() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let key = format!("{}/loops/{id}/a", plane.owner.organization_id);
    let signed = runner.post(&format!("/loops/{id}/upload-urls"), json!({"keys": [key]})).await;
    let url = path_of(signed.json["data"]["urls"][0]["url"].as_str().unwrap()).to_owned();
    let refused = (403, "Invalid or expired signature");
    let anonymous = plane.anonymous();
    assert_eq!(anonymous.get(&url).await.refused(), refused);
    let elsewhere = url.replace("/a?", "/b?");
    assert_eq!(anonymous.send("PUT", &elsewhere, Some(String::new())).await.refused(), refused);
    // Prepending a digit moves the expiry to the far future without changing the signature.
    let longer = url.replace("exp=", "exp=9");
    assert_eq!(anonymous.send("PUT", &longer, Some(String::new())).await.refused(), refused);
    let old = plane.app.storage.signed_url("PUT", &key, 0).unwrap();
    assert_eq!(anonymous.send("PUT", path_of(&old), Some(String::new())).await.refused(), refused);
}

// CP-36
#[tokio::test]
async fn object_keys_outside_the_loop_are_rejected() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let (other, _) = plane.running("PLAN").await;
    let organization = plane.owner.organization_id;
    for key in [
        "../other".to_owned(),
        format!("{organization}/loops/{other}/x"),
        format!("{organization}/loops/{id}/../x"),
    ] {
        let reply = runner.post(&format!("/loops/{id}/upload-urls"), json!({"keys": [key]})).await;
        assert_eq!(reply.refused(), (403, format!("Key \"{key}\" is outside loop scope").as_str()));
    }
    let reply = runner
        .post(&format!("/loops/{id}/download-urls"), json!({"prefix": format!("{organization}/")}))
        .await;
    assert_eq!(reply.refused(), (403, "Prefix is outside loop scope"));
    let none = runner.post(&format!("/loops/{id}/upload-urls"), json!({"keys": []})).await;
    assert_eq!(none.status, 400);
}

#[tokio::test]
async fn keys_that_the_storage_cannot_keep_are_rejected() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    let scope = format!("{}/loops/{id}", plane.owner.organization_id);
    for name in ["a\0b", "a#1", "a#b", "caf\u{e9}", "a\nb"] {
        let key = format!("{scope}/{name}");
        let upload = runner.post(&format!("/loops/{id}/upload-urls"), json!({"keys": [key]})).await;
        assert_eq!(upload.refused(), (400, "Invalid storage key"), "{name:?}");
        let download = runner.post(&format!("/loops/{id}/download-urls"), json!({"prefix": key})).await;
        assert_eq!(download.refused(), (400, "Invalid storage key"), "{name:?}");
    }
}
