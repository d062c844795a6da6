/** Rehype plugin that lets each block of text have the direction of its text. */
import type { Element, Root } from "hast";

const BLOCKS = new Set([
  "p",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "ul",
  "ol",
  "li",
  "blockquote",
  "th",
  "td",
]);

export function textDirection() {
  return (tree: Root): void => tree.children.forEach(setDirection);
}

function setDirection(node: Root["children"][number] | Element["children"][number]): void {
  if (node.type !== "element") return;
  if (BLOCKS.has(node.tagName)) node.properties.dir = "auto";
  node.children.forEach(setDirection);
}
