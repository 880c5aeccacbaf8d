import { styleText } from "node:util";
import { readSettings, type Settings } from "#infra/config.ts";
import { openDatabase, type Database } from "../connect.ts";
import { explain } from "../explain.ts";
import { print, printable, printJson } from "../output.ts";
import { Problem } from "../problem.ts";
import { busVersion, noDeadLetters, openWatchedBus, streamsAsAsked, type WatchedBus } from "./bus.ts";
import { runChecks, type Check, type Finding } from "./check.ts";
import { durable, headFitsLastEvent, masterKeyOpens, migrated, serverVersion } from "./database.ts";
import { followersKeepUp, nothingParked } from "./followers.ts";
import { freeDisk, nodeVersion, writableFolder } from "./machine.ts";
import { searchVersion } from "./search.ts";
import { textsThere } from "./texts.ts";

/** What earlier checks have opened for later ones. */
interface Open {
  settings: Settings;
  database: Database;
  bus: WatchedBus;
}

function settingsOf(env: NodeJS.ProcessEnv): Settings {
  try {
    return readSettings(env);
  } catch (error) {
    const [, ...lines] = explain(error).split("\n");
    throw new Problem(lines.map((line) => line.trim()).join("; "), "set these in the environment");
  }
}

function checks(open: Open): Check[] {
  const onSettings = { needs: ["settings"] };
  const onDatabase = { needs: ["PostgreSQL"] };
  const onBus = { needs: ["NATS"] };
  return [
    { name: "Node", look: nodeVersion },
    { name: "settings", look: () => ((open.settings = settingsOf(process.env)), "right") },
    { name: "data folder", ...onSettings, look: () => writableFolder(open.settings.DATA_DIR) },
    { name: "disk", ...onSettings, look: () => freeDisk(open.settings.DATA_DIR) },
    {
      name: "PostgreSQL",
      ...onSettings,
      look: async () => serverVersion((open.database = await openDatabase(open.settings))),
    },
    { name: "durable settings", ...onDatabase, look: () => durable(open.database) },
    { name: "migrations", ...onDatabase, look: () => migrated(open.database) },
    { name: "chain's head", ...onDatabase, look: () => headFitsLastEvent(open.database) },
    { name: "master key", ...onDatabase, look: () => masterKeyOpens(open.database) },
    { name: "followers", ...onDatabase, look: () => followersKeepUp(open.database.db) },
    { name: "parked streams", ...onDatabase, look: () => nothingParked(open.database.db) },
    {
      name: "texts",
      ...onDatabase,
      look: () => textsThere(open.database.db, open.settings.DATA_DIR),
    },
    { name: "NATS", ...onSettings, look: async () => busVersion((open.bus = await openWatchedBus(open.settings)).bus) },
    { name: "streams", ...onBus, look: () => streamsAsAsked(open.bus) },
    { name: "dead letters", ...onBus, look: () => noDeadLetters(open.bus) },
    { name: "Meilisearch", ...onSettings, look: () => searchVersion(open.settings) },
  ];
}

const COLOURS = { ok: "green", failed: "red", skipped: "yellow" } as const;

function show({ check, status, detail, next }: Finding): void {
  print(`${styleText(COLOURS[status], status.padEnd(7))}  ${check.padEnd(16)}  ${printable(detail)}`);
  if (next) print(`${" ".repeat(27)}-> ${next}`);
}

/** Looks at everything that the service needs, one after the other; exit code 1 when anything failed. */
export async function doctor(options: { json?: boolean }): Promise<void> {
  const open: Partial<Open> = {};
  try {
    const findings = await runChecks(checks(open as Open), options.json ? () => {} : show);
    const failed = findings.filter(({ status }) => status === "failed").length;
    if (failed > 0) process.exitCode = 1;
    if (options.json) printJson({ ok: failed === 0, checks: findings });
    else print(failed === 0 ? "All is well." : `${failed} of ${findings.length} checks failed.`);
  } finally {
    await open.bus?.bus.close();
    await open.database?.pool.end();
  }
}
