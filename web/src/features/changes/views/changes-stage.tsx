/** The stage Changes of a change request: what its newest loop has changed so far, with comments on lines. */
import { useQuery } from "@tanstack/react-query";
import { FileDiff } from "lucide-react";
import { Suspense } from "react";

import { useScope } from "@/api/scope";
import type { ChangeReview, LoopDetail, RepositoryChanges } from "@/api/types";
import { isActive, isWaiting } from "@/model/status";
import { type AddressChange, type ChangesAddress, rangeOf } from "@/routing/changes-address";
import { ErrorView } from "@/ui/error-view";
import { EmptyState, Notice } from "@/ui/panel";

import { displayedComments } from "../model/comments";
import { changesQuery } from "../queries";
import { useReviews } from "../review-queries";
import { LoadingChanges } from "./loading-changes";
import { RepositoryDiff } from "./repository-diff";
import { ReviewList } from "./review-list";
import { Toolbar } from "./toolbar";

/** `loop` is the newest loop of a change request that has a worktree. */
export function ChangesStage(props: StageProps) {
  const { loop, address } = props;
  const { drafts, reviews, isLoaded } = useReviews(loop);
  // What the person does next is not about the comment or finding that the address names.
  const onAddress = (change: AddressChange) =>
    props.onAddress({ comment: undefined, finding: undefined, ...change });
  const linked = useUndisplayedComment(loop, address.comment, reviews);
  const comments = [...drafts, ...reviews.flatMap((review) => review.comments)];
  const isMissing =
    address.comment !== undefined && isLoaded && !comments.some(({ id }) => id === address.comment);
  return (
    <section aria-label="Changes" className="space-y-3">
      {isMissing && (
        <Notice title="The comment of this address cannot be shown">
          It was deleted, or its author has not sent it yet.
        </Notice>
      )}
      <ReviewList
        // The comment is known later than the reviews.
        key={linked}
        loop={loop}
        reviews={reviews}
        linked={linked}
        onCommit={(repo, commit) => onAddress({ repo, range: `commit:${commit}` })}
      />
      <Comparison {...props} onAddress={onAddress} reviews={reviews} />
    </section>
  );
}

/** Returns the id of a comment of a review that the diff does not display. */
function useUndisplayedComment(
  loop: LoopDetail,
  id: string | undefined,
  reviews: readonly ChangeReview[],
): string | undefined {
  const { data, isLoading } = useQuery(changesQuery(useScope(), loop, {}));
  const comment = reviews.flatMap(({ comments }) => comments).find((own) => own.id === id);
  if (!comment || isLoading) return undefined;
  const { repository, path } = comment;
  const isOfDiff = displayedComments(reviews).some((own) => own.id === id);
  const isChanged = data?.data.repositories.some(
    ({ name, files }) => name === repository && files.some((file) => file.path === path),
  );
  return isOfDiff && isChanged ? undefined : id;
}

interface StageProps {
  loop: LoopDetail;
  address: ChangesAddress;
  onAddress: (change: AddressChange) => void;
}

function Comparison({
  loop,
  address,
  onAddress,
  reviews,
}: StageProps & { reviews: readonly ChangeReview[] }) {
  const all = useQuery(changesQuery(useScope(), loop, {}));
  const part = useQuery({
    ...changesQuery(useScope(), loop, rangeOf(address)),
    enabled: address.range !== undefined && !isWaiting(loop.status),
  });
  const shown = address.range === undefined ? all : part;
  if (isWaiting(loop.status)) return <Preparing />;
  if (shown.error && !shown.data)
    return <ErrorView error={shown.error} onRetry={() => void shown.refetch()} />;
  if (!all.data || !shown.data) return <LoadingChanges />;
  const { repositories } = all.data.data;
  const named = (list: readonly RepositoryChanges[]) =>
    list.find(({ name }) => name === address.repo) ?? list[0];
  const [complete, repository] = [named(repositories), named(shown.data.data.repositories)];
  if (!complete || !repository?.worktree) return <NoWorktree />;
  return (
    <>
      {shown.error && (
        <Notice tone="warn" title="The changes are not up to date">
          {shown.error.message}
        </Notice>
      )}
      <Suspense fallback={<LoadingChanges />}>
        {complete.files.length === 0 ? (
          <NoChanges loop={loop} />
        ) : (
          <RepositoryDiff
            // Another change request or repository has other drafts and patches.
            key={`${loop.document?.slug ?? loop.id} ${repository.name}`}
            loop={loop}
            repository={repository}
            repositories={repositories}
            address={address}
            onAddress={onAddress}
            toolbar={
              <Toolbar
                repositories={repositories}
                complete={complete}
                shown={repository}
                reviewed={reviews[0]?.heads[complete.name]}
                relayedBy={shown.data.relayedBy?.machineName}
                address={address}
                onAddress={onAddress}
              />
            }
          />
        )}
      </Suspense>
    </>
  );
}

function Preparing() {
  return (
    <EmptyState icon={<FileDiff />} title="The loop is being prepared">
      Its changes appear here as soon as it has a worktree.
    </EmptyState>
  );
}

function NoWorktree() {
  return (
    <EmptyState icon={<FileDiff />} title="The worktree was removed">
      Loopgate removes worktrees of finished work. Read the changes in the pull request.
    </EmptyState>
  );
}

function NoChanges({ loop }: { loop: LoopDetail }) {
  return (
    <EmptyState icon={<FileDiff />} title="No changes yet">
      {isActive(loop.status)
        ? "Files appear here as soon as the loop edits them."
        : "This loop ended without changing a file. Its output says why."}
    </EmptyState>
  );
}
