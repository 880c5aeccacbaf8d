import type { FastifyRequest } from "fastify";
import { blobFolder, streamName } from "#events/ids.ts";
import { agentCallAnswer, type CallAnswer, type InheritedCall } from "#events/inheritedCalls.ts";
import type { StoredValue } from "#events/runParts.ts";
import { parseLargeText } from "#events/readLargeJson.ts";
import { createPause } from "#events/slices.ts";
import type { Http } from "../base/deps.ts";
import type { RunCall } from "./foldCalls.ts";

/** Bytes of JSON. Longer values are stored as blobs, because a command is limited to 256 KiB. */
const MAX_INLINE_BYTES = 32 * 1024;
/** A chunk of inherited calls is closed at this many bytes of JSON. */
const CHUNK_BYTES = 256 * 1024;

/** The input of a run as a command carries it. */
export interface StoredInput {
  args: StoredValue;
  inherited?: StoredValue[];
  /** The new data key of the blobs, wrapped, if there are blobs. */
  keys?: Record<string, string>;
  /** The keys of the blobs. */
  blobs: string[];
}

/** Stores long values of a thing that is about to be created. They become blobs, sealed with a new data key. */
export function createValueStore({ vault }: Pick<Http, "vault">, organization_id: string, thing: string) {
  const blobs: string[] = [];
  let wrapped_key: string | undefined;
  return {
    async store(json: string): Promise<StoredValue> {
      const bytes = Buffer.from(json);
      if (bytes.length <= MAX_INLINE_BYTES) return { json };
      wrapped_key ??= vault.createKey(thing);
      const blob = await vault.put({ thing, wrapped_key, folder: blobFolder(organization_id, thing) }, bytes);
      blobs.push(blob);
      return { blob, bytes: bytes.length };
    },
    stored: () => ({ blobs, ...(wrapped_key !== undefined && { keys: { [thing]: wrapped_key } }) }),
  };
}

/** Stores the arguments of a new run, and the answers that it inherits. */
export async function storeInput(
  http: Pick<Http, "vault">,
  { organization_id, run_id }: { organization_id: string; run_id: string },
  json: string,
  calls?: AsyncIterable<InheritedCall>,
): Promise<StoredInput> {
  const { store, stored } = createValueStore(http, organization_id, streamName("run", run_id));
  const args = await store(json);
  if (!calls) return { args, ...stored() };
  const inherited: StoredValue[] = [];
  let chunk: string[] = [];
  let bytes = 0;
  const close = async () => {
    if (chunk.length > 0) inherited.push(await store(`[${chunk.join(",")}]`));
    [chunk, bytes] = [[], 0];
  };
  for await (const call of calls) {
    const text = JSON.stringify(call);
    chunk.push(text);
    bytes += Buffer.byteLength(text);
    if (bytes >= CHUNK_BYTES) await close();
  }
  await close();
  return { args, inherited, ...stored() };
}

/** Deletes the blobs of a run that was not started. */
export async function deleteInput({ blobs }: Pick<Http, "blobs">, input: StoredInput): Promise<void> {
  await Promise.all(input.blobs.map((blob) => blobs.remove(blob)));
}

export type OpenJson = (value: StoredValue) => Promise<string | null>;
export type OpenValue = (value: StoredValue | null | undefined) => Promise<unknown>;

/** Reads the JSON of stored values of one run; null for a deleted value. */
export const createOpenJson =
  ({ vault }: Pick<Http, "vault">, { id, wrapped_key }: { id: string; wrapped_key: string }): OpenJson =>
  async (value) => {
    if ("json" in value) return value.json;
    const json = await vault.get({ thing: streamName("run", id), wrapped_key }, value.blob);
    return json ? json.toString() : null;
  };

/** Reads stored values of one run; null for a missing or deleted value. */
export function createOpenValue(http: Pick<Http, "vault">, row: { id: string; wrapped_key: string }): OpenValue {
  const open = createOpenJson(http, row);
  return async (value) => {
    const json = value ? await open(value) : null;
    return json === null ? null : parseLargeText(json);
  };
}

type ByteCounter = Pick<FastifyRequest, "countBytes">;

function countBytes(counter: ByteCounter, value: StoredValue | null | undefined): void {
  if (value && "blob" in value) counter.countBytes(value.bytes);
}

/** Long values count as bytes that the organization holds before they are read. */
export const countOpenedBytes =
  (counter: ByteCounter, open: OpenValue): OpenValue =>
  (value) => {
    countBytes(counter, value);
    return open(value);
  };
/** The same for JSON that is not parsed. */
export const countOpenedJson =
  (counter: ByteCounter, open: OpenJson): OpenJson =>
  (value) => {
    countBytes(counter, value);
    return open(value);
  };

/** The answers that a run has inherited. */
export async function openInherited(
  chunks: StoredValue[] | null | undefined,
  open: OpenValue,
): Promise<InheritedCall[]> {
  const calls: InheritedCall[] = [];
  // one after the other: together they may have 32 MiB
  for (const chunk of chunks ?? []) for (const call of (await open(chunk)) as InheritedCall[]) calls.push(call);
  return calls;
}

/** Undefined when there is none, or it was erased. */
export async function openAnswer(
  { answer, ofTurn }: Pick<RunCall, "answer" | "ofTurn">,
  open: OpenJson,
): Promise<CallAnswer | undefined> {
  if (!answer || "error" in answer) return answer;
  const json = await open(answer);
  if (json === null) return undefined;
  return ofTurn ? agentCallAnswer(json) : { json };
}

/** Answered calls in the form in which another run inherits them, opened one after the other. */
export async function* openCalls(calls: RunCall[], open: OpenJson): AsyncGenerator<InheritedCall> {
  const pause = createPause();
  for (const { hasRun: _, endsRun: __, answers_before: ___, ofTurn, args, answer, ...call } of calls) {
    const opened = await openAnswer({ answer, ofTurn }, open);
    if (opened) yield { ...call, args: args && (await open(args)), answer: opened };
    await pause();
  }
}
