import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const bench = fileURLToPath(new URL("../../dev/bench/run.ts", import.meta.url));
/** The long form takes two hours: `npm run bench -- soak`. */
const MINUTES = Number(process.env["SOAK_MINUTES"] ?? 10);
/** For the servers before it and what they have open after it. */
const AROUND_MINUTES = 5;

/** Standard output and standard error of the bench, whether it passed or not. */
const runSoak = (): Promise<{ stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const { PATH = "", HOME = "" } = process.env;
    const args = [bench, "soak", "--minutes", String(MINUTES)];
    execFile(process.execPath, args, { env: { PATH, HOME } }, (_, stdout, stderr) => resolve({ stdout, stderr }));
  });

test("under moderate load for minutes, the memory of every process stays flat and vacuum keeps up", {
  timeout: (MINUTES + AROUND_MINUTES) * 60_000,
}, async () => {
  const { stdout, stderr } = await runSoak();
  const lastLine = stdout.trim().split("\n").at(-1) ?? "";
  expect(lastLine, stderr).toContain('"bench":"soak"');
  const { pass, turns } = JSON.parse(lastLine) as { pass: boolean; turns: number };
  expect(pass, stdout).toBe(true);
  expect(turns).toBeGreaterThan(MINUTES * 60);
});
