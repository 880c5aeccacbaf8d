import type { DeadLetter } from "#infra/nats/deadLetters.ts";
import { withBus } from "./connect.ts";
import { Problem } from "./problem.ts";
import { firstLine, print, printable, printJson, table } from "./output.ts";

type Letter = DeadLetter & { seq: number; at: Date };

const fieldOf = (command: unknown, name: string): string | undefined => {
  const value: unknown = command !== null && typeof command === "object" ? Reflect.get(command, name) : undefined;
  return typeof value === "string" ? value : undefined;
};

/** A letter without what its command carries, which may be personal. */
const outside = ({ command, ...letter }: Letter) => ({
  ...letter,
  type: fieldOf(command, "type"),
  stream: fieldOf(command, "stream"),
  command_id: fieldOf(command, "id"),
  request_id: fieldOf(command, "request_id"),
});

/** What was wrong with a command's fields, where that is what the error tells. */
function fieldsIn(error: string): string | undefined {
  const [issues] = /(?<=^ZodError: )\[.*?^\]/ms.exec(error) ?? [];
  if (!issues) return undefined;
  try {
    const told = JSON.parse(issues) as { path: (string | number)[]; message: string }[];
    return told.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  } catch {
    return undefined;
  }
}

const row = ({ seq, at, reason, error, command }: Letter): string[] => [
  String(seq),
  at.toISOString(),
  printable(fieldOf(command, "type") ?? "?"),
  printable(fieldOf(command, "stream") ?? "?"),
  printable(reason),
  firstLine(fieldsIn(error) ?? error),
];

export function listDead(options: { limit: number; personal?: boolean; json?: boolean }): Promise<void> {
  return withBus(async ({ deadLetters }) => {
    const letters = await deadLetters.list(options.limit);
    if (options.json) return printJson(letters.map((letter) => (options.personal ? letter : outside(letter))));
    if (letters.length === 0) return print("There are no dead letters.");
    print(table([["seq", "since", "type", "stream", "reason", "error"], ...letters.map(row)]));
    if (options.personal)
      for (const { seq, command } of letters) print(`${seq}: ${printable(JSON.stringify(command))}`);
  });
}

const missing = (seq: number) => new Problem(`There is no dead letter ${seq}`, "svc dead list shows which there are");

export function replayDead(seq: number): Promise<void> {
  return withBus(async ({ deadLetters }) => {
    if (!(await deadLetters.replay(seq))) throw missing(seq);
    print(`Dead letter ${seq} was sent again, with a minute to be handled in.`);
  });
}

export function removeDead(seq: number): Promise<void> {
  return withBus(async ({ deadLetters }) => {
    if (!(await deadLetters.remove(seq))) throw missing(seq);
    print(`Dead letter ${seq} was removed.`);
  });
}
