import { useMutation, useQueryClient } from "@tanstack/react-query";

import { type Scope, useScope } from "./scope";

/** Mutation that invalidates the queries with these keys, and the audit log, which records every change. */
export function useChange<Input, Output>(
  change: (scope: Scope, input: Input) => Promise<Output>,
  ...changes: string[]
) {
  const client = useQueryClient();
  const scope = useScope();
  return useMutation({
    mutationFn: (input: Input) => change(scope, input),
    onSettled: () =>
      Promise.all(
        [...changes, "audit-log"].map((key) =>
          client.invalidateQueries({ queryKey: scope.key(key) }),
        ),
      ),
  });
}
