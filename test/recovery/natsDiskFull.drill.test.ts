import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { afterFile } from "../cleanUp.ts";
import { testDataFolder } from "../harness.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform } from "../platform.ts";
import { askTurn } from "./load.ts";

/* The disk of NATS alone is full, and has space again later. */

const FAULT = /does not answer, ending it: .*stream .* write error: .*no space left/;
const FULL_MS = 15_000;
const BACK_MS = 30_000;

test("turns are 503 while NATS has no space, and work again without intervention once it has", async () => {
  const folder = await testDataFolder();
  const disk = join(folder, "nats");
  mkdirSync(disk);
  // needs the right to mount: without it the drill fails and says so
  execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", disk]);
  afterFile(() => execFileSync("/bin/umount", ["--lazy", disk]));
  const lines: string[] = [];
  const servers = await startEmbeddedServers({ DATA_DIR: folder }, (line) => void lines.push(line));
  afterFile(() => servers.stop());
  const addresses = { ...servers, master_key: Buffer.alloc(32, 3).toString("base64") };
  const deployment = { addresses, prefix: "full", folder };
  const services = await startPlatform({ roles: ["services", "projections"], deployment });
  const http = await startPlatform({ roles: ["http"], deployment });
  const call = clientOf({ chat: `${http.url}/api/openai/v1` }, (await services.organization()).api_key);
  expect(await askTurn(call)).toMatchObject({ status: 200 });

  const fill = join(disk, "fill");
  expect(() => writeFileSync(fill, Buffer.alloc(64 * 1024 ** 2))).toThrow("ENOSPC");
  const statuses = new Set<number>();
  const ask = async () => {
    const { status } = await askTurn(call);
    statuses.add(status);
    return status;
  };
  await expect.poll(ask, { timeout: BACK_MS }).toBe(503);
  // Most fulls break the stream of the commands, and a broken stream needs a restart. Others break nothing, and end by themselves.
  const isBroken = () => lines.some((line) => FAULT.test(line));
  for (const end = performance.now() + FULL_MS; !isBroken() && performance.now() < end; ) expect(await ask()).toBe(503);
  rmSync(fill);
  await expect.poll(ask, { timeout: BACK_MS }).toBe(200);
  expect([...statuses].toSorted()).toEqual([200, 503]);
});
