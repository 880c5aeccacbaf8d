import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

/* What `.ci/run` makes of the results of a run and of the second run of its failed files. */

const runScript = (script: string, path: string): Promise<{ code: number; stdout: string }> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [join(import.meta.dirname, script), path], (_, stdout) =>
      resolve({ code: child.exitCode ?? -1, stdout }),
    );
  });
const outcome = (status: string) => ({
  status,
  fullName: "adds",
  failureMessages: status === "failed" ? ["5 is not 4"] : [],
});
const file = (name: string, ...statuses: string[]) => ({
  name,
  status: statuses.includes("failed") ? "failed" : "passed",
  assertionResults: statuses.map(outcome),
});
const broken = { name: "/broken", status: "failed", message: "cannot be loaded", assertionResults: [] };

async function saveRuns(first: object[], second?: object[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-results-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const save = (name: string, files: any[]) =>
    writeFile(
      join(folder, name),
      JSON.stringify({ success: files.every(({ status }) => status === "passed"), testResults: files }),
    );
  await save("test.json", first);
  if (second) await save("test.again.json", second);
  return join(folder, "test.json");
}
const count = async (...runs: Parameters<typeof saveRuns>) => runScript("countTests.mjs", await saveRuns(...runs));
const filesToRepeat = async (...first: object[]) =>
  (await runScript("failedFiles.mjs", await saveRuns(first))).stdout.split("\n").filter(Boolean);

describe("CI", () => {
  test("passes when nothing failed", async () => {
    expect(await count([file("/a", "passed", "passed")])).toEqual({ code: 0, stdout: "2 passed, 0 failed\n" });
  });
  test("passes when a failed file passes alone, and names what failed at first", async () => {
    expect(
      await count([file("/a", "failed", "passed"), file("/b", "passed")], [file("/a", "passed", "passed")]),
    ).toEqual({
      code: 0,
      stdout: "unsteady (passed when run alone): adds (/a)\n  5 is not 4\n3 passed, 0 failed\n",
    });
  });
  test("fails when a file fails twice, or cannot be loaded twice", async () => {
    expect(await count([file("/a", "failed", "passed")], [file("/a", "failed", "passed")])).toEqual({
      code: 1,
      stdout: "failed: adds (/a)\n  5 is not 4\n1 passed, 1 failed\n",
    });
    expect(await count([broken], [broken])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("0 passed, 1 failed"),
    });
  });
  test("fails when the second run left out a failed file", async () => {
    expect((await count([file("/a", "failed"), file("/b", "failed")], [file("/a", "passed")])).code).toBe(1);
  });
  test("fails when nothing ran, and when the results are missing", async () => {
    expect((await count([])).code).toBe(1);
    expect((await runScript("countTests.mjs", "/nowhere/test.json")).code).toBe(1);
  });
  test("fails when the runner ended with an error outside of every test", async () => {
    const path = await saveRuns([file("/a", "passed")]);
    await writeFile(path, JSON.stringify({ success: false, testResults: [file("/a", "passed")] }));
    expect(await runScript("countTests.mjs", path)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("1 passed, 1 failed"),
    });
  });
  test("runs at most three failed files once more", async () => {
    const failed = ["/a", "/b", "/c"].map((name) => file(name, "failed"));
    expect(await filesToRepeat(...failed, file("/d", "passed"))).toEqual(["/a", "/b", "/c"]);
    expect(await filesToRepeat(...failed, broken)).toEqual([]);
  });
});
