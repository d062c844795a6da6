import { cleanup, render, screen } from "@testing-library/react";
import { Tooltip } from "radix-ui";
import { afterEach, expect, test, vi } from "vitest";

import { CopyButton } from "./copy-button";

afterEach(() => {
  cleanup();
  Reflect.deleteProperty(document, "execCommand");
});

function clickCopy(copy: () => boolean) {
  // Neither jsdom nor a page over HTTP has the clipboard API.
  Object.assign(document, { execCommand: copy });
  render(
    <Tooltip.Provider>
      <CopyButton text="loopgate up" label="Copy" />
    </Tooltip.Provider>,
  );
  screen.getByRole("button", { name: "Copy" }).click();
}

test("copies a selected text without the clipboard API", async () => {
  const copied = vi.fn(() => (document.activeElement as HTMLTextAreaElement).value);
  clickCopy(() => copied() !== "");
  expect(await screen.findByRole("button", { name: "Copied" })).toBeDefined();
  expect(copied).toHaveReturnedWith("loopgate up");
  expect(document.querySelector("textarea")).toBeNull();
});

test("reports that the text could not be copied", async () => {
  clickCopy(() => false);
  expect((await screen.findByRole("alert")).textContent).toContain("Copying failed");
});
