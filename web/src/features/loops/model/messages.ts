/** Messages of persons to a running loop, from its events. */
import type { LoopCommand, LoopEvent } from "@/api/types";

/** Commands whose assistant receives messages. */
const RECEIVING: ReadonlySet<LoopCommand> = new Set<LoopCommand>([
  "PLAN",
  "REQUEST_CHANGES",
  "EXECUTE",
]);

export const receivesMessages = (command: LoopCommand): boolean => RECEIVING.has(command);

/** Longest message in bytes. The server refuses longer ones. */
export const MAX_MESSAGE_BYTES = 10_000;

export const byteLength = (text: string): number => new TextEncoder().encode(text).length;

export type Delivery =
  | { state: "pending" }
  | { state: "delivered"; at: string }
  | { state: "not_delivered"; reason: string };

export interface Message {
  id: string;
  text: string;
  userName: string;
  /** Time at which it was sent, ISO 8601. */
  at: string;
  delivery: Delivery;
}

/**
 * Returns the messages among events, oldest first. The same event may occur several times. A message without a delivery is
 * pending while the loop runs, and was not delivered if the loop has ended.
 */
export function messagesOf(events: readonly LoopEvent[], hasEnded: boolean): Message[] {
  const messages = new Map<string, Message>();
  const deliveries = new Map<string, Delivery>();
  for (const event of events) {
    if (event.type === "message") {
      const { messageId: id, text, userName, timestamp, storedAt } = event;
      messages.set(id, {
        id,
        text,
        userName,
        at: timestamp ?? storedAt,
        delivery: hasEnded
          ? { state: "not_delivered", reason: "The loop ended." }
          : { state: "pending" },
      });
    } else if (event.type === "message_delivery") {
      const { messageId, isDelivered, deliveredAt, reason, storedAt } = event;
      if (isDelivered)
        deliveries.set(messageId, { state: "delivered", at: deliveredAt ?? storedAt });
      // The assistant may receive a message whose command failed, for instance because of a timeout.
      else if (deliveries.get(messageId)?.state !== "delivered")
        deliveries.set(messageId, {
          state: "not_delivered",
          reason: reason ?? "The machine refused it.",
        });
    }
  }
  return [...messages.values()]
    .map((message) => ({ ...message, delivery: deliveries.get(message.id) ?? message.delivery }))
    .sort((one, next) => one.at.localeCompare(next.at));
}
