import { QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";

import { ensure, queryClient } from "./query-client";

test("a loader gets data although the component that requested it has left", async () => {
  let requests = 0;
  const query = {
    queryKey: ["test", "cancelled"],
    queryFn: ({ signal }: { signal: AbortSignal }) => {
      requests += 1;
      if (requests > 1) return requests;
      // Without a response.
      return new Promise<number>((_, reject) => {
        signal.addEventListener("abort", () => {
          reject(new DOMException("Aborted", "AbortError"));
        });
      });
    },
  };
  const leave = new QueryObserver(queryClient, query).subscribe(() => undefined);
  const loaded = ensure(query);
  leave();
  await expect(loaded).resolves.toBe(2);
});
