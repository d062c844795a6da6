/** Cache of server state, shared by all components. */
import {
  CancelledError,
  MutationCache,
  onlineManager,
  QueryCache,
  QueryClient,
  type QueryExecuteOptions,
  type QueryKey,
} from "@tanstack/react-query";

import { isConnectionLost, onConnectionChange } from "./connection";
import { ApiError } from "./errors";

// A failed read is retried this often, unless the status (4xx, 501) shows that a retry cannot succeed.
const MAX_RETRIES = 2;

// Called when a response has status 401, that is, when the session has ended.
let onSignedOut: () => void = () => undefined;

/** Leaves the page if the error means that the session has ended. */
export function reportSignedOut(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) onSignedOut();
}

export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

// "Online" means that the control plane responds, also without a network: it may run on this machine. While it does not,
// queries pause; afterwards they continue, and the active ones are refetched.
onlineManager.setEventListener((setOnline) =>
  onConnectionChange(() => setOnline(!isConnectionLost())),
);

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: reportSignedOut }),
  mutationCache: new MutationCache({ onError: reportSignedOut }),
  defaultOptions: {
    // Not paused: an action must not be carried out later, when its reason may no longer exist.
    mutations: { networkMode: "always" },
    queries: {
      refetchOnReconnect: "always",
      staleTime: 2_000,
      retry: (failures, error) =>
        failures < MAX_RETRIES &&
        (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) &&
        !(error instanceof ApiError && error.status === 501),
    },
  },
});

/**
 * Returns cached data, even if it is stale, else requests it. For loaders: the components of the page refresh it.
 *
 * A request that a component had started is cancelled with that component, which the loader's page replaces: it is then
 * sent again.
 */
export async function ensure<Data, Key extends QueryKey>(
  query: QueryExecuteOptions<Data, Error, Data, Data, Key>,
): Promise<Data> {
  try {
    return await queryClient.query({ ...query, staleTime: "static" });
  } catch (error) {
    if (error instanceof CancelledError) return ensure(query);
    throw error;
  }
}
