import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { newId, parseStreamName, streamName } from "#events/ids.ts";
import { encodeLargeJson, jsonWithin, measureJson } from "#events/largeJson.ts";
import type { Labels } from "#events/labels.ts";
import { Unavailable } from "#events/ports.ts";
import { ownerScope } from "#events/scope.ts";
import { StartTurn, type PromptOrBlob } from "#events/thread.ts";
import { titleOf } from "#events/threadTitle.ts";
import type { TurnAdmission } from "#projections/budgets/rateWatch.ts";
import type { Spender } from "#projections/budgets/subjects.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findFirstEvent } from "../base/idempotency.ts";
import { commandBytes, type CommandRequest } from "../base/send.ts";
import { requireStorage, requireThreadStorage } from "../base/storageLimits.ts";
import { admitTurn, spenderOf } from "./admitTurn.ts";
import { countAttachedBytes } from "./attachedBytes.ts";
import { openFrameReader, type FrameReader } from "./frameReader.ts";
import { spendingOf } from "#events/turnEnd.ts";
import { readLabels } from "./labels.ts";
import type { TurnIdentity } from "./previousTurn.ts";
import { resumeTurn } from "./resumeTurn.ts";
import { putBlob, storeMessages, type TurnBlobs } from "./storeMessages.ts";
import { turnLimitMs, type AttachedTurn } from "./turnHandle.ts";
import { promptFrom, textMessage, type TurnRequest } from "./turnRequest.ts";
import { recordRefusedTurn } from "./recordAbandonedTurn.ts";

const MAX_COMMAND_BYTES = 256 * 1024;
/** Bodies up to this size always fit into the command: encoding the prompt only adds ids and sizes. */
const MAX_INLINE_BODY_BYTES = 128 * 1024;
/** Bytes of a collection's id in the prompt. The request may have named the collection by one letter. */
const COLLECTION_ID_BYTES = 40;

type StartCommand = CommandRequest<z.infer<typeof StartTurn.schema>>;
type BuildCommand = (
  input: PromptOrBlob,
  stored?: { keys: Record<string, string>; stored_bytes: number },
) => StartCommand;

/** Starts a turn. Subscribes to its frames before the command is sent, so that none is missed. Throws the rejection of StartTurn. */
export async function startTurn(
  http: Http,
  request: FastifyRequest,
  turnRequest: TurnRequest,
  identity: TurnIdentity,
  disconnected: AbortSignal,
): Promise<AttachedTurn> {
  // The id is not derived from the command id. A request that runs again after a rejection needs a turn with its own data key and
  // blobs, and after a key's outcome has expired it needs another thread.
  const turn_id = newId();
  const labels = readLabels(request.headers);
  const spender = spenderOf(http, request.caller, turnRequest);
  const admitted = await admitTurn(http, spender, turnRequest, turn_id);
  try {
    const attached = await startAdmitted(http, request, turnRequest, identity, {
      turn_id,
      spender,
      labels,
      disconnected,
      admitted,
    });
    if (attached.turn.turn_id !== turn_id) admitted.withdraw();
    return { ...attached, headers: admitted.headers };
  } catch (error) {
    // after Unavailable the turn may have started, so it stays admitted
    if (!(error instanceof Unavailable)) admitted.withdraw();
    throw error;
  }
}

interface StartOptions {
  turn_id: string;
  spender: Spender;
  labels: Labels | undefined;
  disconnected: AbortSignal;
  admitted: TurnAdmission;
}

async function startAdmitted(
  http: Http,
  request: FastifyRequest,
  turnRequest: TurnRequest,
  identity: TurnIdentity,
  { turn_id, spender, labels, disconnected, admitted }: StartOptions,
): Promise<AttachedTurn> {
  const { organization_id } = identity;
  const { model, include_usage } = turnRequest;
  const thread_id = identity.thread_id ?? newId();
  const limit = turnRequest.limit_ms ?? turnLimitMs(http, turnRequest.streamed);
  const ends_by = Math.floor(currentTime() / 1000) * 1000 + limit;
  const build = commandBuilder(request, turnRequest, identity, {
    turn_id,
    spender,
    thread_id,
    labels,
    ends_by,
    disconnected,
    reserved: admitted.reserved,
  });
  // files belong to a key and a user, whichever agent reads them (spec: Authentication, rule 5)
  const scope = ownerScope(request.caller.principal, turnRequest.user);
  const room = countAttachedBytes(http, request, spender);
  const blobs = { organization_id, scope, thread_id, turn_id, room };
  const command = await room.during(() => prepare(http, turnRequest, blobs, request.bodyBytes, build));

  const reader = settleAtEnd(openFrameReader(http.frames, organization_id, turn_id), {
    end(spending, position) {
      admitted.end(spending, position);
      http.budgets.noteEnd(organization_id);
    },
  });
  try {
    const { repeated, position } = await http.send(StartTurn, command);
    request.onlyWaits();
    if (!repeated) room.settle(position);
    else {
      room.withdraw();
      reader.close();
      return await resumeRepeated(http, turnRequest, identity);
    }
  } catch (error) {
    reader.close();
    // after Unavailable the turn may run; a retry without a key joins it
    if (error instanceof ApiError && error.status < 500) room.withdraw();
    if (error instanceof Unavailable) await recordRefusedTurn(http, { command_id: identity.id });
    throw error;
  }
  const created = (ends_by - limit) / 1000;
  const turn = { organization_id, turn_id, thread_id, command_id: identity.id, model, include_usage, created, ends_by };
  return { reader, end: undefined, turn };
}

interface NewTurn {
  turn_id: string;
  spender: Spender;
  thread_id: string;
  labels: Labels | undefined;
  ends_by: number;
  disconnected: AbortSignal;
  /** US dollars that budgets reserve for the turn. */
  reserved: string | undefined;
}

/**
 * Reports the turn's spending to the limits as soon as its end is read, because the client's next request may arrive before the
 * projection does.
 */
function settleAtEnd(reader: FrameReader, admitted: Pick<TurnAdmission, "end">): FrameReader {
  return {
    ...reader,
    async next(ms) {
      const frame = await reader.next(ms);
      if (frame?.type === "end") admitted.end(spendingOf(frame.end), frame.position);
      return frame;
    },
  };
}

function commandBuilder(
  { caller, id: request_id }: FastifyRequest,
  request: TurnRequest,
  { organization_id, id, fingerprint, thread_id: continued }: TurnIdentity,
  { turn_id, spender, thread_id, labels, ends_by, disconnected, reserved }: NewTurn,
): BuildCommand {
  const { principal } = caller;
  const { model, route, streamed, agent, answers, user, follows } = request;
  const { project_id, user_mark } = spender;
  const continues = continued !== undefined;
  return (input, stored) => ({
    stream: streamName("thread", thread_id),
    organization_id,
    principal,
    request_id,
    id,
    fingerprint,
    fresh: !continues,
    ...(stored && { keys: stored.keys }),
    signal: disconnected,
    data: {
      turn_id,
      scope: ownerScope(principal, user, agent?.agent_id),
      ...(labels && { labels }),
      model,
      ...(route && { route }),
      streamed,
      ends_by: new Date(ends_by).toISOString(),
      continues,
      ...(follows !== undefined && { follows }),
      ...(agent && { agent }),
      ...(project_id !== null && { project_id }),
      ...(user_mark !== null && { user_mark }),
      ...(reserved !== undefined && { reserved }),
      ...(answers && answers.length > 0 && { answers }),
      ...(stored && stored.stored_bytes > 0 && { stored_bytes: stored.stored_bytes }),
      input,
    },
  });
}

/** Copies the attachments. Puts the prompt into a blob if the command would exceed its size limit. */
async function prepare(
  http: Http,
  request: TurnRequest,
  blobs: Omit<TurnBlobs, "key">,
  bodyBytes: number,
  build: BuildCommand,
): Promise<StartCommand> {
  const hasFiles = request.messages.some(({ files }) => files.length > 0);
  if (!hasFiles && maxPromptBytes(request, bodyBytes) <= MAX_INLINE_BODY_BYTES) {
    return build({ prompt: promptFrom(request, request.messages.map(textMessage)) });
  }
  const thing = streamName("turn", blobs.turn_id);
  const turn = { ...blobs, key: http.vault.createKey(thing) };
  const keys = { [thing]: turn.key };
  const { messages, stored_bytes } = await storeMessages(http, turn, request.messages);
  const prompt = promptFrom(request, messages);
  const inline = build({ prompt }, { keys, stored_bytes });
  const mayFit = measureJson(prompt, MAX_COMMAND_BYTES) <= MAX_COMMAND_BYTES;
  if (mayFit && commandBytes(StartTurn, inline, http.httpId) <= MAX_COMMAND_BYTES) return inline;
  const json = await encodeLargeJson(prompt);
  await requireThreadStorage(http, turn, stored_bytes + json.length, "messages");
  await requireStorage(http, turn.organization_id, { bytes: stored_bytes + json.length, param: "messages" });
  await turn.room.admit(json.length);
  const title = titleOf(messages);
  const bytes = json.length;
  const prompt_blob = await putBlob(http, turn, json);
  return build({ prompt_blob, bytes, ...(title !== null && { title }) }, { keys, stored_bytes: stored_bytes + bytes });
}

/** Upper bound in bytes. An agent adds its instructions to the body, and its thread adds the vars of earlier requests. */
function maxPromptBytes({ settings, agent }: TurnRequest, bodyBytes: number): number {
  const collections = settings.knowledge?.collections.length ?? 0;
  const json = agent ? jsonWithin(settings, MAX_INLINE_BODY_BYTES) : "";
  return json === undefined ? Infinity : bodyBytes + Buffer.byteLength(json) + collections * COLLECTION_ID_BYTES;
}

async function resumeRepeated(http: Http, request: TurnRequest, identity: TurnIdentity): Promise<AttachedTurn> {
  const { organization_id, id: command_id } = identity;
  const { stream, position } = await findFirstEvent(http, identity);
  return resumeTurn(http, request, {
    organization_id,
    command_id,
    thread_id: parseStreamName(stream).id,
    position,
    hasKey: identity.hasKey,
  });
}
