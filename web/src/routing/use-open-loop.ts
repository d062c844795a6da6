import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";

import { ApiError } from "@/api/errors";
import { changeRequestQuery, loopDetailQuery } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";

/**
 * Returns a function to call when a person starts a loop. Its callbacks open the log of the loop on the page of its change
 * request, or that of the existing loop when the server reports a conflict. `document`: slug of the loop's document.
 * Without it, the loop is read first.
 */
export function useOpenLoop(orgSlug: string, document?: string) {
  const router = useRouter();
  const client = useQueryClient();
  const scope = useScope();
  return () => {
    // An object per navigation: differs also when the person has left the page and returned.
    const { location } = router.history;
    const open = async (loopId: string) => {
      const slug = await changeRequestOf(client, scope, loopId, document).catch(() => undefined);
      // A person who has navigated since the start stays there.
      if (router.history.location !== location) return;
      await (slug === undefined
        ? router.navigate({ to: "/$orgSlug/loops/$loopId", params: { orgSlug, loopId } })
        : router.navigate({
            to: "/$orgSlug/work/$slug",
            params: { orgSlug, slug },
            search: { tab: "live" },
          }));
    };
    return {
      onSuccess: open,
      onError: (error: unknown) => {
        if (error instanceof ApiError && typeof error.data.loopId === "string")
          void open(error.data.loopId);
      },
    };
  };
}

/** Returns the slug of a loop's change request, which it loads. Undefined for a loop without a document. */
async function changeRequestOf(
  client: QueryClient,
  scope: Scope,
  loopId: string,
  known: string | undefined,
): Promise<string | undefined> {
  const document = known ?? (await client.query(loopDetailQuery(scope, loopId))).document?.slug;
  if (document === undefined) return undefined;
  // The page would show the loop before this one otherwise.
  const request = await client.query({
    ...changeRequestQuery(scope, document),
    staleTime: 0,
  });
  const { slug } = request.document;
  client.setQueryData(changeRequestQuery(scope, slug).queryKey, request);
  return slug;
}
