import { expect, test } from "vitest";

import { parseRepository } from "./repository-input";

const OWNERS = ["acme", "a-b", "x.y", "A_1"];
const NAMES = ["shop", "shop.js", "my-shop", "s", "git"];
const BRANCHES = [undefined, "main", "release/2031-04", "a.b_c-d"];

/** Every spelling of every combination: the parser must find the same repository in all of them. */
const combinations = OWNERS.flatMap((owner) =>
  NAMES.flatMap((name) => BRANCHES.map((branch) => ({ owner, name, branch }))),
);

const ADDRESSES = [
  (path: string) => `https://github.com/${path}`,
  (path: string) => `https://github.com/${path}/`,
  (path: string) => `http://127.0.0.1:8080/${path}`,
  (path: string) => `https://token@git.example.org/${path}.git`,
  (path: string) => `ssh://git@github.com:22/${path}.git`,
  (path: string) => `git@github.com:${path}.git`,
  (path: string) => `git@github.com:/${path}`,
  (path: string) => `github.com/${path}`,
  (path: string) => `  https://github.com/${path}?tab=readme#top  `,
];

test("all addresses of a repository name it", () => {
  for (const { owner, name } of combinations) {
    const fullName = `${owner}/${name}`;
    expect(parseRepository(fullName)).toEqual({ kind: "name", fullName });
    for (const address of ADDRESSES)
      expect(parseRepository(address(fullName)), address(fullName)).toEqual({
        kind: "name",
        fullName,
      });
  }
});

test("page of a branch names the branch", () => {
  for (const { owner, name, branch } of combinations) {
    if (branch === undefined) continue;
    expect(parseRepository(`https://github.com/${owner}/${name}/tree/${branch}`)).toEqual({
      kind: "name",
      fullName: `${owner}/${name}`,
      branch,
    });
  }
  expect(parseRepository("https://github.com/acme/shop/pull/7")).toEqual({
    kind: "name",
    fullName: "acme/shop",
  });
});

test.each(["/home/ada/src/shop", "~/src/shop", "~", "/", "~/a b"])("%s is a path", (path) => {
  expect(parseRepository(path)).toEqual({ kind: "path", path });
});

test.each([
  "",
  "shop",
  "acme/",
  "/ acme",
  "acme/shop/extra",
  "https://",
  "https://github.com/acme",
])("%j names no repository", (text) => {
  const parsed = parseRepository(text);
  if (text.startsWith("/")) expect(parsed.kind).toBe("path");
  else expect(parsed.kind).toBe("problem");
});

test("any text has a result, and a name is always valid", () => {
  const parts = [
    "acme",
    "/",
    "shop",
    ":",
    "@",
    ".git",
    "%",
    "%zz",
    "~",
    "https://",
    "\u0000",
    "..",
    " ",
  ];
  // All texts of up to four parts.
  let texts = [""];
  for (let length = 0; length < 4; length += 1) {
    texts = texts.flatMap((text) => parts.map((part) => text + part));
    for (const text of texts) {
      const parsed = parseRepository(text);
      if (parsed.kind === "name") expect(parsed.fullName, text).toMatch(/^[\w.-]+\/[\w.-]+$/);
      if (parsed.kind === "problem") expect(parsed.problem, text).not.toBe("");
    }
  }
});
