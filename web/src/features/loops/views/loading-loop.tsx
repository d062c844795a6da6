import { LoopsLink } from "@/ui/loops-link";
import { LoadingTitle, Skeleton } from "@/ui/panel";

/** The page of a loop while it is loading. */
export function LoadingLoop() {
  return (
    <>
      <LoopsLink />
      <div className="mt-3 space-y-6">
        <LoadingTitle kind="Loop" />
        <div className="grid grid-cols-2 gap-4 lg:grid-cols-4">
          {[1, 2, 3, 4].map((card) => (
            <Skeleton key={card} className="h-18" />
          ))}
        </div>
        <LoadingStage />
      </div>
    </>
  );
}

/** Shape of what a stage shows of a loop. */
export function LoadingStage() {
  return (
    <div role="status" aria-label="Loading the loop" className="space-y-4">
      <Skeleton className="h-5 w-40" />
      <Skeleton className="h-80" />
    </div>
  );
}
