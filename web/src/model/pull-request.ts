/** Addresses of pull requests. */
import { useSuspenseQuery } from "@tanstack/react-query";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";

/** Returns the address of a pull request at the configured code host. */
export function usePullRequestHref(url: string | null | undefined): string | undefined {
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  return url ? pullRequestHref(url, me.codeHostUrl) : undefined;
}

/** Returns the address of a pull request, at the configured code host if it is a test host. */
export function pullRequestHref(url: string, codeHostUrl?: string | null): string | undefined {
  const href = safeHref(url);
  if (!href || !codeHostUrl) return href;
  return href.replace(/^https:\/\/github\.com(?=\/)/, codeHostUrl);
}

/** Returns `url` if it is http or https. Results come from a worktree and may contain `javascript:`. */
export function safeHref(url: string): string | undefined {
  try {
    const { protocol } = new URL(url);
    return protocol === "https:" || protocol === "http:" ? url : undefined;
  } catch {
    return undefined;
  }
}
