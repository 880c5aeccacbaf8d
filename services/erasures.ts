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
import type { EventLog, StreamHead } from "#events/ports.ts";
import { ForgetRun } from "#events/run.ts";
import { actorOf } from "#events/runOrigin.ts";
import { DeleteThread } from "#events/thread.ts";
import { createBatchDeleter, hasDeleted, type Deletion } from "./deleteInBatches.ts";
import type { Send, Target } from "./send.ts";
import { eraseRuns, type EraseRunsDeps } from "./workflows/eraseRuns.ts";

type Started = Extract<ErasureEvent, { type: "ErasureStarted" }>;

/** What an erasure looks for. */
interface OwnedQuery {
  /** `key:<id>`, `person:<id>`, `agent:<id>`, or `user:` and a mark. */
  owner: string;
  /** Of an external user. */
  scopes?: string[] | undefined;
  documents?: string[] | undefined;
  kinds: readonly ErasedKind[];
}

/** Some of what an owner has and no hold covers; documents, extractions and runs by their ids. */
interface OwnedThings {
  threads: { id: string; scope: string }[];
  files: { id: string; scope: string }[];
  documents: string[];
  extractions: string[];
  runs: { live: string[]; ended: string[] };
  /** Whether a hold covers others. */
  held: boolean;
}

export interface EraserOptions extends Pick<EraseRunsDeps, "belongingsOf"> {
  log: Pick<EventLog, "heads" | "read">;
  /** Some of what an owner has from before a position; undefined while the read models are behind `position`. */
  listOwned(
    organization: string,
    query: OwnedQuery,
    range: { before: number; position: number },
  ): Promise<OwnedThings | undefined>;
  /** How many deletions the log has, after a position, under this request id. */
  countDeletions(organization: string, request_id: string, after: number): Promise<ErasedCounts>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/** The command that deletes one thing of each kind. */
const KIND_OF: Record<string, ErasedKind> = {
  [DeleteThread.type]: "threads",
  [DeleteFile.type]: "files",
  [ForgetRun.type]: "runs",
  [DeleteDocument.type]: "documents",
  [DeleteExtraction.type]: "extractions",
};

/** Sends commands, and counts the things that they delete. */
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

/** Deletes what owners have, a batch at a time, with the commands that delete one thing. */
export function createEraser({ log, listOwned, countDeletions, belongingsOf, send, onError }: EraserOptions) {
  const removeThings = (remove: Send, part: Omit<Target, "stream">, owned: OwnedThings): Promise<CommandResult[]> => {
    const to = (aggregate: "thread" | "file" | "document" | "extraction", id: string): Target => ({
      ...part,
      stream: streamName(aggregate, id),
    });
    return Promise.all([
      ...owned.threads.map(({ id, scope }) => remove(to("thread", id), DeleteThread.type, { scope })),
      ...owned.files.map(({ id, scope }) => remove(to("file", id), DeleteFile.type, { file_id: id, scope })),
      ...owned.documents.map((id) => remove(to("document", id), DeleteDocument.type, { document_id: id })),
      ...owned.extractions.map((id) => remove(to("extraction", id), DeleteExtraction.type, { extraction_id: id })),
    ]);
  };

  const open = async (head: StreamHead): Promise<Deletion> => {
    const { organization_id, stream } = head;
    const { id: erasure_id } = parseStreamName(stream);
    const [started] = await log.read(stream);
    const { owner, scopes, documents, kinds = ["threads", "files"] } = started!.data as Started["data"];
    // what the owner creates from now on stays, so the work ends
    const before = started!.position;
    // the erasure's name in the events of its deletions is how its certificate finds them
    const part = { organization_id, request_id: stream };
    const by = actorOf(started!.meta.principal);
    let newest = 0;
    return {
      async deleteSome(position) {
        const query = { owner, scopes, documents, kinds };
        const range = { before, position: Math.max(position, newest) };
        const owned = await listOwned(organization_id, query, range);
        if (!owned) return undefined;
        const { counts, remove } = createCounter(send);
        const things = await removeThings(remove, part, owned);
        const listed = { ...owned.runs, position: range.position };
        const runs = await eraseRuns({ log, belongingsOf, send: remove }, part, listed, by);
        newest = Math.max(newest, runs.newest);
        if (Object.values(counts).some((count) => count > 0))
          await send(head, AdvanceErasure.type, { erasure_id, ...counts });
        const results = [...things, ...runs.results];
        if (results.length > 0) return results;
        // the read models have not passed the ends of these runs
        if (newest > range.position) return undefined;
        return owned.held || runs.waits ? "waits" : results;
      },
      async complete() {
        const deleted = await countDeletions(organization_id, stream, before);
        return send(head, CompleteErasure.type, { erasure_id, deleted });
      },
    };
  };
  return createBatchDeleter({ open, onError });
}
