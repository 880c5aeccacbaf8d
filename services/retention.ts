import { DeleteDocument } from "#events/document.ts";
import { DeleteFile } from "#events/file.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { AdvanceRetention, EndRetentionRound, type RetentionRules } from "#events/retention.ts";
import { DeleteThread } from "#events/thread.ts";
import { retention, type RetentionState } from "./deciders/retention.ts";
import { createBatchDeleter, hasDeleted, type Deletion } from "./deleteInBatches.ts";
import type { Send } from "./send.ts";
import { readState } from "./states.ts";
import { forgetRun } from "./workflows/forgetRun.ts";

/** The last thing of each kind that a round has seen: `at` is when it was created, in PostgreSQL's notation. */
export type RoundCursor = Partial<Record<keyof RetentionRules, { at: string; id: string }>>;

interface Expired {
  threads: { id: string; scope: string }[];
  files: { id: string; scope: string }[];
  documents: { id: string }[];
  /** With the threads that their steps started. */
  runs: { id: string; threads: string[] }[];
  cursor: RoundCursor;
}

export interface RetainerOptions {
  log: Pick<EventLog, "heads" | "read" | "readNewest">;
  /** Some things behind the cursor that are older than the rules of a subject allow; undefined while the read models are behind `position`. */
  listExpired(
    organization: string,
    whose: { subject: string; rules: RetentionRules; after: RoundCursor },
    position: number,
  ): Promise<Expired | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/** Deletes what is older than the rules of organizations and projects allow, with the commands that delete a single thing. */
export function createRetainer({ log, listExpired, send, onError }: RetainerOptions) {
  /** The rules as they are now: they may have changed since the round began. */
  const readRules = async (head: StreamHead): Promise<RetentionState> => {
    const newest = (await log.heads([head.stream])).get(head.stream) ?? head;
    return (await readState(log, newest, retention)).state;
  };

  const open = async (head: StreamHead): Promise<Deletion> => {
    const { organization_id } = head;
    const { subject, round } = await readRules(head);
    const to = (stream: string) => ({ organization_id, stream });
    let after: RoundCursor = {};
    return {
      async deleteSome(position) {
        const { rules } = await readRules(head);
        if (!rules) return [];
        const expired = await listExpired(organization_id, { subject, rules, after }, position);
        if (!expired) return undefined;
        after = expired.cursor;
        const threads = await Promise.all(
          expired.threads.map(({ id, scope }) => send(to(streamName("thread", id)), DeleteThread.type, { scope })),
        );
        const files = await Promise.all(
          expired.files.map(({ id, scope }) =>
            send(to(streamName("file", id)), DeleteFile.type, { file_id: id, scope }),
          ),
        );
        const documents = await Promise.all(
          expired.documents.map(({ id }) =>
            send(to(streamName("document", id)), DeleteDocument.type, { document_id: id }),
          ),
        );
        const runs = await Promise.all(
          expired.runs.map((run) => forgetRun(send, organization_id, run, { by_rule: true })),
        );
        const count = (results: typeof threads) => results.filter(hasDeleted).length;
        const deleted = {
          threads: count(threads),
          files: count(files),
          documents: count(documents),
          runs: count(runs),
        };
        const results = [...threads, ...files, ...documents, ...runs];
        if (results.some(hasDeleted)) await send(head, AdvanceRetention.type, { subject, deleted });
        else if (results.some(({ rejection }) => rejection)) return "refused";
        return results;
      },
      complete: () => send(head, EndRetentionRound.type, { subject, round }),
    };
  };
  return createBatchDeleter({ open, onError });
}
