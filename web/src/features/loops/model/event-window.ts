/**
 * The part of a loop's log around what the reader sees, as an external store for React.
 *
 * Opens with the end of the log. Earlier and later parts are requested when the reader approaches them, and the parts far
 * from the reader are dropped, so that the memory does not depend on the length of the log.
 */
import type { EventRange, LoopEvent } from "@/api/types";
import { Store } from "@/model/store";

// Events in memory. The server limits a range in bytes as well.
const CAPACITY = 3_000;
// Events above the capacity before the oldest are dropped: dropping for each event would copy the array each time.
const SLACK = 500;
export const TAIL_EVENTS = 500;
const RANGE_EVENTS = 300;

/** Reads parts of the log. */
export interface EventSource {
  /** Returns the events before a position, by default the last ones. */
  before: (sequence: number | undefined, limit: number) => Promise<EventRange>;
  /** Returns the events after a position. */
  after: (sequence: number, limit: number) => Promise<LoopEvent[]>;
}

export interface EventWindow {
  /** Consecutive events. */
  events: readonly LoopEvent[];
  /** Sequence number of the latest event of the loop that is known. */
  newest: number;
  hasEarlier: boolean;
  /** Whether later events are not in the window. */
  hasLater: boolean;
  /** Number of events that could not be read. */
  unreadable: number;
}

export const EMPTY_WINDOW: EventWindow = {
  events: [],
  newest: 0,
  hasEarlier: false,
  hasLater: false,
  unreadable: 0,
};

export class EventWindowStore extends Store<EventWindow> {
  #skipped = 0;
  // Only one part is requested at a time: the next one depends on it.
  #isReading = false;
  #isFollowing = true;
  readonly #source: EventSource;

  constructor(source: EventSource) {
    super(EMPTY_WINDOW);
    this.#source = source;
  }

  /** Sets whether the reader sees the end of the log. Until then, no event is dropped above the reader. */
  readonly follow = (isFollowing: boolean): void => {
    this.#isFollowing = isFollowing;
  };

  /** Reads the end of the log. Returns its events. */
  async open(): Promise<readonly LoopEvent[]> {
    const range = await this.#source.before(undefined, TAIL_EVENTS);
    this.#replace(range);
    return range.events;
  }

  /** Appends events of the stream. */
  receive(events: readonly LoopEvent[]): void {
    const { events: known, newest, hasLater } = this.snapshot();
    const later = events.filter(({ sequence }) => sequence > newest);
    const last = later.at(-1);
    if (last === undefined) return;
    const isFull = !this.#isFollowing && known.length + later.length > CAPACITY + SLACK;
    if (hasLater || isFull) {
      this.#publish({ newest: last.sequence, hasLater: true });
      return;
    }
    this.#publish({ events: [...known, ...later], newest: last.sequence }, "first");
  }

  /** Counts a message of the stream that is no event. */
  skip(): void {
    this.#skipped++;
    this.#publish({});
  }

  readonly loadEarlier = (): Promise<void> =>
    this.#read(async () => {
      const { events, hasEarlier } = this.snapshot();
      const first = events[0];
      if (!hasEarlier || first === undefined) return;
      const range = await this.#source.before(first.sequence, RANGE_EVENTS);
      this.#publish(
        { events: [...range.events, ...events], hasEarlier: range.before !== undefined },
        "last",
      );
    });

  readonly loadLater = (): Promise<void> =>
    this.#read(async () => {
      const { events, hasLater } = this.snapshot();
      const last = events.at(-1);
      if (!hasLater || last === undefined) return;
      const later = await this.#source.after(last.sequence, RANGE_EVENTS);
      const end = later.at(-1)?.sequence ?? last.sequence;
      const newest = Math.max(end, this.snapshot().newest);
      this.#publish({ events: [...events, ...later], newest, hasLater: end < newest }, "first");
    });

  /** Replaces the window by the end of the log. */
  readonly toEnd = (): Promise<void> =>
    this.#read(async () => {
      if (this.snapshot().hasLater)
        this.#replace(await this.#source.before(undefined, TAIL_EVENTS));
    });

  /** Replaces the window by the events around one of them. */
  readonly showAround = (sequence: number): Promise<void> =>
    this.#read(async () => {
      this.#isFollowing = false;
      this.#replace(await this.#source.before(sequence + RANGE_EVENTS / 2, RANGE_EVENTS));
    });

  async #read(read: () => Promise<void>): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await read();
    } catch {
      // Scrolling requests the part again. The page reports that the server does not respond.
    } finally {
      this.#isReading = false;
    }
  }

  #replace({ events, lastSequence, before }: EventRange): void {
    const newest = Math.max(lastSequence, this.snapshot().newest);
    const end = events.at(-1)?.sequence ?? 0;
    this.#publish({ events, newest, hasEarlier: before !== undefined, hasLater: end < newest });
  }

  /** Publishes changes. Drops events at one end of the window if there are too many. */
  #publish(changes: Partial<EventWindow>, drop?: "first" | "last"): void {
    const next = { ...this.snapshot(), ...changes };
    if (drop && next.events.length > CAPACITY + SLACK) {
      if (drop === "first") {
        next.events = next.events.slice(-CAPACITY);
        next.hasEarlier = true;
      } else {
        next.events = next.events.slice(0, CAPACITY);
        next.hasLater = true;
      }
    }
    const unreadable = next.events.filter(({ type }) => type === "unreadable").length;
    this.set({ ...next, unreadable: unreadable + this.#skipped });
  }
}
