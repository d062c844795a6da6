// Changes of a loop in its worktree, as a gateway returns them.

const BASE = "de980441c3ab03a8c07dda1ad27b8a11f39deb1e";
const HEAD = "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade";
const MODE = "100644";

/** Returns the hunk of a patch: each line begins with its sign. */
function hunk(lines, from = 1) {
  const count = (signs) => lines.filter((line) => signs.includes(line[0])).length;
  const [old, added] = [count(" -"), count(" +")];
  return `@@ -${old ? from : 0},${old} +${added ? from : 0},${added} @@\n${lines.join("\n")}\n`;
}

function changed(path, lines, facts = {}) {
  const { oldPath = path, status = "modified" } = facts;
  const [a, b] = [
    status === "added" ? "/dev/null" : `a/${oldPath}`,
    status === "deleted" ? "/dev/null" : `b/${path}`,
  ];
  const head = `diff --git a/${oldPath} b/${path}\n`;
  const body = lines.length === 0 ? "" : `--- ${a}\n+++ ${b}\n${hunk(lines, 12)}`;
  return {
    file: {
      path,
      status,
      additions: lines.filter((line) => line[0] === "+").length,
      deletions: lines.filter((line) => line[0] === "-").length,
      binary: false,
      ...(status !== "added" && { oldMode: MODE }),
      ...(status !== "deleted" && { newMode: MODE, hash: `hash of ${path}` }),
      ...facts,
    },
    patch: head + body,
  };
}

const SOURCE = [
  " export function retryDelay(attempt: number): number {",
  "-  return 1_000;",
  "+  // Doubles with each attempt, up to an hour.",
  "+  return Math.min(1_000 * 2 ** attempt, HOUR_MS);",
  " }",
];

// One pixel, and a file that only has the name of an image.
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const NO_IMAGE = Buffer.from("\0<script>alert(1)</script>").toString("base64");

/** Returns both versions of an image. All of them are committed. */
export function versionsOf({ filePath, baseBranch }) {
  const content = { "public/logo.png": PIXEL, "public/icon.png": NO_IMAGE }[filePath];
  if (!content || !baseBranch)
    return { status: 400, body: { error: "File has no changes", code: "invalid_request" } };
  const isNew = content === NO_IMAGE;
  return {
    status: 200,
    body: {
      filePath,
      oldContent: "",
      newContent: "",
      isNew,
      isDeleted: false,
      isImage: true,
      mimeType: "image/png",
      isBinary: true,
      ...(!isNew && { oldContentBase64: content }),
      newContentBase64: content,
    },
  };
}

/** Returns the numbers and texts of the lines of a patch on one side. */
function sideOf(patch, side) {
  const [, first] = (side === "old" ? /^@@ -(\d+)/m : /^@@ -\S+ \+(\d+)/m).exec(patch) ?? [];
  const signs = side === "old" ? " -" : " +";
  const texts = patch.split(/^@@.*@@\n/m)[1]?.split("\n") ?? [];
  return texts
    .filter((text) => text !== "" && signs.includes(text[0]))
    .map((text, index) => ({ line: Number(first) + index, text: text.slice(1).trim() }));
}

/** Identifies a line, or finds it again. */
function located(file, { side, line, anchor }) {
  const lines = file ? sideOf(file.patch, side) : [];
  if (anchor) {
    const found = lines.find(({ text }) => text === anchor.text);
    return { line: found?.line ?? line, outdated: !found };
  }
  const text = lines.find((own) => own.line === line)?.text;
  return {
    line,
    outdated: false,
    ...(text !== undefined && { anchor: { line, before: [], text, after: [] } }),
  };
}

/** Returns the changes of a loop: a few of each kind, and `more` files with 167 changed lines each. */
export function changes(more = 0) {
  const files = [
    changed("src/webhooks/retry.ts", SOURCE),
    changed("src/webhooks/deliver.ts", [" await post(url, body);", "-await sleep(1_000);"], {
      status: "renamed",
      oldPath: "src/webhooks/send.ts",
    }),
    changed(
      "test/retry.test.ts",
      ["+test('delay grows', () => {", "+  expect(1).toBe(1);", "+});"],
      {
        status: "added",
      },
    ),
    changed("docs/<img src=x onerror=alert(1)>.md", ["+<script>alert(1)</script>"], {
      status: "added",
    }),
    changed("src/legacy.ts", ["-export {};"], { status: "deleted" }),
    changed("public/logo.png", [], { binary: true, size: 70 }),
    changed("public/icon.png", [], { binary: true, size: 26, status: "added" }),
    changed("public/font.woff2", [], { binary: true, size: 12_345 }),
    changed("package-lock.json", ['-  "version": "1.0.0"', '+  "version": "1.1.0"'], {
      generated: "lock-file",
    }),
    ...Array.from({ length: more }, (_, n) => {
      const lines = Array.from(
        { length: 167 },
        (_, line) => `+export const value${line} = ${n + line};`,
      );
      return changed(`src/generated/part-${Math.floor(n / 30)}/file-${n}.ts`, lines, {
        status: "added",
      });
    }),
  ];
  return {
    list: {
      repositories: [
        {
          name: "acme/shop",
          worktree: "/home/sam/src/worktrees/shop-loop-plan-7",
          branch: "loopgate/plan-7",
          base: { name: "main", commit: BASE },
          head: HEAD,
          commits: [
            {
              id: HEAD,
              author: "Ada Okafor",
              time: "2031-04-02T10:11:12Z",
              subject: "Retry webhooks with a growing delay",
            },
          ],
          files: files.map(({ file }) => file),
          fileCount: files.length,
        },
      ],
    },
    patches: ({ paths, lines = [] }) => ({
      ...(lines.length > 0 && {
        lines: lines.map((line) =>
          located(
            files.find(({ file }) => file.path === line.path),
            line,
          ),
        ),
      }),
      patches: files
        .filter(({ file }) => paths.includes(file.path))
        .map(({ file: { path }, patch }) => ({ path, patch })),
      remaining: [],
    }),
  };
}
