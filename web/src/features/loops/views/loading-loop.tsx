import { LoopsLink } from "@/ui/loops-link";
import { Skeleton } from "@/ui/panel";

export function LoadingLoop() {
  return (
    <>
      <LoopsLink />
      <div role="status" aria-label="Loading the loop" className="mt-3 space-y-6">
        <Skeleton className="h-8 w-3/5" />
        <div className="grid grid-cols-2 gap-4 lg:grid-cols-4">
          {[1, 2, 3, 4].map((card) => (
            <Skeleton key={card} className="h-18" />
          ))}
        </div>
        <Skeleton className="h-80" />
      </div>
    </>
  );
}
