/** Fallbacks of a page that loads, failed, or does not exist. */
import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { Compass } from "lucide-react";

import { buttonClass } from "@/ui/button";
import { ErrorView } from "@/ui/error-view";
import { EmptyState, Skeleton } from "@/ui/panel";

export function RoutePending() {
  return (
    <div className="space-y-3 p-6" role="status" aria-label="Loading">
      <Skeleton className="h-7 w-56" />
      <Skeleton className="h-4 w-96 max-w-full" />
      <Skeleton className="h-4 w-80 max-w-full" />
    </div>
  );
}

export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return <ErrorView error={error} onRetry={retry} isPage />;
}

export function RouteNotFound() {
  return (
    <EmptyState
      isPage
      icon={<Compass />}
      title="There is no such page"
      action={
        <Link to="/" className={buttonClass("plain")}>
          Go to your loops
        </Link>
      }
    >
      The address is mistyped, or the page has moved.
    </EmptyState>
  );
}

/** Outside the frame of an organization, the page brings its own landmark. */
export function PageNotFound() {
  return (
    <main>
      <RouteNotFound />
    </main>
  );
}
