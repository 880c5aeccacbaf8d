import { newCommand, type Command, type CommandResult } from "#events/envelope.ts";
import type { Handle } from "./handle.ts";

/** How long the log may be unavailable before the outcome counts as unknown. */
const TIMEOUT_MS = 10_000;

export interface CommandTarget {
  stream: string;
  organization_id: string;
  /** What the command is part of, as its events name it. Default: this process. */
  request_id?: string;
}

/** Sends a command of the service itself. Throws Unavailable if the outcome is unknown. */
export type Send = (target: CommandTarget, type: string, data: Record<string, unknown>) => Promise<CommandResult>;

/** A command of the service itself, from this process. */
export const serviceCommand = (
  worker: string,
  { stream, organization_id, request_id = worker }: CommandTarget,
  type: string,
  data: Record<string, unknown>,
): Command => newCommand(type, { stream, organization_id, request_id, data, timeout_ms: TIMEOUT_MS });

/** Sends commands to the handler of this process. */
export const sendTo =
  (handle: Handle, worker: string): Send =>
  (target, type, data) =>
    handle(serviceCommand(worker, target, type, data));
