import type { UseQueryResult } from "@tanstack/react-query";

import { messageOf } from "@/api/errors";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/panel";

/** Error of a read of a machine, which may be temporary. */
export function Unreadable({
  query: { error, isFetching, refetch },
}: {
  query: Pick<UseQueryResult, "error" | "isFetching" | "refetch">;
}) {
  return (
    <Notice
      tone="warn"
      title="The deployment cannot be read now"
      action={
        <Button size="sm" busy={isFetching} onClick={() => void refetch()}>
          Try again
        </Button>
      }
    >
      {messageOf(error)}
    </Notice>
  );
}
