import { beforeEach, describe, expect, test, vi } from "vitest";

import type { LoopEvent } from "@/api/types";

import { EventWindowStore } from "./event-window";
import { stored } from "./test-events";

/** A log on the server. */
class Log {
  readonly events: LoopEvent[];
  reads = 0;

  constructor(length: number) {
    this.events = Array.from({ length }, (_, index) => event(index + 1));
  }

  before = (sequence = Infinity, limit = 0) => {
    this.reads++;
    const earlier = this.events.filter((one) => one.sequence < sequence);
    const events = earlier.slice(-limit);
    return Promise.resolve({
      events,
      lastSequence: this.events.length,
      ...(earlier.length > events.length && { before: events[0]?.sequence ?? 1 }),
    });
  };

  after = (sequence: number, limit: number) => {
    this.reads++;
    return Promise.resolve(this.events.slice(sequence, sequence + limit));
  };
}

const event = (sequence: number) => stored(sequence, { type: "output", chunk: `${sequence}` });

/** Returns first and last position of the window. */
function ends(store: EventWindowStore): [number | undefined, number | undefined] {
  const { events } = store.snapshot();
  const positions = events.map(({ sequence }) => sequence);
  const gaps = positions.filter((position, index) => position !== (positions[0] ?? 0) + index);
  expect(gaps).toEqual([]);
  return [positions[0], positions.at(-1)];
}

describe("EventWindowStore", () => {
  let log: Log;
  let store: EventWindowStore;
  beforeEach(async () => {
    log = new Log(100_000);
    store = new EventWindowStore(log);
    await store.open();
  });

  test("opens with the end of the log only", () => {
    expect(ends(store)).toEqual([99_501, 100_000]);
    expect(store.snapshot()).toMatchObject({ newest: 100_000, hasEarlier: true, hasLater: false });
    expect(log.reads).toBe(1);
  });

  test("appends new events once", () => {
    const listener = vi.fn();
    store.subscribe(listener);
    store.receive([event(99_999), event(100_000)]);
    expect(listener).not.toHaveBeenCalled();
    store.receive([event(100_000), event(100_001)]);
    expect(ends(store)).toEqual([99_501, 100_001]);
    expect(listener).toHaveBeenCalledOnce();
  });

  test("memory does not depend on the length of the log", async () => {
    store.follow(false);
    while (store.snapshot().hasEarlier) {
      await store.loadEarlier();
      expect(store.snapshot().events.length).toBeLessThanOrEqual(3_500);
    }
    expect(ends(store)[0]).toBe(1);
    while (store.snapshot().hasLater) {
      await store.loadLater();
      expect(store.snapshot().events.length).toBeLessThanOrEqual(3_500);
    }
    expect(ends(store)[1]).toBe(100_000);
  });

  test("events of a fast loop are dropped at the start while the end is followed", () => {
    for (let at = 100_001; at <= 110_000; at += 100) {
      store.receive(Array.from({ length: 100 }, (_, index) => event(at + index)));
    }
    expect(ends(store)[1]).toBe(110_000);
    expect(store.snapshot().events.length).toBeLessThanOrEqual(3_500);
    expect(store.snapshot().hasEarlier).toBe(true);
  });

  test("no event above a reader who scrolled up is dropped", async () => {
    store.follow(false);
    for (let at = 100_001; at <= 110_000; at += 100) {
      store.receive(Array.from({ length: 100 }, (_, index) => event(at + index)));
    }
    expect(ends(store)[0]).toBe(99_501);
    expect(store.snapshot()).toMatchObject({ newest: 110_000, hasLater: true });
    log.events.push(...Array.from({ length: 10_000 }, (_, index) => event(100_001 + index)));
    await store.toEnd();
    expect(ends(store)[1]).toBe(110_000);
    expect(store.snapshot().hasLater).toBe(false);
  });

  test("shows the events around a match", async () => {
    await store.showAround(500);
    const [first = 0, last = 0] = ends(store);
    expect(first).toBeLessThan(500);
    expect(last).toBeGreaterThan(500);
    expect(store.snapshot()).toMatchObject({ hasEarlier: true, hasLater: true });
  });

  test("requests one part at a time", async () => {
    await Promise.all([store.loadEarlier(), store.loadEarlier(), store.loadEarlier()]);
    expect(log.reads).toBe(2);
  });

  test("counts events that cannot be read", () => {
    store.receive([stored(100_001, { type: "unreadable", kind: "teleported" })]);
    store.skip();
    expect(store.snapshot().unreadable).toBe(2);
  });

  test("short log has nothing before or after it", async () => {
    const short = new EventWindowStore(new Log(3));
    await short.open();
    expect(ends(short)).toEqual([1, 3]);
    expect(short.snapshot()).toMatchObject({ hasEarlier: false, hasLater: false });
  });
});
