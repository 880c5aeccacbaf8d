import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { afterEach } from "vitest";
import type { Answer, Command } from "#events/envelope.ts";
import { newCommandId, newId } from "#events/ids.ts";
import type { Outcome } from "#events/ports.ts";
import { connectBus, type Bus } from "#infra/nats/connect.ts";

type Options = Parameters<typeof connectBus>[0];

const open: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

/** A connection as a process of the service has it, closed after the test. */
export async function aBus(options: Pick<Options, "url" | "prefix" | "limits"> & Partial<Options>): Promise<Bus> {
  const bus = await connectBus({
    name: "test",
    log: pino({ level: process.env["LOG_LEVEL"] ?? "silent" }),
    ...options,
  });
  open.push({ stop: () => bus.close() });
  return bus;
}

/** A handler as the service has it: the first time it keeps an outcome, then it repeats it. */
export function recording() {
  const rows = new Map<string, Outcome>();
  const handle = async ({ id }: { id: string }): Promise<Answer> => {
    const known = rows.get(id);
    if (known) return { position: known.position, repeated: true };
    rows.set(id, { position: rows.size + 1, fingerprint: null, rejection: null });
    return { position: rows.size, repeated: false };
  };
  return { rows, handle, outcomes: { outcome: async (id: string) => rows.get(id) } };
}

/** A worker that is stopped after the test, before its bus is closed. */
export async function working(bus: Bus, handle: (command: Command) => Promise<Answer>) {
  const worker = await bus.source().consume(handle);
  open.push(worker);
  return worker;
}

export const noOutcomes = { outcome: async () => undefined };
export const done = async (): Promise<Answer> => ({ position: 1, repeated: false });

export function aCommand(given: Partial<Command> & { seconds?: number } = {}): Command {
  const { seconds = 20, ...fields } = given;
  return {
    id: newCommandId(),
    type: "Test",
    stream: `thread-${newId()}`,
    organization_id: newId(),
    principal: "system",
    at: new Date().toISOString(),
    deadline: new Date(Date.now() + seconds * 1000).toISOString(),
    request_id: randomUUID(),
    data: {},
    ...fields,
  };
}

/** Waits until it is so; the test's own time limit ends it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(10);
}
