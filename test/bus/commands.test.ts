import { expect, test } from "vitest";
import type { Command } from "#events/envelope.ts";
import { newId } from "#events/ids.ts";
import { Unavailable, type Outcome } from "#events/ports.ts";
import { testBus } from "#test/harness.ts";
import { aBus, aCommand, done, noOutcomes, until, working } from "./bus.ts";
import { lookAt } from "./streams.ts";

const server = testBus();

test("a command is handled by another process and its answer comes back", async () => {
  const [http, services] = await Promise.all([aBus(server), aBus(server)]);
  const command = aCommand({ data: { text: "NUL \u0000, ünïcode 😀" } });
  const rejection = { code: "thread_busy", message: "The thread is busy" };
  let handled: Command | undefined;
  await working(services, async (given) => {
    handled = given;
    return { position: 7, repeated: false, rejection };
  });
  expect(await http.sender(noOutcomes).send(command)).toEqual({ position: 7, repeated: false, rejection });
  expect(handled).toEqual(command);
});

test("1,000 commands at once each get their own answer", async () => {
  const bus = await aBus(server);
  await working(bus, async ({ data }) => ({ position: data.n, repeated: false }));
  const sender = bus.sender(noOutcomes);
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, n) => sender.send(aCommand({ data: { n } }))));
  expect(answers.map(({ position }) => position)).toEqual(Array.from({ length: 1000 }, (_, n) => n));
});

test("a command whose handler fails is handled again", async () => {
  const bus = await aBus(server);
  let tries = 0;
  await working(bus, async () => {
    tries += 1;
    if (tries < 3) throw new Error("crashed");
    return { position: tries, repeated: false };
  });
  expect(await bus.sender(noOutcomes).send(aCommand())).toEqual({ position: 3, repeated: false });
});

test("a lost answer is read from the outcome row", async () => {
  const [http, services] = await Promise.all([aBus(server), aBus(server)]);
  const rows = new Map<string, Outcome>();
  await working(services, async ({ id, fingerprint }) => {
    rows.set(id, { position: 9, fingerprint: fingerprint ?? null, rejection: null });
    void services.close();
    throw new Error("the process ends between the append and its answer");
  });
  const answer = http.sender({ outcome: async (id) => rows.get(id) }).send(aCommand({ fingerprint: "f" }));
  expect(await answer).toEqual({ position: 9, repeated: true });
});

test("an outcome that another request left under the same id is no answer", async () => {
  const bus = await aBus(server);
  const outcome = async () => ({ position: 9, fingerprint: "other", rejection: null });
  const sent = bus.sender({ outcome }).send(aCommand({ fingerprint: "own", seconds: 2 }));
  await expect(sent).rejects.toThrow(/outcome is unknown/);
});

test("nobody answers: unavailable at the deadline, and a command that comes after it is not handled", async () => {
  const bus = await aBus(server);
  const late = aCommand({ seconds: 1 });
  await expect(bus.sender(noOutcomes).send(late)).rejects.toBeInstanceOf(Unavailable);
  const handled: string[] = [];
  await working(bus, async ({ id }) => {
    handled.push(id);
    return done();
  });
  const next = aCommand();
  await bus.sender(noOutcomes).send(next);
  expect(handled).not.toContain(late.id);
  expect(handled).toContain(next.id);
});

test("the same command sent twice at once, and again later, is answered each time", async () => {
  const [one, other] = await Promise.all([aBus(server), aBus(server)]);
  await working(one, done);
  const command = aCommand();
  const both = await Promise.all([one.sender(noOutcomes).send(command), other.sender(noOutcomes).send(command)]);
  expect([...both, await other.sender(noOutcomes).send(command)]).toEqual(
    [1, 1, 1].map((position) => ({ position, repeated: false })),
  );
});

test("an equal command id of another tenant is not swallowed", async () => {
  const bus = await aBus(server);
  const organizations: string[] = [];
  await working(bus, async ({ organization_id }) => {
    organizations.push(organization_id);
    return done();
  });
  const one = aCommand();
  const other = { ...one, organization_id: newId(), stream: `thread-${newId()}` };
  await Promise.all([bus.sender(noOutcomes).send(one), bus.sender(noOutcomes).send(other)]);
  await until(() => organizations.length === 2);
  expect(organizations.sort()).toEqual([one.organization_id, other.organization_id].sort());
});

test("what is too large, or would reach other subjects, is refused before it is sent", async () => {
  const sender = (await aBus(server)).sender(noOutcomes);
  await expect(sender.send(aCommand({ data: "x".repeat(256 * 1024) }))).rejects.toThrow(/bytes encoded/);
  await expect(sender.send(aCommand({ organization_id: "a.b" }))).rejects.toThrow(/Not fit for a subject/);
  await expect(sender.send(aCommand({ stream: "thread-*" }))).rejects.toThrow(/Not fit for a subject/);
});

test("a handler that takes longer than ack_wait is not doubled", async () => {
  const bus = await aBus({ ...testBus(), limits: { ack_wait_ms: 600 } });
  let handled = 0;
  await working(bus, async () => {
    handled += 1;
    await new Promise((resolve) => setTimeout(resolve, 2500));
    return done();
  });
  await bus.sender(noOutcomes).send(aCommand());
  expect(handled).toBe(1);
});

test("stop waits for what is in hand, and what comes later waits for the next worker", async () => {
  const bus = await aBus(server);
  const sender = bus.sender(noOutcomes);
  const first = await working(bus, async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { position: 1, repeated: false };
  });
  const answers = Array.from({ length: 50 }, () => sender.send(aCommand()));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await first.stop();
  await working(bus, async () => ({ position: 2, repeated: false }));
  expect((await Promise.all(answers)).every(({ position }) => position === 1)).toBe(true);
  expect((await sender.send(aCommand())).position).toBe(2);
});

test("workers come and go under load, and no command waits for a second delivery", async () => {
  const [http, services] = await Promise.all([aBus(server), aBus(server)]);
  const sender = http.sender(noOutcomes);
  await working(services, done);
  let sending = true;
  let answered = 0;
  const clients = Array.from({ length: 64 }, async () => {
    for (; sending; answered += 1) await sender.send(aCommand());
  });
  for (let n = 0; n < 10; n += 1) {
    const worker = await services.source().consume(done);
    const before = answered;
    await until(() => answered > before + 500);
    await worker.stop();
  }
  sending = false;
  await Promise.all(clients);
  expect(answered).toBeGreaterThan(5000);
});

test("the number of consumers stays the same over many commands and readings of frames", async () => {
  const bus = await aBus(server);
  await working(bus, done);
  const looker = await lookAt(server);
  const before = await looker.consumers();
  const sender = bus.sender(noOutcomes);
  await Promise.all(Array.from({ length: 2000 }, () => sender.send(aCommand())));
  for (let n = 0; n < 50; n += 1) await bus.frames.kept(newId(), newId());
  await until(async () => (await looker.consumers()) === before);
  await looker.close();
  expect(before).toBe(2);
});
