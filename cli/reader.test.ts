import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

test("a command whose output does not fit on the disk fails with one line", async () => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [main, "--help"], { stdio: ["ignore", full, "pipe"] });
  closeSync(full);
  let told = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (told += text));
  const [[code]] = await Promise.all([once(child, "exit"), once(child.stderr!, "end")]);
  expect([code, told]).toEqual([1, "The disk is full: free disk space, then run this again.\n"]);
});

test("a command whose reader has closed the pipe ends well", async () => {
  const [code, stderr] = await new Promise<unknown[]>((resolve) => {
    const child = execFile(process.execPath, [main, "--help"], (_error, _stdout, text) =>
      resolve([child.exitCode, text]),
    );
    child.stdout!.destroy();
  });
  expect([code, stderr]).toEqual([0, ""]);
});
