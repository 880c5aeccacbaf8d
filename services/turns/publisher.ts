import type { FramePayload, Frames, TurnEnd } from "#events/ports.ts";
import type { TurnToRun } from "./turnToRun.ts";

/** Numbers a turn's frames and sends them: to all readers of a stream, or to the one process that waits. */
export function openPublisher(frames: Pick<Frames, "publish" | "sendToWaiter">, turn: TurnToRun) {
  let n = 0;
  let marks: { is_new?: true } = {};
  const send = turn.streamed ? frames.publish : frames.sendToWaiter;
  return {
    publish(frame: FramePayload | { type: "end"; position: number; end: TurnEnd }): void {
      send(turn.organization_id, turn.turn_id, { ...frame, attempt: turn.attempt, n: n++, ...marks });
    },
    /** Call it once the output of earlier attempts has been repeated. */
    endReplay(): void {
      if (turn.attempt > 1) marks = { is_new: true };
    },
  };
}
