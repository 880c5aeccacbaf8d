import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import type { CommandResult, Command } from "#events/envelope.ts";
import { newCommandId, newId } from "#events/ids.ts";
import { Unavailable, type CommandOutcome, type CommandSender } from "#events/ports.ts";
import { connectBus, type Bus } from "#infra/nats/connect.ts";
import { afterTest } from "#test/cleanUp.ts";

type Options = Parameters<typeof connectBus>[0];

/** A connection like that of a service process, closed after the test. */
export async function openBus(options: Pick<Options, "url" | "prefix" | "limits"> & Partial<Options>): Promise<Bus> {
  const bus = await connectBus({
    name: "test",
    log: pino({ level: process.env["LOG_LEVEL"] ?? "silent" }),
    ...options,
  });
  afterTest(() => bus.close());
  return bus;
}

/** A handler like that of the service: it records an outcome the first time, and repeats it afterwards. */
export function createRecorder() {
  const rows = new Map<string, CommandOutcome>();
  const handle = async ({ id }: { id: string }): Promise<CommandResult> => {
    const known = rows.get(id);
    if (known) return { position: known.position, repeated: true };
    rows.set(id, { position: rows.size + 1, fingerprint: null, rejection: null });
    return { position: rows.size, repeated: false };
  };
  return { rows, handle, outcomes: { outcome: async (id: string) => rows.get(id) } };
}

/** A worker that handles commands, stopped after the test before its bus is closed. */
export async function startWorker(bus: Bus, handle: (command: Command) => Promise<CommandResult>) {
  const worker = await bus.source().consume(handle);
  afterTest(() => worker.stop());
  return worker;
}

export const noOutcomes = { outcome: async () => undefined };
export const succeed = async (): Promise<CommandResult> => ({ position: 1, repeated: false });

/** Starts a worker that handles every command. Returns the ids of what it has handled, a list that grows. */
export async function noteHandled(bus: Bus): Promise<string[]> {
  const handled: string[] = [];
  await startWorker(bus, async ({ id }) => {
    handled.push(id);
    return succeed();
  });
  return handled;
}

export function newCommand(given: Partial<Command> & { seconds?: number } = {}): Command {
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

/** Sends a command again while no worker takes it, as clients do. */
export async function sendUntilTaken(sender: CommandSender, command: Command): Promise<CommandResult> {
  for (;;)
    try {
      return await sender.send(command);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
    }
}

/** Polls until the condition holds; only the test's own timeout limits it. */
export async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await delay(10);
}
