import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { Tooltip } from "radix-ui";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { isConnectionLost, onConnectionChange } from "@/api/connection";
import { statusOf } from "@/api/errors";
import { queryClient, whenSignedOut } from "@/api/query-client";

import { router } from "./router";
import "./styles.css";

/** Writes errors that a page shows to the console, except refusals of a server, which are no faults of the app. */
function report(error: unknown): void {
  if (statusOf(error) === undefined) console.error(error);
}

whenSignedOut(() => {
  const { matches, location } = router.state;
  // The pages outside an organization show a wrong password themselves, and several requests may fail at once.
  if (!matches.some(({ routeId }) => routeId === "/$orgSlug")) return;
  // Until the page is displayed, the matches are still those of the page before it.
  if (location.pathname === "/signed-out") return;
  const { href } = location;
  void router.navigate({ to: "/signed-out", search: { returnTo: href }, replace: true });
});

// Loads the pages again whose loaders failed. Queries are refetched by themselves.
onConnectionChange(() => {
  if (!isConnectionLost()) void router.invalidate();
});

// Later navigation needs no request for code, also while the server is down. Diagrams and highlighting, which are large,
// are not chunks of routes.
if ("requestIdleCallback" in window) {
  for (const route of Object.values(router.routesById))
    requestIdleCallback(() => void router.loadRouteChunk(route)?.catch(() => undefined));
}

const root = document.getElementById("root");
if (root) {
  createRoot(root, { onCaughtError: report }).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider delayDuration={350}>
          <RouterProvider router={router} />
        </Tooltip.Provider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
