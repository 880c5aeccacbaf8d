import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const bench = fileURLToPath(new URL("../../dev/bench/run.ts", import.meta.url));
/** The long form takes two hours: `npm run bench -- soak`. */
const MINUTES = Number(process.env["SOAK_MINUTES"] ?? 10);
/** For the servers before it and what they have open after it. */
const AROUND_MINUTES = 5;

test("under moderate load for minutes, the memory of every process stays flat and vacuum keeps up", {
  timeout: (MINUTES + AROUND_MINUTES) * 60_000,
}, async () => {
  const { PATH = "", HOME = "" } = process.env;
  const args = [bench, "soak", "--minutes", String(MINUTES), "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH, HOME } });
  console.log(stdout);
  const { pass, turns } = JSON.parse(stdout.trim().split("\n").at(-1)!) as { pass: boolean; turns: number };
  expect(pass).toBe(true);
  expect(turns).toBeGreaterThan(MINUTES * 60);
});
