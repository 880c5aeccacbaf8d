import { expect, test, vi } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { ReadSource } from "#events/source.ts";
import { source as decider } from "../deciders/source.ts";
import { createSources } from "./sources.ts";

function dueSource(organization_id: string): StreamHead {
  const due_at = new Date(Date.now() - 1_000).toISOString();
  const state = { status: "stored", reading: null, reads: 1, paused: false, next: due_at };
  const stream = streamName("source", newId());
  const position = { version: 3, position: 3, state_version: decider.version };
  return { stream, organization_id, state, ...position, status: "waiting", due_at, worker: null };
}

test("a source is not read while its organization is over a limit, and once afterwards", async () => {
  let full = "full";
  const refusal = (organization: string) =>
    organization === full ? { code: "storage_limit_reached", message: "Full." } : undefined;
  const send = vi.fn(async () => {});
  const { resumeWork } = createSources({ worker: "w", logLimits: { refusal }, send } as any);
  const [waiting, other] = [dueSource("full"), dueSource("other")];
  for (const head of [waiting, other]) await resumeWork(head);
  const read = (head: StreamHead) => [head, ReadSource.type, expect.objectContaining({ due_at: head.due_at })];
  expect(send.mock.calls).toEqual([read(other)]);
  full = "";
  await resumeWork(waiting);
  expect(send.mock.calls).toEqual([read(other), read(waiting)]);
});
