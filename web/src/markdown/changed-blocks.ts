/** Rehype plugin that marks the blocks which start on one of these lines of the source. */
import type { Element, ElementContent, Root, RootContent } from "hast";

export function changedBlocks(lines: ReadonlySet<number>) {
  const marked = <Node extends RootContent | ElementContent>(node: Node): Node | Element => {
    if (node.type !== "element") return node;
    // A list starts on the line of its first item.
    if (node.tagName === "ul" || node.tagName === "ol")
      return { ...node, children: node.children.map(marked) };
    if (!lines.has(node.position?.start.line ?? 0)) return node;
    // Tables and code are rendered by components of their own.
    if (node.tagName === "table" || node.tagName === "pre")
      return {
        type: "element",
        tagName: "div",
        properties: { dataChanged: "" },
        children: [node],
      };
    return { ...node, properties: { ...node.properties, dataChanged: "" } };
  };
  return (tree: Root): void => {
    tree.children = tree.children.map(marked);
  };
}
