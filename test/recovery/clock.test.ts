import { pino } from "pino";
import { expect, test } from "vitest";
import { watchClock } from "#infra/postgres/clock.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { sendWhileOpen } from "#services/gates.ts";
import { afterTest } from "#test/cleanUp.ts";
import { testDatabase } from "#test/harness.ts";
import { createRecorder, newCommand, openBus, until } from "../bus/bus.ts";
import { testBus } from "../harness.ts";

const HOUR_MS = 3_600_000;

async function testPool() {
  const { url } = await testDatabase();
  const pool = openPool(url, { max: 1, name: "clock" });
  afterTest(() => pool.end());
  return pool;
}

test("a process whose clock is an hour ahead takes no commands and reports it, and takes them again once its clock is right", async () => {
  const pool = await testPool();
  let offset_ms = HOUR_MS;
  let reports = 0;
  const clock = await watchClock({
    max_offset_ms: 1_000,
    db: asDb(pool),
    logger: pino({ level: "silent" }),
    onOff: () => void (reports += 1),
    now: () => Date.now() + offset_ms,
  });
  afterTest(() => clock.stop());
  expect([clock.isOpen(), reports]).toEqual([false, 1]);

  const [bus, server] = [createRecorder(), testBus()];
  const [http, services] = [await openBus(server), await openBus(server)];
  const worker = await services.source().consume(bus.handle, clock);
  afterTest(() => worker.stop());
  await expect(http.sender(bus.outcomes).send(newCommand({ seconds: 1 }))).rejects.toThrow("No answer by the deadline");
  expect(bus.rows.size).toBe(0);
  offset_ms = 0;
  expect(await http.sender(bus.outcomes).send(newCommand())).toMatchObject({ repeated: false });
  offset_ms = -HOUR_MS;
  await until(() => !clock.isOpen());
  expect(reports).toBe(2);
});

test("a process with a wrong clock sends no commands, and sends them again once its clock is right", async () => {
  let isRight = false;
  const sender = sendWhileOpen([{ gate: { isOpen: () => isRight }, closed: "The clock differs" }], async () => ({
    position: 1,
    repeated: false,
  }));
  await expect(sender.send(newCommand())).rejects.toThrow("The clock differs");
  isRight = true;
  expect(await sender.send(newCommand())).toEqual({ position: 1, repeated: false });
});

test("commands are all answered at once if the clock jumps an hour ahead", async () => {
  const jumped = () => Date.now() + HOUR_MS;
  const [bus, server] = [createRecorder(), testBus()];
  const [http, services] = [await openBus(server), await openBus(server)];
  const clock = await watchClock({
    max_offset_ms: 1_000,
    db: asDb(await testPool()),
    logger: pino({ level: "silent" }),
    onOff: () => {},
    now: jumped,
  });
  afterTest(() => clock.stop());
  const worker = await services.source(clock.now).consume(bus.handle);
  afterTest(() => worker.stop());
  const answers = await Promise.all(Array.from({ length: 8 }, () => http.sender(bus.outcomes).send(newCommand())));
  expect(answers.map(({ rejection }) => rejection)).toEqual(answers.map(() => undefined));
  expect(bus.rows.size).toBe(8);
});

test("a command that arrives after its deadline by the receiver's clock is refused at once, and may be retried", async () => {
  const [bus, server] = [createRecorder(), testBus()];
  const [http, services] = [await openBus(server), await openBus(server)];
  const worker = await services.source(() => Date.now() + HOUR_MS).consume(bus.handle);
  afterTest(() => worker.stop());
  const { rejection } = await http.sender(bus.outcomes).send(newCommand({ seconds: 60 }));
  expect(rejection).toMatchObject({ code: "unavailable", retryable: true });
  expect(bus.rows.size).toBe(0);
});
