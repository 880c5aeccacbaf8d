import { STEP_INPUTS, type CallInput, type PlatformCall } from "../stepInputs.ts";
import { StepFailure } from "../tick.ts";

/** A failure that only the script's author can fix: a retry would fail the same way. */
export const invalidInput = (message: string): StepFailure => new StepFailure("step_error", message, { final: true });

const fieldPath = (path: PropertyKey[]): string =>
  path.map((part, n) => (typeof part === "number" ? `[${part}]` : `${n > 0 ? "." : ""}${String(part)}`)).join("");

/** Validates the input of a call. Throws a final StepFailure that names the field. */
export function parseInput<What extends PlatformCall>(what: What, input: unknown): CallInput<What> {
  const parsed = STEP_INPUTS[what].safeParse(input);
  if (parsed.success) return parsed.data as CallInput<What>;
  const { path, message } = parsed.error.issues[0]!;
  const field = fieldPath(path);
  throw invalidInput(`${what}: ${field ? `${field}: ` : ""}${message}`);
}
