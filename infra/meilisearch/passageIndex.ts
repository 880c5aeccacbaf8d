import type { Change, Held, PassageIndex } from "#services/knowledge/passageIndex.ts";
import { bodiesOf, MARKER, marker, passageId } from "./document.ts";
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
    count: (uid) => count(server, uid),
    generations: (uid) => generations(server, uid),
    warm: (uid) => warm(server, uid),
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
const done = async (server: Server, changing: Promise<Change>, fine?: string): Promise<void> => {
  const uid = await changing;
  const outcome = (await settle(server, [uid])).get(uid);
  if (outcome?.ok === false && (fine === undefined || !outcome.error.startsWith(fine)))
    throw new Error(`The search server refused: ${outcome.error}`);
};

const create = async (server: Server, uid: string): Promise<void> => {
  await done(server, change(server, "POST", "/indexes", { uid, primaryKey: "pk" }), "index_already_exists");
  await done(server, change(server, "PATCH", `/indexes/${uid}/settings`, settings));
  await done(server, change(server, "POST", documents(uid), [marker]));
};

const LOST = new Set(["index_not_found", "document_not_found"]);
const exists = async (server: Server, uid: string): Promise<boolean> => {
  try {
    await server.ask({ method: "GET", path: `${documents(uid)}/${MARKER}?fields=pk`, timeoutMs: 5_000 });
    return true;
  } catch (error) {
    if (error instanceof MeilisearchError && LOST.has(error.code)) return false;
    throw error;
  }
};

const count = async (server: Server, uid: string): Promise<number> => {
  const body = { limit: 0, fields: ["pk"] };
  const path = `${documents(uid)}/fetch`;
  const { total } = await server.ask<{ total: number }>({ method: "POST", path, body, timeoutMs: 5_000 });
  return total - 1;
};

const NAMES = 10_000;
const NAMES_MS = 30_000;
const generations = async (server: Server, uid: string): Promise<Held[] | undefined> => {
  const held = new Map<string, Held>();
  let first: number | undefined;
  for (let offset = 0; offset <= (first ?? 0); offset += NAMES) {
    const body = { limit: NAMES, offset, fields: ["pk"] };
    const path = `${documents(uid)}/fetch`;
    type Page = { results: { pk: string }[]; total: number };
    const { results, total } = await server.ask<Page>({ method: "POST", path, body, timeoutMs: NAMES_MS });
    if (total !== (first ??= total) || results.length !== Math.min(NAMES, total - offset)) return undefined;
    for (const { pk } of results) {
      if (pk === MARKER) continue;
      const { document_id, generation } = passageId(pk);
      const key = `${document_id}/${generation}`;
      const its = held.get(key) ?? { document_id, generation, passages: 0 };
      its.passages += 1;
      held.set(key, its);
    }
  }
  return [...held.values()];
};

/** One word of each script whose dictionary the server reads when it is first asked: 3.9 s for Chinese. */
const SCRIPTS = [
  { q: "中文", locales: ["cmn"] },
  { q: "日本語", locales: ["jpn"] },
  { q: "한국어", locales: ["kor"] },
  { q: "ไทย", locales: ["tha"] },
];
const WARM_MS = 60_000;
const warm = async (server: Server, indexUid: string): Promise<void> => {
  const queries = SCRIPTS.map((script) => ({ indexUid, ...script, filter: `org = ${MARKER}`, limit: 0 }));
  await server.ask({ method: "POST", path: "/multi-search", body: { queries }, timeoutMs: WARM_MS });
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
