import { queryOptions } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import { useChange } from "@/api/use-change";

export const repositoriesQuery = queryOptions({
  queryKey: ["allowed-repositories"],
  queryFn: ({ signal }) => unwrap(api.GET("/repositories", { signal })),
});

export const useAllowRepository = () =>
  useChange(
    (body: { fullName: string; branches?: string[] }) =>
      unwrap(api.POST("/repositories", { body })),
    "allowed-repositories",
  );

export const useForbidRepository = () =>
  useChange((fullName: string) => {
    const [owner = "", name = ""] = fullName.split("/");
    return unwrap(
      api.DELETE("/repositories/{owner}/{name}", { params: { path: { owner, name } } }),
    );
  }, "allowed-repositories");
