import { useRouter } from "@tanstack/react-router";

import { ApiError } from "@/api/errors";

/** Opens the started loop, or the existing one when the server reports a conflict. */
export function useOpenLoop(orgSlug: string) {
  const router = useRouter();
  const { pathname } = router.state.location;
  const open = async (loopId: string) => {
    // A person who has opened another page in the meantime stays there.
    if (router.state.location.pathname === pathname)
      await router.navigate({ to: "/$orgSlug/loops/$loopId", params: { orgSlug, loopId } });
  };
  return {
    onSuccess: open,
    onError: (error: unknown) => {
      if (error instanceof ApiError && typeof error.data.loopId === "string")
        void open(error.data.loopId);
    },
  };
}
