import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Child, freePort, startNode } from "../tools/child.ts";

const main = join(dirname(dirname(import.meta.dirname)), "main.ts");
const READY_S = 60;

export type Role = "all" | "http" | "services" | "projections";

/** What runs, and on which NATS. */
export interface Layout {
  name: string;
  processes: Role[];
  nats_url: string;
  replicas: number;
}

/** What every layout shares. */
export interface Ground {
  database_url: string;
  meili_url: string;
  meili_master_key: string;
  provider: string;
  folder: string;
}

export interface Deployed {
  /** Of each process that takes requests. */
  origins: string[];
  api_key: string;
  children: { role: Role; child: Child }[];
  stop(): Promise<void>;
}

const saysThatItRuns = async (child: Child, url: string | undefined): Promise<void> => {
  await child.firstLine();
  if (url === undefined) return;
  for (const end = performance.now() + READY_S * 1000; performance.now() < end; await sleep(100)) {
    child.assertAlive();
    if (
      await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
  }
  throw new Error(`${url} was not ready within ${READY_S} s`);
};

/** Starts a layout on a database, a prefix and a folder of its own. */
export const deploy = async (layout: Layout, ground: Ground, id: string): Promise<Deployed> => {
  const folder = join(ground.folder, id);
  await mkdir(folder, { recursive: true });
  const env = {
    NODE_ENV: "production",
    DATA_DIR: folder,
    BUS_PREFIX: id,
    DATABASE_URL: ground.database_url,
    NATS_URL: layout.nats_url,
    NATS_REPLICAS: String(layout.replicas),
    MEILI_URL: ground.meili_url,
    MEILI_MASTER_KEY: ground.meili_master_key,
    MASTER_KEY: randomBytes(32).toString("base64"),
    OPENAI_BASE_URL: `${ground.provider}/v1`,
    OPENAI_API_KEY: "mock",
    LOG_LEVEL: "fatal",
  };
  const children: Deployed["children"] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(({ child }) => child.stop()));
  };
  try {
    const origins: string[] = [];
    const starting = layout.processes.map(async (role) => {
      const port = await freePort();
      const origin = role === "all" || role === "http" ? `http://127.0.0.1:${port}` : undefined;
      if (origin) origins.push(origin);
      const child = startNode([main, role], { ...env, PORT: String(port) });
      children.push({ role, child });
      await saysThatItRuns(child, origin);
    });
    await Promise.all(starting);
    const made = await promisify(execFile)(process.execPath, [main, "org", "create", "Bench", "--json"], {
      env: { ...process.env, ...env },
    });
    const { api_key } = JSON.parse(made.stdout) as { api_key: string };
    return { origins, api_key, children, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
