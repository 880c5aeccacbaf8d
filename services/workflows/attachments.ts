import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { file, type FileState } from "../deciders/file.ts";
import { isLive } from "../deciders/runState.ts";
import { readState } from "../states.ts";
import type { History } from "./history.ts";
import { mayReadFile } from "./host/files.ts";
import type { TickOutcome } from "./tick.ts";

type Log = Pick<EventLog, "heads" | "read" | "readNewest">;

/** The ids of files that new approvals of a tick attach. */
function newAttachments({ state }: History, { asked, end }: TickOutcome): string[] {
  if (end.type !== "suspended") return [];
  const open = new Set(isLive(state) ? Object.values(state.approvals).map(({ key }) => key) : []);
  const files = asked.flatMap((call) =>
    call.kind === "approval" && !open.has(call.key) ? (call.options.attachments ?? []) : [],
  );
  return [...new Set(files)];
}

/**
 * A tick that attaches a file which its run may not read fails the run, because people would see what nobody handed to it.
 * Otherwise the outcome as it is.
 */
export async function checkAttachments(log: Log, history: History, outcome: TickOutcome): Promise<TickOutcome> {
  const ids = newAttachments(history, outcome);
  if (ids.length === 0) return outcome;
  const { organization_id, created } = history;
  const handed = (isLive(history.state) && history.state.files) || [];
  const heads = await log.heads(ids.map((id) => streamName("file", id)));
  for (const id of ids) {
    const head = heads.get(streamName("file", id));
    const isOwn = head?.organization_id === organization_id;
    const state: FileState = isOwn ? (await readState(log, head, file)).state : file.initial;
    const isReadable =
      state.status === "stored" &&
      (await mayReadFile(log, organization_id, created, handed, { id, scope: state.scope }));
    if (isReadable) continue;
    const message = `awaitApproval: attachments: the run has no file ${id}.`;
    return { ...outcome, end: { type: "failed", code: "run_error", message, line: null, column: null } };
  }
  return outcome;
}
