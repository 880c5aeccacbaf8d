import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { removeDataFolder } from "#test/dataFolder.ts";
import { readArguments, type Wished } from "./arguments.ts";
import { startEffects, type Effects } from "./effects.ts";
import { planFaults } from "./faults/plan.ts";
import { strikeAll } from "./faults/strike.ts";
import { listenToFeed } from "./feed.ts";
import { openJournal, type Journal } from "./journal.ts";
import { startClients } from "./load/clients.ts";
import { startScriptedProvider } from "./provider.ts";
import { becomeQuiet } from "./quiet.ts";
import { startTopology, type Topology } from "./topology.ts";

/** The load goes on so long after the last blow, so that recovery from it shows too. */
const LAST_MS = 8_000;

const tell = (line: string): void => void process.stderr.write(`${line}\n`);

/** Load and blows until the plan is through, then quiet, then everything is read once more. */
async function strain(
  { kills, seed, clients }: Wished,
  {
    topology,
    journal,
    providerUrl,
    effects,
  }: { topology: Topology; journal: Journal; providerUrl: string; effects: Effects },
) {
  const load = await startClients({ seed, clients, topology, journal, providerUrl, effects });
  const feed = await listenToFeed(topology.addresses.nats_url, journal);
  await strikeAll(topology, planFaults(seed, kills), journal);
  await sleep(LAST_MS);
  tell("The last blow has fallen; waiting until all is quiet.");
  await load.stop();
  const { database_url } = topology.addresses;
  await becomeQuiet(database_url);
  await load.readEverything();
  await load.readAudits(await becomeQuiet(database_url));
  await feed.finish(await becomeQuiet(database_url));
  await feed.close();
  await load.close();
}

const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => reject(new Error(signal)));
});

/** A whole run on processes of its own, which end with it. */
async function run(wished: Wished, folder: string): Promise<void> {
  const journal = openJournal(join(folder, "journal.jsonl"));
  const provider = await startScriptedProvider();
  const effects = await startEffects(journal);
  const outside = { provider: provider.url, effects: effects.host };
  const topology = await startTopology(folder, outside, wished.cluster);
  try {
    const { seed, kills } = wished;
    await writeFile(join(folder, "run.json"), JSON.stringify({ seed, kills, env: topology.env }), { mode: 0o600 });
    const parts = { topology, journal, providerUrl: provider.url, effects };
    await Promise.race([strain(wished, parts), interrupted]);
  } finally {
    await topology.stop();
    await provider.close();
    await effects.close();
    journal.close();
  }
}

/** The checker is a program of its own, which knows the run only by its folder. */
async function check(folder: string): Promise<number> {
  const checker = fileURLToPath(new URL("check/run.ts", import.meta.url));
  const child = spawn(process.execPath, [checker, folder], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  return code ?? 1;
}

const wished = readArguments(process.argv.slice(2));
const folder = await mkdtemp(join(tmpdir(), `crash-${wished.seed}-`));
// PostgreSQL runs as a user of its own where we are root, and must be able to enter
await chmod(folder, 0o711);
tell(`${wished.kills} kills with seed ${wished.seed} in ${folder}`);
await run(wished, folder);
const code = await check(folder);
if (code === 0 && !wished.keep) await removeDataFolder(join(folder, "data")).then(() => removeDataFolder(folder));
else
  tell(
    `Kept in ${folder}; again: npm run crash -- --kills ${wished.kills} --seed ${wished.seed}${wished.cluster ? " --cluster" : ""}`,
  );
process.exitCode = code;
