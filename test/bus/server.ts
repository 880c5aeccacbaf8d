import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { natsBinary } from "#infra/embedded/natsBinary.ts";
import { freePort } from "#infra/embedded/freePort.ts";
import { waitForGreeting } from "#infra/nats/greeting.ts";
import { afterFile } from "#test/cleanUp.ts";
import { testFolder } from "#test/harness.ts";

const runtime = fileURLToPath(new URL("../../.runtime", import.meta.url));

interface Own {
  /** More of its configuration. */
  config?: string;
  env?: Record<string, string>;
}

/** A NATS server of this test alone, which it can kill, wipe and start again on the same port. */
export async function startOwnServer({ config = "", env = {} }: Own = {}) {
  const folder = await testFolder();
  const binary = await natsBinary(runtime, (line) => console.error(line));
  const port = await freePort();
  const store = join(folder, "store");
  const [file, output] = [join(folder, "nats.conf"), join(folder, "nats.log")];
  await writeFile(file, config);
  let server: ChildProcess | undefined;
  const start = async () => {
    const place = ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", store, "--config", file, "--log", output];
    server = spawn(binary, place, { env: { ...process.env, ...env }, stdio: "ignore" });
    while (
      !(await waitForGreeting("127.0.0.1", port, 2_000).then(
        () => true,
        () => false,
      ))
    )
      await delay(20);
  };
  const kill = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGKILL");
    await once(server, "exit");
  };
  afterFile(kill);
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    /** The address for one of its users. */
    urlOf: (user: string, password: string) => `nats://${user}:${password}@127.0.0.1:${port}`,
    /** What the server has written into its log. */
    readLog: () => readFile(output, "utf8"),
    store,
    start,
    kill,
    /** Takes effect at the next start. */
    configure: (text: string) => writeFile(file, text),
    wipe: () => rm(store, { recursive: true, force: true }),
  };
}
