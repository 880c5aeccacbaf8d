import type { Answer } from "#events/envelope.ts";
import { newCommandId } from "#events/ids.ts";
import type { Handle } from "./handle.ts";

/** How long the log may be away before a result counts as unknown. */
const PATIENCE_MS = 10_000;

export interface Target {
  stream: string;
  organization_id: string;
}

/** Sends a command of the service's own. Throws Unavailable when its outcome is unknown. */
export type Send = (target: Target, type: string, data: Record<string, unknown>) => Promise<Answer>;

/** Sends to the handler of this process. */
export const sendTo =
  (handle: Handle, worker: string): Send =>
  ({ stream, organization_id }, type, data) =>
    handle({
      id: newCommandId(),
      type,
      stream,
      organization_id,
      principal: "system",
      at: new Date().toISOString(),
      deadline: new Date(Date.now() + PATIENCE_MS).toISOString(),
      request_id: worker,
      data,
    });
