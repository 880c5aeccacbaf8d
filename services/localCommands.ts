import type { Command, CommandResult } from "#events/envelope.ts";
import type { CommandSender, Gate } from "#events/ports.ts";
import type { Handle } from "./handle.ts";

/** The handler of this process, and whether it may take commands now. */
export interface LocalHandler {
  handle: Handle;
  gate: Gate;
}

/** Commands that are handled here at once. More go through the bus, which holds them until a process has room. */
const MAX_IN_PROGRESS = 1_000;
/** A longer command is left to the bus, which refuses what is too long for a message. */
const MAX_BYTES = 128 * 1024;

/** Resolves when the gate closes. */
function untilClosed(gate: Gate): { closed: Promise<undefined>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const stop = gate.onChange((isOpen) => isOpen || resolve(undefined));
  return { closed: promise, stop };
}

/** The result of a command that was handled here; undefined when the bus must carry it. */
async function handleHere({ handle, gate }: LocalHandler, command: Command): Promise<CommandResult | undefined> {
  const { closed, stop } = untilClosed(gate);
  try {
    return await Promise.race([handle(command), closed]);
  } catch {
    // Whatever went wrong: the bus repeats the command, and its outcome row answers it if it has taken effect.
    return undefined;
  } finally {
    stop();
  }
}

/**
 * Sends commands to the handler of this process, without the way over the bus. What it cannot handle now, or fails to handle,
 * goes through the bus under the same id (docs/adr/0038-a-process-handles-its-own-commands.md).
 */
export function preferLocal(local: LocalHandler, bus: CommandSender): CommandSender {
  let inProgress = 0;
  return {
    async send(command) {
      const encoded = JSON.stringify(command);
      if (encoded.length > MAX_BYTES || inProgress >= MAX_IN_PROGRESS || !local.gate.isOpen()) return bus.send(command);
      inProgress++;
      try {
        // The copy is what another process would get.
        return (await handleHere(local, JSON.parse(encoded))) ?? (await bus.send(command));
      } finally {
        inProgress--;
      }
    },
  };
}
