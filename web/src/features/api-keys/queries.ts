import { queryOptions } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import type { Scope } from "@/api/types";
import { useChange } from "@/api/use-change";

export const apiKeysQuery = queryOptions({
  queryKey: ["api-keys"],
  queryFn: ({ signal }) => unwrap(api.GET("/api-keys", { signal })),
});

export const useCreateApiKey = () =>
  useChange(
    (body: { name: string; scopes: Scope[]; expiresAt?: string }) =>
      unwrap(api.POST("/api-keys", { body })),
    "api-keys",
  );

export const useRevokeApiKey = () =>
  useChange(
    (id: string) => unwrap(api.DELETE("/api-keys/{id}", { params: { path: { id } } })),
    "api-keys",
  );
