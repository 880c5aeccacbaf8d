import { pino } from "pino";
import { expect, test } from "vitest";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { startHeartbeat } from "#infra/postgres/heartbeat.ts";
import { watchSameBus } from "#infra/postgres/sameBus.ts";
import { afterTest } from "#test/cleanUp.ts";
import { testDatabase } from "#test/harness.ts";
import { until } from "../bus/bus.ts";

const LOOKS_MS = 600;

/** Processes of one database, each with a bus that the test sets. */
async function startWorkers() {
  const { url } = await testDatabase();
  const pool = openPool(url, { max: 4, name: "same bus" });
  afterTest(() => pool.end());
  const start = async (worker: string, first: string | undefined) => {
    let [bus, reports] = [first, 0];
    const heartbeat = await startHeartbeat(pool, { worker, role: "services" }, () => {});
    const watched = watchSameBus({
      db: asDb(pool),
      worker,
      logger: pino({ level: "silent" }),
      identify: async () => bus,
      onApart: () => void (reports += 1),
      every_ms: 50,
    });
    const stop = async () => (await watched.stop(), await heartbeat.leave());
    afterTest(stop);
    return { ...watched, use: (other: string | undefined) => void (bus = other), reports: () => reports };
  };
  const deployment = async () => (await pool.query("select bus from ops.bus")).rows[0]?.bus;
  return { start, deployment };
}

const someLooks = () => new Promise((resolve) => setTimeout(resolve, LOOKS_MS));

test("a process on another bus takes no work, both sides report it, and it works again on the common bus", async () => {
  const { start, deployment } = await startWorkers();
  const [one, two] = [await start("one", "A"), await start("two", "A")];
  await until(async () => (await deployment()) === "A");
  const stray = await start("stray", "B");
  await until(() => !stray.isOpen());
  await until(() => one.reports() === 1 && two.reports() === 1 && stray.reports() === 1);
  expect([one.isOpen(), two.isOpen()]).toEqual([true, true]);
  stray.use("A");
  await until(() => stray.isOpen());
  expect(await deployment()).toBe("A");
});

test("a bus that is lost and recreated stops no process", async () => {
  const { start } = await startWorkers();
  const [one, two] = [await start("one", "A"), await start("two", "A")];
  await someLooks();
  one.use(undefined);
  two.use(undefined);
  await someLooks();
  let closed = 0;
  for (const worker of [one, two]) worker.onChange(() => void (closed += 1));
  one.use("A again");
  await someLooks();
  two.use("A again");
  await someLooks();
  expect(closed).toBe(0);
  expect([one.reports(), two.reports()]).toEqual([0, 0]);
});
