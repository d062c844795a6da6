import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope } from "@/api/scope";
import { useChange } from "@/api/use-change";

export const repositoriesQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("allowed-repositories"),
    queryFn: ({ signal }) => unwrap(api.GET("/repositories", { signal })),
  });

export const useAllowRepository = () =>
  useChange(
    ({ api }, body: { fullName: string; branches?: string[] }) =>
      unwrap(api.POST("/repositories", { body })),
    "allowed-repositories",
  );

export const useForbidRepository = () =>
  useChange(({ api }, fullName: string) => {
    const [owner = "", name = ""] = fullName.split("/");
    return unwrap(
      api.DELETE("/repositories/{owner}/{name}", { params: { path: { owner, name } } }),
    );
  }, "allowed-repositories");
