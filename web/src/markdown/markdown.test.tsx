import { render, screen } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import { cleanup } from "@testing-library/react";

import { Tooltip } from "radix-ui";

import { Markdown } from "./markdown";
import { localStyles, sanitiseSvg } from "./sanitise-svg";

afterEach(cleanup);

const show = (text: string) =>
  render(
    <Tooltip.Provider>
      <Markdown text={text} />
    </Tooltip.Provider>,
  ).container;

describe("Markdown", () => {
  test("raw HTML is shown as text", () => {
    const container = show(
      '<script>window.hacked = 1</script>\n\n<img src=x onerror="window.hacked = 1">',
    );
    expect(container.querySelector("script, img")).toBeNull();
    expect(container.textContent).toContain("<script>");
  });

  test("images are not loaded and unsafe links have no address", () => {
    const container = show(
      "![a cat](https://example.com/cat.png) [x](javascript:alert(1)) [y](https://example.com)",
    );
    expect(container.querySelector("img")).toBeNull();
    expect(container.textContent).toContain("a cat");
    expect(screen.getByText("x").getAttribute("href")).toBe("");
    expect(screen.getByText("y").getAttribute("rel")).toContain("noreferrer");
  });

  test("each block has the direction of its text, code has not", () => {
    const container = show("# שלום\n\nHello\n\n- שלום\n\n```\nשלום\n```");
    const directions = [...container.querySelectorAll("h1, p, ul, li")].map((block) =>
      block.getAttribute("dir"),
    );
    expect(directions).toEqual(["auto", "auto", "auto", "auto"]);
    expect(container.querySelector("pre, code")?.getAttribute("dir")).toBeNull();
  });

  test("changed blocks are marked: paragraphs, list items, tables and code", () => {
    const text = "# A\n\none\n\n- b\n- c\n  - d\n\n| e |\n|---|\n| f |\n\n```\ng\n```";
    const { container } = render(
      <Tooltip.Provider>
        <Markdown text={text} changedLines={new Set([3, 6, 9, 13])} />
      </Tooltip.Provider>,
    );
    const marked = [...container.querySelectorAll("[data-changed]")];
    expect(marked.map(({ tagName }) => tagName)).toEqual(["P", "LI", "DIV", "DIV"]);
  });

  test("tables, task lists and code are rendered", () => {
    const container = show("| a |\n|---|\n| b |\n\n- [x] done\n\n```rust\nfn main() {}\n```");
    expect(container.querySelector("td")?.textContent).toBe("b");
    expect(container.querySelector<HTMLInputElement>("input[type=checkbox]")?.checked).toBe(true);
    expect(container.querySelector("pre code")?.textContent).toBe("fn main() {}");
  });

  test("headings have unique ids", () => {
    const ids = [...show("## Tasks\n\n## Tasks\n\n## `code` & more").querySelectorAll("h2")].map(
      ({ id }) => id,
    );
    expect(ids).toEqual(["section-tasks", "section-tasks-1", "section-code-more"]);
  });
});

describe("sanitiseSvg", () => {
  const clean = (inner: string): string => {
    const root = sanitiseSvg(
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><g class="kept"/>${inner}</svg>`,
    );
    expect(root?.querySelector(".kept")).toBeTruthy();
    return root?.outerHTML ?? "";
  };

  test.each([
    ["<script>alert(1)</script>", "script"],
    ['<rect onclick="alert(1)"/>', "onclick"],
    ['<a xlink:href="javascript:alert(1)"><text>t</text></a>', "javascript"],
    ['<image href="https://example.com/x.png"/>', "example.com"],
    ["<foreignObject><iframe src='https://example.com'></iframe></foreignObject>", "iframe"],
    [
      "<style>@import url(https://example.com/x.css); .a{fill:url(https://example.com/y)}</style>",
      "example.com",
    ],
    ['<rect style="background: url(https://example.com/z)"/>', "example.com"],
  ])("%s is removed", (inner, trace) => {
    expect(clean(inner)).not.toContain(trace);
  });

  test("shapes, text and internal references are kept", () => {
    const svg = clean('<path d="M0 0h1" marker-end="url(#arrow)"/><text x="1">yes</text>');
    expect(svg).toContain("url(#arrow)");
    expect(svg).toContain(">yes<");
  });

  test("styles keep internal references only", () => {
    expect(localStyles('a{fill:url(#g);b:url( "http://x" )}')).toBe("a{fill:url(#g);b:none}");
  });
});
