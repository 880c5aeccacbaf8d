import { spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** Uses the running Node, because the installed one may be older. */
const env = {
  ...process.env,
  PATH: [join(root, "node_modules", ".bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter),
};

/** Runs one of the project's tools in a folder. Does not throw if the tool reports faults. */
export const runTool = ([name, ...args]: readonly [string, ...string[]], folder: string): Promise<ToolResult> =>
  new Promise((resolve, reject) => {
    const child = spawn(name, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({ ok: code === 0, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
  });

export interface ToolResult {
  ok: boolean;
  stdout: string;
  stderr: string;
}
