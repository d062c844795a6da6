import { LoopsLink } from "@/ui/loops-link";
import { LoadingTitle, Panel, Skeleton } from "@/ui/panel";

/** The page while the document is loading. */
export function LoadingDocument() {
  return (
    <>
      <LoopsLink />
      <div className="mt-2 space-y-6">
        <LoadingTitle kind="Document" />
        <DocumentSkeleton />
      </div>
    </>
  );
}

export function DocumentSkeleton() {
  return (
    <Panel className="space-y-3.5 px-6 py-7">
      <div role="status" aria-label="Loading the document" />
      <Skeleton className="h-6 w-2/5" />
      {["w-11/12", "w-4/5", "w-10/12", "w-2/3"].map((width) => (
        <Skeleton key={width} className={`h-4 ${width}`} />
      ))}
    </Panel>
  );
}
