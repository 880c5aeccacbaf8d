import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Db } from "#projections/projection.ts";
import { testFolder } from "#test/harness.ts";
import { checkTexts } from "./missingTexts.ts";

/** A database with one document. */
const db: Db = {
  query: async <R>(text: string): Promise<R[]> => {
    const document = { document_id: "d-1", text_blob: "texts/1", passages_blob: "passages/1" };
    return [text.includes("to_regclass") ? { there: true } : document] as R[];
  },
};

test("missing texts are reported by document; a folder without blobs is reported as a wrong DATA_DIR", async () => {
  const folder = await testFolder();
  await expect(checkTexts(db, folder)).rejects.toThrow("blobs does not exist: set DATA_DIR to the folder that the");
  mkdirSync(join(folder, "blobs"));
  await expect(checkTexts(db, folder)).rejects.toThrow("The texts of 1 documents are missing from the blobs: d-1");
});
