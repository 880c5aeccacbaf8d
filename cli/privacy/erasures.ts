import { setTimeout as sleep } from "node:timers/promises";
import { ERASED_KINDS, NOTHING_ERASED, type ErasedCounts, type ErasedKind } from "#events/erasure.ts";
import { describeCounts } from "../erasedCounts.ts";
import { print, escapeControls, printJson, formatTable } from "../output.ts";
import { CliError } from "../cliError.ts";
import { explainError } from "../explainError.ts";
import { showProgress } from "../progress.ts";
import type { Service, ServiceOptions } from "../service.ts";
import { requireNewFile } from "../wholeFile.ts";
import { download } from "./download.ts";
import { withPrivacy } from "./service.ts";

const POLL_MS = 500;
const PAGE = 100;

type Erasure = { id: string; owner: string; status: "running" | "completed"; created_at: string } & {
  [Kind in ErasedKind as `${Kind}_deleted`]: number;
};
type Preview = Record<ErasedKind, { count: number; oldest: string | null }> & {
  held: { name: string; hold_id: string; subject: string; kind: ErasedKind; count: number }[];
};

interface WaitOptions extends ServiceOptions {
  certificate?: string;
}
interface StartOptions extends WaitOptions {
  kinds?: ErasedKind[];
  dryRun?: boolean;
  wait: boolean;
}

const countsOf = (erasure: Erasure): ErasedCounts =>
  Object.fromEntries(ERASED_KINDS.map((kind) => [kind, erasure[`${kind}_deleted`]])) as ErasedCounts;
const sum = (counts: ErasedCounts): number => Object.values(counts).reduce((total, count) => total + count, 0);
const describe = (counts: ErasedCounts): string => describeCounts(counts) || "nothing";

const previewErasure = ({ call }: Service, body: object): Promise<Preview> => call("POST", "/erasures/preview", body);
const previewCounts = (preview: Preview): ErasedCounts =>
  Object.fromEntries(ERASED_KINDS.map((kind) => [kind, preview[kind].count])) as ErasedCounts;

function printPreview(owner: string, preview: Preview): void {
  const rows = ERASED_KINDS.map((kind) => [kind, String(preview[kind].count), preview[kind].oldest ?? "-"]);
  print(`An erasure of ${escapeControls(owner)} would delete:`);
  print(formatTable([["KIND", "COUNT", "OLDEST"], ...rows]));
  print("Threads and files of the steps of runs go with their runs, and are not counted.");
}

function printHeld({ held }: Preview): void {
  for (const { name, hold_id, subject, kind, count } of held) {
    const kept = describeCounts({ ...NOTHING_ERASED, [kind]: count });
    print(
      `The hold ${escapeControls(name)} (${hold_id}) of ${escapeControls(subject)} keeps ${kept} until its release.`,
    );
  }
}

/** Waits for the end, and shows the progress relative to the number counted before the start. Throws CliError. */
async function waitForEnd({ call }: Service, id: string, expected: number): Promise<Erasure> {
  const progress = showProgress("Erasing", "things");
  try {
    for (;;) {
      const erasure: Erasure = await call("GET", `/erasures/${id}`);
      if (erasure.status === "completed") return erasure;
      const done = sum(countsOf(erasure));
      // threads and files of runs were not counted in advance
      progress.show(done, Math.max(expected, done + 1));
      await sleep(POLL_MS);
    }
  } catch (cause) {
    if (!(cause instanceof CliError)) throw cause;
    throw new CliError(cause.what, `the erasure goes on: svc erasures wait ${id}`, { cause });
  } finally {
    progress.end();
  }
}

async function finish(service: Service, id: string, expected: number, certificate: string | undefined): Promise<void> {
  const erasure = await waitForEnd(service, id, expected);
  print(`Erased ${describe(countsOf(erasure))} of ${escapeControls(erasure.owner)}: erasure ${id}`);
  if (certificate === undefined) return;
  await download(service, `/erasures/${id}/certificate`, certificate).catch((cause: unknown) => {
    const what = `The erasure is complete, but its certificate was not written (${explainError(cause).replace(/\.$/, "")})`;
    throw new CliError(what, `svc erasures certificate ${id} --out FILE writes it`, { cause });
  });
  print(`Wrote ${certificate}: svc log verify --certificate ${certificate} checks it`);
}

/** Call it before the erasure: afterwards the command could not be run again. Throws CliError. */
function checkCertificate({ certificate, wait }: Pick<StartOptions, "certificate" | "wait">): void {
  if (certificate === undefined) return;
  const later = "leave out --no-wait, or get it later with svc erasures wait ID --certificate FILE";
  if (!wait) throw new CliError("The certificate exists only when the erasure is complete", later);
  requireNewFile(certificate);
}

/** Erases everything an owner has, or prints what would be erased. */
export async function startErasure(owner: string, options: StartOptions): Promise<void> {
  const { kinds, dryRun, wait, certificate } = options;
  checkCertificate(options);
  await withPrivacy(options, async (service) => {
    const body = { owner, ...(kinds && { kinds }) };
    const preview = await previewErasure(service, body);
    if (dryRun) printPreview(owner, preview);
    printHeld(preview);
    if (dryRun) return;
    const { id } = await service.call("POST", "/erasures", body);
    if (!wait) return print(id);
    await finish(service, id, sum(previewCounts(preview)), certificate);
  });
}

/** Waits for the end of an erasure that was started before. */
export async function waitForErasure(id: string, options: WaitOptions): Promise<void> {
  checkCertificate({ ...options, wait: true });
  await withPrivacy(options, async (service) => {
    // fails at once if it does not exist; later failures may be temporary
    await service.call("GET", `/erasures/${id}`);
    await finish(service, id, 0, options.certificate);
  });
}

async function readAll({ call }: Service): Promise<Erasure[]> {
  const found: Erasure[] = [];
  for (let after = ""; ; ) {
    const { data, next_after } = await call("GET", `/erasures?limit=${PAGE}${after}`);
    found.push(...data);
    if (next_after === null) return found;
    after = `&after=${encodeURIComponent(next_after)}`;
  }
}

export const listErasures = (options: ServiceOptions & { json?: boolean }): Promise<void> =>
  withPrivacy(options, async (service) => {
    const all = await readAll(service);
    if (options.json) return printJson(all);
    const rows = all.map((erasure) => [
      erasure.id,
      escapeControls(erasure.owner),
      erasure.status,
      erasure.created_at,
      describe(countsOf(erasure)),
    ]);
    print(formatTable([["ID", "OWNER", "STATUS", "STARTED", "DELETED"], ...rows]));
  });

export const writeCertificate = (id: string, options: ServiceOptions & { out?: string }): Promise<void> =>
  withPrivacy(options, async (service) => {
    const { erased } = await download<{ erased: number }>(service, `/erasures/${id}/certificate`, options.out);
    process.stderr.write(`The certificate names ${erased} deletions\n`);
  });
