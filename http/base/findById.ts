import { isUuid, streamName, type Aggregate } from "#events/ids.ts";
import type { Http } from "./deps.ts";

/** Reads a row by its id after the projections have caught up with its stream. Undefined for an id that is not a UUID. */
export async function findCurrent<R>(
  { waitUntilCurrent }: Pick<Http, "waitUntilCurrent">,
  projections: string[],
  [aggregate, id]: [Aggregate, string],
  find: () => Promise<R | undefined>,
): Promise<R | undefined> {
  if (!isUuid(id)) return undefined;
  await waitUntilCurrent(projections, streamName(aggregate, id.toLowerCase()));
  return find();
}

/** Reads a row. A missing one may have been created a moment ago, so this waits for the projections and reads once more. */
export async function findOrWait<R>(
  find: () => Promise<R | undefined>,
  wait: () => Promise<void>,
): Promise<R | undefined> {
  const found = await find();
  if (found) return found;
  await wait();
  return find();
}
