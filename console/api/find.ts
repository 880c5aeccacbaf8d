import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

/** A thing that an id names: `turn` is a request, `user` a member, the others are aggregates of the log. */
export interface FoundThing {
  kind: string;
  id: string;
}

/** For builders. Read again each time: what an id names may come later. */
export const findThings = (id: string) =>
  queryOptions({
    queryKey: ["find", id],
    queryFn: async ({ signal }) => (await call<{ data: FoundThing[] }>("find", { signal, query: { id } })).data,
    staleTime: 0,
  });
