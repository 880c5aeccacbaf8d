import type { EventFrom } from "#events/define.ts";
import { DocumentUploaded } from "#events/document.ts";
import type { ResponseHead } from "#http/agents/present.ts";
import type { LiveRun } from "#services/deciders/runState.ts";
import type { TickOutcome } from "#services/workflows/tick.ts";

/* Events and values of which a test names only what it is about. */

type UploadEvent = EventFrom<typeof DocumentUploaded>;

export const documentUploaded = (
  document_id: string,
  data: Partial<UploadEvent["data"]> = {},
  personal: Partial<NonNullable<UploadEvent["personal"]>> = {},
) =>
  DocumentUploaded.of(
    {
      document_id,
      collection_id: "k1",
      source: "api",
      external_claim: null,
      mime_type: "text/plain",
      size_bytes: 1,
      original: "file",
      blob: "b",
      content_claim: "c",
      generation: 1,
      worker: null,
      ...data,
    },
    { name: "a", tags: [], sha256: "", external_id: null, ...personal },
  );

/** A run that waits for nothing. */
export const liveRun = (fields: Partial<LiveRun> = {}): LiveRun => ({
  status: "running",
  version: 2,
  epoch: 1,
  worker: "w1",
  workflow_id: "wf",
  project_id: null,
  woken: false,
  expires_at: "2026-01-02T00:00:00.000Z",
  retention_days: 1,
  max_steps: 10,
  scheduled: 0,
  steps: [],
  approvals: {},
  timers: {},
  lost: 0,
  slot: null,
  children: [],
  childCount: 0,
  waits: {},
  watchers: [],
  first_run_id: null,
  ...fields,
});

/** A tick that asked for nothing. */
export const tickOutcome = (fields: Partial<TickOutcome> = {}): TickOutcome => ({
  end: { type: "suspended" },
  asked: [],
  unasked: [],
  notes: [],
  warnings: [],
  logs: [],
  ...fields,
});

/** What a response says before its output. */
export const RESPONSE_HEAD: ResponseHead = {
  turn_id: "0198c0de-0000-7000-8000-00000000000a",
  thread_id: "0198c0de-0000-7000-8000-00000000000b",
  model: "offline/echo",
  instructions: null,
  previous_turn_id: null,
  user: null,
  vars: {},
  reasoning_effort: null,
  max_output_tokens: null,
  expose_tool_items: true,
};
