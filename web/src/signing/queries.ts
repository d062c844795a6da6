/** Registering this browser's key, and taking it back. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";

import { createBrowserKey, forgetBrowserKey, loadBrowserKey } from "./browser-key";

const KEYS = ["public-keys"];

export const publicKeysQuery = queryOptions({
  queryKey: KEYS,
  queryFn: ({ signal }) => unwrap(api.GET("/public-keys", { signal })),
});

/** This browser's key of a person; `null` when there is none. */
export const browserKeyQuery = (userId: string) =>
  queryOptions({
    queryKey: ["browser-key", userId],
    queryFn: async () => (await loadBrowserKey(userId)) ?? null,
    staleTime: Infinity,
  });

/** Makes this browser's key, and registers it. */
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

/** Takes a key back; the one of this browser is forgotten here, too. */
export function useRemoveBrowserKey(userId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (fingerprint: string) => {
      await unwrap(api.DELETE("/public-keys", { params: { query: { fingerprint } } }));
      const own = await loadBrowserKey(userId);
      if (own?.fingerprint === fingerprint) await forgetBrowserKey(userId);
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
