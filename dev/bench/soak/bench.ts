import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startEmbeddedServers } from "../../../infra/embedded/index.ts";
import { openPool } from "../../../infra/postgres/pool.ts";
import { startProvider } from "../chat/contenders.ts";
import { deploy, type Deployment, type Role } from "../scale/layouts.ts";
import { dataFolder } from "../tools/dataFolder.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { readLiveMemory, REPORTER } from "./liveMemory.ts";
import { judgeMemory, type Memory, type MemoryByRole } from "./memoryGrowth.ts";
import { startSoakLoad, type SoakLoad } from "./load.ts";
import { deadRows, measureStores, type StoreSizes } from "./stores.ts";

const LAYOUT: Role[] = ["http", "services", "projections"];
/** The first sample marks the end of the warm-up, in which caches fill and code is compiled. */
const SAMPLES = 9;

interface Sample extends StoreSizes, Memory {
  turns: number;
  dead: number;
}

/** Moderate load for some minutes. Checks whether memory stays flat, how much disk a turn takes, and whether vacuum keeps up. */
export const benchSoak = async (minutes: number): Promise<Report> => {
  const cleanups: (() => Promise<unknown>)[] = [];
  try {
    return await untilInterrupted(() => measure(minutes, cleanups));
  } finally {
    progress("stopping");
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
};

async function measure(minutes: number, cleanups: (() => Promise<unknown>)[]): Promise<Report> {
  progress("starting servers");
  const folder = await dataFolder();
  cleanups.push(folder.remove);
  const services = await startEmbeddedServers({ DATA_DIR: folder.path }, progress);
  cleanups.push(services.stop);
  const provider = await startProvider();
  cleanups.push(provider.stop);
  const pool = openPool(services.database_url, { max: 1, name: "bench" });
  cleanups.push(() => pool.end());
  const environment = { ...services, provider: provider.target.origin, folder: folder.path };
  const layout = { name: "soak", processes: LAYOUT, nats_url: services.nats_url, replicas: 1, preload: REPORTER };
  const deployed = await deploy(layout, environment, "soak");
  cleanups.push(deployed.stop);
  const load = startSoakLoad(deployed);
  const folders = { servers: folder.path, blobs: join(folder.path, "soak", "blobs") };
  const samples: Sample[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    progress(`${n} of ${SAMPLES} parts of ${minutes} minutes, ${load.turns()} turns`);
    await sleep((minutes * 60_000) / SAMPLES);
    samples.push({
      turns: load.turns(),
      ...(await readMemory(deployed, join(folder.path, "soak"))),
      dead: await deadRows(pool),
      ...(await measureStores(pool, folders)),
    });
  }
  await load.stop();
  return report(minutes, samples, load);
}

async function readMemory({ children }: Deployment, folder: string): Promise<Memory> {
  const resident: MemoryByRole = {};
  const live: MemoryByRole = {};
  for (const { role, child } of children) {
    resident[role] = child.memory() ?? 0;
    live[role] = await readLiveMemory(child, folder);
  }
  return { resident, live };
}

const STORES: Record<keyof StoreSizes, string> = {
  log: "PostgreSQL, log",
  readModels: "PostgreSQL, read models",
  nats: "NATS",
  meilisearch: "Meilisearch",
  blobs: "blobs",
};

function report(minutes: number, samples: Sample[], load: SoakLoad): Report {
  const [first, last] = [samples[0]!, samples.at(-1)!];
  const turns = last.turns - first.turns;
  const perTurn = (store: keyof StoreSizes) => (last[store] - first[store]) / Math.max(1, turns);
  return {
    bench: "soak",
    tables: [
      {
        title: `Memory of the processes over ${minutes} minutes, ${load.turns()} turns and ${load.documents()} documents (MiB, and those in use after garbage was collected)`,
        head: ["turns", ...LAYOUT, ...LAYOUT.map((role) => `${role}, in use`), "dead rows, share"],
        rows: samples.map(({ turns: at, resident, live, dead }) => [
          String(at),
          ...LAYOUT.map((role) => resident[role]!),
          ...LAYOUT.map((role) => live[role]!),
          dead,
        ]),
      },
      {
        title: `What a turn takes, with a document of 4 kB for every twenty turns (${turns} turns)`,
        head: ["", "bytes of a turn", "MiB at the end"],
        rows: (Object.keys(STORES) as (keyof StoreSizes)[]).map((store) => [
          STORES[store],
          perTurn(store),
          last[store] / 1024 ** 2,
        ]),
      },
    ],
    verdicts: [...judgeMemory(samples), { name: "dead_rows", value: last.dead, floor: 0.3, aim: 0.2, better: "less" }],
    figures: { minutes, turns: load.turns() },
  };
}
