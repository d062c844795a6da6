/** Registers and removes browser keys. */
import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope, useScope } from "@/api/scope";
import { createBrowserKey, deleteBrowserKey, loadBrowserKey } from "@/signing/browser-key";

export const publicKeysQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("public-keys"),
    queryFn: ({ signal }) => unwrap(api.GET("/public-keys", { signal })),
  });

/** The user's key in this browser, or `null`: a query function must not return `undefined`. */
export const browserKeyQuery = ({ key }: Scope, userId: string) =>
  queryOptions({
    queryKey: key("browser-key", userId),
    queryFn: async () => (await loadBrowserKey(userId)) ?? null,
    staleTime: Infinity,
  });

/** Registers this browser's key. Creates it if it does not exist. */
export function useRegisterBrowserKey(userId: string) {
  const client = useQueryClient();
  const scope = useScope();
  return useMutation({
    mutationFn: async () => {
      const key = (await loadBrowserKey(userId)) ?? (await createBrowserKey(userId));
      const { publicKeyBase64, fingerprint } = key;
      return unwrap(scope.api.POST("/public-keys", { body: { publicKeyBase64, fingerprint } }));
    },
    onSettled: () => refresh(client, scope, userId),
  });
}

/** Removes a key from the control plane, and from this browser if it is stored here. */
export function useRemoveBrowserKey(userId: string) {
  const client = useQueryClient();
  const scope = useScope();
  return useMutation({
    mutationFn: async (fingerprint: string) => {
      await unwrap(scope.api.DELETE("/public-keys", { params: { query: { fingerprint } } }));
      const own = await loadBrowserKey(userId);
      if (own?.fingerprint === fingerprint) await deleteBrowserKey(userId);
    },
    onSettled: () => refresh(client, scope, userId),
  });
}

const refresh = (client: QueryClient, scope: Scope, userId: string) =>
  Promise.all(
    [publicKeysQuery(scope), browserKeyQuery(scope, userId)].map(({ queryKey }) =>
      client.invalidateQueries({ queryKey }),
    ),
  );
