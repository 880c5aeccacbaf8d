import { partsOf } from "#events/ids.ts";
import type { EventLog, PublicEvent, StreamHead } from "#events/ports.ts";
import type { Traced } from "#events/trace.ts";
import { document } from "../../deciders/document.ts";
import { stored, type ReadText, type StoredDocument } from "../../deciders/documentState.ts";
import { stateOf } from "../../states.ts";
import type { Superseded } from "../passageIndex.ts";
import type { Target } from "../../send.ts";
import type { Contents } from "./contents.ts";

/** What calls for a change of the index. */
export const FOLLOWED = ["DocumentRead", "DocumentIndexed", "DocumentChanged", "DocumentDeleted"];

/** A generation of a document that is to be in the index. */
export interface Wanted extends Target, Pick<Traced, "traceparent"> {
  document_id: string;
  collection_id: string;
  text: ReadText;
  /** Nothing of the document up to here is newer than what is put. */
  position: number;
  /** It has been put since, and the index has had it from this time on. */
  finished_at: string | undefined;
  /** The document waits for it. */
  awaited: boolean;
}

/** Generations that another has taken the place of, with the event that said so. */
export interface Older extends Superseded {
  position: number;
}

export interface Plan {
  wanted: Wanted[];
  deleted: Superseded[];
  older: Older[];
}

/**
 * What some events come to. It looks at the documents as they stand now, not at the events: what was superseded or deleted
 * since is left out, however often it happened.
 */
export async function planFor(
  log: Pick<EventLog, "heads" | "read">,
  events: PublicEvent[],
  contents: Contents,
): Promise<Plan> {
  const byStream = Map.groupBy(events, ({ stream }) => stream);
  const heads = await log.heads([...byStream.keys()]);
  const plan: Plan = { wanted: [], deleted: [], older: [] };
  for (const [stream, its] of byStream) {
    const head = heads.get(stream);
    if (!head) continue;
    const state = stored((await stateOf(log, head, document)).state);
    const document_id = partsOf(stream).id;
    if (state) {
      plan.wanted.push(...wantedOf(head, state, its, contents));
      plan.older.push(...its.flatMap(supersededBy));
    } else plan.deleted.push({ document_id, below_generation: null });
  }
  return plan;
}

const supersededBy = ({ type, data, position }: PublicEvent): Older[] =>
  type === "DocumentIndexed" && data.generation > 1
    ? [{ document_id: data.document_id, below_generation: data.generation, position }]
    : [];

function wantedOf(head: StreamHead, state: StoredDocument, events: PublicEvent[], contents: Contents): Wanted[] {
  const awaited = state.status === "indexing" ? state.text : null;
  const present = [state.live, awaited].filter((text) => text !== null);
  const { stream, organization_id, position } = head;
  const document_id = partsOf(stream).id;
  return present.flatMap((text) => {
    const calls = events.filter(
      ({ type, data }) =>
        type === "DocumentChanged" || (type === "DocumentRead" && data.generation === text.generation),
    );
    if (calls.length === 0) return [];
    const known = contents.get(document_id, text.generation);
    const isFresh = known !== undefined && known.position >= calls.at(-1)!.position;
    const isAwaited = text === awaited;
    if (isFresh && !isAwaited) return [];
    const finished_at = isFresh ? known.finished_at : undefined;
    const { collection_id } = state;
    const { traceparent } = calls.at(-1)!;
    const ids = { stream, organization_id, document_id, collection_id };
    return [{ ...ids, text, position, finished_at, awaited: isAwaited, traceparent }];
  });
}
