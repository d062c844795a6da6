import { Link } from "@tanstack/react-router";

import { ApiError, messageOf } from "@/api/errors";
import { isKeyCollision } from "@/api/use-keyed-mutation";
import { WithCode } from "@/ui/code";
import { Notice } from "@/ui/panel";

/** Why the loop of a request was not started. */
export function StartError({ error, orgSlug }: { error: unknown; orgSlug: string }) {
  const existing = error instanceof ApiError ? error.data.loopId : undefined;
  if (typeof existing === "string") {
    return (
      <Notice tone="bad" title="A loop for this request is already running">
        <Link
          to="/$orgSlug/loops/$loopId"
          params={{ orgSlug, loopId: existing }}
          className="font-medium text-accent underline"
        >
          View running loop
        </Link>
      </Notice>
    );
  }
  if (isKeyCollision(error)) {
    return (
      <Notice tone="bad" title="An earlier version of this request has already started a loop">
        <Link to="/$orgSlug/work" params={{ orgSlug }} className="text-accent underline">
          View work
        </Link>{" "}
        or start this version as another request: select the button again.
      </Notice>
    );
  }
  return (
    <Notice tone="bad" title="The loop could not be started">
      <WithCode text={messageOf(error)} />
    </Notice>
  );
}
