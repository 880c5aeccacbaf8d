import { deflateRawSync } from "node:zlib";
import { zipSync } from "fflate";
import type { Answer, Attacker } from "../attacker.ts";
import { many, MIB, type Attack } from "./attack.ts";

/* Many documents in one request. */

async function sendArchive(attacker: Attacker, archive: Uint8Array<ArrayBuffer>): Promise<Answer> {
  const { slug } = await attacker.collection("Archive");
  const form = new FormData();
  form.append("collection", slug);
  form.append("archive", new Blob([archive]), "many.zip");
  return attacker.send("POST", "/api/v1/knowledge/documents/batch", form);
}

const zip = (files: Record<string, Uint8Array>, level: 0 | 9 = 9): Uint8Array<ArrayBuffer> => zipSync(files, { level });
const entries = (count: number, name: (n: number) => string) =>
  zip(Object.fromEntries(many(count, (n) => [name(n), new Uint8Array([110])])), 0);

export const batches: Attack[] = [
  {
    title: "archives of 60,000 folders, 60,000 refused names and 60,000 files of one byte",
    async run(attacker) {
      const archives = [entries(60_000, (n) => `${n}/`), entries(60_000, (n) => `../${n}`), entries(60_000, String)];
      return Promise.all(archives.map((archive) => sendArchive(attacker, archive)));
    },
  },
  {
    title: "archives whose files unpack a thousandfold, and that hold archives",
    async run(attacker) {
      const bomb = zip(Object.fromEntries(many(5, (n) => [`${n}.txt`, new Uint8Array(90 * MIB).fill(97)])));
      const nested = zip({ "inner.zip": bomb, "deflated.zip": deflateRawSync(bomb) });
      return Promise.all([sendArchive(attacker, bomb), sendArchive(attacker, nested)]);
    },
  },
  {
    title: "batches of 500 wrong entries, of 500 texts, and of 450,000 entries",
    async run(attacker) {
      const { slug } = await attacker.collection("Batch");
      const send = (documents: unknown[]) =>
        attacker.send("POST", "/api/v1/knowledge/documents/batch", { collection: slug, documents });
      return [
        await send(many(500, (n) => ({ name: n, text: 1, tags: many(900, String) }))),
        await send(many(500, (n) => ({ name: `${n}`, text: `word ${n}` }))),
        await send(many(450_000, () => 0)),
        await send(many(20, (n) => ({ url: `http://169.254.169.254/${n}` }))),
      ];
    },
  },
];
