import type { TurnEnd } from "#events/ports.ts";
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

/** Of every answer of a turn. */
export const turnHeaders = ({ turn, headers }: AttachedTurn): Record<string, string> => ({
  "x-thread-id": turn.thread_id,
  ...headers,
});

/** The reader of a stream sees progress, so a streamed turn may take longer than one that is waited for in silence. */
const STREAMED_FACTOR = 6;

export const turnLimitMs = ({ settings }: Pick<Http, "settings">, streamed: boolean): number =>
  settings.TURN_SECONDS * 1000 * (streamed ? STREAMED_FACTOR : 1);
