import { DeleteDocument } from "#events/document.ts";
import { DeleteFile } from "#events/file.ts";
import type { CommandResult } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { AdvanceRetention, EndRetentionRound, type RetentionRules } from "#events/retention.ts";
import { DeleteThread, DeleteTurn } from "#events/thread.ts";
import { retention, type RetentionState } from "./deciders/retention.ts";
import { createBatchDeleter, hasDeleted, type Deletion } from "./deleteInBatches.ts";
import type { Send } from "./send.ts";
import { findState } from "./states.ts";
import { forgetRun, type RunBelongings } from "./workflows/forgetRun.ts";

/** The last thing of each kind that a round has examined. `at`: its creation time in PostgreSQL's notation. */
export type RoundCursor = Partial<Record<keyof RetentionRules, { at: string; id: string }>>;

interface ExpiredThings {
  threads: { id: string; scope: string }[];
  turns: { id: string; thread_id: string; scope: string }[];
  files: { id: string; scope: string }[];
  documents: { id: string }[];
  runs: (RunBelongings & { id: string })[];
  cursor: RoundCursor;
}

export interface RetainerOptions {
  log: Pick<EventLog, "heads" | "read" | "readNewest">;
  /** Lists a batch of things behind the cursor that have expired under a subject's rules; undefined while the read models are behind `position`. */
  listExpired(
    organization: string,
    whose: { subject: string; rules: RetentionRules; after: RoundCursor },
    position: number,
  ): Promise<ExpiredThings | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/** Deletes what has expired under the rules of organizations and projects, with the same commands as single deletions. */
export function createRetainer({ log, listExpired, send, onError }: RetainerOptions) {
  const readRetention = ({ stream }: StreamHead): Promise<RetentionState> => findState(log, stream, retention);

  /** Threads first, so that a turn deleted with its thread is not deleted twice. */
  async function deleteAll(organization_id: string, expired: ExpiredThings) {
    const to = (stream: string) => ({ organization_id, stream });
    const deleteEach = <T>(things: T[], remove: (thing: T) => Promise<CommandResult>) =>
      Promise.all(things.map(remove));
    return {
      threads: await deleteEach(expired.threads, ({ id, scope }) =>
        send(to(streamName("thread", id)), DeleteThread.type, { scope }),
      ),
      turns: await deleteEach(expired.turns, ({ id, thread_id, scope }) =>
        send(to(streamName("thread", thread_id)), DeleteTurn.type, { turn_id: id, scope }),
      ),
      files: await deleteEach(expired.files, ({ id, scope }) =>
        send(to(streamName("file", id)), DeleteFile.type, { file_id: id, scope }),
      ),
      documents: await deleteEach(expired.documents, ({ id }) =>
        send(to(streamName("document", id)), DeleteDocument.type, { document_id: id }),
      ),
      runs: await deleteEach(expired.runs, (run) => forgetRun(send, { organization_id }, run, { by_rule: true })),
    };
  }

  const open = async (head: StreamHead): Promise<Deletion> => {
    const { organization_id } = head;
    const { subject, round } = await readRetention(head);
    let after: RoundCursor = {};
    return {
      async deleteSome(position) {
        // the rules may have changed since the last batch
        const { rules } = await readRetention(head);
        if (!rules) return [];
        const expired = await listExpired(organization_id, { subject, rules, after }, position);
        if (!expired) return undefined;
        after = expired.cursor;
        const { threads, turns, files, documents, runs } = await deleteAll(organization_id, expired);
        const count = (results: CommandResult[]) => results.filter(hasDeleted).length;
        const deleted = {
          threads: count(threads),
          turns: count(turns),
          files: count(files),
          documents: count(documents),
          runs: count(runs),
        };
        const results = [...threads, ...turns, ...files, ...documents, ...runs];
        if (results.some(hasDeleted)) await send(head, AdvanceRetention.type, { subject, deleted });
        else if (results.some(({ rejection }) => rejection)) return "refused";
        return results;
      },
      complete: () => send(head, EndRetentionRound.type, { subject, round }),
    };
  };
  return createBatchDeleter({ open, onError });
}
