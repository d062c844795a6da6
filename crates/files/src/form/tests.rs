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
