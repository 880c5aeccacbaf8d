import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Command, CommandResult } from "#events/envelope.ts";
import { newId } from "#events/ids.ts";
import { Unavailable, type CommandOutcome } from "#events/ports.ts";
import { testBus } from "#test/harness.ts";
import { openBus, newCommand, noOutcomes, noteHandled, succeed, until, startWorker } from "./bus.ts";
import { openInspector } from "./streams.ts";

const server = testBus();

test("another process handles a command and returns its answer", async () => {
  const [http, services] = await Promise.all([openBus(server), openBus(server)]);
  const command = newCommand({ data: { text: "NUL \u0000, ünïcode 😀" } });
  const rejection = { code: "thread_busy", message: "The thread is busy" };
  let handled: Command | undefined;
  await startWorker(services, async (given) => {
    handled = given;
    return { position: 7, repeated: false, rejection };
  });
  expect(await http.sender(noOutcomes).send(command)).toEqual({ position: 7, repeated: false, rejection });
  expect(handled).toEqual(command);
});

test("each of 1,000 concurrent commands gets its own answer", async () => {
  const bus = await openBus(server);
  await startWorker(bus, async ({ data }) => ({ position: data.n, repeated: false }));
  const sender = bus.sender(noOutcomes);
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, n) => sender.send(newCommand({ data: { n } }))));
  expect(answers.map(({ position }) => position)).toEqual(Array.from({ length: 1000 }, (_, n) => n));
});

test("a command whose handler fails is retried", async () => {
  const bus = await openBus(server);
  let tries = 0;
  await startWorker(bus, async () => {
    tries += 1;
    if (tries < 3) throw new Error("crashed");
    return { position: tries, repeated: false };
  });
  expect(await bus.sender(noOutcomes).send(newCommand())).toEqual({ position: 3, repeated: false });
});

test("a sender reads a lost answer from the outcome row", async () => {
  const [http, services] = await Promise.all([openBus(server), openBus(server)]);
  const rows = new Map<string, CommandOutcome>();
  await startWorker(services, async ({ id, fingerprint }) => {
    rows.set(id, { position: 9, fingerprint: fingerprint ?? null, rejection: null });
    void services.close();
    throw new Error("the process ends between the append and its answer");
  });
  const answer = http.sender({ outcome: async (id) => rows.get(id) }).send(newCommand({ fingerprint: "f" }));
  expect(await answer).toEqual({ position: 9, repeated: true });
});

test("a sender ignores an outcome that another request left under the same id", async () => {
  const bus = await openBus(server);
  const outcome = async () => ({ position: 9, fingerprint: "other", rejection: null });
  const sent = bus.sender({ outcome }).send(newCommand({ fingerprint: "own", seconds: 2 }));
  await expect(sent).rejects.toThrow(/outcome is unknown/);
});

test("a command without an answer fails as unavailable at its deadline, and is not handled afterwards", async () => {
  const bus = await openBus(server);
  const late = newCommand({ seconds: 1 });
  await expect(bus.sender(noOutcomes).send(late)).rejects.toBeInstanceOf(Unavailable);
  const handled = await noteHandled(bus);
  const next = newCommand();
  await bus.sender(noOutcomes).send(next);
  expect(handled).not.toContain(late.id);
  expect(handled).toContain(next.id);
});

test("a command that its worker cannot finish fails before its deadline while the log cannot be read", async () => {
  const bus = await openBus(server);
  const { promise: ended, resolve: end } = Promise.withResolvers<CommandResult>();
  await startWorker(bus, () => ended);
  const away = { outcome: () => Promise.reject(new Unavailable("no connection")) };
  const command = newCommand({ seconds: 600 });
  await expect(bus.sender(away).send(command)).rejects.toThrow("The log cannot be read: the outcome is unknown");
  end(await succeed());
});

test("a sender waits for a command that a worker is handling, even if its outcome cannot be read, as long as the database is reachable", async () => {
  const [http, services] = await Promise.all([openBus(server), openBus(server)]);
  await startWorker(services, async () => {
    await sleep(5_500);
    return succeed();
  });
  const slow = { outcome: () => Promise.reject(new Unavailable("no new connection in time")) };
  const sent = http.sender(slow, () => true).send(newCommand({ seconds: 15 }));
  expect(await sent).toEqual(await succeed());
});

test("a command that is sent twice, concurrently or later, is answered each time", async () => {
  const [one, other] = await Promise.all([openBus(server), openBus(server)]);
  await startWorker(one, succeed);
  const command = newCommand();
  const both = await Promise.all([one.sender(noOutcomes).send(command), other.sender(noOutcomes).send(command)]);
  expect([...both, await other.sender(noOutcomes).send(command)]).toEqual(
    [1, 1, 1].map((position) => ({ position, repeated: false })),
  );
});

test("a command is not dropped if another organization has used the same command id", async () => {
  const bus = await openBus(server);
  const organizations: string[] = [];
  await startWorker(bus, async ({ organization_id }) => {
    organizations.push(organization_id);
    return succeed();
  });
  const one = newCommand();
  const other = { ...one, organization_id: newId(), stream: `thread-${newId()}` };
  await Promise.all([bus.sender(noOutcomes).send(one), bus.sender(noOutcomes).send(other)]);
  await until(() => organizations.length === 2);
  expect(organizations.sort()).toEqual([one.organization_id, other.organization_id].sort());
});

test("a command that is too large, or whose ids are invalid in a subject, is refused before it is sent", async () => {
  const sender = (await openBus(server)).sender(noOutcomes);
  await expect(sender.send(newCommand({ data: "x".repeat(256 * 1024) }))).rejects.toThrow(/bytes encoded/);
  await expect(sender.send(newCommand({ organization_id: "a.b" }))).rejects.toThrow(/Invalid in a subject/);
  await expect(sender.send(newCommand({ stream: "thread-*" }))).rejects.toThrow(/Invalid in a subject/);
});

test("a command whose handler takes longer than ack_wait is not redelivered", async () => {
  const bus = await openBus({ ...testBus(), limits: { ack_wait_ms: 600 } });
  let handled = 0;
  await startWorker(bus, async () => {
    handled += 1;
    await new Promise((resolve) => setTimeout(resolve, 2500));
    return succeed();
  });
  await bus.sender(noOutcomes).send(newCommand());
  expect(handled).toBe(1);
});

test("a worker that stops finishes its commands, and later ones wait for the next worker", async () => {
  const bus = await openBus(server);
  const sender = bus.sender(noOutcomes);
  let started = 0;
  const first = await startWorker(bus, async () => {
    started += 1;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { position: 1, repeated: false };
  });
  const answers = Array.from({ length: 50 }, () => sender.send(newCommand()));
  await until(() => started === 50);
  await first.stop();
  await startWorker(bus, async () => ({ position: 2, repeated: false }));
  expect((await Promise.all(answers)).every(({ position }) => position === 1)).toBe(true);
  expect((await sender.send(newCommand())).position).toBe(2);
});

test("no command waits for a redelivery when workers start and stop under load", async () => {
  const [http, services] = await Promise.all([openBus(server), openBus(server)]);
  const sender = http.sender(noOutcomes);
  await startWorker(services, succeed);
  let sending = true;
  let answered = 0;
  const clients = Array.from({ length: 64 }, async () => {
    for (; sending; answered += 1) await sender.send(newCommand());
  });
  for (let n = 0; n < 10; n += 1) {
    const worker = await services.source().consume(succeed);
    const before = answered;
    await until(() => answered > before + 500);
    await worker.stop();
  }
  sending = false;
  await Promise.all(clients);
  expect(answered).toBeGreaterThan(5000);
});

test("the number of consumers stays constant over many commands and reads of frames", async () => {
  const bus = await openBus(server);
  await startWorker(bus, succeed);
  const inspector = await openInspector(server);
  const before = await inspector.consumers();
  const sender = bus.sender(noOutcomes);
  await Promise.all(Array.from({ length: 2000 }, () => sender.send(newCommand())));
  for (let n = 0; n < 50; n += 1) await bus.frames.loadFrames(newId(), newId());
  await until(async () => (await inspector.consumers()) === before);
  await inspector.close();
  expect(before).toBe(2);
});
