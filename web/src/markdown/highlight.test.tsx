import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { highlight } from "./highlight";

afterEach(cleanup);

test.each([
  ["rust", "let a: u8 = 1;\n\nlet b = 2;", "let"],
  ["sh", "if true; then echo hi; fi", "if"],
])(
  "code in %s keeps its text, and its keywords have a colour of their own",
  async (language, source, keyword) => {
    const { container } = render(<pre>{await highlight(source, language)}</pre>);
    expect(container.textContent).toBe(source);
    const colours = [...container.querySelectorAll("span")]
      .filter((token) => token.textContent.trim() === keyword)
      .map((token) => token.style.color);
    expect(colours[0]).toBe("var(--code-token-keyword)");
  },
);

test.each(["nosuchlanguage", "constructor", "__proto__"])(
  "code in the unknown language %s stays plain",
  async (language) => expect(await highlight("let a", language)).toBeUndefined(),
);
