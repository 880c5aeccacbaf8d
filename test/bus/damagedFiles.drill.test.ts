import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { namesFor } from "#infra/nats/names.ts";
import { newCommand, noOutcomes, openBus, startWorker, succeed } from "./bus.ts";
import { startOwnServer } from "./server.ts";

/* A failing disk or a power cut damages a file of NATS. Whichever it is, commands are delivered after NATS has started again. */

const FILES = ["meta.inf", "meta.sum", "msgs", "obs/meta.inf", "obs/meta.sum", "obs/o.dat"];

const WAYS: Record<string, (file: string) => Promise<void>> = {
  "is empty": (file) => truncate(file),
  "is cut off": async (file) => truncate(file, Math.floor((await readFile(file)).length / 2)),
  "has zeros": async (file) => writeFile(file, Buffer.alloc((await readFile(file)).length)),
  "has other bytes": async (file) =>
    writeFile(
      file,
      (await readFile(file)).map((byte) => byte ^ 0x5a),
    ),
  "is missing": (file) => rm(file),
};

const server = await startOwnServer();

/** The path of a file of the command stream, of its consumer (`obs`), or of its messages (`msgs`). */
async function pathOf(file: string, prefix: string): Promise<string> {
  const { streams, durables } = namesFor(prefix);
  const folder = join(server.store, "jetstream", "$G", "streams", streams.commands);
  if (file !== "msgs") return join(folder, file.replace("obs", `obs/${durables.commands}`));
  const block = (await readdir(join(folder, file))).find((name) => name.endsWith(".blk"));
  return join(folder, file, block!);
}

/** Commands of a deployment of its own, one of whose files will be damaged. */
async function openDeployment(prefix: string) {
  const [http, services] = [await openBus({ ...server, prefix }), await openBus({ ...server, prefix })];
  await startWorker(services, succeed);
  const sender = http.sender(noOutcomes);
  return () => sender.send(newCommand({ seconds: 30 }));
}

test("commands are delivered after NATS has started with a damaged file, whichever it is", async () => {
  const damages = FILES.flatMap((file) => Object.entries(WAYS).map(([way, damage]) => ({ file, way, damage })));
  const all = await Promise.all(
    damages.map(async (one, n) => ({ ...one, prefix: `damaged-${n}`, send: await openDeployment(`damaged-${n}`) })),
  );
  const sendEach = async () =>
    Promise.all(all.map(async ({ file, way, send }) => [file, way, (await send()).position] as const));
  const delivered = damages.map(({ file, way }) => [file, way, 1]);
  expect(await sendEach()).toEqual(delivered);
  // the server writes the state of a consumer once a second
  await sleep(1_200);
  await server.kill();
  for (const { file, damage, prefix } of all) await damage(await pathOf(file, prefix));
  await server.start();
  expect(await sendEach()).toEqual(delivered);
});
