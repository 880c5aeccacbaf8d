import type { Command, CommandResult } from "#events/envelope.ts";
import type { CommandSender, Gate } from "#events/ports.ts";
import type { Handle } from "./handle.ts";

/** The command handler of this process, and the gate that says whether it may take commands. */
export interface LocalHandler {
  handle: Handle;
  gate: Gate;
}

/** Commands that this process handles locally at the same time. More go through the bus, which holds them until a process has room. */
const MAX_IN_PROGRESS = 1_000;
/** Maximum bytes of a command handled locally. Longer ones go to the bus, which refuses those that exceed a message. */
const MAX_BYTES = 128 * 1024;

/** Handles commands here. The result is undefined if the gate closes first, or the handler fails. */
function handleWhileOpen({ handle, gate }: LocalHandler): (command: Command) => Promise<CommandResult | undefined> {
  // one listener for all commands: one for each took a hundredth of a turn
  const waiting = new Set<() => void>();
  gate.onChange((isOpen) => {
    if (!isOpen) for (const giveUp of waiting) giveUp();
  });
  return (command) =>
    new Promise((resolve) => {
      const finish = (result?: CommandResult): void => {
        waiting.delete(giveUp);
        resolve(result);
      };
      const giveUp = () => finish();
      waiting.add(giveUp);
      // Whatever failed: the bus sends the command again, and its stored outcome answers it if it took effect.
      handle(command).then(finish, giveUp);
    });
}

/**
 * Sends commands to the handler of this process first, which saves the bus. A command that it cannot take, or fails to handle, goes
 * through the bus under the same id (docs/adr/0038-a-process-handles-its-own-commands.md).
 */
export function preferLocal(local: LocalHandler, bus: CommandSender): CommandSender {
  let inProgress = 0;
  const handleHere = handleWhileOpen(local);
  return {
    async send(command) {
      const encoded = JSON.stringify(command);
      if (encoded.length > MAX_BYTES || inProgress >= MAX_IN_PROGRESS || !local.gate.isOpen()) return bus.send(command);
      inProgress++;
      try {
        // A copy, as another process would receive it.
        return (await handleHere(JSON.parse(encoded))) ?? (await bus.send(command));
      } finally {
        inProgress--;
      }
    },
  };
}
