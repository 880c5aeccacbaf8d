import { execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { readSettings } from "#infra/config.ts";
import { testBus, testDatabase, testFolder } from "#test/harness.ts";
import { roles, runRoles } from "../../roles/runRoles.ts";

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
const key = Buffer.alloc(32, 7);

export interface CommandOutput {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs svc in its own process, with a database, a bus prefix and a data folder for this caller alone. */
export async function openCommandLine() {
  const database = await testDatabase();
  const bus = testBus();
  const { meili_url, meili_master_key } = inject("services");
  const env: Record<string, string> = {
    PATH: process.env["PATH"]!,
    DATA_DIR: await testFolder(),
    DATABASE_URL: database.url,
    NATS_URL: bus.url,
    BUS_PREFIX: bus.prefix,
    MEILI_URL: meili_url,
    MEILI_MASTER_KEY: meili_master_key,
    MASTER_KEY: key.toString("base64"),
    PORT: "0",
    LOG_LEVEL: "warn",
  };
  const svcWith = (changed: Record<string, string>, ...args: string[]): Promise<CommandOutput> =>
    new Promise((resolve) => {
      const options = { env: { ...env, ...changed }, maxBuffer: 64 * 1024 * 1024 };
      const child = execFile(process.execPath, [main, ...args], options, (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, stdout, stderr }),
      );
    });
  return {
    env,
    key,
    database,
    bus,
    svcWith,
    svc: (...args: string[]) => svcWith({}, ...args),
    /** Starts the service of these settings in this process. */
    startRoles: () =>
      runRoles(roles, {
        settings: readSettings(env),
        addresses: {
          database_url: database.url,
          nats_url: bus.url,
          meili_url,
          meili_master_key,
          master_key: env["MASTER_KEY"]!,
        },
      }),
    /** Starts a command that runs until it is stopped. */
    start: (...args: string[]) =>
      spawn(process.execPath, [main, ...args], { env, stdio: ["ignore", "pipe", "ignore"] }),
    /** The same on a terminal of its own, which `script` of util-linux makes. */
    startOnTerminal: (...args: string[]) =>
      spawn("script", ["-qefc", [process.execPath, main, ...args].join(" "), "/dev/null"], {
        env,
        stdio: ["ignore", "pipe", "ignore"],
      }),
  };
}

export const json = <T = any>({ stdout }: CommandOutput): T => JSON.parse(stdout) as T;
/** The failed checks of `svc doctor --json`. */
export const failedChecks = (ran: CommandOutput): any[] =>
  json(ran).checks.filter(({ status }: any) => status === "failed");
