import { useMutation, useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useState } from "react";
import { changesOf } from "./changesOf.ts";

interface Changing<T, S extends object> {
  /** What was entered, beside what is stored. */
  read: (form: FormData, before: T) => Partial<S>;
  change: (changes: Partial<S>) => Promise<T>;
  /** What is out of date afterwards. */
  queryKeys: readonly QueryKey[];
}

/** The form that changes a thing. Sends only what was changed here: somebody else may be changing the thing too. */
export function useChanging<S extends object, T extends S>(thing: T, { read, change, queryKeys }: Changing<T, S>) {
  const queries = useQueryClient();
  const [before, setBefore] = useState(thing);
  const save = useMutation({
    mutationFn: async (form: FormData) => change(changesOf<S>(before, read(form, before))),
    onSuccess: setBefore,
    onSettled: () => Promise.all(queryKeys.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
  return { before, save };
}
