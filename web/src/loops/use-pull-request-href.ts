/** Address of a pull request at the configured code host. */
import { useQuery } from "@tanstack/react-query";

import { meQuery } from "@/api/queries";

import { pullRequestHref } from "./results";

export function usePullRequestHref(url: string | null | undefined): string | undefined {
  const { data: me } = useQuery(meQuery);
  return url ? pullRequestHref(url, me?.codeHostUrl) : undefined;
}
