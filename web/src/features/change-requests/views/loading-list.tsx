import { Panel, Skeleton } from "@/ui/panel";

/** Shape of a list of change requests. */
export function LoadingList() {
  return (
    <div role="status" aria-label="Loading">
      <Skeleton className="h-7 w-40" />
      <Panel className="mt-4 divide-y divide-line">
        {Array.from({ length: 5 }, (_, row) => (
          <div key={row} className="space-y-2 px-4 py-4">
            <Skeleton className="h-4 w-2/3" />
            <Skeleton className="h-3 w-1/3" />
          </div>
        ))}
      </Panel>
    </div>
  );
}
