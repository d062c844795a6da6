import { Dialog } from "radix-ui";
import { useState } from "react";

import type { LoopDetail, RepositoryChanges } from "@/api/types";
import { useDraft } from "@/drafts/use-draft";
import { isActive } from "@/model/status";
import { useOpenLoop } from "@/routing/use-open-loop";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";
import { Field, INPUT_CLASS } from "@/ui/field";

import { reviewText } from "../model/comments";
import type { Review } from "../model/use-review";
import { pullRequestOf, usePostComments, useRequestChanges } from "../queries";
import { CommentCard } from "./comment-card";

/** Lists the comments of a review and sends them: all in one request, which starts one loop. */
export function FinishReview({
  loop,
  repository,
  review,
  page,
  orgSlug,
}: {
  loop: LoopDetail;
  repository: RepositoryChanges;
  review: Review;
  page: string;
  orgSlug: string;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const summary = useDraft(page, "summary", "");
  const send = useRequestChanges(loop);
  const opening = useOpenLoop(orgSlug);
  const { comments } = review;
  const own = comments.filter((comment) => comment.repository === repository.name);
  const prNumber = pullRequestOf(loop, repository.name);
  const post = usePostComments(loop, repository, ({ id }) => review.remove(id));
  const text = reviewText(comments, summary.value);
  const request = () =>
    send.mutate(text, {
      ...opening,
      onSuccess: (loopId) => {
        review.clear();
        summary.remove();
        return opening.onSuccess(loopId);
      },
    });
  return (
    <Dialog.Root open={isOpen} onOpenChange={setIsOpen}>
      <Dialog.Trigger asChild>
        <Button variant="primary" size="sm">
          Finish review{comments.length > 0 && ` (${comments.length})`}
        </Button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="bg-black/40 fixed inset-0 z-40" />
        <Dialog.Content className="fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col gap-3 overflow-y-auto rounded-lg border border-line bg-raised p-5 shadow-raised">
          <Dialog.Title className="text-lg font-semibold">Finish review</Dialog.Title>
          <Dialog.Description className="text-ink-2">
            {isActive(loop.status)
              ? "The loop is still running. Your comments are kept until it has ended."
              : "Request changes sends all comments to one new loop, which answers each of them: done, or declined with the reason."}
          </Dialog.Description>
          {comments.map((comment) => (
            <CommentCard
              key={comment.id}
              comment={comment}
              onRemove={() => review.remove(comment.id)}
            />
          ))}
          <Field label="Summary">
            {(control) => (
              <textarea
                {...control}
                dir="auto"
                rows={3}
                value={summary.value}
                onChange={(event) => summary.change(() => event.target.value)}
                className={`${INPUT_CLASS} h-auto py-2`}
              />
            )}
          </Field>
          {post.error && <ActionError title="A comment could not be posted" error={post.error} />}
          {send.error && (
            <ActionError title="The changes could not be requested" error={send.error} />
          )}
          <div className="flex flex-wrap items-center justify-end gap-2">
            <span className="mr-auto text-sm text-ink-3">
              <CopyButton text={text} label="Copy as Markdown" />
            </span>
            <Dialog.Close asChild>
              <Button>Close</Button>
            </Dialog.Close>
            {prNumber !== undefined && (
              <Button
                busy={post.isPending}
                disabled={own.length === 0 || send.isPending}
                title={`Posts the comments to pull request ${prNumber}`}
                onClick={() => post.mutate({ comments: own, prNumber })}
              >
                Comment only
              </Button>
            )}
            <Button
              variant="primary"
              busy={send.isPending}
              disabled={
                post.isPending ||
                isActive(loop.status) ||
                (comments.length === 0 && summary.value.trim() === "")
              }
              onClick={request}
            >
              Request changes
            </Button>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
