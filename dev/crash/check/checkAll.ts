import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import type { EventLog } from "#events/ports.ts";
import type { DataKeys } from "#events/vault.ts";
import type { Db } from "#projections/projection.ts";
import { checkAccounts } from "./accounts.ts";
import { checkAliases } from "./aliases.ts";
import { checkAudit } from "./audit.ts";
import { checkBlobs } from "./blobs.ts";
import { checkBudgets } from "./budgets.ts";
import { checkChains } from "./chains.ts";
import { checkDocuments, checkSearches, checkTexts } from "./documents.ts";
import { checkEffects, checkRefusals } from "./effects.ts";
import { checkErasedKeys } from "./erasedKeys.ts";
import type { Evidence } from "./evidence.ts";
import { checkExports } from "./exports.ts";
import { checkFeed } from "./feed.ts";
import { different, type Finding } from "./finding.ts";
import { checkIndex } from "./searchIndex.ts";
import { checkChain, checkCommands, checkFollowers, checkHeads } from "./log.ts";
import { checkGuardedCalls } from "./guardedCalls.ts";
import { checkLinkedRuns } from "./linkedRuns.ts";
import { checkMembers } from "./members.ts";
import { checkMessages } from "./messages.ts";
import { checkModels, checkUsage } from "./models.ts";
import { checkOutcomes } from "./outcomes.ts";
import { checkPeople } from "./people.ts";
import { checkReadiness } from "./readiness.ts";
import { checkReads } from "./reads.ts";
import { checkErrors, checkRecovery, checkUnavailable } from "./recovery.ts";
import { checkResponses } from "./responses.ts";
import { checkRetention } from "./retention.ts";
import { checkRetries } from "./retries.ts";
import { checkRunReads } from "./runReads.ts";
import { checkSchedules } from "./schedules.ts";
import { checkSecrets } from "./secrets.ts";
import { checkStarts } from "./starts.ts";
import { checkSteps } from "./steps.ts";
import { checkStoringRuns } from "./storingRuns.ts";
import { checkAttempts, checkEnded, checkOverlaps, checkTurns } from "./turns.ts";
import { checkVotes } from "./votes.ts";

interface CheckInput {
  evidence: Evidence;
  pool: pg.Pool;
  db: Db;
  log: EventLog & DataKeys;
  stores: Parameters<typeof checkBlobs>[0];
  folder: string;
  search: Parameters<typeof checkIndex>[1];
}

export interface Verdict {
  findings: Finding[];
  /** Blobs that no event names; they are swept when a day old. */
  orphans: number;
}

/** Comparisons of the journal with the log. */
export const checkJournal = (evidence: Evidence): Finding[] => [
  ...checkEffects(evidence),
  ...checkRefusals(evidence),
  ...checkTurns(evidence),
  ...checkOverlaps(evidence),
  ...checkAttempts(evidence),
  ...checkEnded(evidence),
  ...checkAliases(evidence),
  ...checkReads(evidence),
  ...checkAccounts(evidence),
  ...checkMembers(evidence),
  ...checkDocuments(evidence),
  ...checkSearches(evidence),
  ...checkTexts(evidence),
  ...checkResponses(evidence),
  ...checkStarts(evidence),
  ...checkSteps(evidence),
  ...checkPeople(evidence),
  ...checkOutcomes(evidence),
  ...checkRunReads(evidence),
  ...checkSchedules(evidence),
  ...checkLinkedRuns(evidence),
  ...checkChains(evidence),
  ...checkStoringRuns(evidence),
  ...checkExports(evidence),
  ...checkRetention(evidence),
  ...checkBudgets(evidence),
  ...checkMessages(evidence),
  ...checkVotes(evidence),
  ...checkRetries(evidence),
  ...checkGuardedCalls(evidence),
  ...checkCommands(evidence),
  ...checkRecovery(evidence),
  ...checkUnavailable(evidence),
  ...checkErrors(evidence),
  ...checkReadiness(evidence),
];

const folderElsewhere = (data: string): Promise<string[]> =>
  readFile(join(data, "postgres.path"), "utf8").then(
    (path) => [path.trim()],
    () => [],
  );

/** Every check. The rebuild runs last because it writes. */
export async function checkAll({ evidence, pool, db, log, stores, folder, search }: CheckInput): Promise<Verdict> {
  const { events } = evidence;
  const data = join(folder, "data");
  const blobs = await checkBlobs(stores, events);
  const findings = [
    ...checkJournal(evidence),
    ...checkFeed(evidence),
    ...checkAudit(evidence),
    ...(await checkChain(db, events)),
    ...(await checkHeads(db, events)),
    ...(await checkFollowers(db)),
    ...blobs.findings,
    ...(await checkErasedKeys(db, events)),
    ...(await checkIndex(db, search, events)),
    ...blobs.remains.map((blob) => different("I12", blob, "is left of something that was erased")),
    ...(await checkUsage(db, events)),
    ...(await checkSecrets([data, join(folder, "logs"), ...(await folderElsewhere(data))])),
    ...(await checkModels(pool, log)),
  ];
  return { findings, orphans: blobs.orphans };
}
