import { expect, test, vi } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { EventLog, Frames, StreamHead } from "#events/ports.ts";
import { thread } from "../deciders/thread.ts";
import { createTurns } from "./turns.ts";
import type { TurnToRun } from "./turnToRun.ts";

const openThread = (ends_by: Date): StreamHead => ({
  stream: streamName("thread", newId()),
  organization_id: newId(),
  version: 1,
  position: 1,
  state: {
    status: "open",
    scope: "s",
    turn: { id: newId(), attempt: 1, worker: null, ends_by: ends_by.toISOString(), approvals: {}, left_ms: null },
  },
  state_version: thread.version,
  status: "running",
  due_at: ends_by.toISOString(),
  worker: null,
});

function createSlowTurns() {
  const frames: Pick<Frames, "loadFrames" | "publish"> = { loadFrames: async () => [], publish: () => {} };
  const send = vi.fn(async () => ({ position: 0, repeated: false }));
  const run = () => new Promise<void>(() => {});
  const log: Pick<EventLog, "read" | "readNewest" | "hasDied" | "heads"> = {
    read: async () => [],
    readNewest: async () => [],
    hasDied: async () => false,
    heads: async () => new Map(),
  };
  const turns = createTurns({
    log,
    frames,
    worker: "w",
    send,
    run,
    storeFrames: async () => "stored",
    readFrames: async () => [],
    estimateLost: async () => undefined,
    onError: () => {},
  });
  const fill = (organization_id: string): number => {
    let started = 0;
    for (; turns.hasRoom(organization_id); started++)
      turns.start({ organization_id, turn_id: newId(), attempt: 1 } as TurnToRun);
    return started;
  };
  return { turns, send, fill };
}

test("a full process takes over no turn, but ends overdue turns", async () => {
  const { turns, send, fill } = createSlowTurns();
  fill(newId());
  fill(newId());
  await turns.resumeWork(openThread(new Date(Date.now() + 60_000)));
  expect(send).not.toHaveBeenCalled();
  await turns.resumeWork(openThread(new Date(0)));
  expect(send).toHaveBeenCalledWith(expect.anything(), "RefuseTurn", expect.anything());
});

test("one organization can take half of the turns of a process, and the other half stays free for others", () => {
  const { fill } = createSlowTurns();
  const [first, second, third] = [fill(newId()), fill(newId()), fill(newId())];
  expect(first).toBeGreaterThan(0);
  expect([second, third]).toEqual([first, 0]);
});
