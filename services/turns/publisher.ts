import type { FramePayload, Frames, TurnEnd } from "#events/ports.ts";
import type { TurnToRun } from "./turnToRun.ts";

/** Numbers a turn's frames and sends them: to all readers of a stream, or to the one process that waits. */
export function openPublisher(frames: Pick<Frames, "publish" | "sendToWaiter">, turn: TurnToRun) {
  let n = 0;
  const send = turn.streamed ? frames.publish : frames.sendToWaiter;
  return (frame: FramePayload | { type: "end"; position: number; end: TurnEnd }): void =>
    send(turn.organization_id, turn.turn_id, { ...frame, attempt: turn.attempt, n: n++ });
}
