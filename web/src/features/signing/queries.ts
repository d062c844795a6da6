/** Registers and removes browser keys. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import { createBrowserKey, deleteBrowserKey, loadBrowserKey } from "@/signing/browser-key";

const KEYS = ["public-keys"];

export const publicKeysQuery = queryOptions({
  queryKey: KEYS,
  queryFn: ({ signal }) => unwrap(api.GET("/public-keys", { signal })),
});

/** The user's key in this browser, or `null`: a query function must not return `undefined`. */
export const browserKeyQuery = (userId: string) =>
  queryOptions({
    queryKey: ["browser-key", userId],
    queryFn: async () => (await loadBrowserKey(userId)) ?? null,
    staleTime: Infinity,
  });

/** Registers this browser's key. Creates it if it does not exist. */
export function useRegisterBrowserKey(userId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const key = (await loadBrowserKey(userId)) ?? (await createBrowserKey(userId));
      const { publicKeyBase64, fingerprint } = key;
      return unwrap(api.POST("/public-keys", { body: { publicKeyBase64, fingerprint } }));
    },
    onSettled: () => refresh(client, userId),
  });
}

/** Removes a key from the control plane, and from this browser if it is stored here. */
export function useRemoveBrowserKey(userId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (fingerprint: string) => {
      await unwrap(api.DELETE("/public-keys", { params: { query: { fingerprint } } }));
      const own = await loadBrowserKey(userId);
      if (own?.fingerprint === fingerprint) await deleteBrowserKey(userId);
    },
    onSettled: () => refresh(client, userId),
  });
}

const refresh = (client: ReturnType<typeof useQueryClient>, userId: string) =>
  Promise.all(
    [KEYS, browserKeyQuery(userId).queryKey].map((queryKey) =>
      client.invalidateQueries({ queryKey }),
    ),
  );
