import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmbeddedServers } from "../../../infra/embedded/index.ts";
import { migrate } from "../../../infra/postgres/migrate.ts";
import { openPool } from "../../../infra/postgres/pool.ts";
import { dataFolder } from "../tools/dataFolder.ts";
import { progress } from "../tools/progress.ts";

/** The embedded PostgreSQL, started as the service does, with its own data folder, which `stop` removes. */
export interface Server {
  /** Creates a database, empty or as a copy of another one, and returns its address. */
  create(name: string, template?: string): Promise<string>;
  pid: number;
  stop(): Promise<void>;
}

export const startServer = async (): Promise<Server> => {
  const folder = await dataFolder();
  const services = await startEmbeddedServers({ DATA_DIR: folder.path }, progress);
  const pool = openPool(services.database_url, { max: 1, name: "bench" });
  const pidFile = readFileSync(join(folder.path, "run", "postgres.pid"), "utf8");
  return {
    pid: (JSON.parse(pidFile) as { pid: number }).pid,
    async create(name, template = "template0") {
      await pool.query(`create database ${name} template ${template}`);
      const url = new URL(services.database_url);
      url.pathname = `/${name}`;
      return url.href;
    },
    async stop() {
      await pool.end();
      await services.stop();
      await folder.remove();
    },
  };
};

/** Creates a database with an empty log and returns its address. */
export const createLog = async (server: Server, name: string): Promise<string> => {
  const url = await server.create(name);
  await migrate(url);
  return url;
};
