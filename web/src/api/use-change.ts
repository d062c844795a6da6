import { useMutation, useQueryClient } from "@tanstack/react-query";

/** Mutation that invalidates the queries with these keys, and the audit log, which records every change. */
export function useChange<Input, Output>(
  change: (input: Input) => Promise<Output>,
  ...changes: string[]
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () =>
      Promise.all(
        [...changes, "audit-log"].map((key) => client.invalidateQueries({ queryKey: [key] })),
      ),
  });
}
