import type { HttpPorts } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";
import { openAbandonedTurns } from "./abandonedTurns.ts";
import { openCommandOutcomes } from "./commandOutcomes.ts";
import { openEmbeddingFaults } from "./embeddingFaults.ts";
import { openIdFinder } from "./idFinder.ts";
import { openLastUses } from "./lastUses.ts";
import { openLoginAttempts } from "./loginAttempts.ts";
import type { RecentRecords } from "./log.ts";
import { openLogReader } from "./logReader.ts";
import { openOperations } from "./operations.ts";
import { openTurnHistory } from "./turnHistory.ts";

/** `process` is the id of this process among the workers. */
export const openHttpPorts = (db: Db, recent: RecentRecords, process: string): HttpPorts => ({
  log: openLogReader(db, recent),
  outcomes: openCommandOutcomes(db),
  turnHistory: openTurnHistory(db),
  abandonedTurns: openAbandonedTurns(db, process),
  loginAttempts: openLoginAttempts(db),
  embeddingFaults: openEmbeddingFaults(db),
  idFinder: openIdFinder(db),
  lastUses: openLastUses(db),
  operations: openOperations(db),
});
