import { perform, type Action } from "./session.ts";
import type { WireRequest } from "./wire.ts";
import type { KnownRun } from "./known.ts";

/** Frames with an id as `[id, event]`: the last frame of each event of the run. */
const framesIn = (sse: string): [number, string][] =>
  [...sse.matchAll(/^id: (\d+)\nevent: (\S+)\ndata: .*\n\n/gm)].map(([, id, event]) => [Number(id), event!]);

const RUN_ENDS = /^event: run\.(completed|failed|cancelled)$/m;
/** A run may wait longer than its reader. */
const PATIENCE_MS = 6_000;

interface Following {
  path: string;
  token: string;
  /** Id of the last known event. */
  after: number;
  /** From here on, events belong to steps that the run no longer waits for. */
  over?: boolean;
  /** Disconnects after this many frames. */
  frames?: number;
}

/** A broken stream resumes after its last event. */
function wantedOf({ path, token, after, over = false, frames }: Following): WireRequest {
  return {
    method: "GET",
    path,
    token,
    headers: after > 0 ? { "last-event-id": String(after) } : {},
    patience_ms: PATIENCE_MS,
    ...(frames !== undefined && { leaves: (received: string) => framesIn(received).length >= frames }),
    follow(received) {
      const last = framesIn(received).at(-1)?.[0] ?? after;
      return wantedOf({ path, token, after: last, over: over || RUN_ENDS.test(received) });
    },
    ends: over ? /^/ : RUN_ENDS,
  };
}

/** Follows a run for a few events, disconnects, and returns for the rest. */
export async function followRun(action: Action, { id: run_id }: KnownRun): Promise<void> {
  const { session, random, id } = action;
  const where = { path: `/api/workflows/runs/${run_id}/events`, token: session.api_key };
  const part = async (name: string, following: Omit<Following, "path" | "token">) =>
    perform(
      { ...action, id: name },
      {
        what: "run.follow",
        asked: { run_id, after: following.after },
        wanted: wantedOf({ ...where, ...following }),
        read: ({ text }) => ({ frames: framesIn(text), ended: RUN_ENDS.test(text) }),
      },
    );
  const { got } = await part(id, { after: 0, frames: random.int(1, 6) });
  const received = (got["frames"] ?? []) as [number, string][];
  await part(`${id}-rest`, { after: received.at(-1)?.[0] ?? 0, over: got["ended"] === true });
}
