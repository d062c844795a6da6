/** The stage Changes of a change request: what its newest loop has changed so far, with comments on lines. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { FileDiff } from "lucide-react";
import { Suspense } from "react";

import { useScope } from "@/api/scope";
import type { LoopDetail, RepositoryChanges } from "@/api/types";
import { isActive } from "@/model/status";
import { type AddressChange, changesAddress, rangeOf } from "@/routing/changes-address";
import { ErrorView } from "@/ui/error-view";
import { EmptyState, Notice } from "@/ui/panel";

import { changesQuery } from "../queries";
import { LoadingChanges } from "./loading-changes";
import { RepositoryDiff } from "./repository-diff";
import { Toolbar } from "./toolbar";

/** `loop` is the newest loop of a change request that has a worktree. */
export function ChangesStage({ loop }: { loop: LoopDetail }) {
  const address = changesAddress(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change = (next: AddressChange) =>
    void navigate({
      to: ".",
      search: (search: Record<string, unknown>) => ({ ...search, ...next }) as never,
      replace: true,
      resetScroll: false,
    });
  const all = useQuery(changesQuery(useScope(), loop, {}));
  const part = useQuery({
    ...changesQuery(useScope(), loop, rangeOf(address)),
    enabled: address.range !== undefined,
  });
  const shown = address.range === undefined ? all : part;
  if (shown.error && !shown.data)
    return <ErrorView error={shown.error} onRetry={() => void shown.refetch()} />;
  if (!all.data || !shown.data) return <LoadingChanges />;
  const { repositories } = all.data.data;
  const named = (list: readonly RepositoryChanges[]) =>
    list.find(({ name }) => name === address.repo) ?? list[0];
  const [complete, repository] = [named(repositories), named(shown.data.data.repositories)];
  if (!complete || !repository?.worktree) return <NoWorktree />;
  return (
    <section aria-label="Changes" className="space-y-3">
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
            // Another repository has other drafts and patches.
            key={repository.name}
            loop={loop}
            repository={repository}
            address={address}
            onAddress={change}
            toolbar={
              <Toolbar
                repositories={repositories}
                complete={complete}
                shown={repository}
                relayedBy={shown.data.relayedBy?.machineName}
                address={address}
                onAddress={change}
              />
            }
          />
        )}
      </Suspense>
    </section>
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
