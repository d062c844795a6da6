import { describe, expect, test } from "vitest";

import { anchorOf, quotedRange, rangesOf } from "./text-anchor";

const TEXT = `<h1>Title</h1><h2>Tasks</h2><p>Parse the <code>--version</code> flag
  before the command.</p><ul><li>Add a test</li><li>Add a page</li></ul>
  <h3>Later</h3><ul><li>Add a test</li></ul><h2>Rollback</h2><p>Add a test</p>`;

function page(html: string): HTMLElement {
  const root = document.createElement("article");
  root.innerHTML = html;
  return root;
}

function select(root: Element, selector: string, at = 0): Range {
  const element = root.querySelectorAll(selector)[at];
  if (!element) throw new Error(`no ${selector}`);
  const range = document.createRange();
  range.selectNodeContents(element);
  return range;
}

describe("anchors of passages", () => {
  test("quote has collapsed white space and is found across elements", () => {
    const root = page(TEXT);
    const anchor = anchorOf(root, select(root, "p"));
    expect(anchor).toEqual({
      quote: "Parse the --version flag before the command.",
      before: "Title Tasks ",
      headings: ["Tasks"],
    });
    const [range] = anchor ? rangesOf(page(TEXT), [anchor]) : [];
    expect(range?.toString().replace(/\s+/g, " ")).toBe(anchor?.quote);
  });

  test("equal passages are distinguished by their headings and by the text before", () => {
    const root = page(TEXT);
    for (const [selector, at] of [
      ["li", 0],
      ["li", 2],
      ["p", 1],
    ] as const) {
      const anchor = anchorOf(root, select(root, selector, at));
      const other = page(TEXT);
      const [range] = anchor ? rangesOf(other, [anchor]) : [];
      const element = range?.startContainer.parentElement;
      expect(element).toBe(other.querySelectorAll(selector)[at]);
    }
  });

  test("passage is found after other parts of the text have changed", () => {
    const root = page(TEXT);
    const anchor = anchorOf(root, select(root, "li", 2));
    const changed = page(TEXT.replace("<h2>Tasks", "<p>Add a test</p><h2>Tasks"));
    const [range] = anchor ? rangesOf(changed, [anchor]) : [];
    expect(range?.startContainer.parentElement).toBe(changed.querySelectorAll("li")[2]);
  });

  test("changed passage is not found", () => {
    const root = page(TEXT);
    const anchor = anchorOf(root, select(root, "li", 1));
    expect(anchor && rangesOf(page(TEXT.replace("a page", "a view")), [anchor])).toEqual([
      undefined,
    ]);
  });

  test("part of a text node is anchored, controls and empty ranges are not", () => {
    const root = page("<p>One two three<button>Copy</button></p><p> </p>");
    const text = root.querySelector("p")?.firstChild;
    const range = document.createRange();
    if (text) {
      range.setStart(text, 4);
      range.setEnd(text, 7);
    }
    expect(anchorOf(root, range)?.quote).toBe("two");
    expect(anchorOf(root, select(root, "p"))?.quote).toBe("One two three");
    expect(anchorOf(root, select(root, "p", 1))).toBeUndefined();
  });

  test("section of a heading contains the heading itself", () => {
    const root = page(TEXT);
    expect(anchorOf(root, select(root, "h3"))?.headings).toEqual(["Tasks", "Later"]);
    expect(anchorOf(root, select(root, "h2", 1))?.headings).toEqual(["Rollback"]);
  });
});

describe("quoted words", () => {
  const found = (quote: string) => quotedRange(page(TEXT), quote)?.toString().replace(/\s+/g, " ");

  test("marks of Markdown and white space may differ", () => {
    expect(found("Parse  the\n`--version` flag")).toBe("Parse the --version flag");
    expect(found("- Add a page")).toBe("Add a page");
    expect(found("**Tasks**")).toBe("Tasks");
  });

  test("an ellipsis stands for any words", () => {
    expect(found("Parse the … before the command")).toBe(
      "Parse the --version flag before the command",
    );
    expect(found("Rollback...Add a test")).toBe("RollbackAdd a test");
  });

  test("words in another order, or of another document, have no range", () => {
    for (const quote of ["before the … Parse the", "Parse the --verbose flag", "…", ""])
      expect(quotedRange(page(TEXT), quote)).toBeUndefined();
  });
});
