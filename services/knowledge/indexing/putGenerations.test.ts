import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { StorageUnavailable } from "#events/ports.ts";
import { documentUploaded } from "#test/samples.ts";
import { encodePassages } from "../../reading/passageLines.ts";
import type { IndexedPassage } from "../passageIndex.ts";
import type { WantedGeneration } from "./planChanges.ts";
import { putGenerations, type PutDeps } from "./putGenerations.ts";

const TEXT = "A text.";
const passages = encodePassages({ page_count: null, pages: null }, [
  { seq: 0, page: null, section: null, start: 0, end: TEXT.length, lead: "" },
]);

/** A store that counts documents loaded at the same time, and an index that records the passages that it gets. */
function openBench() {
  const puts: string[][] = [];
  const groups: number[] = [];
  let [loading, peak] = [0, 0];
  const deps: PutDeps = {
    vault: {
      findKey: async () => {
        peak = Math.max(peak, ++loading);
        await setImmediate();
        if (--loading === 0) {
          groups.push(peak);
          peak = 0;
        }
        return "key";
      },
      get: async (_, blob) => {
        if (blob === "not now") throw new StorageUnavailable("no file handles");
        if (blob === "gone") return undefined;
        return blob === "passages" ? passages : Buffer.from(TEXT);
      },
      put: () => Promise.reject(new Error("nothing is stored")),
    },
    log: {
      event: async (stream) => ({ ...documentUploaded(stream), recorded_at: new Date() }) as unknown as RecordedEvent,
    },
    descriptions: {
      read: () => expect.unreachable("no document here has so many events"),
      forget: () => {},
    },
    index: {
      put: async (_, given: IndexedPassage[]) => {
        puts.push(given.map(({ document_id }) => document_id));
        return [puts.length];
      },
    },
    onError: () => {},
  };
  return { deps, puts, groups };
}

const wanted = (id: number, chunk_count: number | undefined = 1, text = "text", organization_id = "o") =>
  ({
    stream: `document-${id}`,
    organization_id,
    document_id: String(id),
    collection_id: "k",
    text: { generation: 1, text, passages: "passages", units: 1 },
    chunk_count,
    version: 1,
  }) as WantedGeneration;
const ids = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

test("short documents are loaded fifty at a time, and sent in order in one change", async () => {
  const { deps, puts, groups } = openBench();
  const { batches } = await putGenerations(
    deps,
    "index",
    ids(0, 120).map((id) => wanted(id)),
  );
  expect(groups).toEqual([50, 50, 20]);
  expect(puts).toEqual([ids(0, 120).map(String)]);
  expect(batches.map(({ changes }) => changes)).toEqual([[1]]);
});

test("long documents, and those whose length is unknown, are loaded alone", async () => {
  const { deps, puts, groups } = openBench();
  const some = [wanted(0), wanted(1, 5_000), wanted(2), wanted(3), wanted(4), wanted(5)];
  await putGenerations(deps, "index", some.with(4, { ...some[4]!, chunk_count: undefined }));
  expect(groups).toEqual([1, 1, 2, 1, 1]);
  expect(puts).toEqual([ids(0, 6).map(String)]);
});

test("a generation whose blobs are gone does not affect the others of its group", async () => {
  const { deps, puts } = openBench();
  const { unreadable } = await putGenerations(deps, "index", [wanted(0), wanted(1, 1, "gone"), wanted(2)]);
  expect(unreadable.map(({ document_id }) => document_id)).toEqual(["1"]);
  expect(puts).toEqual([["0", "2"]]);
});

test("while the disk cannot be read no document counts as unreadable: the whole batch is repeated", async () => {
  const { deps } = openBench();
  const loading = putGenerations(deps, "index", [wanted(0), wanted(1, 1, "not now")]);
  await expect(loading).rejects.toThrow("no file handles");
});

test("an organization beyond its share leaves the rest for the next round, and takes no place from others", async () => {
  const { deps, puts } = openBench();
  // each is loaded alone, and has one passage
  const some = [0, 1, 2, 3].map((id) => wanted(id, 5_000)).concat(wanted(4, 5_000, "text", "other"));
  const { deferred } = await putGenerations(deps, "index", some, { share: 2 });
  expect(puts).toEqual([["0", "1", "4"]]);
  expect(deferred.map(({ document_id }) => document_id)).toEqual(["2", "3"]);
});

test("a round has a limit of passages for all together", async () => {
  const { deps, puts } = openBench();
  const some = [0, 1, 2, 3].map((id) => wanted(id, 5_000, "text", `o${id}`));
  const { deferred } = await putGenerations(deps, "index", some, { total: 2 });
  expect(puts).toEqual([["0", "1"]]);
  expect(deferred.map(({ document_id }) => document_id)).toEqual(["2", "3"]);
});
