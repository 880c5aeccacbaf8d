import type { TurnEnd } from "#events/ports.ts";
import { isAlias } from "#events/route.ts";
import type { Http } from "../base/deps.ts";
import type { FrameReader } from "./frameReader.ts";

/** A turn that a request waits for. */
export interface TurnHandle {
  organization_id: string;
  turn_id: string;
  thread_id: string;
  command_id: string;
  model: string;
  include_usage: boolean;
  /** Unix seconds. */
  created: number;
  /** Time limit of the turn, in epoch milliseconds. */
  ends_by: number;
}

/** A turn with the reader of its frames. `end` is set if the turn had ended already. */
export interface AttachedTurn {
  turn: TurnHandle;
  reader: FrameReader;
  end: TurnEnd | undefined;
  /** Headers about the remaining limits. */
  headers?: Record<string, string>;
}

/** Header values contain printable ASCII only. */
const PRINTABLE = /^[\x20-\x7e]+$/;

/** The header that names the answering model. */
export const modelHeader = (model: string): Record<string, string> =>
  PRINTABLE.test(model) ? { "x-turn-model": model } : {};

/** Headers of every answer of a turn. For an alias, the answering model is unknown until the first word. */
export const turnHeaders = ({ turn, headers }: AttachedTurn): Record<string, string> => ({
  "x-thread-id": turn.thread_id,
  "x-turn-id": turn.turn_id,
  ...(isAlias(turn.model) ? {} : modelHeader(turn.model)),
  ...headers,
});

/** Headers of an answer that is sent after its turn has ended: cost in US dollars, answering model, and number of failed targets. */
export function endHeaders(end: TurnEnd): Record<string, string> {
  const failed = end.failed_targets?.length ?? 0;
  const { model, cost } = end.status === "refused" ? {} : { model: end.model, cost: end.usage.cost };
  return {
    ...(model !== undefined && modelHeader(model)),
    ...(cost !== undefined && { "x-turn-cost": cost }),
    ...(failed > 0 && { "x-turn-failed-targets": String(failed) }),
  };
}

/** A streamed turn may take longer, because its client sees progress. */
const STREAMED_FACTOR = 6;

export const turnLimitMs = ({ settings }: Pick<Http, "settings">, streamed: boolean): number =>
  settings.TURN_SECONDS * 1000 * (streamed ? STREAMED_FACTOR : 1);
