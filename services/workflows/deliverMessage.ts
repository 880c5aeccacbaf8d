import { newCommand, type Command, type CommandFrom, type CommandResult } from "#events/envelope.ts";
import type { EventFrom } from "#events/define.ts";
import { deriveCommandId, streamName } from "#events/ids.ts";
import { CloseMessage, MessagePosted } from "#events/message.ts";
import type { EventLog } from "#events/ports.ts";
import type { StoredValue } from "#events/runParts.ts";
import { DeliverMessage, WaitAnswered } from "#events/runLinks.ts";
import type { CommittedCommand, Handle } from "../handle.ts";
import type { CommandTarget } from "../send.ts";
import type { FairSemaphore } from "../sharing/fairSemaphore.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import { findWaits, isMatch, filterOpenWaits, type FoundWait, type WaitSources } from "./findWaits.ts";
import { isInEvent, openValues, RunGone } from "./values.ts";

const TIMEOUT_MS = 10_000;
/** Waits of one message that are answered at the same time. */
const CONCURRENCY = 20;
/** Bytes that an answer counts at least while it is recorded: most cost little else than their commit. */
const MIN_ANSWER_BYTES = 64 * 1024;
/** Bytes of answers that a process records at the same time: in total, and of an organization. */
export const ANSWER_BYTES = { total: 4 * CONCURRENCY * MIN_ANSWER_BYTES, perTenant: CONCURRENCY * MIN_ANSWER_BYTES };
/** Maximum bytes of all copies of one message. */
const MAX_COPIED_BYTES = 64 * 1024 * 1024;
/** Events per query when counting answered waits. */
const PAGE = 200;

export interface DeliveryDeps extends VaultDeps, WaitSources {
  log: Pick<EventLog, "read" | "scan" | "event" | "heads">;
  handle: Handle;
  worker: string;
  /** Shares ANSWER_BYTES among organizations: messages may reach ten thousand waits each, several of them at once. */
  answers: Pick<FairSemaphore, "run">;
}

interface Delivery extends CommandTarget {
  message_id: string;
  /** Bytes of the answer. */
  bytes: number;
  /** The answer for the waits of one run, stored once per run. */
  answerFor(run_id: string): Promise<StoredValue>;
}

/** Equal in every process that delivers the message, so that a wait is answered once. */
const commandId = ({ message_id }: Delivery, { run_id, key }: FoundWait): string =>
  deriveCommandId("deliver", message_id, run_id, key);

const createCommand = (
  { worker }: DeliveryDeps,
  { stream, organization_id }: CommandTarget,
  type: string,
  data: object,
  more: Partial<Pick<Command, "id" | "joined">> = {},
): Command => newCommand(type, { stream, organization_id, request_id: worker, timeout_ms: TIMEOUT_MS, data, ...more });

const closeCommand = (deps: DeliveryDeps, head: CommandTarget, data: CommandFrom<typeof CloseMessage>["data"]) =>
  createCommand(deps, head, CloseMessage.type, data);

/** Answers one wait, unless it has ended. Undefined if the run was destroyed. */
async function recordAnswer(
  deps: DeliveryDeps,
  delivery: Delivery,
  wait: FoundWait,
  joined?: Command[],
): Promise<CommandResult | undefined> {
  const { message_id, organization_id } = delivery;
  const { run_id, key } = wait;
  const run = { stream: streamName("run", run_id), organization_id };
  try {
    const data = { run_id, key, message_id, answer: await delivery.answerFor(run_id) };
    const more = { id: commandId(delivery, wait), ...(joined && { joined }) };
    return await deps.handle(createCommand(deps, run, DeliverMessage.type, data, more));
  } catch (error) {
    if (error instanceof RunGone) return undefined;
    throw error;
  }
}

const answerWait = (deps: DeliveryDeps, delivery: Delivery, wait: FoundWait, joined?: Command[]) =>
  deps.answers.run(
    delivery.organization_id,
    () => recordAnswer(deps, delivery, wait, joined),
    undefined,
    Math.max(MIN_ANSWER_BYTES, delivery.bytes),
  );

/** Stores the answer once per run. The promise rejects with RunGone if the run was destroyed. */
function createAnswers(deps: DeliveryDeps, organization_id: string, json: string): Delivery["answerFor"] {
  const stored = new Map<string, Promise<StoredValue>>();
  return (run_id) => {
    const run = { stream: streamName("run", run_id), organization_id };
    const answer = stored.get(run_id) ?? openValues(deps, run).store(json);
    stored.set(run_id, answer);
    return answer;
  };
}

/**
 * The waits that one message answers: the oldest ones, up to MAX_COPIED_BYTES of copies. A long answer is stored once per run, a
 * short one in the event of each wait.
 */
function limitCopies(waits: FoundWait[], answer: string): FoundWait[] {
  const max = Math.ceil(MAX_COPIED_BYTES / Buffer.byteLength(answer));
  if (isInEvent(answer)) return waits.slice(0, max);
  const runs = new Set([...new Set(waits.map(({ run_id }) => run_id))].slice(0, max));
  return waits.filter(({ run_id }) => runs.has(run_id));
}

/**
 * The streams of the runs that the message has reached, found by scanning the log from its position on. The read model may no
 * longer list waits that a dead process has answered.
 */
async function findReached({ log }: DeliveryDeps, { message_id }: Delivery, [from, to]: [number, number]) {
  const reached = new Set<string>();
  for (let [after, isBehind] = [from, from < to]; isBehind; ) {
    const { events, seen } = await log.scan(after, [WaitAnswered.type], PAGE);
    for (const { data, stream } of events)
      if ((data as EventFrom<typeof WaitAnswered>["data"]).message_id === message_id) reached.add(stream);
    isBehind = after < seen && seen < to;
    after = seen;
  }
  return reached;
}

/**
 * Answers the only wait, and records the end of the delivery in the same commit. False if the wait has ended, or another process
 * has answered it.
 */
async function deliverToOne(deps: DeliveryDeps, delivery: Delivery, wait: FoundWait, span: [number, number]) {
  const reached = (await findReached(deps, delivery, span)).add(streamName("run", wait.run_id)).size;
  const close = closeCommand(deps, delivery, { message_id: delivery.message_id, reached });
  const result = await answerWait(deps, delivery, wait, [close]);
  return result !== undefined && !result.repeated && !result.rejection;
}

async function deliverToAll(deps: DeliveryDeps, delivery: Delivery, waits: FoundWait[], span: [number, number]) {
  const [posted, projected] = span;
  let answered = projected;
  for (let n = 0; n < waits.length; n += CONCURRENCY) {
    const batch = waits.slice(n, n + CONCURRENCY).map((wait) => answerWait(deps, delivery, wait));
    answered = Math.max(answered, ...(await Promise.all(batch)).map((result) => result?.position ?? 0));
  }
  const { message_id } = delivery;
  const reached = (await findReached(deps, delivery, [posted, answered])).size;
  await deps.handle(closeCommand(deps, delivery, { message_id, reached }));
}

const countRuns = (waits: FoundWait[]): number => new Set(waits.map(({ run_id }) => run_id)).size;

/** Counts the runs that would receive a message for one of them. Ended runs do not count. */
const countReceivers = async ({ log }: DeliveryDeps, waits: FoundWait[]): Promise<number> =>
  countRuns(waits) > 1 ? countRuns(await filterOpenWaits(log, waits)) : 1;

/** A message in the log. */
export type PostedMessage = EventFrom<typeof MessagePosted> & { position: number };

/** The message that a commit of this process posted. */
export function findPosted({ events, position }: Pick<CommittedCommand, "events" | "position">) {
  const [first] = events;
  return first?.type === MessagePosted.type ? { ...(first as EventFrom<typeof MessagePosted>), position } : undefined;
}

/**
 * Delivers a message to all matching waits that precede it in the log. Idempotent, and safe in two processes at once. Does nothing
 * while the read model is far behind; the sweep repeats it. `known`: the message, to save reading it.
 */
export async function deliverMessage(deps: DeliveryDeps, head: CommandTarget, known?: PostedMessage): Promise<void> {
  const { stream, organization_id } = head;
  const posted = known ?? ((await deps.log.read(stream))[0] as PostedMessage | undefined);
  // Another process has delivered it.
  if (!posted?.personal) return;
  const { message_id, project_id } = posted.data;
  const { name } = posted.personal;
  const json = await openValues(deps, head).json(posted.personal.data);
  const data = JSON.parse(json) as Record<string, unknown>;
  const query = { project_id, name, position: posted.position };
  const found = await findWaits(deps, organization_id, query, (match) => isMatch(match, data));
  if (!found) return;
  const all = found.waits;
  const refused_for = posted.data.to === "one" ? await countReceivers(deps, all) : 0;
  if (refused_for > 1)
    return void (await deps.handle(closeCommand(deps, head, { message_id, reached: 0, refused_for })));
  const answer = `{"status":"received","event_id":"${message_id}","data":${json}}`;
  const matching = limitCopies(all, answer);
  const answerFor = createAnswers(deps, organization_id, answer);
  const delivery = { stream, organization_id, message_id, bytes: Buffer.byteLength(answer), answerFor };
  // the query leaves out waits answered by others, once the read model has passed them
  const span: [number, number] = [posted.position, found.projected];
  const [first, ...others] = matching;
  const isOnly = first !== undefined && others.length === 0;
  if (isOnly && (await deliverToOne(deps, delivery, first, span))) return;
  await deliverToAll(deps, delivery, matching, span);
}
