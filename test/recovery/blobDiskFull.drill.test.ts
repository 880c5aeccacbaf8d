import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { afterFile } from "../cleanUp.ts";
import { clientOf, fileForm, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

/* The disk of the blobs alone is full, and has space again later. */

const fileOf = (size: number, fill: string) =>
  fileForm(fill.repeat(size), "notes.txt", { fields: { purpose: "user_data" } });

test("uploads to a full disk are refused with storage_full, leave no fragment, and work once there is space again", async () => {
  const deployment = await testDeployment();
  const disk = join(deployment.folder, "blobs");
  mkdirSync(disk);
  // needs the right to mount: without it the drill fails and says so
  execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]);
  afterFile(() => execFileSync("/bin/umount", ["--lazy", disk]));
  const platform = await startPlatform({ deployment });
  const call = clientOf({ chat: `${platform.url}/api/openai/v1` }, (await platform.organization()).api_key);
  const fill = join(disk, "fill");
  writeFileSync(fill, Buffer.alloc(3_950_000));
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => call("POST", "/files", fileOf(1_000_000, String(n)))),
  );
  for (const { status, body, headers } of answers) {
    expect([status, body.error.code]).toEqual([503, "storage_full"]);
    expect(headers.get("retry-after")).toBe("10");
  }
  expect(globSync("**/*.part", { cwd: disk })).toEqual([]);
  // turns without content that needs space still work
  expect((await call("POST", "/chat/completions", say("Hello"))).status).toBe(200);
  const metrics = await (await fetch(`${platform.url}/metrics`)).text();
  expect(Number(/disk_free_ratio\{name="disk"\} ([\d.e-]+)/.exec(metrics)![1])).toBeLessThan(0.07);
  rmSync(fill);
  expect((await call("POST", "/files", fileOf(1_000_000, "x"))).status).toBe(201);
});
