import { setImmediate } from "node:timers/promises";
import { countCodePoints } from "./countCodePoints.ts";
import type { Pagination, Passage, Reading, FileText } from "./reader.ts";

/* The format of a passages blob: a line of JSON with the pages, then one line per passage, in order. */

const NEWLINE = 0x0a;
/** Lines parsed before the event loop continues: a few milliseconds. */
const BATCH_SIZE = 1_000;

export const encodePassages = ({ page_count, pages, slides }: Pagination, passages: Passage[]): Buffer =>
  Buffer.from([{ page_count, pages, slides }, ...passages].map((line) => JSON.stringify(line)).join("\n"));

/** The stored form of a reading. */
export const toFileText = ({ markdown, passages, warnings, scanned, recognized, ...paging }: Reading): FileText => ({
  markdown: Buffer.from(markdown),
  passages: encodePassages(paging, passages),
  page_count: paging.page_count,
  chunk_count: passages.length,
  characters: countCodePoints(markdown),
  ...(warnings.length > 0 && { warnings }),
  ...(scanned !== undefined && { scanned }),
  ...(recognized !== undefined && { recognized }),
});

function* lineParsers(bytes: Buffer): Generator<() => unknown> {
  for (let from = 0; from < bytes.length; ) {
    const [start, newline] = [from, bytes.indexOf(NEWLINE, from)];
    const end = newline < 0 ? bytes.length : newline;
    yield () => JSON.parse(bytes.toString("utf8", start, end));
    from = end + 1;
  }
}

/** The first line. Old blobs are one line with all passages. */
const parseHead = (line: (() => unknown) | undefined): Pagination & { passages?: Passage[] } => {
  if (!line) throw new Error("the blob of passages is empty");
  return line() as Pagination;
};

export function readPagination(bytes: Buffer): Pagination {
  const { page_count, pages, slides } = parseHead(lineParsers(bytes).next().value ?? undefined);
  return { page_count, pages, ...(slides && { slides }) };
}

/** The passages from `seq` on; earlier ones are not parsed. */
export function* passagesFrom(bytes: Buffer, seq: number): Generator<Passage> {
  const lines = lineParsers(bytes);
  const { passages } = parseHead(lines.next().value ?? undefined);
  if (passages) return yield* passages.slice(seq);
  let n = 0;
  for (const line of lines) if (n++ >= seq) yield line() as Passage;
}

/** All passages. The event loop may run in between. */
export async function decodePassages(bytes: Buffer): Promise<Passage[]> {
  const passages: Passage[] = [];
  for (const passage of passagesFrom(bytes, 0)) if (passages.push(passage) % BATCH_SIZE === 0) await setImmediate();
  return passages;
}
