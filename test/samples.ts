import type { EventFrom } from "#events/define.ts";
import { DocumentUploaded } from "#events/document.ts";
import { newId, streamName } from "#events/ids.ts";
import type { FeedEvent } from "#events/published.ts";
import { RunCreated } from "#events/run.ts";
import { RunLimits } from "#events/workflow.ts";
import type { ResponseHead } from "#http/agents/present.ts";
import type { LiveRun } from "#services/deciders/runState.ts";
import type { TickCall, TickOutcome } from "#services/workflows/tick.ts";

/* Events and values of which a test names only what it is about. */

type UploadEvent = EventFrom<typeof DocumentUploaded>;
type CreationEvent = EventFrom<typeof RunCreated>;

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

export const runCreated = (
  data: Partial<CreationEvent["data"]> = {},
  personal: Partial<NonNullable<CreationEvent["personal"]>> = {},
) =>
  RunCreated.of(
    {
      run_id: "r1",
      workflow_id: "w1",
      definition_id: "d1",
      definition_version: 1,
      project_id: null,
      trigger_id: null,
      started_by: { type: "system", id: "test" },
      run_as: { type: "service", id: null },
      limits: RunLimits.parse({}),
      expires_at: "2026-01-02T00:00:00.000Z",
      retention_days: 1,
      approvals: { default_expiry_s: 60, allow_api_key: true },
      slot: null,
      created_at: "2026-01-01T00:00:00.000Z",
      worker: null,
      ...data,
    },
    { args: { json: "{}" }, external_user_id: null, ...personal },
  );

/** An event as the feed publishes it. */
export const feedEvent = (position: number, fields: Partial<FeedEvent> = {}): FeedEvent => ({
  position,
  stream: streamName("run", newId()),
  version: 1,
  organization_id: newId(),
  type: "RunStarted",
  schema_version: 1,
  recorded_at: "2026-01-01T00:00:00.000Z",
  data: { n: position },
  ...fields,
});

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

/** The first tick of a run: nothing is answered yet. */
export const tickCall = (fields: Partial<TickCall> = {}): TickCall => ({
  organization_id: "o1",
  run_id: "r1",
  js: "",
  sha256: "x",
  args: "{}",
  created_at: 0,
  now: 0,
  memo: [],
  ...fields,
});

/** A tick that asked for nothing. */
export const tickOutcome = (fields: Partial<TickOutcome> = {}): TickOutcome => ({
  end: { type: "suspended" },
  pending: [],
  unusedKeys: [],
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
