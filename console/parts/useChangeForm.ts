import { useMutation, useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useState } from "react";
import { pickChanges } from "./pickChanges.ts";

interface Changing<T, S extends object> {
  /** The entered values beside the stored ones. */
  read: (form: FormData, before: T) => Partial<S>;
  change: (changes: Partial<S>) => Promise<T>;
  /** The queries to invalidate. */
  queryKeys: readonly QueryKey[];
}

/** The form that edits an item. Sends only the changed fields, because another person may be editing the item, too. */
export function useChangeForm<S extends object, T extends S>(thing: T, { read, change, queryKeys }: Changing<T, S>) {
  const queries = useQueryClient();
  const [before, setBefore] = useState(thing);
  const save = useMutation({
    mutationFn: async (form: FormData) => change(pickChanges<S>(before, read(form, before))),
    onSuccess: setBefore,
    onSettled: () => Promise.all(queryKeys.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
  return { before, save };
}
