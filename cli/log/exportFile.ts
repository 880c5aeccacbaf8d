import { createReadStream } from "node:fs";
import { z } from "zod";
import { BrokenChain, type ChainedRow, type ChainTip } from "#infra/postgres/verify.ts";

/* An export consists of JSON lines: the chain's start, the events, and the chain's end. */

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const TipLine = z.object({ position: z.int().nonnegative(), hash: Hash });
const RowLine: z.ZodType<ChainedRow> = z.object({
  position: z.int().positive(),
  stream: z.string(),
  version: z.int(),
  organization_id: z.uuid(),
  type: z.string(),
  shape: z.int(),
  command_id: z.string(),
  recorded_us: z.string().regex(/^-?\d+$/),
  meta: z.string(),
  data: z.string(),
  thing: z.string().nullable(),
  sealed: z
    .string()
    .regex(/^([0-9a-f]{2})*$/)
    .nullable(),
  hash: Hash,
});
const Line = z.union([z.object({ from: TipLine }), z.object({ event: RowLine }), z.object({ tip: TipLine })]);

type ExportLine = { from: ChainTip } | { event: ChainedRow } | { tip: ChainTip };

export const encodeLine = (line: ExportLine): string => `${JSON.stringify(line)}\n`;

/** Splits at line feeds only: readline also splits at U+2028, which JSON strings may contain. */
async function* readLines(path: string): AsyncGenerator<{ text: string; bytes: number }> {
  let rest = "";
  let bytes = 0;
  const stream = createReadStream(path, { encoding: "utf8", highWaterMark: 1024 * 1024 });
  for await (const chunk of stream as AsyncIterable<string>) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop()!;
    bytes = stream.bytesRead;
    for (const text of parts) yield { text, bytes };
  }
  if (rest) yield { text: rest, bytes };
}

function parse(text: string): ExportLine | undefined {
  try {
    return Line.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The lines of an export, each with the number of bytes read so far. Throws BrokenChain at an invalid line. */
export async function* readExport(path: string): AsyncGenerator<{ line: ExportLine; bytes: number }> {
  let number = 0;
  let next = 0;
  for await (const { text, bytes } of readLines(path)) {
    number++;
    const line = parse(text);
    if (!line) throw new BrokenChain(next, `line ${number} of ${path} is not a line of an export`);
    if ("from" in line) next = line.from.position + 1;
    if ("event" in line) next = line.event.position + 1;
    yield { line, bytes };
  }
}
