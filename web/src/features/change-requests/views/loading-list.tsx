import { Panel, Skeleton } from "@/ui/panel";

/** The page of a list while it is loading. */
export function LoadingList({ title }: { title: string }) {
  return (
    <>
      <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
      <LoadingRows />
    </>
  );
}

/** Shape of a list. */
export function LoadingRows() {
  return (
    <Panel className="mt-4 divide-y divide-line">
      <div role="status" aria-label="Loading" />
      {Array.from({ length: 5 }, (_, row) => (
        <div key={row} className="space-y-2 px-4 py-4">
          <Skeleton className="h-4 w-2/3" />
          <Skeleton className="h-3 w-1/3" />
        </div>
      ))}
    </Panel>
  );
}
