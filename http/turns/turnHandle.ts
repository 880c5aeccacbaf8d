import type { TurnEnd } from "#events/ports.ts";
import { isAlias } from "#events/route.ts";
import type { Http } from "../base/deps.ts";
import type { FrameReader } from "./frameReader.ts";

/** A turn that a connection waits for. */
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

/** A turn with the reader of its frames; `end` if it ended before it was attached. */
export interface AttachedTurn {
  turn: TurnHandle;
  reader: FrameReader;
  end: TurnEnd | undefined;
  /** What limits leave. */
  headers?: Record<string, string>;
}

/** A header has no other characters. */
const PRINTABLE = /^[\x20-\x7e]+$/;

/** The model that answers. */
export const modelHeader = (model: string): Record<string, string> =>
  PRINTABLE.test(model) ? { "x-turn-model": model } : {};

/** Of every answer of a turn. Which target of an alias answers is not known before the first word. */
export const turnHeaders = ({ turn, headers }: AttachedTurn): Record<string, string> => ({
  "x-thread-id": turn.thread_id,
  "x-turn-id": turn.turn_id,
  ...(isAlias(turn.model) ? {} : modelHeader(turn.model)),
  ...headers,
});

/** Of an answer that is sent when its turn has ended: what it cost, in US dollars, who gave it, and how many targets did not. */
export function endHeaders(end: TurnEnd): Record<string, string> {
  const failed = end.failed_targets?.length ?? 0;
  const { model, cost } = end.status === "refused" ? {} : { model: end.model, cost: end.usage.cost };
  return {
    ...(model !== undefined && modelHeader(model)),
    ...(cost !== undefined && { "x-turn-cost": cost }),
    ...(failed > 0 && { "x-turn-failed-targets": String(failed) }),
  };
}

/** The reader of a stream sees progress, so a streamed turn may take longer than one that is waited for in silence. */
const STREAMED_FACTOR = 6;

export const turnLimitMs = ({ settings }: Pick<Http, "settings">, streamed: boolean): number =>
  settings.TURN_SECONDS * 1000 * (streamed ? STREAMED_FACTOR : 1);
