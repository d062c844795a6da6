import { describe, expect, test, vi } from "vitest";

import { isTerminalEvent, LINE_CAPACITY, LineStore, linesOf } from "./output-lines";

describe("linesOf", () => {
  test.each([
    ["Tool: Read(src/main.rs)", "tool"],
    ["Tool result: ok", "result"],
    ["Tool error", "error"],
    ["Error: rate limit", "error"],
    ["Thinking...", "note"],
    ["I will read it.", "text"],
  ])("%s is shown as %s", (chunk, kind) => {
    expect(linesOf({ type: "output", chunk, timestamp: "t" })).toEqual([
      { kind, text: chunk, at: "t" },
    ]);
  });

  test("chunk is split into lines, without trailing blank lines", () => {
    expect(linesOf({ type: "output", chunk: "a\r\n\r\nb\n\n" }).map(({ text }) => text)).toEqual([
      "a",
      "",
      "b",
    ]);
  });

  test("further lines of a chunk have its kind and no time", () => {
    const lines = linesOf({ type: "output", chunk: "Tool result: ok\n# pass 5", timestamp: "t" });
    expect(lines).toEqual([
      { kind: "result", text: "Tool result: ok", at: "t" },
      { kind: "result", text: "# pass 5", at: undefined },
    ]);
  });

  test("error shows its message, cancellation its reason", () => {
    expect(linesOf({ type: "error", code: "X", message: "boom" })[0]).toMatchObject({
      kind: "error",
      text: "boom",
    });
    expect(linesOf({ type: "cancelled", reason: "by user" })[0]?.text).toBe("Cancelled: by user");
  });

  test("internal and malformed events yield no lines", () => {
    expect(linesOf({ type: "tokens_cleared" })).toEqual([]);
    expect(linesOf({ type: "output", chunk: { not: "text" } })).toEqual([]);
  });

  test("long line is truncated", () => {
    expect(linesOf({ type: "output", chunk: "x".repeat(100_000) })[0]?.text.length).toBeLessThan(
      2_100,
    );
  });
});

test("only completed, error and cancelled are terminal events", () => {
  const ends = ["completed", "error", "cancelled", "output", "started", "tokens_cleared"].filter(
    (type) => isTerminalEvent({ type }),
  );
  expect(ends).toEqual(["completed", "error", "cancelled"]);
});

describe("LineStore", () => {
  const draft = (text: string) => ({ kind: "text" as const, text, at: undefined });

  test("keeps the latest lines and counts dropped ones over 20,000 lines", () => {
    const store = new LineStore();
    for (let n = 1; n <= 20_000; n += 50) {
      store.append(Array.from({ length: 50 }, (_, k) => draft(`line ${n + k}`)));
      expect(store.snapshot().lines.length).toBeLessThanOrEqual(LINE_CAPACITY + 1_000);
    }
    const { lines, dropped, total } = store.snapshot();
    expect(total).toBe(20_000);
    expect(dropped + lines.length).toBe(20_000);
    expect(lines.at(-1)).toMatchObject({ number: 20_000, text: "line 20000" });
    expect(lines[0]?.number).toBe(dropped + 1);
  });

  test("notifies subscribers once per non-empty batch", () => {
    const store = new LineStore();
    const listener = vi.fn();
    const stop = store.subscribe(listener);
    store.append([draft("a"), draft("b")]);
    store.append([]);
    expect(listener).toHaveBeenCalledTimes(1);
    stop();
    store.append([draft("c")]);
    expect(listener).toHaveBeenCalledTimes(1);
  });
});
