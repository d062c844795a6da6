import { Panel, Skeleton } from "@/ui/panel";

/** The page while the list is loading. */
export function LoadingLoops() {
  return (
    <>
      <h1 className="text-xl font-semibold tracking-tight">Loops</h1>
      <Panel className="mt-4 overflow-hidden">
        <div role="status" aria-label="Loading loops">
          {Array.from({ length: 6 }, (_, row) => (
            <div
              key={row}
              className="flex items-center gap-6 border-line px-4 py-4 not-last:border-b"
            >
              <Skeleton className="h-5 w-20" />
              <span className="flex-1 space-y-2">
                <Skeleton className="h-3.5 w-3/5" />
                <Skeleton className="h-3 w-2/5" />
              </span>
              <Skeleton className="h-3.5 w-24 max-md:hidden" />
            </div>
          ))}
        </div>
      </Panel>
    </>
  );
}
