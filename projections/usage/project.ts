import type { NewEvent } from "#events/define.ts";
import type { DocumentEvent } from "#events/document.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { ExtractionEvent } from "#events/extraction.ts";
import { parseStreamName } from "#events/ids.ts";
import { payerOf } from "#events/runOrigin.ts";
import { NO_USAGE, type ThreadEvent, type Usage } from "#events/thread.ts";
import { holdings, putHolding, removeHolding, type HoldingEvent } from "./holdings.ts";
import { projectsOfOwners, type ProjectEvent } from "./projects.ts";
import { putUserOfRun, removeUser } from "./users.ts";
import { defineProjection, encode, type Change, type Row } from "../projection.ts";

type EventRecord<E extends NewEvent, T extends E["type"]> = RecordedEvent<Extract<E, { type: T }>>;
type UsageEvent =
  | HoldingEvent
  | ProjectEvent
  | Extract<
      ThreadEvent,
      {
        type:
          | "TurnStarted"
          | "RoundRequested"
          | "TurnParked"
          | "TurnCompleted"
          | "TurnFailed"
          | "TurnStopped"
          | "TurnRefused"
          | "TurnDeleted"
          | "ThreadDeleted";
      }
    >
  | Extract<
      DocumentEvent,
      { type: "DocumentUploaded" | "DocumentReplaced" | "DocumentReprocessed" | "DocumentIndexed" | "PassagesEmbedded" }
    >
  | Extract<ExtractionEvent, { type: "ExtractionRequested" | "ExtractionCompleted" }>;

/** The `part` of a whole turn after its end; other models that answered in it have lower numbers. */
const WHOLE_TURN = -1;

/** The generation of sources other than documents. */
const NO_GENERATION = 0;

const source = (
  id: string,
  { organization_id, meta }: RecordedEvent,
  row: object = {},
  generation = NO_GENERATION,
): Change => ({
  table: "usage_sources",
  kind: "put",
  key: { id, generation },
  row: { organization_id, principal: meta.principal, ...row },
});
/** The caller pays for this reading, and not for earlier ones of the same content. */
const readingSource = (
  event: EventRecord<DocumentEvent, "DocumentUploaded" | "DocumentReplaced" | "DocumentReprocessed">,
): Change => {
  const { document_id, generation, project_id } = event.data as { project_id?: string } & typeof event.data;
  return source(document_id, event, project_id ? { project_id } : {}, generation);
};

interface Quantities {
  generation?: number;
  turns?: number;
  tokens?: Usage;
  pages?: number;
  /** The cost of these pages. */
  cost?: string | undefined;
  /** The target that answered, if the turn named an alias. */
  model?: string | undefined;
}
const usageRow = (
  { organization_id, recorded_at }: RecordedEvent,
  source_id: string,
  part: number,
  { generation = NO_GENERATION, turns = 0, tokens = NO_USAGE, pages = 0, cost = tokens.cost, model }: Quantities,
): Change => {
  const { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens } = tokens;
  const counts = {
    turns,
    prompt_tokens,
    completion_tokens,
    cached_tokens,
    reasoning_tokens,
    cost: cost ?? null,
    pages,
  };
  return {
    table: "usage",
    kind: "put",
    key: { source_id, part },
    row: { generation, organization_id, at: recorded_at, ...counts, model: encode(model) },
  };
};

function applyStart(event: EventRecord<ThreadEvent, "TurnStarted">): Change[] {
  const { stream, organization_id, data, personal, meta } = event;
  const { turn_id, scope, model, agent, labels, asked_by, reserved } = data;
  const { workflow_id = null, project_id = null, user_mark = null } = data;
  const agent_id = agent?.agent_id ?? null;
  const bytes = data.stored_bytes ?? 0;
  const thread_id = parseStreamName(stream).id;
  const input = personal?.input;
  const user = input && "prompt" in input ? input.prompt.user : null;
  const name = encode(user);
  // a turn of a run is started by the service
  const principal = asked_by && meta.principal === "system" ? payerOf(asked_by) : meta.principal;
  const turn = source(turn_id, event, {
    principal,
    scope,
    model: encode(model),
    agent_id,
    workflow_id,
    project_id,
    user_mark,
    ...(labels && { labels: encode(labels) }),
  });
  const started = [
    turn,
    ...(reserved === undefined ? [] : [reservation(event, turn_id, { thread_id, reserved, attempt: 1 })]),
    ...(bytes === 0
      ? []
      : [putHolding(event, turn_id, { principal, thread_id, project_id, agent_id, user_mark, bytes })]),
  ];
  if (name === null) return started;
  return [
    ...started,
    {
      table: "usage_users",
      kind: "put",
      key: { id: turn_id },
      row: { thread_id, organization_id, scope, user_mark, name },
    },
  ];
}

const reservation = ({ organization_id }: RecordedEvent, turn_id: string, row: Row): Change => ({
  table: "usage_reservations",
  kind: "put",
  key: { organization_id, turn_id },
  row,
});
const release = ({ organization_id }: RecordedEvent, turn_id: string): Change => ({
  table: "usage_reservations",
  kind: "remove",
  key: { organization_id, turn_id },
});

/** The usage of the whole turn replaces that of its rounds. The turn itself counts for the model that answered last. */
function applyEnd(event: EventRecord<ThreadEvent, "TurnCompleted" | "TurnFailed" | "TurnStopped">): Change[] {
  const { turn_id, usage, model: last, usage_by_model = [] } = event.data;
  const parts = usage_by_model.map((part) => ({ model: part.model, tokens: part.usage }));
  const lastFirst = parts.toSorted((a, b) => Number(b.model === last) - Number(a.model === last));
  const rows = parts.length === 0 ? [{ model: undefined, tokens: usage }] : lastFirst;
  return [
    { table: "usage", kind: "removeWhere", where: { source_id: turn_id } },
    ...rows.map((row, n) => usageRow(event, turn_id, WHOLE_TURN - n, { ...row, turns: n === 0 ? 1 : 0 })),
    release(event, turn_id),
  ];
}

export const usage = defineProjection<UsageEvent>({
  name: "usage",
  version: 15,
  tables: new URL("table.sql", import.meta.url),
  on: {
    TurnStarted: applyStart,
    RoundRequested: (event) => [
      usageRow(event, event.data.turn_id, event.data.round, { tokens: event.data.usage, model: event.data.model }),
    ],
    // the next request may be days away, and reserves again
    TurnParked: ({ organization_id, data: { turn_id, attempt } }) => [
      {
        table: "usage_reservations",
        kind: "patch",
        key: { organization_id, turn_id },
        row: { reserved: "0", attempt: attempt + 1 },
      },
    ],
    TurnCompleted: applyEnd,
    TurnFailed: applyEnd,
    TurnStopped: applyEnd,
    TurnRefused: (event) => {
      const { turn_id } = event.data;
      return [
        { table: "usage_sources", kind: "remove", key: { id: turn_id, generation: NO_GENERATION } },
        ...removeUser(turn_id),
        release(event, turn_id),
        removeHolding(turn_id),
      ];
    },
    // a turn may be deleted while it runs
    TurnDeleted: (event) => {
      const { turn_id } = event.data;
      return [...removeUser(turn_id), release(event, turn_id), removeHolding(turn_id)];
    },
    ThreadDeleted: ({ stream, organization_id }): Change[] => {
      const thread_id = parseStreamName(stream).id;
      return [
        { table: "usage_users", kind: "removeWhere", where: { thread_id } },
        { table: "usage_reservations", kind: "removeWhere", where: { organization_id, thread_id } },
        { table: "usage_holdings", kind: "removeWhere", where: { thread_id } },
      ];
    },
    ...holdings,
    ...projectsOfOwners,
    RunCreated: (event) => [...holdings.RunCreated(event), ...putUserOfRun(event)],
    RunForgotten: (event) => [...holdings.RunForgotten(event), ...removeUser(event.data.run_id)],
    DocumentUploaded: (event) => {
      const { document_id, size_bytes: bytes, project_id } = event.data;
      const stored = { bytes, documents: 1, ...(project_id && { project_id }) };
      return [readingSource(event), putHolding(event, document_id, stored)];
    },
    DocumentReplaced: (event) => [
      readingSource(event),
      {
        table: "usage_holdings",
        kind: "patch",
        key: { id: event.data.document_id },
        row: { bytes: event.data.size_bytes },
      },
    ],
    DocumentReprocessed: (event) => [readingSource(event)],
    DocumentIndexed: (event) => {
      const { document_id, generation, units, cost } = event.data;
      return units === 0 ? [] : [usageRow(event, document_id, generation, { generation, pages: units, cost })];
    },
    // generations are positive, and a stream has each of its versions once
    PassagesEmbedded: (event) => {
      const { document_id, generation, model, usage: tokens } = event.data;
      const isFree = tokens.prompt_tokens === 0 && tokens.cost === undefined;
      return isFree ? [] : [usageRow(event, document_id, -event.version, { generation, tokens, model })];
    },
    ExtractionRequested: (event) => {
      const { extraction_id, size_bytes: bytes } = event.data;
      return [source(extraction_id, event), putHolding(event, extraction_id, { bytes })];
    },
    ExtractionCompleted: (event) => {
      const { extraction_id, units, cost } = event.data;
      return [usageRow(event, extraction_id, 0, { pages: units, cost })];
    },
  },
});
