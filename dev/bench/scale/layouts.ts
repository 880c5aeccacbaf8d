import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { LAUNCHER } from "../../../test/launcher.ts";
import { type Child, freePort, startNode } from "../tools/child.ts";
import { waitForAnswer } from "../tools/waitUntil.ts";

const main = join(dirname(dirname(dirname(import.meta.dirname))), "main.ts");

export type Role = "all" | "http" | "services" | "projections";

/** The processes of a deployment and the NATS that they use. */
export interface Layout {
  name: string;
  processes: Role[];
  nats_url: string;
  replicas: number;
  /** A module that each process loads first. */
  preload?: string;
}

/** The servers that a deployment uses. */
export interface Environment {
  database_url: string;
  meili_url: string;
  meili_master_key: string;
  /** The address of the mock provider. */
  provider: string;
  /** The parent of every deployment's data folder. */
  folder: string;
}

export interface Deployment {
  /** The addresses of the processes that accept requests. */
  origins: string[];
  api_key: string;
  children: { role: Role; child: Child }[];
  stop(): Promise<void>;
}

/** Starts the processes of a layout, with `id` as bus prefix and data folder. */
export const deploy = async (layout: Layout, environment: Environment, id: string): Promise<Deployment> => {
  const folder = join(environment.folder, id);
  await mkdir(folder, { recursive: true });
  const env = {
    ...LAUNCHER.env,
    NODE_ENV: "production",
    DATA_DIR: folder,
    BUS_PREFIX: id,
    DATABASE_URL: environment.database_url,
    NATS_URL: layout.nats_url,
    NATS_REPLICAS: String(layout.replicas),
    MEILI_URL: environment.meili_url,
    MEILI_MASTER_KEY: environment.meili_master_key,
    MASTER_KEY: randomBytes(32).toString("base64"),
    OPENAI_BASE_URL: `${environment.provider}/v1`,
    OPENAI_API_KEY: "mock",
    LOG_LEVEL: "fatal",
  };
  const preload = layout.preload ? ["--import", layout.preload] : [];
  const children: Deployment["children"] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(({ child }) => child.stop()));
  };
  try {
    const origins: string[] = [];
    const starting = layout.processes.map(async (role) => {
      const port = await freePort();
      const origin = role === "all" || role === "http" ? `http://127.0.0.1:${port}` : undefined;
      if (origin) origins.push(origin);
      const child = startNode([...LAUNCHER.flags, ...preload, main, role], { ...env, PORT: String(port) });
      children.push({ role, child });
      await child.firstLine();
      if (origin) await waitForAnswer(child, `${origin}/readyz`);
    });
    await Promise.all(starting);
    const created = await promisify(execFile)(process.execPath, [main, "org", "create", "Bench", "--json"], {
      env: { ...process.env, ...env },
    });
    const { api_key } = JSON.parse(created.stdout) as { api_key: string };
    return { origins, api_key, children, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
