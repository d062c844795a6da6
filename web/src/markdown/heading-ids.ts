/** Gives every heading of a document an id of its own, made from its words. */
import type { ElementContent, Root } from "hast";

export function headingIds() {
  return (tree: Root): void => {
    const given = new Map<string, number>();
    for (const node of tree.children) {
      if (node.type !== "element" || !/^h[1-6]$/.test(node.tagName)) continue;
      const base = idFor(textOf(node.children));
      const count = given.get(base) ?? 0;
      given.set(base, count + 1);
      node.properties.id = count === 0 ? base : `${base}-${count}`;
    }
  };
}

/** The prefix keeps a heading from taking an id that the page itself uses. */
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
