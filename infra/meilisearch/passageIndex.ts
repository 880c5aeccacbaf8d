import type { Change, PassageIndex } from "#services/knowledge/passageIndex.ts";
import { bodiesOf } from "./document.ts";
import { filterSuperseded } from "./filter.ts";
import { MeilisearchError, openServer, type Place, type Server } from "./server.ts";
import { settings } from "./settings.ts";
import { settle } from "./tasks.ts";

/** Taking in 10 MB on a busy machine. */
const CHANGE_MS = 60_000;

/** The passage index of the deployment whose indexes are named `<prefix>-passages-…`. */
export const openPassageIndex = ({ prefix, ...place }: Place & { prefix: string }) => {
  const server = openServer(place);
  const index: PassageIndex = {
    create: (uid) => create(server, uid),
    exists: (uid) => exists(server, uid),
    list: () => list(server, `${prefix}-passages-`),
    drop: (uid) => done(server, change(server, "DELETE", `/indexes/${uid}`), "index_not_found"),
    async put(uid, passages) {
      const changes: Change[] = [];
      for (const body of bodiesOf(passages)) changes.push(await change(server, "POST", documents(uid), body));
      return changes;
    },
    remove: (uid, superseded) =>
      change(server, "POST", `${documents(uid)}/delete`, { filter: filterSuperseded(superseded) }),
    settled: (changes) => settle(server, changes),
  };
  return { ...index, close: server.close };
};

const documents = (uid: string): string => `/indexes/${uid}/documents`;

const change = async (
  server: Server,
  method: "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object | Buffer,
): Promise<Change> => {
  const { taskUid } = await server.ask<{ taskUid: Change }>({ method, path, body, timeoutMs: CHANGE_MS });
  return taskUid;
};

/** Waits until it succeeded; the error of this code is no matter. */
const done = async (server: Server, changing: Promise<Change>, fine: string): Promise<void> => {
  const uid = await changing;
  const outcome = (await settle(server, [uid])).get(uid);
  if (outcome?.ok === false && !outcome.error.startsWith(fine))
    throw new Error(`The search server refused: ${outcome.error}`);
};

const create = async (server: Server, uid: string): Promise<void> => {
  await done(server, change(server, "POST", "/indexes", { uid, primaryKey: "pk" }), "index_already_exists");
  await done(server, change(server, "PATCH", `/indexes/${uid}/settings`, settings), "");
};

const exists = async (server: Server, uid: string): Promise<boolean> => {
  try {
    const found = await server.ask<{ primaryKey: string | null }>({
      method: "GET",
      path: `/indexes/${uid}`,
      timeoutMs: 5_000,
    });
    // Documents that come for an index which was lost have the server make one, but not as ours are made.
    return found.primaryKey !== null;
  } catch (error) {
    if (error instanceof MeilisearchError && error.code === "index_not_found") return false;
    throw error;
  }
};

const PAGE = 1_000;
const list = async (server: Server, prefix: string): Promise<string[]> => {
  const found: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const path = `/indexes?limit=${PAGE}&offset=${offset}`;
    const { results } = await server.ask<{ results: { uid: string }[] }>({ method: "GET", path, timeoutMs: 5_000 });
    found.push(...results.map(({ uid }) => uid).filter((uid) => uid.startsWith(prefix)));
    if (results.length < PAGE) return found;
  }
};
