import { expect, test } from "vitest";

import { filesOf, fileTree, type TreeNode } from "./tree";

const outline = (nodes: TreeNode<{ path: string }>[]): unknown[] =>
  nodes.map((node) => (node.kind === "file" ? node.name : [node.name, ...outline(node.children)]));

test("folders with one folder are joined", () => {
  const paths = ["README.md", "src/app/main.ts", "src/app/views/a.ts", "test/deep/er/b.ts"];
  const tree = fileTree(paths.map((path) => ({ path })));
  expect(outline(tree)).toEqual([
    ["src/app", ["views", "a.ts"], "main.ts"],
    ["test/deep/er", "b.ts"],
    "README.md",
  ]);
  expect(filesOf(tree).map(({ path }) => path)).toEqual([
    "src/app/views/a.ts",
    "src/app/main.ts",
    "test/deep/er/b.ts",
    "README.md",
  ]);
});

test("names are no properties of objects", () => {
  const tree = fileTree([{ path: "__proto__/constructor" }, { path: "__proto__/a" }]);
  expect(outline(tree)).toEqual([["__proto__", "constructor", "a"]]);
});
