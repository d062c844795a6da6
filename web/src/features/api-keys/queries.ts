import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope } from "@/api/scope";
import type { ApiKeyScope } from "@/api/types";
import { useChange } from "@/api/use-change";

export const apiKeysQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("api-keys"),
    queryFn: ({ signal }) => unwrap(api.GET("/api-keys", { signal })),
  });

export const useCreateApiKey = () =>
  useChange(
    ({ api }, body: { name: string; scopes: ApiKeyScope[]; expiresAt?: string }) =>
      unwrap(api.POST("/api-keys", { body })),
    "api-keys",
  );

export const useRevokeApiKey = () =>
  useChange(
    ({ api }, id: string) => unwrap(api.DELETE("/api-keys/{id}", { params: { path: { id } } })),
    "api-keys",
  );
