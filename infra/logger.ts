import pino, { type DestinationStream, type Logger } from "pino";
import { currentTrace } from "#events/spans.ts";

/** Our API keys, session tokens and webhook secrets, keys of providers, and passwords in URLs. */
const SECRETS =
  /\b(?:sk|sess|whsec)-[A-Za-z0-9][A-Za-z0-9_-]{15,}|\bAIza[A-Za-z0-9_-]{30,}|(?<=:\/\/[^\s:@/"]{0,64}:)[^\s@/"]+(?=@)/g;

const redactSecrets = (line: string): string => line.replace(SECRETS, "[secret]");

/** The fields of an error that are logged. Other fields of a database error may contain a tenant's data. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    stack,
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}

/** Connects each line to its trace. */
const traceFields = (): { trace_id?: string } => {
  const trace = currentTrace();
  return trace ? { trace_id: trace.trace_id } : {};
};

/** Logs JSON lines to standard output, with secrets redacted. */
export function createLogger(level: string, role: string, to: DestinationStream = process.stdout): Logger {
  const redacting: DestinationStream = { write: (line) => to.write(redactSecrets(line)) };
  return pino({ level, base: { role }, mixin: traceFields, serializers: { err: describeError } }, redacting);
}
