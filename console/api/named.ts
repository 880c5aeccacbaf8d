import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { FoundThing } from "./find.ts";
import type { Page } from "./types.ts";

export interface NamedThing extends FoundThing {
  name: string;
}

/** Rows read at once. */
const PER_PAGE = 500;
/** Pages read of one list. Go to says so where an organization has more of one kind. */
const MAX_PAGES = 40;

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

const LISTS: NameList[] = [
  { kind: "agent", read: (query, signal) => call("agents", { query, signal }) },
  { kind: "collection", read: (query, signal) => call("v1/knowledge/collections", { query, signal }) },
  { kind: "workflow", read: (query, signal) => call("workflows", { query, signal }) },
  { kind: "user", changesWith: "organization", read: (query, signal) => call("members", { query, signal }) },
];
const OF_BUILDERS: NameList = {
  kind: "definition",
  read: (query, signal) => call("definitions", { query, signal }),
};
const OF_ADMINS: NameList = { kind: "key", read: (query, signal) => call("keys", { query, signal }) };

const listsFor = ({ isBuilder, isAdmin }: Roles): NameList[] => [
  ...LISTS,
  ...(isBuilder ? [OF_BUILDERS] : []),
  ...(isAdmin ? [OF_ADMINS] : []),
];

interface Names {
  things: NamedThing[];
  /** False: the list is longer than what was read. */
  isWhole: boolean;
}

/** The names of a list, page after page. They are kept until something of their kind changes. */
const readNames = ({ kind, changesWith = kind, read }: NameList) =>
  queryOptions({
    queryKey: [changesWith, "names", kind],
    queryFn: async ({ signal }): Promise<Names> => {
      const things = new Map<string, NamedThing>();
      let [offset, total] = [0, 1];
      for (let page = 0; page < MAX_PAGES && offset < total; page++) {
        const rows = await read({ limit: PER_PAGE, offset }, signal);
        for (const { id, name } of rows.data) things.set(id, { kind, id, name });
        // long rows make a page shorter
        offset += rows.data.length;
        total = rows.data.length === 0 ? offset : rows.total;
      }
      return { things: [...things.values()], isWhole: offset >= total };
    },
  });

interface Roles {
  isBuilder: boolean;
  isAdmin: boolean;
}

/** Everything with a name that the person may see. */
export const listNamed = (roles: Roles) =>
  queryOptions({
    queryKey: ["named", roles.isBuilder, roles.isAdmin],
    queryFn: async ({ client }): Promise<Names> => {
      const read = await Promise.all(listsFor(roles).map((list) => client.fetchQuery(readNames(list))));
      return { things: read.flatMap(({ things }) => things), isWhole: read.every(({ isWhole }) => isWhole) };
    },
    // the lists themselves say whether they are out of date
    staleTime: 0,
  });
