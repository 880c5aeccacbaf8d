import { createWriteStream, existsSync, realpathSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { CHAINED_ROWS, GENESIS, type ChainedRow, type ChainTip } from "#infra/postgres/verify.ts";
import type { Db } from "#projections/projection.ts";
import { withDatabase } from "../connect.ts";
import { CliError } from "../cliError.ts";
import { showProgress } from "../progress.ts";
import { writeWholeFile } from "../wholeFile.ts";
import { encodeLine } from "./exportFile.ts";
import { hashAt } from "./hashAt.ts";

export interface ExportOptions {
  after?: number;
  out?: string;
}

async function* lines(
  db: Db,
  from: ChainTip,
  tip: ChainTip,
  onProgress: (done: number, of: number) => void,
): AsyncGenerator<string> {
  yield encodeLine({ from });
  for (let last = from.position; ; ) {
    const rows = await db.query<ChainedRow>(CHAINED_ROWS, [last, tip.position]);
    if (rows.length === 0) break;
    yield rows.map((event) => encodeLine({ event })).join("");
    last = rows.at(-1)!.position;
    onProgress(last - from.position, tip.position - from.position);
  }
  yield encodeLine({ tip });
}

/** Writes to stdout, a file or a device. An earlier export in the file stays until the new one is complete. */
export async function writeExport(text: AsyncIterable<string>, out: string | undefined): Promise<void> {
  if (out === undefined) return pipeline(text, process.stdout, { end: false });
  const isThere = existsSync(out);
  if (isThere && !statSync(out).isFile()) return pipeline(text, createWriteStream(out));
  return writeWholeFile(isThere ? realpathSync(out) : out, text);
}

/**
 * Writes the events after a position to a file or to stdout, with everything needed to verify them elsewhere. Personal fields stay
 * sealed. Rows are exported as stored, even damaged ones.
 */
export function exportLog({ after = 0, out }: ExportOptions): Promise<void> {
  return withDatabase(async ({ db }) => {
    const [tip] = await db.query<ChainTip>("select position, encode(hash, 'hex') as hash from log.head");
    const hash = after === 0 ? GENESIS : await hashAt(db, after);
    if (!hash) throw new CliError(`There is no event at position ${after}`, `the log ends at ${tip!.position}`);
    const progressBar = showProgress("Exporting", "events");
    try {
      const text = lines(db, { position: after, hash }, tip!, progressBar.show);
      await writeExport(text, out);
    } finally {
      progressBar.end();
    }
    process.stderr.write(`Exported ${tip!.position - after} events; the tip is ${tip!.position}:${tip!.hash}\n`);
  });
}
