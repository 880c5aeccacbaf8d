import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { file, type FileState } from "../deciders/file.ts";
import { isLive } from "../deciders/runState.ts";
import { readState } from "../states.ts";
import type { ApprovalCall, RefusedApproval } from "./newApprovals.ts";
import type { History } from "./history.ts";
import { mayReadFile } from "./host/files.ts";

type Log = Pick<EventLog, "heads" | "read" | "readNewest">;

/** The first approval that attaches a file which its run may not read. Showing it would reveal a file that nobody handed to the run. */
export async function findRefusedAttachment(
  log: Log,
  history: History,
  calls: ApprovalCall[],
): Promise<RefusedApproval | undefined> {
  const attached = calls.flatMap(({ key, options }) => (options.attachments ?? []).map((id) => ({ key, id })));
  if (attached.length === 0) return undefined;
  const { organization_id, created } = history;
  const handed = (isLive(history.state) && history.state.files) || [];
  const heads = await log.heads([...new Set(attached.map(({ id }) => streamName("file", id)))]);
  for (const { key, id } of attached) {
    const head = heads.get(streamName("file", id));
    const isOwn = head?.organization_id === organization_id;
    const state: FileState = isOwn ? (await readState(log, head, file)).state : file.initial;
    const isReadable =
      state.status === "stored" &&
      (await mayReadFile(log, organization_id, created, handed, { id, scope: state.scope }));
    if (!isReadable) return { key, message: `awaitApproval: attachments: the run has no file ${id}.` };
  }
  return undefined;
}
