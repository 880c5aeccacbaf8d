import { expect, test } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import { encodePassages } from "../../reading/passageLines.ts";
import { embedPassages, type PassageEmbedder } from "./embedPassages.ts";

const TEXT = "A text.";
const passages = encodePassages({ page_count: null, pages: null }, [
  { seq: 0, page: null, section: null, start: 0, end: TEXT.length, lead: "" },
]);
const live = { generation: 1, text: "text", passages: "passages", units: 1 };
const state = { status: "ready", generation: 1, text: live, live, earlier: [], blobs: ["text", "passages"] };
const endpoint = { base_url: "http://a.test", api_key: "k", model: "m", dimensions: 2, space: "s", price: undefined };
const headOf = (stream: string, now: object) =>
  ({ stream, state: now, state_version: document.version }) as unknown as StreamHead;

/** Documents without vectors, newest first, of which some are damaged. `deleted`: those of them that are deleted as they are read. */
function openBench(pending: string[], damaged: string[], deleted: string[] = []) {
  const gone = new Set<string>();
  const stopping = new AbortController();
  const embedded: string[] = [];
  const faults: (string | null)[] = [];
  const errors: unknown[] = [];
  const exceptions: string[][] = [];
  const deps: PassageEmbedder = {
    log: {
      heads: async (streams) => {
        const heads = streams.map((stream) => headOf(stream, gone.has(stream) ? { status: "deleted" } : state));
        return new Map(heads.map((head) => [head.stream, head]));
      },
      read: () => Promise.reject(new Error("the state is as new as the decider")),
    },
    vault: {
      findKey: async () => "key",
      get: async ({ thing }, blob) => {
        if (deleted.some((id) => thing === `document-${id}`)) gone.add(thing);
        if (damaged.some((id) => thing === `document-${id}`)) throw new Error(`the blob ${blob} is damaged`);
        return blob === "passages" ? passages : Buffer.from(TEXT);
      },
      put: async () => "vectors",
    },
    embedder: { embed: async (_, texts) => ({ vectors: texts.map(() => new Float32Array([1, 0])), tokens: 1 }) },
    send: async ({ stream }) => {
      embedded.push(stream);
      return { position: 1, repeated: false };
    },
    failpoint: () => {},
    listOrganizations: async () => [{ id: "o", configured_at: new Date(0) }],
    findEndpoint: async () => endpoint,
    findPending: async (_, _space, except) => {
      exceptions.push(except);
      if (exceptions.length > 1) stopping.abort();
      return pending.filter((id) => !except.includes(id) && !embedded.includes(`document-${id}`));
    },
    saveFault: async (_, message) => void faults.push(message),
    onError: (error) => errors.push(error),
  };
  return { run: () => embedPassages(deps, stopping.signal), embedded, faults, errors, exceptions };
}

test("a damaged document is left for later, and the older ones get their vectors", async () => {
  const { run, embedded, faults, errors, exceptions } = openBench(["new", "old"], ["new"]);
  await run();
  expect(embedded).toEqual(["document-old"]);
  expect(exceptions).toEqual([[], ["new"]]);
  expect(faults).toEqual([expect.stringContaining("damaged")]);
  expect(String(errors[0])).toContain("document-new");
});

test("a document that is deleted while it is read does not count as damaged", async () => {
  const { run, embedded, faults, errors } = openBench(["new", "old"], ["new"], ["new"]);
  await run();
  expect(embedded).toEqual(["document-old"]);
  expect([faults, errors]).toEqual([[null], []]);
});
