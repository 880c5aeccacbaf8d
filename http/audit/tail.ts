import type { FastifyReply, FastifyRequest } from "fastify";
import { goneSignal } from "../chat/unanswered.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { openEventStream } from "../sse.ts";
import { frameOf } from "./eventShape.ts";

/** How often the log is looked at; hints only make it faster. */
const POLL_MS = 1_000;
/** Between two looks: commits come by the hundred. */
const PAUSE_MS = 50;
const BATCH = 200;

type Needs = Pick<Http, "db" | "slice" | "onCommitted">;
interface Asked {
  stream: string | undefined;
  types: string[] | undefined;
  /** Undefined: what happens from now on. */
  after: number | undefined;
}

/** Resolves when something was committed, after a while in any case, and once the reader is gone. */
function somethingNew(onCommitted: Http["onCommitted"], gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      unsubscribe();
      gone.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, POLL_MS);
    const unsubscribe = onCommitted(done);
    gone.addEventListener("abort", done);
    if (gone.aborted) done();
  });
}

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

/** Whether the reader may go on; undefined while that cannot be asked. */
async function mayRead(check: (request: FastifyRequest) => Promise<void>, request: FastifyRequest) {
  try {
    await check(request);
    return true;
  } catch (error) {
    return error instanceof ApiError ? false : undefined;
  }
}

/**
 * Tells an organization's events as they are committed, until the reader goes away. Whoever reads is looked at again before
 * anything is told: the stream ends with the session, or with the role.
 */
export function createTail({ db, slice, onCommitted }: Needs, check: (request: FastifyRequest) => Promise<void>) {
  return async (request: FastifyRequest, reply: FastifyReply, { after, ...filter }: Asked): Promise<void> => {
    const { organization_id } = request.caller;
    const [head] = await db.query<{ position: number }>("select position from log.head");
    let seen = after ?? head!.position;
    const gone = goneSignal(reply.raw);
    const sse = openEventStream(reply, ": ping\n\n");
    while (!gone.aborted) {
      // while the log cannot be read, it is read again
      const asked = { ...filter, after: seen, limit: BATCH };
      const { events, more } = await slice(organization_id, asked).catch(() => ({ events: [], more: false }));
      const may = await mayRead(check, request);
      if (may === false) break;
      if (may) {
        sse.write(events.map(frameOf).join(""));
        seen = events.at(-1)?.position ?? seen;
        await sse.drained();
      }
      if (!may || !more) {
        await somethingNew(onCommitted, gone);
        await pause();
      }
    }
    sse.end("");
  };
}
