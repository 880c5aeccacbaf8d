import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { freePort } from "#infra/embedded/freePort.ts";
import { waitForStart } from "#infra/postgres/waitForStart.ts";
import { afterTest } from "../cleanUp.ts";
import { startProcess } from "../faults/processes.ts";
import { testDatabase } from "../harness.ts";
import { startPlatform, testDeployment } from "../platform.ts";

/** What PostgreSQL answers while it recovers after a crash. */
function refuse(socket: Socket): void {
  const fields = ["SFATAL", "VFATAL", "C57P03", "Mthe database system is starting up", ""];
  const body = Buffer.from(fields.map((field) => `${field}\0`).join(""));
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(body.length + 4, 1);
  socket.once("data", () => socket.end(Buffer.concat([head, body])));
}

/** The database's address on another port. */
function atPort(url: string, port: number): string {
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;
  return through.href;
}

/** A proxy that answers the first `refusals` connections as a starting database does. `listenAt`: its port; by default a free one. */
async function startingDatabase(url: string, refusals: number, listenAt = 0) {
  const { hostname, port } = new URL(url);
  let refused = 0;
  const proxy = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    if (refused < refusals) {
      refused += 1;
      return refuse(socket);
    }
    const server = connect(Number(port), hostname).on("error", () => socket.destroy());
    socket.pipe(server).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(listenAt, "127.0.0.1", resolve));
  afterTest(() => void proxy.close());
  return { url: atPort(url, (proxy.address() as AddressInfo).port), refused: () => refused };
}

test("a process that starts while PostgreSQL recovers waits for it, and then runs", async () => {
  const deployment = await testDeployment();
  const database = await startingDatabase(deployment.addresses.database_url, 3);
  const running = await startProcess("projections", deployment, { DATABASE_URL: database.url });
  expect(database.refused()).toBe(3);
  running.kill();
  await running.ended;
});

test("a process that starts before PostgreSQL listens waits for it, also while it recovers then", async () => {
  const [{ url }, port] = [await testDatabase(), await freePort()];
  const obstacles: string[] = [];
  const waiting = waitForStart(atPort(url, port), (obstacle) => obstacles.push(obstacle));
  await expect.poll(() => obstacles).toEqual(["away"]);
  const database = await startingDatabase(url, 1, port);
  await waiting;
  expect([database.refused(), obstacles]).toEqual([1, ["away", "starting"]]);
});

/** A proxy to the database that passes nothing on its nth connection. */
async function stallingDatabase(url: string, nth: number) {
  const { hostname, port } = new URL(url);
  let connections = 0;
  const proxy = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    connections += 1;
    if (connections === nth) return void socket.resume();
    const server = connect(Number(port), hostname).on("error", () => socket.destroy());
    socket.pipe(server).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  afterTest(() => void proxy.close());
  return { url: atPort(url, (proxy.address() as AddressInfo).port), connections: () => connections };
}

// in this order: of the migration, of the observer of PostgreSQL, of the clock, and of the first heartbeat
test.each([3, 4])("a process whose connection %d to PostgreSQL is silent tries again, and runs", async (nth) => {
  const deployment = await testDeployment();
  const database = await stallingDatabase(deployment.addresses.database_url, nth);
  const addresses = { ...deployment.addresses, database_url: database.url };
  const platform = await startPlatform({ roles: ["projections"], deployment: { ...deployment, addresses } });
  expect(database.connections()).toBeGreaterThanOrEqual(nth);
  const { rows } = await platform.resources.pool.query("select worker from ops.workers");
  expect(rows).toEqual([{ worker: platform.resources.worker }]);
  await platform.stop();
});
