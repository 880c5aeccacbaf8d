import { z } from "zod";
import type { Principal } from "#events/envelope.ts";
import type { Source } from "#events/thread.ts";
import type { ToolOffer } from "../model.ts";

/** What a call may access. It comes from the turn, never from the model. */
export interface ToolContext {
  organization_id: string;
  turn_id: string;
  /** Who asked; for a step, the person that its run acts for. */
  principal: Principal;
  thread_id: string;
  /** The end user named in the request. */
  user: string | null;
  /** The request's variables for tools (spec: `meta.vars`). */
  vars: Record<string, unknown>;
  /** Ids of the collections that the request allows; null: all of the organization. */
  collections: string[] | null;
  /** The run whose step called the tool, or asked the model that did; null otherwise. */
  run_id: string | null;
  signal: AbortSignal;
}

/** What a call to an organization's own tool executed. */
export interface ScriptUse {
  tool_version: number;
  /** Names of the secrets that it read. */
  secrets: string[];
}

/** The text for the model, and the sources that the tool consulted. */
export interface ToolResult {
  text: string;
  sources: Source[];
  script?: ScriptUse;
}

/** The call cannot be answered; the message is for the model. */
export class ToolError extends Error {
  override name = "ToolError";
  readonly script: ScriptUse | undefined;

  constructor(message: string, { script, cause }: { script?: ScriptUse; cause?: unknown } = {}) {
    super(message, { cause });
    this.script = script;
  }
}

export interface Tool<Name extends string = string> extends ToolOffer {
  name: Name;
  /** `input` is the model's JSON, parsed but not validated. Throws ToolError when other arguments could work. */
  run(input: unknown, context: ToolContext): Promise<ToolResult>;
}

/** What the model sees of a tool. */
export const offerTool = ({ name, description, parameters }: Tool): ToolOffer => ({ name, description, parameters });

interface Definition<Name extends string, Input> {
  name: Name;
  description: string;
  input: z.ZodType<Input>;
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** Maximum problems of the arguments that the model reads. */
const MAX_PROBLEMS = 10;

function invalidArguments({ issues }: z.ZodError): ToolError {
  const problems = issues.slice(0, MAX_PROBLEMS).map(({ path, message }) => `${path.join(".") || "they"}: ${message}`);
  const more = issues.length > MAX_PROBLEMS ? `; and ${issues.length - MAX_PROBLEMS} more` : "";
  return new ToolError(`The arguments do not fit: ${problems.join("; ")}${more}`);
}

/** Some models fill in every optional argument with null. */
export const withoutNulls = (input: unknown): unknown =>
  typeof input === "object" && input !== null && !Array.isArray(input)
    ? Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
    : input;

/** An argument for the number of results. Models send any number, so it is clamped instead of refused. */
export const resultLimitArgument = (of: string, { usual, most }: { usual: number; most: number }) =>
  z
    .number()
    .transform((wanted) => Math.min(Math.max(1, Math.trunc(wanted)), most))
    .optional()
    .describe(`Number of ${of}. Default: ${usual}, maximum: ${most}.`);

/** A tool with one schema that both validates the arguments and describes them to the model. */
export function defineTool<Name extends string, Input>({
  name,
  description,
  input,
  run,
}: Definition<Name, Input>): Tool<Name> {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return {
    name,
    description,
    parameters,
    async run(unchecked, context) {
      const parsed = input.safeParse(withoutNulls(unchecked));
      if (!parsed.success) throw invalidArguments(parsed.error);
      return run(parsed.data, context);
    },
  };
}
