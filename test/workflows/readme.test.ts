import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freePort } from "#infra/embedded/port.ts";
import { aCommandLine } from "../cli/svc.ts";
import { testFolder } from "../harness.ts";

/* What the README says of workflows, pasted into a shell. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const blockUnder = (heading: string): string => readme.split(`## ${heading}\n`)[1]!.split("```")[1]!;

test("the lines of the README save, register, start, approve and complete a workflow", async () => {
  const { env, begin } = await aCommandLine();
  const port = await freePort();
  env["PORT"] = String(port);
  const folder = await testFolder();
  symlinkSync(env["DATA_DIR"]!, join(folder, ".data"));
  symlinkSync(join(root, "examples"), join(folder, "examples"));
  const names = blockUnder("Ask your documents")
    .split("\n")
    .filter((line) => /^[A-Z]+=/.test(line));
  const lines = [...names, blockUnder("Run a workflow")].join("\n").replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`);

  const running = begin("all");
  const ended = once(running, "exit");
  try {
    for await (const line of createInterface(running.stdout)) if (line.startsWith("Ctrl-C")) break;
    const { PATH = "", HOME = "" } = process.env;
    const options = { cwd: folder, env: { PATH, HOME } };
    const { stdout } = await promisify(execFile)("bash", ["-e", "-o", "pipefail", "-c", lines], options);
    const [waiting, decided, done] = stdout.split(/(?<=\})\s*(?=\{)/).map((json) => JSON.parse(json));
    expect(waiting).toMatchObject({ status: "running", result: null, error: null });
    expect(decided).toMatchObject({ status: "approved", comment: "fine", name: "manager" });
    expect(done).toMatchObject({ status: "completed", result: { refunded: true }, error: null });
  } finally {
    running.kill();
    await ended;
  }
});
