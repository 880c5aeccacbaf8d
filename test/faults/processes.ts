import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "#infra/embedded/freePort.ts";
import { afterFile } from "../cleanUp.ts";
import { processEnv, type Deployment } from "../platform.ts";

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
const children = new Set<ChildProcess>();
const killAll = () => children.forEach((child) => child.kill("SIGKILL"));
process.once("exit", killAll);

type Role = "http" | "services" | "projections";

/** Starts a role of a deployment as a child process, and resolves when it runs. The end of the test file kills it. `env`: more settings. */
export async function startProcess(role: Role, deployment: Deployment, env: Record<string, string> = {}) {
  const port = await freePort();
  const child = spawn(process.execPath, [main, role], {
    env: {
      ...processEnv(deployment, port),
      TURN_SECONDS: "30",
      ...env,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  children.add(child);
  afterFile(() => child.kill("SIGKILL"));
  child.once("exit", () => children.delete(child));
  const ended = once(child, "exit");
  let output = "";
  for await (const words of child.stderr.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += words;
    if (output.includes(`${role} is running`)) break;
  }
  child.stderr.resume();
  if (!output.includes(`${role} is running`)) throw new Error(`${role} does not start: ${output}`);
  return { role, pid: child.pid!, url: `http://127.0.0.1:${port}`, ended, kill: () => child.kill("SIGKILL") };
}
