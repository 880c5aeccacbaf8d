import { stat } from "node:fs/promises";
import { BrokenChain, follows, GENESIS, verifyLog, type Tip } from "#infra/postgres/verify.ts";
import { withDatabase } from "../connect.ts";
import { print, printable, printJson } from "../output.ts";
import { progress } from "../progress.ts";
import { readExport } from "./exportFile.ts";
import { hashAt } from "./hashAt.ts";

export interface VerifyOptions {
  file?: string;
  expect?: Tip;
  json?: boolean;
}

interface Verified {
  from: number;
  tip: Tip;
}

type OnProgress = (done: number, of: number) => void;

function holdAgainst(expected: Tip, hash: string | undefined): void {
  if (hash === undefined) throw new BrokenChain(expected.position, "the noted event is not there");
  if (hash !== expected.hash)
    throw new BrokenChain(expected.position, `the chain has the hash ${hash} there, not the noted one`);
}

/** The live log; what was stored at the noted position counts once the whole chain was found to hold. */
function verifyLive(expected: Tip | undefined, onProgress: OnProgress): Promise<Verified> {
  return withDatabase(async ({ db }) => {
    const tip = await verifyLog(db, onProgress);
    if (expected) holdAgainst(expected, expected.position === 0 ? GENESIS : await hashAt(db, expected.position));
    return { from: 0, tip };
  });
}

/** An export, without a database. */
async function verifyExport(path: string, expected: Tip | undefined, onProgress: OnProgress): Promise<Verified> {
  const { size } = await stat(path);
  let from: Tip | undefined;
  let tip: Tip | undefined;
  let end: Tip | undefined;
  let noted: string | undefined;
  for await (const { line, bytes } of readExport(path)) {
    if (end) throw new BrokenChain(end.position, "the export goes on behind its end");
    if ("from" in line && from === undefined) from = tip = line.from;
    else if ("event" in line && tip) tip = follows(tip, line.event);
    else if ("tip" in line && tip) end = line.tip;
    else throw new BrokenChain(tip?.position ?? 0, "the export does not begin with where its chain starts");
    if (tip.position === expected?.position) noted = tip.hash;
    onProgress(bytes, size);
  }
  if (!from || !tip || !end)
    throw new BrokenChain((tip?.position ?? 0) + 1, "the export is cut off: its last line is missing");
  if (from.position === 0 && from.hash !== GENESIS)
    throw new BrokenChain(0, "the chain does not start as a log's does");
  if (end.position !== tip.position)
    throw new BrokenChain(tip.position + 1, `the event is missing: the export ends at ${end.position}`);
  if (end.hash !== tip.hash) throw new BrokenChain(tip.position, "the last line's hash is not that of the last event");
  if (expected) holdAgainst(expected, noted);
  return { from: from.position, tip };
}

function report({ from, tip }: Verified, { expect }: VerifyOptions): string {
  const count = `${(tip.position - from).toLocaleString("en")} events${from > 0 ? ` behind position ${from}` : ""}`;
  return [
    `The chain holds: ${count}, up to position ${tip.position}.`,
    `Head hash: ${tip.hash}`,
    ...(expect ? [`The noted tip at position ${expect.position} is part of it.`] : []),
    `To prove it later, note this elsewhere: --expect ${tip.position}:${tip.hash}`,
  ].join("\n");
}

/**
 * Recomputes the hash chain of the live log, or of an export, and prints where it ends. Damage is told with its position
 * and exit code 1. An expected tip, noted earlier, proves that nothing before it was altered, cut off or removed since.
 */
export async function verify(options: VerifyOptions): Promise<void> {
  const shown = progress("Verifying", options.file ? "bytes" : "events");
  try {
    const { file, expect } = options;
    const verified = file ? await verifyExport(file, expect, shown.show) : await verifyLive(expect, shown.show);
    shown.end();
    if (options.json) printJson({ ok: true, from: verified.from, ...verified.tip });
    else print(report(verified, options));
  } catch (error) {
    shown.end();
    if (!(error instanceof BrokenChain)) throw error;
    process.exitCode = 1;
    if (options.json) printJson({ ok: false, position: error.position, error: error.message });
    else
      process.stderr.write(
        `The log is damaged at ${printable(error.message)}. Keep it as it is and compare it with an export or a backup.\n`,
      );
  }
}
