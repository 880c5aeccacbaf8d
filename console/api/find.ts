import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

/** A thing that an id names: `turn` is a request, `user` a member, the others are aggregates of the log. */
export interface FoundThing {
  kind: string;
  id: string;
}

export interface NamedThing extends FoundThing {
  name: string;
}

/** For builders. Read again each time: what an id names may come later. */
export const findThings = (id: string) =>
  queryOptions({
    queryKey: ["find", id],
    queryFn: async ({ signal }) => (await call<{ data: FoundThing[] }>("find", { signal, query: { id } })).data,
    staleTime: 0,
  });

interface FoundNames {
  data: NamedThing[];
  has_more: boolean;
}

/** What the person may see with this text in its name: the best 20. Read again each time, and what was found stays until then. */
export const findNames = (name: string) =>
  queryOptions({
    queryKey: ["find", "names", name],
    queryFn: ({ signal }) => call<FoundNames>("find/names", { signal, query: { name } }),
    placeholderData: (previous) => previous,
    staleTime: 0,
  });
