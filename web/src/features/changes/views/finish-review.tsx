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
import {
  isHeld,
  pullRequestOf,
  useApprove,
  useCommentOnly,
  useDeleteComment,
  useRequestChanges,
  useStoreDraft,
} from "../review-queries";
import { DraftCard } from "./comment-card";

/** Lists the comments of a review and sends them: all in one request, which starts one loop. */
export function FinishReview({
  loop,
  repositories,
  review: { drafts, isEdited, setEdited },
  page,
  orgSlug,
}: {
  loop: LoopDetail;
  /** All changes of the loop. */
  repositories: readonly RepositoryChanges[];
  review: Pick<Review, "drafts" | "isEdited" | "setEdited">;
  page: string;
  orgSlug: string;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const [focused, setFocused] = useState<string>();
  const summary = useDraft(page, "summary", "");
  const send = useRequestChanges(loop, repositories, page);
  const openLoop = useOpenLoop(orgSlug, loop.document?.slug);
  const remove = useDeleteComment(loop);
  const store = useStoreDraft(loop);
  const post = useCommentOnly(loop, repositories);
  const approve = useApprove(loop, repositories, page);
  const canApprove = isHeld(loop);
  const isSending = post.isPending || send.isPending || approve.isPending;
  const pulls = repositories.flatMap(({ name }) => pullRequestOf(loop, name) ?? []);
  const review = { comments: drafts, summary: summary.value };
  const hasEdits = drafts.some(({ id }) => isEdited(id));
  const isEmpty = drafts.length === 0 && summary.value.trim() === "";
  const request = () => {
    const opening = openLoop();
    send.mutate(review, {
      ...opening,
      onSuccess: (loopId) => {
        summary.remove();
        return opening.onSuccess(loopId);
      },
    });
  };
  return (
    <Dialog.Root open={isOpen} onOpenChange={setIsOpen}>
      <Dialog.Trigger asChild>
        <Button variant="primary" size="sm" data-due>
          Finish review{drafts.length > 0 && ` (${drafts.length})`}
        </Button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Content className="fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col gap-3 overflow-y-auto rounded-lg border border-line bg-raised p-5 shadow-raised">
          <Dialog.Title className="text-lg font-semibold">Finish review</Dialog.Title>
          <Dialog.Description className="text-ink-2">
            {isActive(loop.status)
              ? "The loop is still running. Your comments are kept until it has ended."
              : "Request changes sends all comments to one new loop, which answers each of them: done, or declined with the reason."}
          </Dialog.Description>
          {drafts.map((comment) => (
            <DraftCard
              key={comment.id}
              comment={comment}
              focus={{ focused, setFocused }}
              page={page}
              review={{ isEdited, setEdited }}
              onStore={store.mutateAsync}
              onRemove={() => remove.mutate(comment.id)}
            />
          ))}
          <Field label="Summary">
            {(control) => (
              <textarea
                {...control}
                dir="auto"
                rows={3}
                readOnly={isSending}
                value={summary.value}
                onChange={(event) => summary.change(() => event.target.value)}
                className={`${INPUT_CLASS} h-auto py-2`}
              />
            )}
          </Field>
          {hasEdits && (
            <p className="text-sm text-ink-2">
              A comment has changes that are not saved. Save or cancel them before you send.
            </p>
          )}
          {post.error && <ActionError title="The comments could not be sent" error={post.error} />}
          {send.error && (
            <ActionError title="The changes could not be requested" error={send.error} />
          )}
          {approve.error && (
            <ActionError title="The changes could not be approved" error={approve.error} />
          )}
          <div className="flex flex-wrap items-center justify-end gap-2">
            <span className="mr-auto text-sm text-ink-3">
              <CopyButton text={reviewText(drafts, summary.value)} label="Copy as Markdown" />
            </span>
            <Dialog.Close asChild>
              <Button>Close</Button>
            </Dialog.Close>
            <Button
              busy={post.isPending}
              disabled={isEmpty || hasEdits || isSending}
              title={
                pulls.length > 0
                  ? `Posts the comments to pull request ${pulls.join(", ")}`
                  : "Keeps the comments as notes"
              }
              onClick={() =>
                post.mutate(review, {
                  onSuccess: () => {
                    summary.discard();
                    setIsOpen(false);
                  },
                })
              }
            >
              Comment only
            </Button>
            <Button
              variant={canApprove ? "plain" : "primary"}
              busy={send.isPending}
              disabled={isSending || hasEdits || isActive(loop.status) || isEmpty}
              onClick={request}
            >
              Request changes
            </Button>
            {canApprove && (
              <Button
                variant="primary"
                busy={approve.isPending}
                // Comments would remain without an answer.
                disabled={isSending || drafts.length > 0}
                title={
                  drafts.length > 0
                    ? "Send or delete your comments first"
                    : "Opens the pull request of the displayed commit"
                }
                onClick={() => approve.mutate(null, openLoop())}
              >
                Approve and open the pull request
              </Button>
            )}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
