import { parseStreamName } from "#events/ids.ts";
import type { EventLog, PublicEvent, StreamHead } from "#events/ports.ts";
import type { TraceHeaders } from "#events/trace.ts";
import { document } from "../../deciders/document.ts";
import {
  storedDocument,
  type GenerationText,
  type StoredDocument,
  type StoredVectors,
} from "../../deciders/documentState.ts";
import { readState } from "../../states.ts";
import type { PassageRemoval } from "../passageIndex.ts";
import type { CommandTarget } from "../../send.ts";
import type { IndexContents } from "./contents.ts";

/** The events that change the index. */
export const FOLLOWED_EVENTS = [
  "DocumentRead",
  "DocumentIndexed",
  "DocumentChanged",
  "PassagesEmbedded",
  "DocumentDeleted",
];

/** A generation of a document that the index must contain. */
export interface WantedGeneration extends CommandTarget, Pick<TraceHeaders, "traceparent"> {
  document_id: string;
  collection_id: string;
  text: GenerationText;
  /** Number of passages; undefined if the events do not say, or if vectors exist, which may exceed it. */
  chunk_count: number | undefined;
  /** The vectors that are stored for it. */
  vectors: StoredVectors | undefined;
  /** The text includes all events of the document up to this position and version of its stream. */
  position: number;
  version: number;
  /** When the index accepted it; undefined: it still has to be put. */
  finished_at: string | undefined;
  /** Whether the document waits to become ready. */
  awaited: boolean;
}

/** Older generations of a document, and the position of the event that superseded them. */
export interface SupersededGeneration extends PassageRemoval {
  position: number;
}

export interface IndexPlan {
  wanted: WantedGeneration[];
  deleted: PassageRemoval[];
  older: SupersededGeneration[];
}

/**
 * Plans the changes for some events. The plan uses the current state of each document, not the events: generations that were
 * superseded or deleted meanwhile are skipped.
 */
export async function planChanges(
  log: Pick<EventLog, "heads" | "read">,
  events: PublicEvent[],
  contents: IndexContents,
): Promise<IndexPlan> {
  const byStream = Map.groupBy(events, ({ stream }) => stream);
  const heads = await log.heads([...byStream.keys()]);
  const plan: IndexPlan = { wanted: [], deleted: [], older: [] };
  for (const [stream, own] of byStream) {
    const head = heads.get(stream);
    if (!head) continue;
    const state = storedDocument((await readState(log, head, document)).state);
    const document_id = parseStreamName(stream).id;
    if (state) {
      plan.wanted.push(...wantedGenerations(head, state, own, contents));
      plan.older.push(...own.flatMap(supersededBy));
    } else plan.deleted.push({ document_id, below_generation: null });
  }
  return plan;
}

const supersededBy = ({ type, data, position }: PublicEvent): SupersededGeneration[] =>
  type === "DocumentIndexed" && data.generation > 1
    ? [{ document_id: data.document_id, below_generation: data.generation, position }]
    : [];

function wantedGenerations(
  head: StreamHead,
  state: StoredDocument,
  events: PublicEvent[],
  contents: IndexContents,
): WantedGeneration[] {
  const awaited = state.status === "indexing" ? state.text : null;
  const current = [state.live, awaited].filter((text) => text !== null);
  const { stream, organization_id, position, version } = head;
  const document_id = parseStreamName(stream).id;
  return current.flatMap((text) => {
    const causes = events.filter(
      ({ type, data }) =>
        type === "DocumentChanged" ||
        (type === "DocumentRead" && data.generation === text.generation) ||
        (type === "PassagesEmbedded" && data.complete && data.generation === text.generation),
    );
    if (causes.length === 0) return [];
    const known = contents.get(document_id, text.generation);
    // deferred events come in any order
    const isIndexed = known !== undefined && causes.every((cause) => cause.position <= known.position);
    const isAwaited = text === awaited;
    if (isIndexed && !isAwaited) return [];
    const finished_at = isIndexed ? known.finished_at : undefined;
    const { collection_id, vectors } = state;
    const { traceparent } = causes.at(-1)!;
    const counted: number | undefined = causes.find(({ type }) => type === "DocumentRead")?.data.chunk_count;
    const chunk_count = vectors ? undefined : counted;
    const ids = { stream, organization_id, document_id, collection_id };
    return [{ ...ids, text, chunk_count, vectors, position, version, finished_at, awaited: isAwaited, traceparent }];
  });
}
