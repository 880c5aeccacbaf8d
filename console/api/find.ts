import { queryOptions } from "@tanstack/react-query";
import { call, queryOne } from "./call.ts";

/** An item with an id. Its kind is `turn` (a request), `user` (a member) or an aggregate of the log. */
export interface FoundThing {
  kind: string;
  id: string;
}

export interface NamedThing extends FoundThing {
  name: string;
}

/** For builders. Read again each time, because an item with the id may appear later. */
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

/** The best 20 items with this text in their name that the person may see. Read again each time; the previous results stay meanwhile. */
export const findNames = (name: string) =>
  queryOptions({
    queryKey: ["find", "names", name],
    queryFn: queryOne<FoundNames>("find/names", { name }),
    placeholderData: (previous) => previous,
    staleTime: 0,
  });
