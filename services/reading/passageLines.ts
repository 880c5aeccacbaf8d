import { setImmediate } from "node:timers/promises";
import { codePoints } from "./codePoints.ts";
import type { Paging, Passage, Reading, ReadText } from "./reader.ts";

/* What the blob of a document's passages holds: a line of JSON about its pages, then one for each passage, in order. */

const NEWLINE = 0x0a;
/** Lines that are parsed in a row, a few milliseconds. */
const IN_A_ROW = 1_000;

export const encodePassages = ({ page_count, pages }: Paging, passages: Passage[]): Buffer =>
  Buffer.from([{ page_count, pages }, ...passages].map((line) => JSON.stringify(line)).join("\n"));

/** What was read, as it is kept. */
export const keepable = ({ markdown, passages, ...paging }: Reading): ReadText => ({
  markdown: Buffer.from(markdown),
  passages: encodePassages(paging, passages),
  page_count: paging.page_count,
  chunk_count: passages.length,
  characters: codePoints(markdown),
});

function* linesOf(bytes: Buffer): Generator<() => unknown> {
  for (let from = 0; from < bytes.length; ) {
    const [start, newline] = [from, bytes.indexOf(NEWLINE, from)];
    const end = newline < 0 ? bytes.length : newline;
    yield () => JSON.parse(bytes.toString("utf8", start, end));
    from = end + 1;
  }
}

/** The first line; before there were lines, all stood in one. */
const headOf = (line: (() => unknown) | undefined): Paging & { passages?: Passage[] } => {
  if (!line) throw new Error("the blob of passages is empty");
  return line() as Paging;
};

export function pagingOf(bytes: Buffer): Paging {
  const { page_count, pages } = headOf(linesOf(bytes).next().value ?? undefined);
  return { page_count, pages };
}

/** The passages from one on; those before it are not parsed. */
export function* passagesFrom(bytes: Buffer, seq: number): Generator<Passage> {
  const lines = linesOf(bytes);
  const { passages } = headOf(lines.next().value ?? undefined);
  if (passages) return yield* passages.slice(seq);
  let n = 0;
  for (const line of lines) if (n++ >= seq) yield line() as Passage;
}

/** All of them; others run in between. */
export async function decodePassages(bytes: Buffer): Promise<Passage[]> {
  const passages: Passage[] = [];
  for (const passage of passagesFrom(bytes, 0)) if (passages.push(passage) % IN_A_ROW === 0) await setImmediate();
  return passages;
}
