use std::convert::Infallible;
use std::io::Read as _;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::*;

const TYPE: &str = "multipart/form-data; boundary=edge";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\r\n--edg";

fn body() -> Vec<u8> {
    let head = b"--edge\r\nContent-Disposition: form-data; name=\"x\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n";
    [head, PNG, b"\r\n--edge--\r\n"].concat()
}

/// A body whose bytes come in pieces; before each of them the reader is let wait once.
struct Pieces {
    left: Vec<Bytes>,
    ready: bool,
}

impl Pieces {
    fn of(body: &[u8], size: usize) -> Self {
        Self { left: body.chunks(size).rev().map(Bytes::copy_from_slice).collect(), ready: false }
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.ready = !self.ready;
        if self.ready && !self.left.is_empty() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.left.pop().map(Ok))
    }
}

/// However a body is cut, the same is read, whether its reader waits or not.
#[tokio::test]
async fn pieces_of_every_size_make_the_same_form() {
    let dir = tempfile::tempdir().unwrap();
    let body = body();
    for size in 1..=body.len() {
        let form = Form::new(TYPE, Pieces::of(&body, size)).unwrap();
        let mut images = form.images(dir.path()).await.unwrap_or_else(|error| panic!("{size}: {error}"));
        assert_eq!(images.len(), 1, "{size}");
        assert_eq!((images[0].original_name.as_str(), images[0].kind), ("a.png", ImageKind::Png), "{size}");
        let mut content = Vec::new();
        images[0].file.read_to_end(&mut content).unwrap();
        assert_eq!(content, PNG, "{size}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// Heads, and what comes before the first part, are kept until they are whole; so they must end.
#[tokio::test]
async fn a_head_that_does_not_end_is_not_read_for_long() {
    let dir = tempfile::tempdir().unwrap();
    for beginning in ["", "--edge\r\nContent-Disposition: form-data; name=\"x\"\r\nX: "] {
        let read = Arc::new(AtomicUsize::new(0));
        let counted = read.clone();
        let beginning = stream::iter([Bytes::from_static(beginning.as_bytes())]);
        let endless = beginning.chain(stream::repeat(Bytes::from_static(&[b'x'; 8192])));
        let counting = endless.map(move |bytes| {
            counted.fetch_add(bytes.len(), Ordering::Relaxed);
            Ok::<_, Infallible>(bytes)
        });
        let refused = Form::new(TYPE, counting).unwrap().images(dir.path()).await;
        assert!(matches!(refused, Err(FormError::Broken)), "{refused:?}");
        assert!(read.load(Ordering::Relaxed) <= MOST_OF_STEP + 8192, "{read:?}");
    }
}

/// What nobody wants is read in steps as small as what is kept.
#[tokio::test]
async fn a_large_field_without_a_file_does_not_hide_the_file_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let field = "--edge\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n";
    let whole = [field.as_bytes(), &vec![b'n'; 3 * MOST_OF_STEP], b"\r\n", &body()].concat();
    let form = Form::new(TYPE, Pieces::of(&whole, 8192)).unwrap();
    assert_eq!(form.images(dir.path()).await.unwrap().len(), 1);
}
