import { expect, test } from "vitest";

import type { LoopEvent } from "@/api/types";

import { byteLength, messagesOf } from "./messages";

const event = (sequence: number, body: object) =>
  ({
    id: `e${sequence}`,
    sequence,
    storedAt: `2031-04-02T10:00:0${sequence}.000Z`,
    ...body,
  }) as LoopEvent;

const message = (sequence: number, messageId: string) =>
  event(sequence, {
    type: "message",
    messageId,
    text: `Text of ${messageId}`,
    userId: "u",
    userName: "Ada Okafor",
  });

const delivery = (sequence: number, messageId: string, members: object) =>
  event(sequence, { type: "message_delivery", messageId, ...members });

const states = (events: LoopEvent[], hasEnded = false) =>
  messagesOf(events, hasEnded).map(({ id, delivery }) => [id, delivery.state]);

test("message is pending until its delivery, and not delivered when the loop has ended before", () => {
  const sent = [message(1, "a"), message(2, "b")];
  expect(states(sent)).toEqual([
    ["a", "pending"],
    ["b", "pending"],
  ]);
  const at = "2031-04-02T10:00:05.000Z";
  const events = [...sent, delivery(3, "a", { isDelivered: true, deliveredAt: at })];
  expect(messagesOf(events, true).map(({ delivery }) => delivery)).toEqual([
    { state: "delivered", at },
    { state: "not_delivered", reason: "The loop ended." },
  ]);
});

test("refused message has the reason of the machine, unless the assistant has received it nevertheless", () => {
  const refused = delivery(2, "a", { isDelivered: false, reason: "Too late." });
  expect(messagesOf([message(1, "a"), refused], false)[0]?.delivery).toEqual({
    state: "not_delivered",
    reason: "Too late.",
  });
  const received = delivery(3, "a", { isDelivered: true });
  expect(states([message(1, "a"), refused, received])).toEqual([["a", "delivered"]]);
  expect(states([message(1, "a"), received, refused])).toEqual([["a", "delivered"]]);
});

test("repeated events and other events change nothing", () => {
  const other = event(2, { type: "output", role: "note", chunk: "x" });
  expect(states([message(1, "a"), other, message(1, "a")])).toEqual([["a", "pending"]]);
});

test("length is measured in bytes", () => {
  expect(byteLength("aä€")).toBe(6);
});
