import { measureJson } from "#events/largeJson.ts";
import { findTurnsBetween } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { readInTurn } from "../base/longReads.ts";
import { itemId, turnRangeOf } from "./itemIds.ts";
import type { Item } from "./items.ts";
import { findResponse, type ResponseRow } from "./lookups.ts";
import type { InputItem, ResponseRequest } from "./schema.ts";
import { readOutput } from "./storedResponse.ts";

/** Responses that are read at the same time. */
const PARALLEL = 8;
/**
 * Bytes of them, unless one alone has more. A request that reads more in total waits for a place among the long reads of its
 * organization: five hundred answers may have gigabytes.
 */
const MAX_BYTES_AT_ONCE = 1024 * 1024;
/** References in a request: each is a response to read. */
const MAX_REFERENCES = 500;

interface Reach {
  organization_id: string;
  scope: string;
  /** The thread that the request continues. Its items are part of the conversation already. */
  thread_id: string | undefined;
  /** Counts bytes that the request holds until its turn has started. */
  countBytes(bytes: number): void;
  disconnected: AbortSignal;
}

const referencedId = ({ type, id }: InputItem): string | undefined =>
  type === "item_reference" && typeof id === "string" ? id : undefined;

const tooMany = (count: number) =>
  new ApiError(
    "invalid_input",
    `input refers to ${count} items of earlier responses; at most ${MAX_REFERENCES} are allowed. Continue their thread instead.`,
    { param: "input" },
  );

type FoundTurn = Awaited<ReturnType<typeof findTurnsBetween>>[number];

async function findTurns(http: Http, { organization_id, scope }: Reach, ids: string[]): Promise<FoundTurn[]> {
  const ranges = new Map(
    ids.flatMap((id) => {
      const range = turnRangeOf(id);
      return range ? [[range.first, range] as const] : [];
    }),
  );
  if (ranges.size === 0) return [];
  const find = () => findTurnsBetween(http.db, organization_id, scope, [...ranges.values()]);
  const found = await find();
  if (found.length === ranges.size) return found;
  // a missing response may have ended a moment ago
  await http.waitUntilCurrent(["turns"]);
  return find();
}

/** Skips a response that was deleted meanwhile. */
function skipMissing(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.errorCode !== "response_not_found") throw error;
}

/** The output items of a response by their ids, without calls that ran on the server. */
async function referableItems(http: Http, row: ResponseRow): Promise<[id: string, Item][]> {
  const own = new Set(row.said?.calls?.map(({ id }) => id));
  const output = await readOutput(http, row);
  return output.flatMap((item, n): [string, Item][] => {
    if (item.type === "function_call" && !own.has(item.call_id)) return [];
    // earlier releases also numbered the first message
    return [
      [item.id, item],
      [itemId(item.type, row.id, n), item],
    ];
  });
}

/** The ids of turns whose answers are read at the same time. */
function* batchesOf(turns: FoundTurn[]): Generator<string[]> {
  let batch: string[] = [];
  let size = 0;
  for (const { id, bytes } of turns) {
    size += bytes;
    if (batch.length === PARALLEL || (batch.length > 0 && size > MAX_BYTES_AT_ONCE)) {
      yield batch;
      [batch, size] = [[], bytes];
    }
    batch.push(id);
  }
  if (batch.length > 0) yield batch;
}

/**
 * Reads the wanted output items of these turns by id, except those of the continued thread. They count as bytes held by the
 * organization.
 */
async function readItems(http: Http, reach: Reach, turns: FoundTurn[], wanted: ReadonlySet<string>) {
  const { organization_id, scope, thread_id, countBytes, disconnected } = reach;
  const items = new Map<string, Item>();
  const readAll = async (): Promise<void> => {
    for (const batch of batchesOf(turns)) {
      const rows = await Promise.all(
        batch.map((turn) => findResponse(http, organization_id, scope, turn).catch(skipMissing)),
      );
      const elsewhere = rows.flatMap((row) => (row && row.thread_id !== thread_id ? [row] : []));
      const outputs = await Promise.all(elsewhere.map((row) => referableItems(http, row)));
      const kept = outputs.flat().filter(([id]) => wanted.has(id));
      for (const [id, item] of kept) items.set(id, item);
      countBytes(kept.reduce((sum, [, item]) => sum + measureJson(item, Infinity), 0));
    }
  };
  const isLong = turns.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_BYTES_AT_ONCE;
  await (isLong ? readInTurn(http, organization_id, readAll, disconnected) : readAll());
  return items;
}

function inputFrom(item: Item | undefined): InputItem | undefined {
  if (item?.type === "function_call") return item;
  if (item?.type !== "message") return undefined;
  const content = item.content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join("\n");
  return { type: "message", role: "assistant", content };
}

/**
 * Replaces references to items of earlier responses by these items. Clients that learn that responses are stored send references
 * instead of the content. References to anything the caller does not have are skipped, like unknown items.
 */
export async function resolveReferences(http: Http, reach: Reach, body: ResponseRequest): Promise<ResponseRequest> {
  const { input } = body;
  if (typeof input === "string") return body;
  const ids = new Set(input.flatMap((item) => referencedId(item) ?? []));
  if (ids.size === 0) return body;
  if (ids.size > MAX_REFERENCES) throw tooMany(ids.size);
  const items = await readItems(http, reach, await findTurns(http, reach, [...ids]), ids);
  // a reference to nothing stays, so that errors name the places of the items that were sent
  const resolved = input.map((item): InputItem => {
    const id = referencedId(item);
    // an item that is referenced twice is included once
    return (id !== undefined && ids.delete(id) && inputFrom(items.get(id))) || item;
  });
  return { ...body, input: resolved };
}
