/** Messages of persons to a running loop: a field for another one, and whether the assistant has received them. */
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { LoopDetail } from "@/api/types";
import { moment } from "@/model/format";
import { isActive } from "@/model/status";
import { cx } from "@/ui/cx";
import { lazyPart } from "@/ui/lazy-view";

import type { Latest } from "../model/loop-stream";
import { type Delivery, type Message, messagesOf, receivesMessages } from "../model/messages";
import { messageEventsQuery } from "../queries";

const MessageForm = lazyPart(() => import("./message-form"), "MessageForm");

export function LoopMessages({ loop, latest }: { loop: LoopDetail; latest: Latest }) {
  const scope = useScope();
  const { data: stored } = useQuery(messageEventsQuery(scope, loop.id));
  const { data: me } = useQuery(meQuery(scope));
  const messages = useMemo(
    () => messagesOf([...(stored ?? []), ...latest.events], !isActive(loop.status)),
    [stored, latest.events, loop.status],
  );
  const canSend =
    loop.status === "RUNNING" && receivesMessages(loop.command) && loop.userId === me?.id;
  if (!canSend && messages.length === 0) return null;
  return (
    <section aria-label="Messages to the loop" className="mt-4 space-y-3">
      {messages.length > 0 && (
        <ol
          aria-label="Messages"
          className="divide-y divide-line rounded-lg border border-line bg-surface"
        >
          {messages.map((message) => (
            <MessageItem key={message.id} message={message} />
          ))}
        </ol>
      )}
      {canSend && (
        // The page stays visible until the form and its draft are loaded.
        <Suspense>
          <MessageForm loopId={loop.id} />
        </Suspense>
      )}
    </section>
  );
}

function MessageItem({ message }: { message: Message }) {
  const { userName, at, text, delivery } = message;
  return (
    <li className="px-4 py-2.5">
      <p className="flex flex-wrap items-baseline gap-x-3 text-sm text-ink-3">
        <bdi className="font-medium text-ink">{userName}</bdi>
        <time dateTime={at} title={moment(at)}>
          {clock(at)}
        </time>
        <span
          role="status"
          className={cx(
            delivery.state === "delivered" && "text-ok",
            delivery.state === "not_delivered" && "text-warn",
          )}
        >
          {deliveryText(delivery)}
        </span>
      </p>
      <p dir="auto" className="mt-1 max-w-[80ch] wrap-anywhere whitespace-pre-line">
        {text}
      </p>
    </li>
  );
}

const clockFormat = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const clock = (iso: string): string => clockFormat.format(new Date(iso));

function deliveryText(delivery: Delivery): string {
  switch (delivery.state) {
    case "pending":
      return "Waiting for the assistant’s next step";
    case "delivered":
      return `Delivered ${clock(delivery.at)}`;
    case "not_delivered":
      return `Not delivered: ${delivery.reason}`;
  }
}
