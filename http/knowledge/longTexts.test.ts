import { beforeEach, expect, test } from "vitest";
import type { DocumentRow } from "#projections/documents/query.ts";
import type { ExtractionRow } from "#projections/extractions/query.ts";
import { withMarkdown } from "../extractions/extract.ts";
import { readBlobs } from "./documentPassages.ts";

/* A text of 100 MB takes several times its size in memory: an organization reads two long ones at a time (http/base/longReads.ts). */

const done: string[] = [];
beforeEach(() => void done.splice(0));
const vault = {
  async get(_thing: unknown, blob: string) {
    done.push(blob);
    return Buffer.from("text");
  },
};
/** A request whose turn comes only after other work. */
const request = {
  async acquireLongRead() {
    await new Promise(setImmediate);
    done.push("has its turn");
  },
};
type Args = Parameters<typeof readBlobs>;
const LONG = 64 * 1024 + 1;

const readDocument = (size_bytes: number) =>
  readBlobs(
    { vault } as unknown as Args[0],
    request as unknown as Args[1],
    { id: "d", size_bytes, text_blob: "text", passages_blob: "passages" } as DocumentRow,
  );
const readExtraction = (size_bytes: number) =>
  withMarkdown(
    { vault } as unknown as Args[0],
    request as unknown as Args[1],
    { id: "e", size_bytes, status: "ready", text_blob: "text" } as ExtractionRow,
  );

test.each([
  ["document", readDocument, ["text", "passages"]],
  ["extraction", readExtraction, ["text"]],
])(
  "the text of a long %s is read when its request has its turn, and a short one at once",
  async (_kind, read, blobs) => {
    await read(LONG);
    expect(done).toEqual(["has its turn", ...blobs]);
    done.splice(0);
    await read(LONG - 1);
    expect(done).toEqual(blobs);
  },
);
