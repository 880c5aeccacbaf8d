import { z } from "zod";
import type { Source } from "#events/thread.ts";
import type { ToolOffer } from "../model.ts";

/** What a call may reach. It comes from the turn, never from what the model wrote. */
export interface Calling {
  organization_id: string;
  turn_id: string;
  thread_id: string;
  /** The end user that the request named. */
  user: string | null;
  /** What the request carries for tools (spec: `meta.vars`). */
  vars: Record<string, unknown>;
  /** Ids of the collections that the request allows; null: all of the organization. */
  collections: string[] | null;
  signal: AbortSignal;
}

/** What the model gets to read, and the sources that were consulted for it. */
export interface ToolResult {
  text: string;
  sources: Source[];
}

/** The call cannot be answered; the message is for the model. */
export class ToolError extends Error {
  override name = "ToolError";
}

export interface Tool extends ToolOffer {
  /** `input` is what the model sent, parsed from JSON and not checked. Throws a ToolError where the model can do better. */
  run(input: unknown, calling: Calling): Promise<ToolResult>;
}

interface Definition<Input> {
  name: string;
  description: string;
  input: z.ZodType<Input>;
  run(input: Input, calling: Calling): Promise<ToolResult>;
}

const wrong = (error: z.ZodError): ToolError =>
  new ToolError(
    `The arguments do not fit: ${error.issues.map(({ path, message }) => `${path.join(".") || "they"}: ${message}`).join("; ")}`,
  );

/** Some models fill in every optional argument with null. */
const withoutNulls = (sent: unknown): unknown =>
  typeof sent === "object" && sent !== null && !Array.isArray(sent)
    ? Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null))
    : sent;

/** A tool whose arguments are checked against one schema, which is also what the model is told. */
export function defineTool<Input>({ name, description, input, run }: Definition<Input>): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return {
    name,
    description,
    parameters,
    async run(sent, calling) {
      const parsed = input.safeParse(withoutNulls(sent));
      if (!parsed.success) throw wrong(parsed.error);
      return run(parsed.data, calling);
    },
  };
}
