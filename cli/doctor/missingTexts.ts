import { access } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "#projections/projection.ts";
import { requireBlobsFolder } from "../backup/format.ts";
import { CliError } from "../cliError.ts";

/** Random documents that the doctor checks. */
const SAMPLE = 500;
const MAX_NAMED = 5;
/** Pause before missing texts are confirmed, because a document may be in the middle of reprocessing or deletion. */
const CONFIRM_AFTER_MS = 500;
export const RESTORE_TEXTS = "restore DATA_DIR/blobs from the backup, or upload these documents again, then retry";

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

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function filterMissing(texts: Text[], folder: string): Promise<string[]> {
  const missing: string[] = [];
  for (const { document_id, text_blob, passages_blob } of texts) {
    const blobs = [text_blob, passages_blob].map((key) => exists(join(folder, "blobs", key)));
    if ((await Promise.all(blobs)).includes(false)) missing.push(document_id);
  }
  return missing;
}

/**
 * Ids of searchable documents whose texts are missing from the blobs, so that no new index could contain them. Checks all
 * documents, or a random sample.
 */
export async function findMissingTexts(
  db: Db,
  folder: string,
  sample: number | null = null,
): Promise<{ missing: string[]; checked: number }> {
  const [model] = await db.query<{ there: boolean }>("select to_regclass('read.documents') is not null as there");
  if (!model!.there) return { missing: [], checked: 0 };
  const texts = await db.query<Text>(`${TEXTS} order by ${sample === null ? "d.id" : "random()"} limit $1`, [sample]);
  const suspects = await filterMissing(texts, folder);
  if (suspects.length === 0) return { missing: [], checked: texts.length };
  await sleep(CONFIRM_AFTER_MS);
  const current = await db.query<Text>(`${TEXTS} where d.id = any ($1) order by d.id`, [suspects]);
  return { missing: await filterMissing(current, folder), checked: texts.length };
}

export function describeMissingTexts(missing: string[]): string {
  const names = missing.slice(0, MAX_NAMED).join(", ") + (missing.length > MAX_NAMED ? ", …" : "");
  return `The texts of ${missing.length} documents are missing from the blobs: ${names}`;
}

/** Checks that a new index could contain every searchable document. */
export async function checkTexts(db: Db, folder: string): Promise<string> {
  const { missing, checked } = await findMissingTexts(db, folder, SAMPLE);
  if (missing.length === 0) return `complete, in ${checked} documents`;
  // without a blobs folder, DATA_DIR is most likely wrong, and nothing has to be restored
  requireBlobsFolder(join(folder, "blobs"));
  throw new CliError(describeMissingTexts(missing), RESTORE_TEXTS);
}
