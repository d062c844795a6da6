/** The stage Deploy of a change request: its result, run on the machine that has the worktrees. */
import { useQuery } from "@tanstack/react-query";
import { Rocket } from "lucide-react";

import { useScope } from "@/api/scope";
import type { Loop } from "@/api/types";
import { OfflineMachineError } from "@/gateway/request";
import { isActive, isWaiting } from "@/model/status";
import { ErrorView } from "@/ui/error-view";
import { EmptyState, Panel } from "@/ui/panel";

import { worktreesQuery } from "../queries";
import { DeployCard } from "./deploy-card";
import { LoadingDeploy } from "./loading-deploy";
import { Unreadable } from "./unreadable";

/** `loop`: the newest execution of the change request. */
export function DeployStage({ loop }: { loop: Loop | undefined }) {
  if (!loop) {
    return (
      <Empty title="Nothing to deploy yet">
        Execute implements the change in a worktree. Its result can then be tried here.
      </Empty>
    );
  }
  return isWaiting(loop.status) ? <Preparing /> : <Worktrees loop={loop} />;
}

function Worktrees({ loop }: { loop: Loop }) {
  const query = useQuery(worktreesQuery(useScope(), loop));
  const { data, error, refetch } = query;
  if (error instanceof OfflineMachineError && !data) return <Unreadable query={query} />;
  if (error && !data) return <ErrorView error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingDeploy />;
  const existing = data.flatMap(({ name, worktree }) =>
    worktree === null ? [] : [{ name, worktree }],
  );
  if (existing.length === 0) {
    return isActive(loop.status) ? (
      <Preparing />
    ) : (
      <Empty title="The worktree was removed">
        Loopgate removes worktrees of finished work. Start another loop on this change request to
        deploy its result.
      </Empty>
    );
  }
  return (
    <div className="space-y-4">
      {existing.map(({ name, worktree }) => (
        <DeployCard
          key={worktree}
          machine={loop.computeTarget}
          name={name}
          path={worktree}
          isChanging={isActive(loop.status)}
        />
      ))}
    </div>
  );
}

function Preparing() {
  return (
    <Empty title="The loop is being prepared">
      Its result can be deployed here as soon as it has a worktree.
    </Empty>
  );
}

function Empty({ title, children }: { title: string; children: string }) {
  return (
    <Panel>
      <EmptyState icon={<Rocket />} title={title}>
        {children}
      </EmptyState>
    </Panel>
  );
}
