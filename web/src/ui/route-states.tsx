/** Views of a route that is loading, failed or does not exist. */
import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { Compass } from "lucide-react";

import { buttonClass } from "./button";
import { ErrorView } from "./error-view";
import { LoopsLink } from "./loops-link";
import { EmptyState, Skeleton } from "./panel";

/** The page before the layout is loaded, which contains the `main` landmark. */
export function AppPending() {
  return (
    <main>
      <h1 className="sr-only">Loopgate</h1>
      <RoutePending />
    </main>
  );
}

export function RoutePending() {
  return (
    <div className="space-y-3 p-6" role="status" aria-label="Loading">
      <Skeleton className="h-7 w-56" />
      <Skeleton className="h-4 w-96 max-w-full" />
      <Skeleton className="h-4 w-80 max-w-full" />
    </div>
  );
}

/** Returns a function that loads the route again. */
function useRetry(reset: () => void): () => void {
  const router = useRouter();
  const queries = useQueryErrorResetBoundary();
  return () => {
    queries.reset();
    reset();
    void router.invalidate();
  };
}

export function RouteError({ error, reset }: ErrorComponentProps) {
  return <ErrorView error={error} onRetry={useRetry(reset)} home={<HomeLink />} isPage />;
}

/** Error of a settings page, below the title of all settings. */
export function SettingsError({ error, reset }: ErrorComponentProps) {
  return <ErrorView error={error} onRetry={useRetry(reset)} />;
}

/** Error of a page below the list of loops. */
export function SubpageError(props: ErrorComponentProps) {
  return (
    <>
      <LoopsLink />
      <RouteError {...props} />
    </>
  );
}

const HomeLink = () => (
  <Link to="/" className={buttonClass("plain")}>
    Go to Needs you
  </Link>
);

export function RouteNotFound() {
  return (
    <EmptyState isPage icon={<Compass />} title="Page not found" action={<HomeLink />}>
      Check the address. The page may have been moved or deleted.
    </EmptyState>
  );
}

/** Not-found page outside an organization, where no shell provides the `main` landmark. */
export function PageNotFound() {
  return (
    <main>
      <RouteNotFound />
    </main>
  );
}
