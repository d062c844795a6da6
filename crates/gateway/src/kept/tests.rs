//! What is kept is right: after any change an answer is the one that is made anew.

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;

use http_body_util::BodyExt as _;
use proptest::prelude::*;

use super::*;

struct Place {
    dir: tempfile::TempDir,
    kept: KeptAnswers,
    settings: Arc<Settings>,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        Self { dir, kept: KeptAnswers::new(), settings: Arc::default() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    /// Names in `a/b`, and the text of `a/b/file`.
    fn read(&self, sources: &mut Sources) -> Result<(Vec<String>, Option<String>), ()> {
        let (directory, file) = (self.at("a/b"), self.at("a/b/file"));
        sources.entries(&directory);
        sources.file(&file);
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok((names, std::fs::read_to_string(file).ok()))
    }

    fn make(&self) -> Bytes {
        self.kept.make("q".to_owned(), self.settings.clone(), |sources| self.read(sources)).unwrap()
    }

    fn kept(&self) -> Option<Bytes> {
        self.kept.get("q", &self.settings)
    }

    fn fresh(&self) -> Bytes {
        json_of(&self.read(&mut Sources::default()).unwrap())
    }
}

fn body(reply: Response) -> Bytes {
    let collected = futures_util::FutureExt::now_or_never(reply.into_body().collect());
    collected.unwrap().unwrap().to_bytes()
}

#[test]
fn an_answer_is_kept_until_a_source_changes() {
    let place = Place::new();
    assert_eq!(place.kept(), None);
    let made = place.make();
    assert_eq!(place.kept(), Some(made.clone()));
    std::fs::write(place.at("a/beside"), "no source").unwrap();
    std::fs::write(place.dir.path().join("above"), "no source").unwrap();
    assert_eq!(place.kept(), Some(made));
    std::fs::write(place.at("a/b/new"), "").unwrap();
    assert_eq!(place.kept(), None, "a name came");
    place.make();
    std::fs::write(place.at("a/b/file"), "one").unwrap();
    place.make();
    std::fs::write(place.at("a/b/file"), "two").unwrap();
    assert_eq!(place.kept(), None, "a text changed");
}

#[test]
fn other_settings_need_another_answer() {
    let place = Place::new();
    place.make();
    assert!(place.kept.get("q", &Arc::default()).is_none());
    assert!(place.kept.get("other", &place.settings).is_none());
}

#[test]
fn what_lies_behind_a_link_is_not_kept() {
    let place = Place::new();
    std::fs::rename(place.at("a/b"), place.at("c")).unwrap();
    std::os::unix::fs::symlink("../c", place.at("a/b")).unwrap();
    place.make();
    assert_eq!(place.kept(), None);
}

#[test]
fn few_answers_are_kept() {
    let place = Place::new();
    for n in 0..=MOST_ANSWERS {
        let read = |sources: &mut Sources| place.read(sources);
        place.kept.make(n.to_string(), place.settings.clone(), read).unwrap();
    }
    assert_eq!(place.kept.lock().answers.len(), MOST_ANSWERS);
    assert!(place.kept.get("0", &place.settings).is_none(), "the oldest went");
}

#[derive(Debug, Clone)]
enum Step {
    Write(&'static str),
    Remove(&'static str),
    Swap(&'static str, &'static str),
    Link(&'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let path = || prop::sample::select(vec!["a", "a/b", "a/b/file", "a/b/other", "x", "x/b", "x/b/file"]);
    prop_oneof![
        path().prop_map(Step::Write),
        path().prop_map(Step::Remove),
        (path(), path()).prop_map(|(one, other)| Step::Swap(one, other)),
        path().prop_map(Step::Link),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_kept_is_what_would_be_made(steps in prop::collection::vec((step(), any::<bool>()), 1..20)) {
        let place = Place::new();
        std::fs::create_dir_all(place.at("x/b")).unwrap();
        for (step, ask) in steps {
            // What does not work changes nothing.
            let _ = match step {
                Step::Write(path) => std::fs::write(place.at(path), format!("{path} {ask}")),
                Step::Remove(path) => std::fs::remove_dir_all(place.at(path))
                    .or_else(|_| std::fs::remove_file(place.at(path))),
                Step::Swap(one, other) => std::fs::rename(place.at(one), place.at(other)),
                Step::Link(path) => std::os::unix::fs::symlink("x", place.at(path)),
            };
            if let Some(kept) = place.kept() {
                prop_assert_eq!(kept, place.fresh());
            }
            if ask {
                prop_assert_eq!(place.make(), place.fresh());
            }
        }
    }
}

/// One maker, and the others wait for it, whether the answer can be kept or not.
#[tokio::test]
async fn who_asks_at_the_same_time_shares_an_answer() {
    let place = Place::new();
    let (made, gate) = (AtomicUsize::new(0), tokio::sync::Semaphore::new(0));
    let make = async || {
        made.fetch_add(1, Ordering::Relaxed);
        gate.acquire().await.unwrap().forget();
        Ok(Bytes::from_static(b"1"))
    };
    let ask = || place.kept.answer("q", &place.settings, make);
    let open = async {
        // Both have come by now: the first makes its answer, the other ones wait for it.
        gate.add_permits(2);
    };
    let (first, second, third, ()) = tokio::join!(ask(), ask(), ask(), open);
    for answer in [first, second, third] {
        assert_eq!(body(answer.unwrap()), "1");
    }
    // The first was begun before the others came; one more was made for both of them.
    assert_eq!(made.load(Ordering::Relaxed), 2);
    gate.add_permits(1);
    ask().await.unwrap();
    assert_eq!(made.load(Ordering::Relaxed), 3, "a later question gets no earlier answer");
}

#[tokio::test]
async fn a_failure_is_shared_and_not_kept() {
    let place = Place::new();
    let failing = async || Err(Failure::failed("no"));
    let asked = place.kept.answer("q", &place.settings, failing).await;
    assert_eq!(asked.unwrap_err().body.error, "no");
    let again = place.kept.answer("q", &place.settings, async || Ok(place.make())).await;
    assert_eq!(body(again.unwrap()), place.kept().unwrap());
}
