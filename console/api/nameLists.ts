import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { NamedThing } from "./find.ts";
import { byId, readAll, type Listing } from "./readAll.ts";
import type { Page } from "./types.ts";

type ReadRows = (query: { limit: number; offset: number }, signal: AbortSignal) => Promise<Page<NamedRow>>;
interface NamedRow {
  id: string;
  name: string;
}

interface NameList {
  /** The kind of each item. */
  kind: string;
  read: ReadRows;
}

/** The names of a list. They are cached until an item of their kind changes. */
const readNames = ({ kind, read }: NameList) =>
  queryOptions({
    queryKey: [kind, "names"],
    queryFn: ({ signal }): Promise<Listing<NamedThing>> =>
      readAll(async (query) => {
        const { data, total } = await read(query, signal);
        // rows may be long, and a list may have thousands
        return { data: data.map(({ id, name }) => ({ kind, id, name })), total };
      }, byId),
  });

export const listAgents = readNames({ kind: "agent", read: (query, signal) => call("agents", { query, signal }) });
export const listWorkflows = readNames({
  kind: "workflow",
  read: (query, signal) => call("workflows", { query, signal }),
});
