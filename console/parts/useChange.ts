import { useMutation, useQueryClient } from "@tanstack/react-query";

/**
 * Makes a change, and then reads the items again, even if it failed, because another person may have changed them meanwhile.
 * `kind`: the first word of the queries to invalidate.
 */
export function useChange<Result, Value = void>(kind: string, change: (value: Value) => Promise<Result>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (value: Value) => change(value),
    onSettled: () => queries.invalidateQueries({ queryKey: [kind] }),
  });
}
