import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { freePort } from "#infra/embedded/freePort.ts";
import type { Bus } from "#infra/nats/connect.ts";
import { afterTest } from "#test/cleanUp.ts";
import { checkSync } from "../../cli/doctor/bus.ts";

const busOf = (server_version: string) => ({ health: async () => ({ server_version }) }) as unknown as Bus;

/** The monitoring address of a server with this JetStream configuration. */
async function startMonitor(config: object, below = "") {
  const server = createServer((request, response) =>
    response.writeHead(request.url === `${below}/jsz?config=true` ? 200 : 404).end(JSON.stringify({ config })),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterTest(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("svc doctor accepts a NATS server that syncs at once, and refuses one that syncs every two minutes", async () => {
  const bus = busOf("2.12.15");
  expect(await checkSync(bus, await startMonitor({ sync_always: true, sync_interval: 120e9 }))).toBe("always");
  await expect(checkSync(bus, await startMonitor({ sync_interval: 120e9 }))).rejects.toMatchObject({
    what: "a power cut takes the messages of up to two minutes",
    next: expect.stringContaining("sync_interval: always"),
  });
});

test("svc doctor reports if it cannot read the sync interval of NATS, or if the server version has no such setting", async () => {
  expect(await checkSync(busOf("2.12.15"), undefined)).toContain("set NATS_MONITOR_URL");
  expect(await checkSync(busOf("2.9.10"), undefined)).toContain("every two minutes");
});

test("svc doctor asks a monitoring address below its path, and says which setting names one that does not answer", async () => {
  const monitor = await startMonitor({ sync_always: true }, "/nats");
  expect(await checkSync(busOf("2.12.15"), `${monitor}/nats/`)).toBe("always");
  await expect(checkSync(busOf("2.12.15"), monitor)).rejects.toMatchObject({
    what: expect.stringMatching(/answers 404$/),
  });
  const away = `127.0.0.1:${await freePort()}`;
  await expect(checkSync(busOf("2.12.15"), `http://${away}`)).rejects.toMatchObject({
    what: `nothing answers at ${away} (connect ECONNREFUSED ${away})`,
    next: "correct NATS_MONITOR_URL, or leave it out",
  });
});
