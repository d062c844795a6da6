import { Panel, Skeleton } from "@/ui/panel";

export function LoadingPull() {
  return (
    <Panel className="space-y-3 p-4">
      <div role="status" aria-label="Loading" className="space-y-3">
        <Skeleton className="h-4 w-32" />
        <Skeleton className="h-6 w-80 max-w-full" />
        <Skeleton className="h-5 w-56" />
        <Skeleton className="h-20 w-full" />
      </div>
    </Panel>
  );
}
