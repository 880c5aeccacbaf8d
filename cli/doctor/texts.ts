import { access } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "#projections/projection.ts";
import { Problem } from "../problem.ts";

/** Documents that the doctor looks at, any of them. */
const SAMPLE = 500;
const NAMED = 5;
/** A document that is processed again at this moment has other texts by then, one that is deleted none. */
const AGAIN_MS = 500;
export const RESTORE = "restore DATA_DIR/blobs from the backup, or upload these documents anew, then try again";

interface Text {
  document_id: string;
  text_blob: string;
  passages_blob: string;
}

const TEXTS = `
  select r.document_id, r.text_blob, r.passages_blob
  from read.documents d
  join read.readings r on r.document_id = d.id and r.generation = d.live_generation
  join log.keys k on k.thing = 'document-' || d.id`;

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Ids of documents that search finds whose texts are gone, so that no new index could: of all, or of any `most`. */
export async function lostTexts(
  db: Db,
  folder: string,
  most: number | null = null,
): Promise<{ gone: string[]; looked: number }> {
  const [model] = await db.query<{ there: boolean }>("select to_regclass('read.documents') is not null as there");
  if (!model!.there) return { gone: [], looked: 0 };
  const goneOf = async (texts: Text[]): Promise<string[]> => {
    const gone: string[] = [];
    for (const { document_id, text_blob, passages_blob } of texts) {
      const there = [text_blob, passages_blob].map((key) => isThere(join(folder, "blobs", key)));
      if ((await Promise.all(there)).includes(false)) gone.push(document_id);
    }
    return gone;
  };
  const texts = await db.query<Text>(`${TEXTS} order by ${most === null ? "d.id" : "random()"} limit $1`, [most]);
  const first = await goneOf(texts);
  if (first.length === 0) return { gone: [], looked: texts.length };
  await sleep(AGAIN_MS);
  const gone = await goneOf(await db.query<Text>(`${TEXTS} where d.id = any ($1) order by d.id`, [first]));
  return { gone, looked: texts.length };
}

export const lostShown = (gone: string[]): string =>
  `The texts of ${gone.length} documents are gone from the blobs: ${gone.slice(0, NAMED).join(", ")}${gone.length > NAMED ? ", …" : ""}`;

/** Whether what search finds could be put into a new index. */
export async function textsThere(db: Db, folder: string): Promise<string> {
  const { gone, looked } = await lostTexts(db, folder, SAMPLE);
  if (gone.length > 0) throw new Problem(lostShown(gone), RESTORE);
  return `there, of ${looked} documents`;
}
