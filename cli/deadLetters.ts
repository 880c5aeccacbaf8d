import type { DeadLetter } from "#infra/nats/deadLetters.ts";
import { withBus } from "./connect.ts";
import { CliError } from "./cliError.ts";
import { firstLine, print, printLine, escapeControls, printJson, formatTable } from "./output.ts";

type Letter = DeadLetter & { seq: number; at: Date };

const readField = (command: unknown, name: string): string | undefined => {
  const value: unknown = command !== null && typeof command === "object" ? Reflect.get(command, name) : undefined;
  return typeof value === "string" ? value : undefined;
};

/** A letter without its command's data, which may be personal. */
const withoutContent = ({ command, ...letter }: Letter) => ({
  ...letter,
  type: readField(command, "type"),
  stream: readField(command, "stream"),
  command_id: readField(command, "id"),
  request_id: readField(command, "request_id"),
});

/** The invalid fields and their problems, if the error is a ZodError. */
function describeZodError(error: string): string | undefined {
  const [issues] = /(?<=^ZodError: )\[.*?^\]/ms.exec(error) ?? [];
  if (!issues) return undefined;
  try {
    const parsed = JSON.parse(issues) as { path: (string | number)[]; message: string }[];
    return parsed.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  } catch {
    return undefined;
  }
}

const toRow = ({ seq, at, reason, error, command }: Letter): string[] => [
  String(seq),
  at.toISOString(),
  escapeControls(readField(command, "type") ?? "?"),
  escapeControls(readField(command, "stream") ?? "?"),
  escapeControls(reason),
  firstLine(describeZodError(error) ?? error),
];

export function listDead(options: { limit: number; personal?: boolean; json?: boolean }): Promise<void> {
  return withBus(async ({ deadLetters }) => {
    const letters = await deadLetters.list(options.limit);
    if (options.json) return printJson(letters.map((letter) => (options.personal ? letter : withoutContent(letter))));
    if (letters.length === 0) return print("There are no dead letters.");
    print(formatTable([["seq", "since", "type", "stream", "reason", "error"], ...letters.map(toRow)]));
    if (letters.length === options.limit) printLine("These are the oldest ones: there may be more, see --limit.");
    if (options.personal)
      for (const { seq, command } of letters) print(`${seq}: ${escapeControls(JSON.stringify(command))}`);
  });
}

const noSuchLetter = (seq: number) =>
  new CliError(`There is no dead letter ${seq}`, "svc dead list shows their numbers");

export function replayDead(seq: number): Promise<void> {
  return withBus(async ({ deadLetters }) => {
    if (!(await deadLetters.replay(seq))) throw noSuchLetter(seq);
    print(`Dead letter ${seq} was sent again, with a deadline in one minute.`);
  });
}

export function removeDead(seq: number): Promise<void> {
  return withBus(async ({ deadLetters }) => {
    if (!(await deadLetters.remove(seq))) throw noSuchLetter(seq);
    print(`Dead letter ${seq} was removed.`);
  });
}
