import pino, { type DestinationStream, type Logger } from "pino";
import { currentTrace } from "#events/spans.ts";

/** Our keys, session tokens and webhook secrets, and the shapes of providers' keys and passwords in addresses. */
const SECRETS =
  /\b(?:sk|sess|whsec)-[A-Za-z0-9][A-Za-z0-9_-]{15,}|\bAIza[A-Za-z0-9_-]{30,}|(?<=:\/\/[^\s:@/"]{0,64}:)[^\s@/"]+(?=@)/g;

export const withoutSecrets = (line: string): string => line.replace(SECRETS, "[secret]");

/** What is said of an error: the server's details and parameters can hold what a tenant sent, so they are left out. */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    stack,
    ...(cause === undefined ? {} : { cause: describe(cause) }),
  };
}

/** The trace that a line belongs to, so that an operator gets from the one to the other. */
const traced = (): { trace_id?: string } => {
  const trace = currentTrace();
  return trace ? { trace_id: trace.trace_id } : {};
};

/** JSON lines on standard output, each without secrets whoever wrote it. */
export function createLogger(level: string, role: string, to: DestinationStream = process.stdout): Logger {
  const scrubbing: DestinationStream = { write: (line) => to.write(withoutSecrets(line)) };
  return pino({ level, base: { role }, mixin: traced, serializers: { err: describe } }, scrubbing);
}
