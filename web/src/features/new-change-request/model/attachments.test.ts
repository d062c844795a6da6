// @vitest-environment node
// jsdom cannot read the content of files.
import { expect, test } from "vitest";

import { addFiles, encodeFile, MAX_BYTES, MAX_FILES, type RequestFile } from "./attachments";

const file = (name: string, content: BlobPart = "text", type = "") =>
  new File([content], name, { type });
const names = (files: RequestFile[]) => files.map(({ name, type }) => [name, type]);

test("images keep their type, and other files are texts if they are UTF-8", async () => {
  const { files, problems } = await addFiles(
    [],
    [
      file("a.png", new Uint8Array([0x89, 0x50, 0xff]), "image/png"),
      file("main.rs", "fn main() {}"),
      file("b.json", "{}", "application/json"),
      file("a.out", new Uint8Array([0x7f, 0x45, 0xff])),
      file("nul.bin", "a\u0000b"),
      file("drawing.svg", "<svg/>", "image/svg+xml"),
    ],
  );
  expect(names(files)).toEqual([
    ["a.png", "image/png"],
    ["main.rs", "text/plain"],
    ["b.json", "text/plain"],
  ]);
  expect(problems).toEqual([
    "a.out was not attached: it is neither an image nor a text.",
    "nul.bin was not attached: it is neither an image nor a text.",
    "drawing.svg was not attached: images must be PNG, JPEG, GIF or WebP.",
  ]);
});

test("equal names get numbers", async () => {
  const image = () => file("image.png", "x", "image/png");
  const { files } = await addFiles(
    [],
    [image(), image(), image(), file("Makefile"), file("Makefile")],
  );
  expect(files.map(({ name }) => name)).toEqual([
    "image.png",
    "image-2.png",
    "image-3.png",
    "Makefile",
    "Makefile-2",
  ]);
});

test("files beyond the limits are named", async () => {
  const many = Array.from({ length: MAX_FILES + 1 }, (_, n) => file(`${n}.txt`));
  const full = await addFiles([], many);
  expect(full.files).toHaveLength(MAX_FILES);
  expect(full.problems).toEqual(["10.txt was not attached: there are already 10 files."]);
  const half = "x".repeat(MAX_BYTES / 2);
  const large = await addFiles([], [file("a.txt", half), file("b.txt", half), file("c.txt", "x")]);
  expect(large.files).toHaveLength(2);
  expect(large.problems).toEqual([
    "c.txt was not attached: all files together may have at most 10 MiB.",
  ]);
});

test("content is encoded in base64", async () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, n) => n % 256);
  const content = new Blob([bytes]);
  const encoded = await encodeFile({ id: "1", name: "a.png", type: "image/png", content });
  expect(encoded).toMatchObject({ filename: "a.png", mimeType: "image/png" });
  expect(Uint8Array.from(atob(encoded.content), (c) => c.charCodeAt(0))).toEqual(bytes);
});
