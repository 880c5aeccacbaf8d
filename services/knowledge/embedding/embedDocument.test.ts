import { expect, test } from "vitest";
import type { DocumentCommand } from "#events/document.ts";
import type { StreamHead } from "#events/ports.ts";
import type { ModelPrice } from "#events/price.ts";
import type { Usage } from "#events/turnOutput.ts";
import { command } from "#test/given.ts";
import { document } from "../../deciders/document.ts";
import { storedDocument, type DocumentState } from "../../deciders/documentState.ts";
import { encodePassages } from "../../reading/passageLines.ts";
import { EndpointFailed } from "../searchEndpoints.ts";
import { embedDocument, type EmbedDeps } from "./embedDocument.ts";
import { decodeVectors } from "./vectorBlob.ts";

const DIMENSIONS = 2;
const target = { stream: "document-1", organization_id: "o", document_id: "1" };
const endpoint = { base_url: "http://a.test", api_key: "k", model: "m", dimensions: DIMENSIONS, space: "s" };

/** The text of a document with one passage per line. */
function textOf(lines: string[]) {
  let end = 0;
  const passages = lines.map((line, seq) => {
    const start = end;
    end += line.length + 1;
    return { seq, page: null, section: null, start, end, lead: "" };
  });
  return { text: lines.join("\n"), passages: encodePassages({ page_count: null, pages: null }, passages) };
}

/** A document in its second generation, with vectors of the first one in this many blobs. */
function openDocument(lines: string[], vectorBlobs: number, refuses: (text: string) => boolean = () => false) {
  const { text, passages } = textOf(lines);
  const blobs = new Map<string, Buffer>([
    ["text", Buffer.from(text)],
    ["passages", passages],
  ]);
  const old = Array.from({ length: vectorBlobs }, (_, n) => `old ${n}`);
  for (const key of old) blobs.set(key, Buffer.alloc(0));
  const live = { generation: 2, text: "text", passages: "passages", units: 1 };
  const vectors = { space: endpoint.space, dimensions: DIMENSIONS, blobs: old, complete: 1 };
  const stored = { status: "ready", generation: 2, text: live, live, earlier: [], vectors, blobs: [...blobs.keys()] };
  let state = stored as unknown as DocumentState;
  const costs: (string | undefined)[] = [];
  const head = () => ({ state, state_version: document.version }) as unknown as StreamHead;
  const deps: EmbedDeps = {
    log: {
      heads: async () => new Map([[target.stream, head()]]),
      read: () => Promise.reject(new Error("the state is as new as the decider")),
    },
    vault: {
      findKey: async () => "key",
      get: async (_, key) => blobs.get(key),
      put: async (_, bytes) => {
        const key = `new ${blobs.size}`;
        blobs.set(key, Buffer.from(bytes));
        return key;
      },
    },
    embedder: {
      embed: async (_, texts) => {
        if (texts.some(refuses)) throw new EndpointFailed("The endpoint answered 400.", { isRefusal: true });
        return { vectors: texts.map(() => Float32Array.of(1, 0)), tokens: texts.length };
      },
    },
    send: async (_, type, data) => {
      costs.push((data as { usage: Usage }).usage.cost);
      const events = document.decide(command(type, data) as DocumentCommand, state);
      state = events.reduce(document.evolve, state);
      return { position: events.length, repeated: false };
    },
    failpoint: () => {},
  };
  return {
    embed: (price?: ModelPrice) => embedDocument(deps, target, { ...endpoint, price }, new AbortController().signal),
    costs,
    /** The newest generation with all vectors, and the number of texts that have one. */
    async progress() {
      const { blobs: keys, complete } = storedDocument(state)!.vectors!;
      const found = new Map<string, Float32Array>();
      for (const key of keys) await decodeVectors(blobs.get(key)!, DIMENSIONS, found);
      return { complete, texts: found.size };
    },
  };
}

const LINES = Array.from({ length: 1_100 }, (_, n) => `Line ${n}.`);

test("a long document gets all of its vectors in parts", async () => {
  const { embed, progress } = openDocument(LINES, 1);
  await embed();
  expect(await progress()).toEqual({ complete: 2, texts: LINES.length });
});

test("each request for vectors has the price of a call", async () => {
  const { embed, costs } = openDocument(LINES, 1);
  await embed({ valid_from: null, input: "1", output: "0", per_call: "1" });
  // parts of 500 texts, and requests of 96
  expect(costs).toEqual(["6.0005", "6.0005", "2.0001"]);
});

test("a document that starts over between two parts is complete once the lost vectors are made again", async () => {
  const { embed, progress } = openDocument(LINES, 99);
  await embed();
  expect(await progress()).toEqual({ complete: 1, texts: 600 });
  await embed();
  expect(await progress()).toEqual({ complete: 2, texts: LINES.length });
});

test("vectors made before the endpoint fails are recorded with their cost, and are not made again", async () => {
  let isBusy = true;
  const { embed, costs, progress } = openDocument(LINES.slice(0, 300), 0, (text) => {
    // of the second request
    if (isBusy && text.includes("Line 96.")) throw new EndpointFailed("The endpoint answered 429.");
    return false;
  });
  const price = { valid_from: null, input: "1", output: "0", per_call: "1" };
  await expect(embed(price)).rejects.toThrow("The endpoint answered 429.");
  expect(await progress()).toEqual({ complete: 1, texts: 96 });
  isBusy = false;
  await embed(price);
  expect(await progress()).toEqual({ complete: 2, texts: 300 });
  expect(costs).toEqual(["1.000096", "3.000204"]);
});

test("vectors in too many blobs are joined in one, and are not made again", async () => {
  const busyAt = ["Line 96.", "Line 192."];
  const { embed, costs, progress } = openDocument(LINES.slice(0, 300), 98, (text) => {
    const [next] = busyAt;
    if (next === undefined || !text.includes(next)) return false;
    busyAt.shift();
    throw new EndpointFailed("The endpoint answered 429.");
  });
  const price = { valid_from: null, input: "1", output: "0", per_call: "1" };
  await expect(embed(price)).rejects.toThrow("The endpoint answered 429.");
  await expect(embed(price)).rejects.toThrow("The endpoint answered 429.");
  await embed(price);
  expect(await progress()).toEqual({ complete: 2, texts: 300 });
  expect(costs).toEqual(["1.000096", "1.000096", "2.000108"]);
});

test("a text that the endpoint refuses gets no vector, and the others do", async () => {
  const { embed, progress } = openDocument(["Odd.", "Line 1.", "Line 2."], 0, (text) => text.includes("Odd"));
  await embed();
  expect(await progress()).toEqual({ complete: 2, texts: 2 });
});

test("an endpoint that refuses every text has failed: the document is not complete", async () => {
  const { embed, progress } = openDocument(["Line 1.", "Line 2."], 0, () => true);
  await expect(embed()).rejects.toThrow("The endpoint answered 400.");
  expect((await progress()).complete).not.toBe(2);
});
