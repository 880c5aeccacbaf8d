import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Frame } from "#events/ports.ts";
import { newId } from "#events/ids.ts";
import { createAgentOutputRelay } from "./agentOutputRelay.ts";

/** A relay of a run that asks an agent, and what its client has received. */
async function openRelay() {
  const turn_id = newId();
  let deliver: (frame: Frame) => void = () => {};
  const subscribe = (_organization: string, _turn: string, listen: typeof deliver) => {
    deliver = listen;
    return () => {};
  };
  const received: string[] = [];
  const sse = { write: (text: string) => void received.push(text), drainedBefore: async () => {} };
  const frames = { subscribe, loadFrames: async () => [] };
  const relay = createAgentOutputRelay({ frames } as any, { id: newId(), organization_id: newId() }, sse);
  relay.apply({ type: "AgentTurnStarted", data: { key: "ask", turn_id } } as any);
  relay.follow();
  await setImmediate();
  return { relay, deliver: (frame: Frame) => deliver(frame), received };
}

test("a stream ends at once if a turn still goes on whose answer the run did not wait for", async () => {
  const { relay } = await openRelay();
  const start = performance.now();
  await relay.close();
  expect(performance.now() - start).toBeLessThan(500);
});

test("a stream sends the last output of a turn that has ended", async () => {
  const { relay, deliver, received } = await openRelay();
  relay.apply({ type: "WaitAnswered", data: { key: "ask" } } as any);
  const closed = relay.close();
  deliver({ attempt: 1, n: 0, type: "text", text: "the end" });
  deliver({ attempt: 1, n: 1, type: "end", position: 1, end: { type: "completed" } as any });
  await closed;
  expect(received.join("")).toContain('"text":"the end"');
});
