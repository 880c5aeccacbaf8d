import { styleText } from "node:util";
import { readSettings, type Settings } from "#infra/config.ts";
import { openDatabase, type Database } from "../connect.ts";
import { explainError } from "../explainError.ts";
import { print, escapeControls, printJson } from "../output.ts";
import { CliError } from "../cliError.ts";
import {
  checkCommands,
  checkNats,
  checkDeadLetters,
  checkSameBus,
  checkSync,
  openWatchedBus,
  checkStreams,
  type WatchedBus,
} from "./bus.ts";
import { runChecks, type Check, type Finding } from "./check.ts";
import {
  checkAppends,
  checkClock,
  checkDurability,
  checkHead,
  checkMasterKey,
  checkMigrations,
  readServerVersion,
} from "./database.ts";
import { checkFollowers, checkParkedStreams } from "./followers.ts";
import { checkDisk, checkNode, checkDataFolder } from "./machine.ts";
import { checkMeilisearch } from "./search.ts";
import { checkTexts } from "./missingTexts.ts";

/** Results of earlier checks for later ones. */
interface CheckContext {
  settings: Settings;
  database: Database;
  bus: WatchedBus;
}

function checkSettings(env: NodeJS.ProcessEnv): Settings {
  try {
    return readSettings(env);
  } catch (error) {
    const [, ...lines] = explainError(error).split("\n");
    throw new CliError(lines.map((line) => line.trim()).join("; "), "set these in the environment");
  }
}

function checks(open: CheckContext): Check[] {
  const onSettings = { needs: ["settings"] };
  const onDatabase = { needs: ["PostgreSQL"] };
  const onBus = { needs: ["NATS"] };
  return [
    { name: "Node", run: checkNode },
    { name: "settings", run: () => ((open.settings = checkSettings(process.env)), "valid") },
    { name: "data folder", ...onSettings, run: () => checkDataFolder(open.settings.DATA_DIR) },
    { name: "disk", ...onSettings, run: () => checkDisk(open.settings) },
    {
      name: "PostgreSQL",
      ...onSettings,
      run: async () => readServerVersion((open.database = await openDatabase(open.settings))),
    },
    { name: "durable settings", ...onDatabase, run: () => checkDurability(open.database) },
    { name: "migrations", ...onDatabase, run: () => checkMigrations(open.database) },
    { name: "clock", ...onDatabase, run: () => checkClock(open.database) },
    { name: "appends", needs: ["migrations"], run: () => checkAppends(open.database.db) },
    { name: "chain's head", ...onDatabase, run: () => checkHead(open.database) },
    { name: "master key", ...onDatabase, run: () => checkMasterKey(open.database) },
    { name: "followers", ...onDatabase, run: () => checkFollowers(open.database.db) },
    { name: "parked streams", ...onDatabase, run: () => checkParkedStreams(open.database.db) },
    {
      name: "texts",
      ...onDatabase,
      run: () => checkTexts(open.database.db, open.settings.DATA_DIR),
    },
    { name: "NATS", ...onSettings, run: async () => checkNats((open.bus = await openWatchedBus(open.settings)).bus) },
    {
      name: "one NATS",
      needs: ["PostgreSQL", "NATS"],
      run: () => checkSameBus(open.bus.bus, open.database.db),
    },
    { name: "NATS syncs", ...onBus, run: () => checkSync(open.bus.bus, open.settings.NATS_MONITOR_URL) },
    { name: "streams", ...onBus, run: () => checkStreams(open.bus) },
    { name: "commands", needs: ["migrations", "NATS"], run: () => checkCommands(open.bus.bus, open.database.db) },
    { name: "dead letters", ...onBus, run: () => checkDeadLetters(open.bus) },
    { name: "Meilisearch", ...onSettings, run: () => checkMeilisearch(open.settings) },
  ];
}

const COLOURS = { ok: "green", failed: "red", skipped: "yellow" } as const;

function show({ check, status, detail, next }: Finding): void {
  print(`${styleText(COLOURS[status], status.padEnd(7))}  ${check.padEnd(16)}  ${escapeControls(detail)}`);
  if (next) print(`${" ".repeat(27)}-> ${next}`);
}

/** Checks everything that the service needs. Exit code 1 if a check fails. */
export async function doctor(options: { json?: boolean }): Promise<void> {
  const open: Partial<CheckContext> = {};
  try {
    const findings = await runChecks(checks(open as CheckContext), options.json ? () => {} : show);
    const failed = findings.filter(({ status }) => status === "failed").length;
    if (failed > 0) process.exitCode = 1;
    if (options.json) printJson({ ok: failed === 0, checks: findings });
    else print(failed === 0 ? "All checks passed." : `${failed} of ${findings.length} checks failed.`);
  } finally {
    await open.bus?.bus.close();
    await open.database?.pool.end();
  }
}
