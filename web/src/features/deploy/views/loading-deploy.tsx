import { Panel, Skeleton } from "@/ui/panel";

/** The stage while the worktrees are not known. */
export function LoadingDeploy() {
  return (
    <Panel className="space-y-3 p-4">
      <Skeleton className="h-6 w-48 max-w-full" />
      <LoadingDeployment />
    </Panel>
  );
}

export function LoadingDeployment() {
  return (
    <div role="status" aria-label="Loading" className="space-y-3">
      <Skeleton className="h-5 w-24" />
      <Skeleton className="h-5 w-80 max-w-full" />
      <Skeleton className="h-9 w-32" />
    </div>
  );
}
