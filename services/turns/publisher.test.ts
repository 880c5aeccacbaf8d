import { expect, test } from "vitest";
import type { Frame } from "#events/ports.ts";
import { openPublisher } from "./publisher.ts";
import type { TurnToRun } from "./turnToRun.ts";

/** The frames that reach readers if an attempt repeats one frame and then sends a new one. */
function sentBy(attempt: number): Frame[] {
  const sent: Frame[] = [];
  const publish = (_organization: string, _turn: string, frame: Frame) => void sent.push(frame);
  const turn = { organization_id: "o1", turn_id: "t1", attempt, streamed: true } as TurnToRun;
  const publisher = openPublisher({ publish, sendToWaiter: () => {} }, turn);
  publisher.publish({ type: "text", text: "again" });
  publisher.endReplay();
  publisher.publish({ type: "text", text: "new" });
  return sent;
}

test("an attempt that took a turn over marks frames as new that repeat nothing", () => {
  expect(sentBy(2)).toEqual([
    { type: "text", text: "again", attempt: 2, n: 0 },
    { type: "text", text: "new", attempt: 2, n: 1, is_new: true },
  ]);
});

test("the frames of a first attempt have no mark, because it repeats nothing", () => {
  expect(sentBy(1).map((frame) => "is_new" in frame)).toEqual([false, false]);
});
