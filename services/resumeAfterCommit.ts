import { streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import type { CommittedCommand } from "./handle.ts";
import { findHead } from "./states.ts";

interface Options {
  log: Pick<EventLog, "heads">;
  resumeWork(head: StreamHead): Promise<void>;
  onError(error: unknown, stream: string): void;
}

/** The stream that an event gives open work: the run itself, or the run that waits for a turn. */
function findTarget(stream: string, { data }: CommittedCommand["events"][number]): string | undefined {
  const { settles, awaited_by } = data as { settles?: boolean; awaited_by?: string };
  if (settles) return stream;
  return awaited_by === undefined ? undefined : streamName("run", awaited_by);
}

/**
 * After a commit, settles an ended run, and resumes the run that waits for an ended turn, in this process and without the bus. If
 * it is interrupted, another process's sweep continues.
 */
export function resumeAfterCommit({ log, resumeWork, onError }: Options) {
  return ({ command, events }: CommittedCommand): void => {
    if (events.at(-1)?.type === "RunSettled") return;
    const target = events.map((event) => findTarget(command.stream, event)).find((stream) => stream !== undefined);
    if (target === undefined) return;
    const find = async (): Promise<void> => {
      const head = await findHead(log, target);
      if (head?.status) await resumeWork(head);
    };
    find().catch((error: unknown) => onError(error, target));
  };
}
