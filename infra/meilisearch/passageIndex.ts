import type {
  IndexChangeId,
  IndexedGeneration,
  IndexedPassage,
  PassageIndex,
} from "#services/knowledge/passageIndex.ts";
import { encodeBodies, MARKER_ID, MARKER_DOCUMENT, passageId } from "./document.ts";
import { filterSuperseded } from "./filter.ts";
import { indexesOf } from "./limitedKey.ts";
import { hasIndex } from "./hasIndex.ts";
import { openServer, type ServerAddress, type Server } from "./server.ts";
import { servingSettings, settings, vectorSettings } from "./settings.ts";
import { waitForTasks } from "./tasks.ts";
import { encodeVectorBodies, groupByLength, vectorIndexOf, wordIndexOf } from "./vectors.ts";

/** Timeout for uploading 2 MB to a busy server. */
const CHANGE_MS = 60_000;

/** The passage index of the deployment with this prefix; its indexes are named `<prefix>-passages-…`. */
export const openPassageIndex = ({ prefix, ...place }: ServerAddress & { prefix: string }) => {
  const server = openServer(place);
  const index: PassageIndex = {
    create: (uid) => create(server, uid),
    // after a restore under another prefix, the index belongs to another deployment and must be rebuilt
    exists: async (uid) => uid.startsWith(indexesOf(prefix)) && hasIndex(server, uid),
    count: (uid) => count(server, uid),
    generations: (uid) => generations(server, uid),
    warm: (uid) => warm(server, uid),
    list: async () => [...new Set((await list(server, indexesOf(prefix))).map(wordIndexOf))],
    async drop(uid) {
      for (const one of [...(await vectorIndexes(server, uid)), uid])
        await waitFor(server, change(server, "DELETE", `/indexes/${one}`), "index_not_found");
    },
    async put(uid, passages) {
      const changes = await putVectors(server, uid, passages);
      for await (const body of encodeBodies(passages)) changes.push(await change(server, "POST", documents(uid), body));
      return changes;
    },
    async remove(uid, superseded) {
      const body = { filter: filterSuperseded(superseded) };
      const changes: IndexChangeId[] = [];
      for (const one of [...(await vectorIndexes(server, uid)), uid])
        changes.push(await change(server, "POST", `${documents(one)}/delete`, body));
      return changes;
    },
    waitFor: (changes) => waitForTasks(server, changes),
  };
  return { ...index, close: server.close };
};

const documents = (uid: string): string => `/indexes/${uid}/documents`;

const change = async (
  server: Server,
  method: "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object | Buffer,
): Promise<IndexChangeId> => {
  const { taskUid } = await server.request<{ taskUid: IndexChangeId }>({ method, path, body, timeoutMs: CHANGE_MS });
  return taskUid;
};

/** Waits until the change has succeeded. An error with the ignored code counts as success. */
const waitFor = async (server: Server, queued: Promise<IndexChangeId>, ignoredCode?: string): Promise<void> => {
  const uid = await queued;
  const outcome = (await waitForTasks(server, [uid])).get(uid);
  if (outcome?.ok === false && (ignoredCode === undefined || !outcome.error.startsWith(ignoredCode)))
    throw new Error(`The search server refused a change: ${outcome.error}`);
};

const create = async (server: Server, uid: string): Promise<void> => {
  await waitFor(server, change(server, "POST", "/indexes", { uid, primaryKey: "pk" }), "index_already_exists");
  await waitFor(server, change(server, "PATCH", `/indexes/${uid}/settings`, settings));
  await waitFor(server, change(server, "POST", documents(uid), [MARKER_DOCUMENT]));
};

const vectorIndexes = async (server: Server, uid: string): Promise<string[]> =>
  (await list(server, `${uid}-v`)).filter((found) => wordIndexOf(found) === uid);

/** Queues the vectors of passages, using one index per vector length. */
const putVectors = async (server: Server, uid: string, passages: IndexedPassage[]): Promise<IndexChangeId[]> => {
  const byLength = groupByLength(passages);
  if (byLength.size === 0) return [];
  const existing = new Set(await vectorIndexes(server, uid));
  const changes: IndexChangeId[] = [];
  for (const [dimensions, some] of byLength) {
    const vectors = vectorIndexOf(uid, dimensions);
    if (!existing.has(vectors)) await createVectorIndex(server, vectors, dimensions);
    for await (const body of encodeVectorBodies(some))
      changes.push(await change(server, "POST", documents(vectors), body));
  }
  return changes;
};

const createVectorIndex = async (server: Server, uid: string, dimensions: number): Promise<void> => {
  await waitFor(server, change(server, "POST", "/indexes", { uid, primaryKey: "pk" }), "index_already_exists");
  await waitFor(server, change(server, "PATCH", `/indexes/${uid}/settings`, vectorSettings(dimensions)));
};

const count = async (server: Server, uid: string): Promise<number> => {
  const body = { limit: 0, fields: ["pk"] };
  const path = `${documents(uid)}/fetch`;
  const { total } = await server.request<{ total: number }>({ method: "POST", path, body, timeoutMs: 5_000 });
  return total - 1;
};

/** Primary keys per page. */
const KEYS_PAGE = 10_000;
const KEYS_MS = 30_000;
const generations = async (server: Server, uid: string): Promise<IndexedGeneration[] | undefined> => {
  const counts = new Map<string, IndexedGeneration>();
  let first: number | undefined;
  for (let offset = 0; offset <= (first ?? 0); offset += KEYS_PAGE) {
    const body = { limit: KEYS_PAGE, offset, fields: ["pk"] };
    const path = `${documents(uid)}/fetch`;
    type Page = { results: { pk: string }[]; total: number };
    const { results, total } = await server.request<Page>({ method: "POST", path, body, timeoutMs: KEYS_MS });
    if (total !== (first ??= total) || results.length !== Math.min(KEYS_PAGE, total - offset)) return undefined;
    for (const { pk } of results) {
      if (pk === MARKER_ID) continue;
      const { document_id, generation } = passageId(pk);
      const key = `${document_id}/${generation}`;
      const entry = counts.get(key) ?? { document_id, generation, passages: 0 };
      entry.passages += 1;
      counts.set(key, entry);
    }
  }
  return [...counts.values()];
};

/** One word per script whose dictionary the server loads at its first use. That takes 3.9 s for Chinese. */
const SCRIPTS = [
  { q: "中文", locales: ["cmn"] },
  { q: "日本語", locales: ["jpn"] },
  { q: "한국어", locales: ["kor"] },
  { q: "ไทย", locales: ["tha"] },
];
const WARM_MS = 60_000;
const warm = async (server: Server, indexUid: string): Promise<void> => {
  const queries = SCRIPTS.map((script) => ({ indexUid, ...script, filter: `org = ${MARKER_ID}`, limit: 0 }));
  await change(server, "PATCH", `/indexes/${indexUid}/settings`, servingSettings);
  await server.request({ method: "POST", path: "/multi-search", body: { queries }, timeoutMs: WARM_MS });
};

const PAGE = 1_000;
const list = async (server: Server, prefix: string): Promise<string[]> => {
  const found: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const path = `/indexes?limit=${PAGE}&offset=${offset}`;
    const { results } = await server.request<{ results: { uid: string }[] }>({ method: "GET", path, timeoutMs: 5_000 });
    found.push(...results.map(({ uid }) => uid).filter((uid) => uid.startsWith(prefix)));
    if (results.length < PAGE) return found;
  }
};
