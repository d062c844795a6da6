/** The conversation of a pull request: threads that can be answered in place, and chosen for a loop. */
import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";

import { messageOf } from "@/api/errors";
import type { PostedComment, PullRequestConversation } from "@/api/types";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import type { GatewayResult } from "@/gateway/request";
import { Markdown } from "@/markdown/markdown";
import { ago, moment } from "@/model/format";
import { safeHref } from "@/model/pull-request";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { Notice, Skeleton } from "@/ui/panel";

import { type PullThread, threadPlace } from "../model/threads";
import type { OpenedPull } from "../queries";
import { ReplyForm } from "./reply-form";

// Key of the draft of a comment that belongs to no thread.
const NEW_COMMENT = "new";

export function Conversation({
  pull,
  threads,
  query,
  isOpen,
  isChosen,
  onChoose,
}: {
  pull: OpenedPull;
  threads: PullThread[];
  query: UseQueryResult<GatewayResult<PullRequestConversation>> | undefined;
  /** Whether the pull request is open: a loop can only change an open one. */
  isOpen: boolean;
  isChosen: (thread: PullThread) => boolean;
  onChoose: (thread: PullThread, chosen: boolean) => void;
}) {
  const replies = useDraft<Record<string, string>>(
    `pull ${pull.fullName}#${pull.number}`,
    "replies",
    {},
  );
  const [opened, setOpened] = useState<readonly string[]>([]);
  const textOf = (id: string) => replies.value[id] ?? "";
  const setText = (id: string, text: string) =>
    replies.change((others) => {
      const kept = Object.entries(others).filter(([other]) => other !== id);
      return Object.fromEntries(text === "" ? kept : [...kept, [id, text]]);
    });
  const isReplying = (id: string) => opened.includes(id) || textOf(id) !== "";
  const open = (id: string) => setOpened((others) => [...others, id]);
  const form = (id: string, label: string, replyTo?: number) => (
    <ReplyForm
      pull={pull}
      label={label}
      replyTo={replyTo}
      text={textOf(id)}
      isOpened={opened.includes(id)}
      onChange={(text) => setText(id, text)}
      onClose={() => {
        setText(id, "");
        setOpened((others) => others.filter((other) => other !== id));
      }}
    />
  );
  const omitted = query?.data?.data.budget.omittedComments ?? 0;
  return (
    <section aria-label={`Conversation of ${pull.fullName} #${pull.number}`} className="space-y-3">
      {query?.error && (
        <Notice
          tone="warn"
          title="The comments cannot be read now"
          action={
            <Button size="sm" onClick={() => void query.refetch()}>
              Try again
            </Button>
          }
        >
          {messageOf(query.error)}
        </Notice>
      )}
      {query?.isPending && <Skeleton className="h-16 w-full" />}
      {omitted > 0 && (
        <p className="text-sm text-ink-3">
          Older comments are not shown. Read them at the code host.
        </p>
      )}
      {threads.map((thread) => {
        const place = threadPlace(thread);
        const label = thread.replyTo === undefined ? "Comment" : `Reply on ${place}`;
        return (
          <article
            key={thread.id}
            aria-label={`Comments on ${place}`}
            className="space-y-2 rounded-md border border-line p-3"
          >
            <header className="flex flex-wrap items-center justify-between gap-2 text-sm text-ink-3">
              <span dir="auto" className="min-w-0 font-mono wrap-anywhere">
                {place}
                {thread.isResolved && " · resolved"}
              </span>
              {isOpen && (
                <label className="flex items-center gap-1.5">
                  <input
                    type="checkbox"
                    checked={isChosen(thread)}
                    onChange={({ target }) => onChoose(thread, target.checked)}
                  />
                  Address
                  <span className="sr-only"> the comments on {place}</span>
                </label>
              )}
            </header>
            {thread.comments.map((comment) => (
              <CommentText key={comment.id} comment={comment} />
            ))}
            {isReplying(thread.id) ? (
              form(thread.id, label, thread.replyTo)
            ) : (
              <Button size="sm" variant="quiet" onClick={() => open(thread.id)}>
                Reply<span className="sr-only"> on {place}</span>
              </Button>
            )}
          </article>
        );
      })}
      {query?.data &&
        (isReplying(NEW_COMMENT) ? (
          form(NEW_COMMENT, "Comment")
        ) : (
          <Button size="sm" onClick={() => open(NEW_COMMENT)}>
            Comment
          </Button>
        ))}
      <DraftNotice draft={replies} />
    </section>
  );
}

function CommentText({ comment }: { comment: PostedComment }) {
  const now = useNow(30_000);
  const { author, body, bodyTruncated, createdAt, providerUrl } = comment;
  const href = providerUrl && safeHref(providerUrl);
  const time = <time title={moment(createdAt)}>{ago(createdAt, now)}</time>;
  return (
    <div>
      <p className="text-sm text-ink-3">
        <b dir="auto" className="font-medium text-ink">
          {author.login}
        </b>{" "}
        {href ? (
          <a href={href} target="_blank" rel="noreferrer" className="underline">
            {time}
          </a>
        ) : (
          time
        )}
      </p>
      <Markdown text={body} />
      {bodyTruncated && (
        <p className="text-sm text-ink-3">The text is longer. Read it at the code host.</p>
      )}
    </div>
  );
}
