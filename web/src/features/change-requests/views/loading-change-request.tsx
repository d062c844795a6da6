import { LoadingTitle, Panel, Skeleton } from "@/ui/panel";

/** Shape of the page of a change request. */
export function LoadingChangeRequest() {
  return (
    <>
      <div role="status" aria-label="Loading" />
      <LoadingTitle kind="Change request" />
      <Skeleton className="mt-3 h-4 w-64 max-w-full" />
      <Skeleton className="mt-6 h-8 w-full" />
      <Panel className="mt-6 space-y-3 p-6">
        <Skeleton className="h-4 w-full" />
        <Skeleton className="h-4 w-11/12" />
        <Skeleton className="h-4 w-2/3" />
      </Panel>
    </>
  );
}
