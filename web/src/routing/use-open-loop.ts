import { useNavigate } from "@tanstack/react-router";

import { ApiError } from "@/api/errors";

/** Opens the started loop, or the existing one when the server reports a conflict. */
export function useOpenLoop(orgSlug: string) {
  const navigate = useNavigate();
  const open = (loopId: string) =>
    navigate({ to: "/$orgSlug/loops/$loopId", params: { orgSlug, loopId } });
  return {
    onSuccess: open,
    onError: (error: unknown) => {
      if (error instanceof ApiError && typeof error.data.loopId === "string")
        void open(error.data.loopId);
    },
  };
}
