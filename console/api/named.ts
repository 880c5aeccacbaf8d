import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { FoundThing } from "./find.ts";
import type { Page } from "./types.ts";

export interface NamedThing extends FoundThing {
  name: string;
}

/** Rows read at once. */
const PER_PAGE = 500;
/** Pages read of one list. An organization with more of one kind is told that not all of them were looked at. */
const MAX_PAGES = 40;

interface NameList {
  /** The kind of each thing. */
  kind: string;
  /** The kind of thing that `GET /api/changes` names when the list changes. */
  changesWith: string;
  path: string;
}

const lists = ({ isBuilder, isAdmin }: Roles): NameList[] => [
  { kind: "agent", changesWith: "agent", path: "agents" },
  { kind: "collection", changesWith: "collection", path: "v1/knowledge/collections" },
  { kind: "workflow", changesWith: "workflow", path: "workflows" },
  { kind: "user", changesWith: "organization", path: "members" },
  ...(isBuilder ? [{ kind: "definition", changesWith: "definition", path: "definitions" }] : []),
  ...(isAdmin ? [{ kind: "key", changesWith: "key", path: "keys" }] : []),
];

interface Names {
  things: NamedThing[];
  /** False: the list is longer than what was read. */
  isWhole: boolean;
}

/** The names of a list, page after page. They are kept until something of their kind changes. */
const readNames = ({ kind, changesWith, path }: NameList) =>
  queryOptions({
    queryKey: [changesWith, "names", path],
    queryFn: async ({ signal }): Promise<Names> => {
      const things = new Map<string, NamedThing>();
      let [offset, total] = [0, 1];
      for (let page = 0; page < MAX_PAGES && offset < total; page++) {
        const query = { limit: PER_PAGE, offset };
        const rows = await call<Page<{ id: string; name: string }>>(path, { signal, query });
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
      const read = await Promise.all(lists(roles).map((list) => client.fetchQuery(readNames(list))));
      return { things: read.flatMap(({ things }) => things), isWhole: read.every(({ isWhole }) => isWhole) };
    },
    // the lists themselves say whether they are out of date
    staleTime: 0,
  });
