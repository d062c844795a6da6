import { messageOf } from "@/api/errors";

import { WithCode } from "./code";
import { Notice } from "./panel";

/** Error of an action, below the row of its buttons. */
export function ActionError({ title, error }: { title: string; error: unknown }) {
  return (
    <div className="order-last basis-full">
      <Notice tone="bad" title={title}>
        <WithCode text={messageOf(error)} />
      </Notice>
    </div>
  );
}
