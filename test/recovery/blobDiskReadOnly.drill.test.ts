import { execFileSync } from "node:child_process";
import { globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { afterFile } from "../cleanUp.ts";
import { clientOf, fileForm, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

/* The disk of the blobs is read-only, as the kernel makes it after an error, and can be written again later. */

/** A message that fails for another reason than an unavailable dependency is in the dead letters after 3 s. */
const READ_ONLY_MS = 6_000;
const REMOVED_MS = 20_000;

const upload = () => fileForm("some words", "notes.txt", { fields: { purpose: "user_data" } });

test("while the disk of the blobs is read-only, uploads are 503 and deletions succeed; their bytes are removed once it is writable", async () => {
  const deployment = await testDeployment();
  const disk = join(deployment.folder, "blobs");
  mkdirSync(disk);
  // needs the right to mount: without it the drill fails and says so
  const mount = (options: string) =>
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", `${options}size=4m`, "tmpfs", disk], { stdio: "pipe" });
  mount("");
  afterFile(() => execFileSync("/bin/umount", ["--lazy", disk]));
  const platform = await startPlatform({ deployment });
  const call = clientOf({ chat: `${platform.url}/api/openai/v1` }, (await platform.organization()).api_key);
  const blobs = () => globSync("**/*", { cwd: disk, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  const { id } = (await call("POST", "/files", upload())).body;
  expect(blobs()).toBe(1);
  await expect
    .poll(() => {
      mount("remount,ro,");
      return true;
    })
    .toBe(true);

  const refused = await call("POST", "/files", upload());
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
  expect((await call("POST", "/chat/completions", say("Hello"))).status).toBe(200);
  expect((await call("DELETE", `/files/${id}`)).status).toBe(200);
  const metrics = await (await fetch(`${platform.url}/metrics`)).text();
  expect(metrics).toContain('disk_free_ratio{name="disk"} 0\n');
  await sleep(READ_ONLY_MS);

  mount("remount,rw,");
  await expect.poll(blobs, { timeout: REMOVED_MS }).toBe(0);
  const { streams } = await platform.resources.bus.health();
  expect(Object.entries(streams).find(([name]) => name.endsWith("_DEAD"))![1]!.messages).toBe(0);
  expect((await call("POST", "/files", upload())).status).toBe(201);
});
