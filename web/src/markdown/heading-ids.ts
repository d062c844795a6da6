/** Rehype plugin that assigns each heading a unique id, derived from its text. */
import type { ElementContent, Root } from "hast";

export function headingIds() {
  return (tree: Root): void => {
    const uses = new Map<string, number>();
    for (const node of tree.children) {
      if (node.type !== "element" || !/^h[1-6]$/.test(node.tagName)) continue;
      const base = idFor(textOf(node.children));
      const count = uses.get(base) ?? 0;
      uses.set(base, count + 1);
      node.properties.id = count === 0 ? base : `${base}-${count}`;
    }
  };
}

/** Returns the id for the text of a heading. The prefix avoids collisions with ids of the page. */
export function idFor(text: string): string {
  const words = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
  return `section-${words.replace(/^-|-$/g, "")}`;
}

function textOf(children: ElementContent[]): string {
  return children
    .map((child) =>
      child.type === "text" ? child.value : child.type === "element" ? textOf(child.children) : "",
    )
    .join("");
}
