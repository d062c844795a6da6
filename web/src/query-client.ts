/** The page's one cache of server state. */
import { QueryCache, QueryClient } from "@tanstack/react-query";

import { ApiError } from "@/api/errors";

/** A failed read is tried again this often, unless the server gave a verdict. */
const MAX_RETRIES = 2;

/** Told when an answer says that the session has ended. */
let onSignedOut: () => void = () => undefined;

export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof ApiError && error.status === 401) onSignedOut();
    },
  }),
  defaultOptions: {
    // The control plane may be on this machine: whether there is a network says nothing about it.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: 2_000,
      retry: (failures, error) =>
        failures < MAX_RETRIES &&
        (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) &&
        !(error instanceof ApiError && error.status === 501),
    },
  },
});
