import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { FoundThing } from "./find.ts";
import { byId, readAll, type Listing } from "./readAll.ts";
import type { Page } from "./types.ts";

export interface NamedThing extends FoundThing {
  name: string;
}

type ReadRows = (query: { limit: number; offset: number }, signal: AbortSignal) => Promise<Page<NamedRow>>;
interface NamedRow {
  id: string;
  name: string;
}

interface NameList {
  /** The kind of each thing. */
  kind: string;
  /** The kind of thing that `GET /api/changes` names when the list changes. */
  changesWith?: string;
  read: ReadRows;
}

/** The names of a list. They are kept until something of their kind changes. */
const readNames = ({ kind, changesWith = kind, read }: NameList) =>
  queryOptions({
    queryKey: [changesWith, "names", kind],
    queryFn: ({ signal }): Promise<Listing<NamedThing>> =>
      readAll(async (query) => {
        const { data, total } = await read(query, signal);
        // rows may be long, and there may be thousands
        return { data: data.map(({ id, name }) => ({ kind, id, name })), total };
      }, byId),
  });

export const listAgents = readNames({ kind: "agent", read: (query, signal) => call("agents", { query, signal }) });
export const listWorkflows = readNames({
  kind: "workflow",
  read: (query, signal) => call("workflows", { query, signal }),
});
const listCollectionNames = readNames({
  kind: "collection",
  read: (query, signal) => call("v1/knowledge/collections", { query, signal }),
});
const listMemberNames = readNames({
  kind: "user",
  changesWith: "organization",
  read: (query, signal) => call("members", { query, signal }),
});
const listDefinitionNames = readNames({
  kind: "definition",
  read: (query, signal) => call("definitions", { query, signal }),
});
const listKeyNames = readNames({ kind: "key", read: (query, signal) => call("keys", { query, signal }) });

const listsFor = ({ isBuilder, isAdmin }: Roles) => [
  listAgents,
  listCollectionNames,
  listWorkflows,
  listMemberNames,
  ...(isBuilder ? [listDefinitionNames] : []),
  ...(isAdmin ? [listKeyNames] : []),
];

interface Names {
  things: NamedThing[];
  /** False: a list is longer than what was read. */
  isWhole: boolean;
}

interface Roles {
  isBuilder: boolean;
  isAdmin: boolean;
}

/** Everything with a name that the person may see. */
export const listNamed = (roles: Roles) =>
  queryOptions({
    queryKey: ["named", roles.isBuilder, roles.isAdmin],
    queryFn: async ({ client }): Promise<Names> => {
      const read = await Promise.all(listsFor(roles).map((list) => client.fetchQuery(list)));
      return { things: read.flatMap(({ data }) => data), isWhole: read.every(({ isWhole }) => isWhole) };
    },
    // the lists themselves say whether they are out of date
    staleTime: 0,
  });
