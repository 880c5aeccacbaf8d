import type { FastifyRequest } from "fastify";
import type { RecordedEvent } from "#events/envelope.ts";
import { ERASURE_EVENTS, ERASED_KINDS, NOTHING_ERASED } from "#events/erasure.ts";
import { streamName } from "#events/ids.ts";
import { ApiError } from "../base/errors.ts";
import type { Http } from "../base/deps.ts";

const BATCH = 500;
const DELETIONS = Object.values(ERASURE_EVENTS);

interface Erasure {
  started: RecordedEvent;
  completed: RecordedEvent;
  owner: string;
}

/** Finds a completed erasure. Throws 409 `erasure_running`. */
export async function readCompleted(http: Http, organization_id: string, erasure_id: string): Promise<Erasure> {
  let [started, completed]: (RecordedEvent | undefined)[] = [];
  // page by page, because an erasure records its progress after each batch
  for await (const { events } of http.streamPages(streamName("erasure", erasure_id))) {
    started ??= events.find(({ type, organization_id: of }) => type === "ErasureStarted" && of === organization_id);
    completed ??= events.find(({ type }) => type === "ErasureCompleted");
  }
  if (!started || !completed)
    throw new ApiError("erasure_running", "The erasure is not complete yet; its certificate comes after its end.", {
      param: "id",
    });
  return { started, completed, owner: (started.data as { owner: string }).owner };
}

/** Identifies an event of the log and proves its content: the hash covers it and all events before it. */
const proof = ({ stream, version, type, recorded_at }: RecordedEvent, hash: string | undefined) => ({
  stream,
  version,
  event: type,
  recorded_at,
  hash,
});

async function* proofs(http: Http, organization_id: string, events: RecordedEvent[]) {
  const hashes = await http.readHashes(
    organization_id,
    events.map(({ position }) => position),
  );
  for (const event of events) yield proof(event, hashes.get(event.position));
}

/** The events with which an erasure deleted something, between its start and its end. */
async function* deletions(http: Http, request: FastifyRequest, { started, completed }: Erasure) {
  const { organization_id } = request.caller;
  const query = { types: DELETIONS, limit: BATCH };
  for (let [after, more] = [started.position, true]; more && after < completed.position; ) {
    await request.recheckCredential?.();
    const slice = await http.readAuditSlice(organization_id, { ...query, after });
    const own = slice.events.filter(
      ({ position, meta }) => position < completed.position && meta.request_id === started.stream,
    );
    yield* proofs(http, organization_id, own);
    after = slice.events.at(-1)?.position ?? completed.position;
    more = slice.more;
  }
}

/** Yields the lines of a certificate: what was erased, when and by whom, with the hash of each event that proves it. */
export async function* certificateLines(http: Http, request: FastifyRequest, erasure: Erasure) {
  const { organization_id } = request.caller;
  const { started, completed, owner } = erasure;
  const [start, end] = await Array.fromAsync(proofs(http, organization_id, [started, completed]));
  const { principal: started_by } = started.meta;
  yield { type: "certificate", organization_id, owner, started_by, ...start };
  let erased = 0;
  const counts = { ...NOTHING_ERASED };
  for await (const deletion of deletions(http, request, erasure)) {
    erased++;
    const kind = ERASED_KINDS.find((one) => ERASURE_EVENTS[one] === deletion.event);
    if (kind) counts[kind]++;
    yield { type: "erased", ...deletion };
  }
  yield { type: "end", erased, counts, ...end };
}
