import { Skeleton } from "@/ui/panel";

/** Placeholder in the shape of the file list and the diff. */
export function LoadingChanges() {
  return (
    <div
      role="status"
      aria-label="Loading changes"
      className="grid grid-cols-1 gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]"
    >
      <div className="space-y-2 max-lg:hidden">
        {["w-40", "w-52", "w-44", "w-56"].map((width) => (
          <Skeleton key={width} className={`h-5 ${width}`} />
        ))}
      </div>
      <div className="space-y-3">
        <Skeleton className="h-11 w-full" />
        <Skeleton className="h-72 w-full" />
      </div>
    </div>
  );
}
