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

/// A body that yields chunks and returns `Pending` once before each of them.
struct ChunkedBody {
    remaining: Vec<Bytes>,
    ready: bool,
}

impl ChunkedBody {
    fn of(body: &[u8], size: usize) -> Self {
        Self { remaining: body.chunks(size).rev().map(Bytes::copy_from_slice).collect(), ready: false }
    }
}

impl Stream for ChunkedBody {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.ready = !self.ready;
        if self.ready && !self.remaining.is_empty() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.remaining.pop().map(Ok))
    }
}

// Boundaries and content can be split at any byte, with or without a pause of the stream.
#[tokio::test]
async fn form_is_parsed_from_chunks_of_any_size() {
    let dir = tempfile::tempdir().unwrap();
    let body = body();
    for size in 1..=body.len() {
        let form = MultipartForm::new(TYPE, ChunkedBody::of(&body, size)).unwrap();
        let mut images = form.images(dir.path()).await.unwrap_or_else(|error| panic!("{size}: {error}"));
        assert_eq!(images.len(), 1, "{size}");
        assert_eq!((images[0].original_name.as_str(), images[0].kind), ("a.png", ImageKind::Png), "{size}");
        let mut content = Vec::new();
        images[0].file.read_to_end(&mut content).unwrap();
        assert_eq!(content, PNG, "{size}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A body that is ready immediately, in frames of `size` bytes.
fn ready_body(body: &[u8], size: usize) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let frames: Vec<_> = body.chunks(size).map(Bytes::copy_from_slice).map(Ok).collect();
    stream::iter(frames)
}

// The step limit must not apply to content, even when one frame is larger than the limit.
#[tokio::test]
async fn large_parts_are_read_from_frames_of_any_size() {
    let dir = tempfile::tempdir().unwrap();
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    picture.resize(3 * MAX_STEP, b'\r');
    let mut body = Vec::new();
    for disposition in ["name=\"note\"", "name=\"x\"; filename=\"a.png\"", "name=\"x\"; filename=\"b.png\""] {
        let head = format!(
            "--edge\r\nContent-Disposition: form-data; {disposition}\r\nContent-Type: image/png\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&picture);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--edge--\r\n");
    for size in [1000, PIECE_SIZE, 2 * MAX_STEP, body.len()] {
        let form = MultipartForm::new(TYPE, ready_body(&body, size)).unwrap();
        let images = form.images(dir.path()).await.unwrap_or_else(|error| panic!("{size}: {error}"));
        let sizes: Vec<u64> = images.iter().map(|image| image.file.metadata().unwrap().len()).collect();
        assert_eq!(sizes, [picture.len() as u64; 2], "{size}");
    }
}

// An endless part header must not fill the memory.
#[tokio::test]
async fn unterminated_part_header_is_rejected_early() {
    let dir = tempfile::tempdir().unwrap();
    let begin = Bytes::from_static(b"--edge\r\nContent-Disposition: form-data; name=\"");
    let read = Arc::new(AtomicUsize::new(0));
    let counted = read.clone();
    let endless = stream::repeat_with(move || {
        counted.fetch_add(1000, Ordering::Relaxed);
        Bytes::from(vec![b'x'; 1000])
    });
    let body = stream::once(std::future::ready(begin)).chain(endless).map(Ok::<_, Infallible>);
    let result = MultipartForm::new(TYPE, body).unwrap().images(dir.path()).await;
    assert!(matches!(result, Err(FormError::Broken)));
    assert!(read.load(Ordering::Relaxed) <= MAX_STEP + PIECE_SIZE);
}
