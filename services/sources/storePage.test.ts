import { expect, test } from "vitest";
import type { Command, CommandResult } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import { storePage, type StorePageDeps } from "./storePage.ts";

const url = "http://a.example/page.html";
const source = { source_id: "s", organization_id: "o", collection_id: "k" };
const found = {
  url,
  filename: "page.html",
  mimetype: "text/html",
  bytes: Buffer.from("The heron waits."),
  etag: null,
  last_modified: null,
};

/** A collection with the documents' keys, and the stream that holds the address of the page. */
function openCollection() {
  const keys = new Set<string>();
  let holder: string | undefined;
  const handle = async ({ type, stream }: Command): Promise<CommandResult> => {
    // the document has this content already
    if (type === "ReplaceDocument") return { position: 0, repeated: false };
    if (holder !== undefined) {
      const rejection = { code: "external_id_taken", message: "Taken.", held_by: holder };
      return { position: 0, repeated: false, rejection };
    }
    keys.add(stream);
    holder = stream;
    return { position: 1, repeated: false };
  };
  const deps: StorePageDeps = {
    log: { pages: async function* () {} },
    blobs: { remove: async () => {} },
    vault: {
      createKey: () => "key",
      findKey: async (thing) => (keys.has(thing) ? "key" : undefined),
      put: async () => "blob",
    },
    keyring: { keyedHash: (_, text) => text },
    handle,
    worker: "w",
    describe: async (_, { bytes, filename }) => ({ name: filename, mime_type: "text/html", sha256: "hash", bytes }),
    admit: async () => ({ admitted: { settle: () => {}, withdraw: () => {} } }),
  };
  const read = (number: number) => storePage(deps, { ...source, read: number }, { url, known: undefined, found });
  const takeAddress = (document_id: string) => void (holder = streamName("document", document_id));
  return { read, takeAddress };
}

test("a page that an earlier read stored and did not record keeps its document", async () => {
  const { read } = openCollection();
  const first = await read(1);
  expect(first).toMatchObject({ result: "new", document_id: expect.any(String) });
  // a repeated attempt at the same read, and a read after a pause
  expect(await read(1)).toEqual(first);
  expect(await read(3)).toEqual(first);
});

test("a page fails if a document that is not of its source has its address", async () => {
  const { read, takeAddress } = openCollection();
  takeAddress("theirs");
  const stored = await read(3);
  expect(stored).toMatchObject({ result: "failed" });
  expect(stored.error).toContain("not of this source");
});
