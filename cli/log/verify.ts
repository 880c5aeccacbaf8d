import { stat } from "node:fs/promises";
import { BrokenChain, nextChainTip, GENESIS, verifyLog, type ChainTip } from "#infra/postgres/verify.ts";
import { withDatabase } from "../connect.ts";
import { CliError } from "../cliError.ts";
import { print, escapeControls, printJson } from "../output.ts";
import { showProgress } from "../progress.ts";
import { readCertificate, requireErased, type Certificate } from "./certificate.ts";
import { readExport } from "./exportFile.ts";
import { hashAt } from "./hashAt.ts";

export interface VerifyOptions {
  file?: string;
  expect?: ChainTip;
  /** Path of the certificate of an erasure. */
  certificate?: string;
  json?: boolean;
}

interface VerifiedRange {
  from: number;
  tip: ChainTip;
}

/** What the log is compared with besides its own chain. */
interface Claims {
  expected: ChainTip | undefined;
  certificate: Certificate | undefined;
}

type OnProgress = (done: number, of: number) => void;

function compareWithExpected(expected: ChainTip, hash: string | undefined): void {
  if (hash === undefined) throw new BrokenChain(expected.position, "the expected event does not exist");
  if (hash !== expected.hash)
    throw new BrokenChain(expected.position, `the chain has the hash ${hash} there, not the expected one`);
}

/** Verifies the live log, and then compares the hash at the expected position. */
function verifyLive({ expected, certificate }: Claims, onProgress: OnProgress): Promise<VerifiedRange> {
  return withDatabase(async ({ db }) => {
    const tip = await verifyLog(db, onProgress, certificate?.check);
    if (certificate) await requireErased(db, certificate);
    if (expected)
      compareWithExpected(expected, expected.position === 0 ? GENESIS : await hashAt(db, expected.position));
    return { from: 0, tip };
  });
}

/** The error for an export that lacks earlier events. It is not damaged, but only a part of the log. */
function beginsLater({ position }: Pick<ChainTip, "position">, lack: string, cause?: unknown): CliError {
  const what = `The export begins after position ${position}, so ${lack}`;
  return new CliError(what, "verify an export from the log's beginning", { cause });
}

/** Throws CliError if an export that is only a part of the log lacks events of the certificate. */
function finishCertificate(certificate: Certificate, from: number): void {
  try {
    certificate.finish();
  } catch (error) {
    if (from === 0 || !(error instanceof BrokenChain)) throw error;
    throw beginsLater({ position: from }, "it lacks events that the certificate names", error);
  }
}

/** Verifies an export without a database. */
async function verifyExport(
  path: string,
  { expected, certificate }: Claims,
  onProgress: OnProgress,
): Promise<VerifiedRange> {
  const { size } = await stat(path);
  let from: ChainTip | undefined;
  let tip: ChainTip | undefined;
  let end: ChainTip | undefined;
  let hashAtExpected: string | undefined;
  for await (const { line, bytes } of readExport(path)) {
    if (end) throw new BrokenChain(end.position, "the export continues after its last line");
    if ("from" in line && from === undefined) from = tip = line.from;
    else if ("event" in line && tip) {
      tip = nextChainTip(tip, line.event);
      certificate?.check(line.event);
    } else if ("tip" in line && tip) end = line.tip;
    else throw new BrokenChain(tip?.position ?? 0, "the export does not begin with the chain's start");
    if (tip.position === expected?.position) hashAtExpected = tip.hash;
    onProgress(bytes, size);
  }
  if (!from || !tip || !end)
    throw new BrokenChain((tip?.position ?? 0) + 1, "the export is truncated: its last line is missing");
  if (from.position === 0 && from.hash !== GENESIS)
    throw new BrokenChain(0, "the chain does not start with the hash of an empty log");
  if (end.position !== tip.position)
    throw new BrokenChain(tip.position + 1, `the event is missing: the export ends at ${end.position}`);
  if (end.hash !== tip.hash) throw new BrokenChain(tip.position, "the last line has another hash than the last event");
  if (expected && expected.position < from.position)
    throw beginsLater(from, `it cannot have position ${expected.position}`);
  if (expected) compareWithExpected(expected, hashAtExpected);
  return { from: from.position, tip };
}

function report({ from, tip }: VerifiedRange, { expected: expect, certificate }: Claims): string {
  const count = `${(tip.position - from).toLocaleString("en")} events${from > 0 ? ` after position ${from}` : ""}`;
  return [
    `The chain is intact: ${count}, up to position ${tip.position}.`,
    `Head hash: ${tip.hash}`,
    ...(expect ? [`The expected tip at position ${expect.position} is part of it.`] : []),
    ...(certificate
      ? [
          `The certificate is true: ${certificate.erased.length} things of ${certificate.owner} were erased${certificate.kinds && ` (${certificate.kinds})`}, as the log says.`,
        ]
      : []),
    `To prove this later, store elsewhere: --expect ${tip.position}:${tip.hash}`,
  ].join("\n");
}

/**
 * Recomputes the hash chain of the live log, or of an export, and prints its tip. Damage is reported with its position and
 * exit code 1. An expected tip, stored earlier, proves that no event up to it was altered or removed since.
 */
export async function verify(options: VerifyOptions): Promise<void> {
  const progressBar = showProgress("Verifying", options.file ? "bytes" : "events");
  try {
    const { file, expect: expected } = options;
    const certificate = options.certificate === undefined ? undefined : await readCertificate(options.certificate);
    const claims = { expected, certificate };
    const verified = file
      ? await verifyExport(file, claims, progressBar.show)
      : await verifyLive(claims, progressBar.show);
    if (certificate) finishCertificate(certificate, verified.from);
    progressBar.end();
    if (options.json) printJson({ ok: true, from: verified.from, ...verified.tip });
    else print(report(verified, claims));
  } catch (error) {
    progressBar.end();
    if (!(error instanceof BrokenChain)) throw error;
    process.exitCode = 1;
    if (options.json) printJson({ ok: false, position: error.position, error: error.message });
    else
      process.stderr.write(
        `The log is damaged at ${escapeControls(error.message)}. Do not change it; compare it with an export or a backup.\n`,
      );
  }
}
