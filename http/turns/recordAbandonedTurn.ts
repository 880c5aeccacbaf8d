import { setTimeout as sleep } from "node:timers/promises";
import type { Http } from "../base/deps.ts";
import type { TurnHandle } from "./turnHandle.ts";

/** If the database is unavailable, recording is retried at this interval, up to PATIENCE_MS. */
const RETRY_MS = 500;
const PATIENCE_MS = 10_000;
/** How long a refusal waits for the record: its 503 is due, and its client returns after a second. */
const REFUSAL_MS = 250;

/** Records that the client left before it got the turn's answer, so that a retry may resume the turn. Never throws. */
export async function recordAbandonedTurn(
  http: Pick<Http, "abandonedTurns" | "logger">,
  turn: Pick<TurnHandle, "command_id">,
): Promise<void> {
  await addOrRetry(http, turn, performance.now() + PATIENCE_MS);
}

/** The same for a request that is about to be refused. A slow database records the turn after the refusal. */
export const recordRefusedTurn = (...args: Parameters<typeof recordAbandonedTurn>): Promise<void> =>
  Promise.race([recordAbandonedTurn(...args), sleep(REFUSAL_MS)]);

/** Resolves after the first attempt; further ones run in the background. */
async function addOrRetry(
  { abandonedTurns, logger }: Pick<Http, "abandonedTurns" | "logger">,
  { command_id }: Pick<TurnHandle, "command_id">,
  until: number,
): Promise<void> {
  try {
    await abandonedTurns.add(command_id);
  } catch (error) {
    if (performance.now() > until) logger.warn({ err: error, command_id }, "unanswered turn not recorded");
    else setTimeout(() => void addOrRetry({ abandonedTurns, logger }, { command_id }, until), RETRY_MS).unref();
  }
}
