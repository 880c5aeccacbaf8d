import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { removeDataFolder } from "#test/dataFolder.ts";
import type { CrashOptions } from "./arguments.ts";
import type { Verdict } from "./check/checkAll.ts";
import type { Finding } from "./check/finding.ts";
import { startEffects, type Effects } from "./effects.ts";
import { planFaults } from "./faults/plan.ts";
import { planRollOuts } from "./versions/planRollOuts.ts";
import { injectFaults } from "./faults/inject.ts";
import { listenToFeed } from "./feed.ts";
import { openJournal, type Journal } from "./journal.ts";
import { startClients } from "./load/clients.ts";
import { startScriptedProvider } from "./provider.ts";
import { waitUntilQuiet } from "./waitUntilQuiet.ts";
import { watchMachine } from "./watchMachine.ts";
import { startTopology, type Topology } from "./topology.ts";

/** How long the load continues after the last fault, so that recovery from it is observed. */
const LAST_MS = 8_000;

const print = (line: string): void => void process.stderr.write(`${line}\n`);

/** Load and faults until the plan is complete; then quiet; then every client reads everything once more. */
async function runUnderFaults(
  { kills, seed, clients, faults, plant, beside }: CrashOptions,
  {
    topology,
    journal,
    providerUrl,
    effects,
  }: { topology: Topology; journal: Journal; providerUrl: string; effects: Effects },
) {
  const load = await startClients({
    seed,
    clients,
    topology,
    journal,
    providerUrl,
    effects,
    favoured: plant?.load ?? [],
  });
  const feed = await listenToFeed(topology.addresses.nats_url, journal);
  const needed = plant?.faults ?? (beside === undefined ? [] : planRollOuts(beside));
  await injectFaults(topology, planFaults(seed, kills, faults, needed), journal, {
    print,
    mayMiss: plant !== undefined,
  });
  await topology.surroundings.versions?.finish(topology.roles);
  await sleep(LAST_MS);
  print("All faults are injected; waiting until no work is open.");
  await load.stop();
  const pool = openPool(topology.addresses.database_url, { max: 1, name: "crash run" });
  const db = asDb(pool);
  await waitUntilQuiet(db);
  await load.readEverything();
  await load.readAudits(await waitUntilQuiet(db));
  await feed.finish(await waitUntilQuiet(db));
  await pool.end();
  await feed.close();
  await load.close();
}

const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => reject(new Error(signal)));
});

/** A complete run with its own processes, which end with it. */
async function run(options: CrashOptions, folder: string): Promise<void> {
  const journal = openJournal(join(folder, "journal.jsonl"));
  const provider = await startScriptedProvider();
  const effects = await startEffects(journal);
  const outside = { provider: provider.url, effects: effects.host };
  const topology = await startTopology(folder, outside, options);
  try {
    const { seed, kills } = options;
    await writeFile(join(folder, "run.json"), JSON.stringify({ seed, kills, env: topology.env }), { mode: 0o600 });
    const parts = { topology, journal, providerUrl: provider.url, effects };
    await Promise.race([runUnderFaults(options, parts), interrupted]);
  } finally {
    await topology.stop();
    await provider.close();
    await effects.close();
    journal.close();
  }
}

/** Runs the checker, a separate program that knows only the run's folder. Throws if it ends without a verdict. */
async function check(folder: string): Promise<Finding[]> {
  const checker = fileURLToPath(new URL("check/run.ts", import.meta.url));
  const child = spawn(process.execPath, [checker, folder], { stdio: "inherit" });
  await once(child, "exit");
  const verdict = await readFile(join(folder, "verdict.json"), "utf8");
  return (JSON.parse(verdict) as Verdict).findings;
}

/** The command that repeats a run. */
const commandOf = ({ kills, seed, cluster, together, faults, plant, beside }: CrashOptions): string =>
  [
    `npm run crash -- --kills ${kills} --seed ${seed}`,
    ...(cluster ? ["--cluster"] : []),
    ...(together ? ["--together"] : []),
    ...(faults.length > 0 ? [`--faults ${faults.join()}`] : []),
    ...(beside ? [`--beside ${beside}`] : []),
    ...(plant ? [`--plant ${plant.name}`] : []),
  ].join(" ");

/** A complete run and its check. Resolves with the findings. Keeps the folder if there are any, or on request. */
export async function runOnce(options: CrashOptions): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), `crash-${options.seed}-`));
  // as root, PostgreSQL runs as another user, which must be able to enter the folder
  await chmod(folder, 0o711);
  print(`${options.kills} kills with seed ${options.seed} in ${folder}`);
  const machine = watchMachine();
  await run(options, folder).finally(() => print(machine.end()));
  const findings = await check(folder);
  // after a planted bug, the folder is of no use as evidence
  if (options.keep || (findings.length > 0 && !options.plant)) print(`Kept in ${folder}; again: ${commandOf(options)}`);
  else await removeDataFolder(join(folder, "data")).then(() => removeDataFolder(folder));
  return findings;
}
