use serde_json::json;

use crate::tests::TestApp;

fn path_of(url: &str) -> &str {
    url.strip_prefix("http://127.0.0.1:19440").unwrap()
}

#[tokio::test]
async fn runner_puts_files_below_its_own_prefix_and_gets_them_back() {
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
    let found = &listed.json["data"]["urls"];
    assert_eq!(found.as_array().unwrap().len(), 1, "{}", listed.text);
    assert_eq!(found[0]["key"], key);
    let got = plane.anonymous().get(path_of(found[0]["url"].as_str().unwrap())).await;
    assert_eq!((got.status.as_u16(), got.text.as_str()), (200, "{\"a\":1}"));
    assert_eq!(got.header("content-disposition"), Some("attachment"));
}

#[tokio::test]
async fn signature_is_good_for_one_method_and_key() {
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
    let longer = url.replace("exp=", "exp=9");
    assert_eq!(anonymous.send("PUT", &longer, Some(String::new())).await.refused(), refused);
    let old = plane.app.storage.signed_url("PUT", &key, 0).unwrap();
    assert_eq!(anonymous.send("PUT", path_of(&old), Some(String::new())).await.refused(), refused);
}

// CP-36
#[tokio::test]
async fn object_keys_outside_the_loop_are_refused() {
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
