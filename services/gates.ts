import { Unavailable, type CommandSender, type Gate } from "#events/ports.ts";

/** A gate that is open while all the given ones are. */
export function combineGates(gates: Gate[]): Gate {
  const isOpen = () => gates.every((gate) => gate.isOpen());
  return {
    isOpen,
    onChange(listener) {
      const stops = gates.map((gate) => gate.onChange(() => listener(isOpen())));
      return () => stops.forEach((stop) => stop());
    },
  };
}

/** Refuses to send commands while a gate is closed. The error names the gate. */
export const sendWhileOpen = (
  gates: { gate: Pick<Gate, "isOpen">; closed: string }[],
  send: CommandSender["send"],
): CommandSender => ({
  async send(command) {
    for (const { gate, closed } of gates) if (!gate.isOpen()) throw new Unavailable(closed);
    return send(command);
  },
});
