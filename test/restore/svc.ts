import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { processEnv, type Deployment } from "../platform.ts";

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));

/** Runs `svc` on a deployment and returns its output. Throws with its error output if it fails. */
export async function svcOn(deployment: Deployment, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env: processEnv(deployment, 0) });
  return stdout;
}
