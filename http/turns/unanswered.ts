import type { Http } from "../base/deps.ts";
import type { TurnHandle } from "./turnHandle.ts";

/** While the database is away, the record is tried again this often, and for this long. */
const AGAIN_MS = 500;
const PATIENCE_MS = 10_000;

/** Records that the client left before it had the turn's answer, so that a retry may resume the turn. Never throws. */
export async function noteUnanswered(
  http: Pick<Http, "abandonedTurns" | "logger">,
  turn: Pick<TurnHandle, "command_id">,
): Promise<void> {
  await note(http, turn, performance.now() + PATIENCE_MS);
}

/** Resolves after the first try; later ones run on their own. */
async function note(
  { abandonedTurns, logger }: Pick<Http, "abandonedTurns" | "logger">,
  { command_id }: Pick<TurnHandle, "command_id">,
  until: number,
): Promise<void> {
  try {
    await abandonedTurns.add(command_id);
  } catch (error) {
    if (performance.now() > until) logger.warn({ err: error, command_id }, "unanswered turn not recorded");
    else setTimeout(() => void note({ abandonedTurns, logger }, { command_id }, until), AGAIN_MS).unref();
  }
}
