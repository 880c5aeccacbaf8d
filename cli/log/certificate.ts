import { readFile } from "node:fs/promises";
import { z } from "zod";
import { ERASURE_EVENTS, ERASED_KINDS, type ErasedCounts } from "#events/erasure.ts";
import { BrokenChain, type ChainedRow } from "#infra/postgres/verify.ts";
import type { Db } from "#projections/projection.ts";
import { describeCounts } from "../erasedCounts.ts";
import { CliError } from "../cliError.ts";

const Proof = z.object({
  stream: z.string(),
  version: z.int(),
  event: z.string(),
  recorded_at: z.iso.datetime(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});
const Start = Proof.extend({
  type: z.literal("certificate"),
  organization_id: z.string(),
  owner: z.string(),
  started_by: z.string(),
});
const Line = z.discriminatedUnion("type", [
  Start,
  Proof.extend({ type: z.literal("erased") }),
  Proof.extend({ type: z.literal("end"), erased: z.int() }),
]);
type Line = z.infer<typeof Line>;

export interface Certificate {
  owner: string;
  /** Streams whose things were erased. */
  erased: string[];
  /** Counts by kind, such as `2 threads, 1 file`. */
  kinds: string;
  /** Compares an event of the log with the certificate. Throws BrokenChain. */
  check(row: ChainedRow): void;
  /** Throws BrokenChain if an event of the certificate was not among those checked. */
  finish(): void;
}

function parse(text: string, path: string): Line[] {
  try {
    return text
      .trimEnd()
      .split("\n")
      .map((line) => Line.parse(JSON.parse(line)));
  } catch {
    throw new CliError(`${path} is no certificate of an erasure`, "get it from GET /api/erasures/{id}/certificate");
  }
}

/** Counts what the events have deleted, by kind. */
const countKinds = (erased: Pick<Line, "event">[]): ErasedCounts =>
  Object.fromEntries(
    ERASED_KINDS.map((kind) => [kind, erased.filter(({ event }) => event === ERASURE_EVENTS[kind]).length]),
  ) as ErasedCounts;

const nameOf = ({ stream, version }: { stream: string; version: number }): string => `${stream}@${version}`;

const DELETIONS: ReadonlySet<string> = new Set(Object.values(ERASURE_EVENTS));

/** Whether the log says the same about the event, which the hash covers: whose erasure it is, by whom and when. */
function isTrue(line: Line, row: ChainedRow, { organization_id, owner, started_by, stream }: z.infer<typeof Start>) {
  const isSame = line.hash === row.hash && line.event === row.type && row.organization_id === organization_id;
  // the log has microseconds
  if (!isSame || Math.abs(Number(row.recorded_us) / 1_000 - Date.parse(line.recorded_at)) > 1) return false;
  const { request_id, principal } = JSON.parse(row.meta) as { request_id?: string; principal?: string };
  if (line.type === "erased") return DELETIONS.has(row.type) && request_id === stream;
  if (line.type === "end") return row.type === "ErasureCompleted" && row.stream === stream;
  return (
    row.type === "ErasureStarted" &&
    principal === started_by &&
    (JSON.parse(row.data) as { owner: string }).owner === owner
  );
}

/** Reads a certificate. Throws a CliError for a file that is not a complete certificate. */
export async function readCertificate(path: string): Promise<Certificate> {
  const lines = parse(await readFile(path, "utf8"), path);
  const [first, last] = [lines[0], lines.at(-1)];
  const erased = lines.filter(({ type }) => type === "erased");
  if (first?.type !== "certificate" || last?.type !== "end" || last.erased !== erased.length)
    throw new CliError(`${path} is incomplete`, "get it again from GET /api/erasures/{id}/certificate");
  const unchecked = new Map(lines.map((line) => [nameOf(line), line]));
  if (unchecked.size < lines.length)
    throw new CliError(`${path} names an event twice`, "get it again from GET /api/erasures/{id}/certificate");
  return {
    owner: first.owner,
    erased: erased.map(({ stream }) => stream),
    kinds: describeCounts(countKinds(erased)),
    check(row) {
      const line = unchecked.get(nameOf(row));
      if (!line) return;
      if (!isTrue(line, row, first))
        throw new BrokenChain(Number(row.position), `${row.type} of ${row.stream} is not what the certificate says`);
      unchecked.delete(nameOf(row));
    },
    finish() {
      const [missing] = unchecked.values();
      if (missing)
        throw new BrokenChain(0, `the log has no ${missing.event} of ${missing.stream}, which the certificate names`);
    },
  };
}

/** Throws BrokenChain if a data key of an erased thing still exists. */
export async function requireErased(db: Db, { erased }: Certificate): Promise<void> {
  const [remaining] = await db.query<{ thing: string }>(
    "select thing from log.keys where stream = any($1) or thing = any($1) limit 1",
    [erased],
  );
  if (remaining)
    throw new BrokenChain(
      0,
      `the data key of ${remaining.thing} still exists, although the certificate says that it was erased`,
    );
}
