import { DeleteDocument } from "#events/document.ts";
import type { CommandResult } from "#events/envelope.ts";
import {
  AdvanceErasure,
  CompleteErasure,
  NOTHING_ERASED,
  type ErasedCounts,
  type ErasedKind,
  type ErasureEvent,
} from "#events/erasure.ts";
import { DeleteExtraction } from "#events/extraction.ts";
import { DeleteFile } from "#events/file.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import type { OwnedQuery, OwnedThings } from "#events/ownedThings.ts";
import type { EventLog, Frames, StreamHead } from "#events/ports.ts";
import { ForgetRun } from "#events/run.ts";
import { actorOf } from "#events/runOrigin.ts";
import { DeleteThread } from "#events/thread.ts";
import { createBatchDeleter, hasDeleted, type Deletion } from "./deleteInBatches.ts";
import type { Send, CommandTarget } from "./send.ts";
import { stopTurns } from "./turns/stopTurns.ts";
import { eraseRuns, type EraseRunsDeps } from "./workflows/eraseRuns.ts";

type ErasureStart = Extract<ErasureEvent, { type: "ErasureStarted" }>;

const NOTHING_OWNED: OwnedThings = {
  threads: [],
  files: [],
  documents: [],
  extractions: [],
  runs: { live: [], ended: [] },
  held: false,
};

export interface EraserOptions extends Pick<EraseRunsDeps, "belongingsOf"> {
  log: Pick<EventLog, "heads" | "read" | "event">;
  frames: Pick<Frames, "requestStop">;
  /** Lists a batch of the things that an owner had before a position; undefined while the read models are behind `position`. */
  listOwned(
    organization: string,
    query: OwnedQuery,
    range: { before: number; position: number },
  ): Promise<OwnedThings | undefined>;
  /** Reads the deletions after a position that have this request id: their number, and the ids of the destroyed runs. */
  readDeletions(
    organization: string,
    request_id: string,
    after: number,
  ): Promise<{ counts: ErasedCounts; runs: string[] }>;
  /** Lists a batch of the runs derived from these destroyed ones. */
  listRunsFrom(organization: string, runs: string[]): Promise<OwnedThings["runs"] & { held: boolean }>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/** The kind of thing that each command deletes. */
const KIND_OF: Record<string, ErasedKind> = {
  [DeleteThread.type]: "threads",
  [DeleteFile.type]: "files",
  [ForgetRun.type]: "runs",
  [DeleteDocument.type]: "documents",
  [DeleteExtraction.type]: "extractions",
};

/** Sends commands and counts the things they delete. */
function createCounter(send: Send) {
  const counts = { ...NOTHING_ERASED };
  const remove: Send = async (target, type, data) => {
    const result = await send(target, type, data);
    const kind = KIND_OF[type];
    if (kind && hasDeleted(result)) counts[kind]++;
    return result;
  };
  return { counts, remove };
}

function removeThings(remove: Send, part: Omit<CommandTarget, "stream">, owned: OwnedThings): Promise<CommandResult[]> {
  const to = (aggregate: "thread" | "file" | "document" | "extraction", id: string): CommandTarget => ({
    ...part,
    stream: streamName(aggregate, id),
  });
  return Promise.all([
    ...owned.threads.map(({ id, scope }) => remove(to("thread", id), DeleteThread.type, { scope })),
    ...owned.files.map(({ id, scope }) => remove(to("file", id), DeleteFile.type, { file_id: id, scope })),
    ...owned.documents.map((id) => remove(to("document", id), DeleteDocument.type, { document_id: id })),
    ...owned.extractions.map((id) => remove(to("extraction", id), DeleteExtraction.type, { extraction_id: id })),
  ]);
}

/** Deletes everything that owners have, in batches, with the same commands as single deletions. */
export function createEraser(options: EraserOptions) {
  const { log, listOwned, readDeletions, listRunsFrom, belongingsOf, send, onError } = options;

  const open = async (head: StreamHead): Promise<Deletion> => {
    const { organization_id, stream } = head;
    const { id: erasure_id } = parseStreamName(stream);
    const started = await log.event(stream, 1);
    const { owner, scopes, documents, kinds = ["threads", "files"] } = started!.data as ErasureStart["data"];
    // what the owner creates after the start stays, so the work ends
    const before = started!.position;
    // the erasure's certificate finds its deletions by this request id
    const part = { organization_id, request_id: stream };
    const by = actorOf(started!.meta.principal);
    let newest = 0;

    const eraseListed = async (
      owned: OwnedThings,
      position: number,
    ): Promise<CommandResult[] | "waits" | undefined> => {
      const { counts, remove } = createCounter(send);
      // nobody will read their answers
      await stopTurns(options, organization_id, owned.threads);
      const things = await removeThings(remove, part, owned);
      const runs = await eraseRuns({ log, belongingsOf, send: remove }, part, { ...owned.runs, position }, by);
      newest = Math.max(newest, runs.newest);
      if (Object.values(counts).some((count) => count > 0))
        await send(head, AdvanceErasure.type, { erasure_id, ...counts });
      const results = [...things, ...runs.results];
      if (results.length > 0) return results;
      // the read models do not include the ends of these runs yet
      if (newest > position) return undefined;
      return owned.held || runs.waits ? "waits" : results;
    };

    /** Erases runs that were forked or retried from a run while it was being destroyed. No list of the owner contains them. */
    const eraseDerivedRuns = async (position: number) => {
      const { runs } = await readDeletions(organization_id, stream, before);
      if (runs.length === 0) return [];
      const { held, ...derived } = await listRunsFrom(organization_id, runs);
      return eraseListed({ ...NOTHING_OWNED, runs: derived, held }, position);
    };

    return {
      async deleteSome(committed) {
        const position = Math.max(committed, newest);
        const query = { owner, scopes, documents, kinds };
        const owned = await listOwned(organization_id, query, { before, position });
        if (!owned) return undefined;
        const results = await eraseListed(owned, position);
        return results?.length === 0 && kinds.includes("runs") ? eraseDerivedRuns(position) : results;
      },
      async complete() {
        const { counts: deleted } = await readDeletions(organization_id, stream, before);
        return send(head, CompleteErasure.type, { erasure_id, deleted });
      },
    };
  };
  return createBatchDeleter({ open, onError });
}
