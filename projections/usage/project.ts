import type { NewEvent } from "#events/define.ts";
import type { DocumentEvent } from "#events/document.ts";
import type { Recorded } from "#events/envelope.ts";
import type { ExtractionEvent } from "#events/extraction.ts";
import { partsOf } from "#events/ids.ts";
import { NO_USAGE, type ThreadEvent, type Usage } from "#events/thread.ts";
import { defineProjection, encode, type Change } from "../projection.ts";

type Of<E extends NewEvent, T extends E["type"]> = Recorded<Extract<E, { type: T }>>;
type Named =
  | Exclude<ThreadEvent, { type: "TurnTakenOver" | "ToolFinished" }>
  | Extract<
      DocumentEvent,
      { type: "DocumentUploaded" | "DocumentReplaced" | "DocumentReprocessed" | "DocumentIndexed" }
    >
  | Extract<ExtractionEvent, { type: "ExtractionRequested" | "ExtractionCompleted" }>;

/** The part of a turn that has ended. */
const WHOLE = -1;

const source = (id: string, { organization_id, meta }: Recorded, row: object = {}): Change => ({
  table: "usage_sources",
  kind: "put",
  key: { id },
  row: { organization_id, principal: meta.principal, ...row },
});
/** From now on somebody else has it done. */
const askedAnew = ({ data, meta }: Of<DocumentEvent, "DocumentReplaced" | "DocumentReprocessed">): Change[] => [
  { table: "usage_sources", kind: "patch", key: { id: data.document_id }, row: { principal: meta.principal } },
];

interface Spent {
  turns?: number;
  tokens?: Usage;
  pages?: number;
}
const spent = (
  { organization_id, recorded_at }: Recorded,
  source_id: string,
  part: number,
  { turns = 0, tokens = NO_USAGE, pages = 0 }: Spent,
): Change => {
  const { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens } = tokens;
  const counted = { turns, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, pages };
  return {
    table: "usage",
    kind: "put",
    key: { source_id, part },
    row: { organization_id, at: recorded_at, ...counted },
  };
};

function started(event: Of<ThreadEvent, "TurnStarted">): Change[] {
  const { stream, organization_id, data, personal } = event;
  const { turn_id, scope, model, agent } = data;
  const input = personal?.input;
  const user = input && "prompt" in input ? input.prompt.user : null;
  const name = encode(user);
  const turn = source(turn_id, event, { scope, model: encode(model), agent_id: agent?.agent_id ?? null });
  if (name === null) return [turn];
  const row = { thread_id: partsOf(stream).id, organization_id, scope, name };
  return [turn, { table: "usage_users", kind: "put", key: { turn_id }, row }];
}

const nameless = (turn_id: string): Change[] => [{ table: "usage_users", kind: "remove", key: { turn_id } }];

/** What its rounds took is part of it. */
const ended = (event: Of<ThreadEvent, "TurnCompleted" | "TurnFailed" | "TurnStopped">): Change[] => [
  { table: "usage", kind: "removeWhere", where: { source_id: event.data.turn_id } },
  spent(event, event.data.turn_id, WHOLE, { turns: 1, tokens: event.data.usage }),
];

export const usage = defineProjection<Named>({
  name: "usage",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    TurnStarted: started,
    RoundRequested: (event) => [spent(event, event.data.turn_id, event.data.round, { tokens: event.data.usage })],
    TurnCompleted: ended,
    TurnFailed: ended,
    TurnStopped: ended,
    TurnRefused: ({ data: { turn_id } }) => [
      { table: "usage_sources", kind: "remove", key: { id: turn_id } },
      ...nameless(turn_id),
    ],
    TurnDeleted: ({ data }) => nameless(data.turn_id),
    ThreadDeleted: ({ stream }) => [
      { table: "usage_users", kind: "removeWhere", where: { thread_id: partsOf(stream).id } },
    ],
    DocumentUploaded: (event) => [source(event.data.document_id, event)],
    DocumentReplaced: askedAnew,
    DocumentReprocessed: askedAnew,
    DocumentIndexed: (event) => {
      const { document_id, generation, units } = event.data;
      return units === 0 ? [] : [spent(event, document_id, generation, { pages: units })];
    },
    ExtractionRequested: (event) => [source(event.data.extraction_id, event)],
    ExtractionCompleted: (event) => [spent(event, event.data.extraction_id, 0, { pages: event.data.units })],
  },
});
