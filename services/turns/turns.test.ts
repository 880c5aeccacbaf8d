import { expect, test, vi } from "vitest";
import { newId, streamOf } from "#events/ids.ts";
import type { EventLog, Frames, StreamHead } from "#events/ports.ts";
import type { TurnToRun } from "./run.ts";
import { thread } from "../deciders/thread.ts";
import { createTurns } from "./turns.ts";

const headOf = (ends_by: Date): StreamHead => ({
  stream: streamOf("thread", newId()),
  organization_id: newId(),
  version: 1,
  position: 1,
  state: {
    status: "open",
    scope: "s",
    turn: { id: newId(), attempt: 1, worker: null, ends_by: ends_by.toISOString() },
  },
  state_version: thread.version,
  status: "running",
  due_at: ends_by.toISOString(),
  worker: null,
});

function full() {
  const frames: Pick<Frames, "kept" | "publish"> = { kept: async () => [], publish: () => {} };
  const handle = vi.fn(async () => ({ position: 0, repeated: false }));
  const run = () => new Promise<void>(() => {});
  const log: Pick<EventLog, "read"> = { read: async () => [] };
  const turns = createTurns({
    log: log as EventLog,
    frames,
    worker: "w",
    run,
    keepTold: async () => "kept",
    onError: () => {},
  });
  const fill = (organization_id: string): number => {
    let started = 0;
    for (; turns.room(organization_id); started++)
      turns.start({ organization_id, turn_id: newId(), attempt: 1 } as TurnToRun);
    return started;
  };
  return { turns, handle, fill };
}

test("a process whose hands are full takes over no turn, and still ends those that are overdue", async () => {
  const { turns, handle, fill } = full();
  fill(newId());
  fill(newId());
  await turns.attend(handle, headOf(new Date(Date.now() + 60_000)));
  expect(handle).not.toHaveBeenCalled();
  await turns.attend(handle, headOf(new Date(0)));
  expect(handle).toHaveBeenCalledWith(expect.objectContaining({ type: "RefuseTurn" }));
});

test("one organization fills half of a process, and leaves the other half to others", () => {
  const { fill } = full();
  const [first, second, third] = [fill(newId()), fill(newId()), fill(newId())];
  expect(first).toBeGreaterThan(0);
  expect([second, third]).toEqual([first, 0]);
});
