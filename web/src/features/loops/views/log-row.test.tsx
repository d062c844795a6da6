import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { Tooltip } from "radix-ui";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";

import { type LogItem, logItems } from "../model/log-items";
import { type EventBody, log, stored } from "../model/test-events";
import { LogRow } from "./log-row";

vi.mock("@/api/scope", async (original) => {
  const actual = await original<typeof import("@/api/scope")>();
  return { ...actual, useScope: () => actual.scopeOf("acme") };
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const call = { type: "tool_call", tool: "Bash", callId: "1", category: "command" } as const;
const start: EventBody = {
  ...call,
  status: "start",
  summary: "npm test",
  input: { command: "npm test", timeout: 5 },
};

function Row({ item }: { item: LogItem }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const context = {
    loopId: "x",
    wrap: true,
    open,
    onToggle: (key: string) => setOpen(new Set([key])),
  };
  return <LogRow item={item} context={context} />;
}

function show(...bodies: EventBody[]) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  return render(
    <QueryClientProvider client={client}>
      <Tooltip.Provider>
        {logItems(log(...bodies), false).map((item) => (
          <Row key={item.key} item={item} />
        ))}
      </Tooltip.Provider>
    </QueryClientProvider>,
  );
}

test("prose is Markdown, and other texts are not", () => {
  show(
    { type: "output", role: "assistant", chunk: "a **bold** word" },
    { type: "output", chunk: "a **plain** line" },
  );
  expect(screen.getByText("bold").tagName).toBe("STRONG");
  expect(screen.getByText("a **plain** line")).toBeTruthy();
});

test("tool call is one line, which opens to its arguments and its result", () => {
  show(start, {
    ...call,
    status: "end",
    output: "2 failed",
    isError: true,
    exitCode: 1,
    durationMs: 41_000,
  });
  const row = screen.getByRole("button", { name: /Bash\s*npm test\s*41 s · exit 1/ });
  expect(screen.queryByText("2 failed")).toBeNull();
  fireEvent.click(row);
  expect(row.getAttribute("aria-expanded")).toBe("true");
  expect(screen.getByRole("region", { name: "timeout" }).textContent).toContain("5");
  expect(screen.getByRole("region", { name: "Result" }).textContent).toContain("2 failed");
});

test("complete result is requested when the call is opened", async () => {
  const complete = stored(2, { ...call, status: "end", output: "the complete result" });
  const fetched = vi.fn(() => Promise.resolve(Response.json({ success: true, data: complete })));
  vi.stubGlobal("fetch", fetched);
  show(start, { ...call, status: "end", output: "the comp", isShortened: true });
  expect(fetched).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button", { name: /npm test/ }));
  expect(await screen.findByText("the complete result")).toBeTruthy();
  expect(fetched).toHaveBeenCalledOnce();
});

test("failure to read the complete result is reported next to the excerpt", async () => {
  vi.stubGlobal("fetch", () =>
    Promise.resolve(Response.json({ error: "Loop not found" }, { status: 404 })),
  );
  show(start, { ...call, status: "end", output: "the comp", isShortened: true });
  fireEvent.click(screen.getByRole("button", { name: /npm test/ }));
  expect((await screen.findByRole("alert")).textContent).toContain("could not be loaded");
  expect(screen.getByText("the comp")).toBeTruthy();
});
