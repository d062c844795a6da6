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

  test("a chunk of several lines becomes several lines, without trailing blanks", () => {
    expect(linesOf({ type: "output", chunk: "a\r\n\r\nb\n\n" }).map(({ text }) => text)).toEqual([
      "a",
      "",
      "b",
    ]);
  });

  test("further lines of a chunk are of its kind, and tell the time no more", () => {
    const lines = linesOf({ type: "output", chunk: "Tool result: ok\n# pass 5", timestamp: "t" });
    expect(lines).toEqual([
      { kind: "result", text: "Tool result: ok", at: "t" },
      { kind: "result", text: "# pass 5", at: undefined },
    ]);
  });

  test("an error shows its message, a stop its reason", () => {
    expect(linesOf({ type: "error", code: "X", message: "boom" })[0]).toMatchObject({
      kind: "error",
      text: "boom",
    });
    expect(linesOf({ type: "cancelled", reason: "by user" })[0]?.text).toBe("Stopped: by user");
  });

  test("internal and malformed events show nothing odd", () => {
    expect(linesOf({ type: "tokens_cleared" })).toEqual([]);
    expect(linesOf({ type: "output", chunk: { not: "text" } })).toEqual([]);
  });

  test("an endless line is cut", () => {
    expect(linesOf({ type: "output", chunk: "x".repeat(100_000) })[0]?.text.length).toBeLessThan(
      2_100,
    );
  });
});

test("completed, error and cancelled end a stream; nothing else does", () => {
  const ends = ["completed", "error", "cancelled", "output", "started", "tokens_cleared"].filter(
    (type) => isTerminalEvent({ type }),
  );
  expect(ends).toEqual(["completed", "error", "cancelled"]);
});

describe("LineStore", () => {
  const draft = (text: string) => ({ kind: "text" as const, text, at: undefined });

  test("keeps the newest lines, counts the rest, and stays bounded over 20,000 lines", () => {
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

  test("tells its readers once a batch, and not for nothing", () => {
    const store = new LineStore();
    const heard = vi.fn();
    const stop = store.subscribe(heard);
    store.append([draft("a"), draft("b")]);
    store.append([]);
    expect(heard).toHaveBeenCalledTimes(1);
    stop();
    store.append([draft("c")]);
    expect(heard).toHaveBeenCalledTimes(1);
  });
});
