import { claimStream } from "#events/ids.ts";
import type { Envelope } from "#events/workflow.ts";
import type { Http } from "../deps.ts";

/** What stands at a JSON pointer; undefined where nothing does. */
function at(value: unknown, pointer: string): unknown {
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** A pointer is into the body of a start (`/args/customer`), or into the arguments themselves. */
function keyOf(args: Record<string, unknown>, pointer: string | null): unknown {
  if (pointer === null) return undefined;
  return at(/^\/args(\/|$)/.test(pointer) ? { args } : args, pointer);
}

/** What names a place among a workflow's live runs; the argument does not show in it. */
function marks(
  { keyring }: Pick<Http, "keyring">,
  workflow: { id: string; organization_id: string },
  { max_runs, key }: NonNullable<Envelope["concurrency"]>,
  args: Record<string, unknown>,
): string[] {
  const of = JSON.stringify([workflow.organization_id, workflow.id, keyOf(args, key) ?? null]);
  return Array.from({ length: max_runs }, (_, n) => keyring.mark("run-slot", `${of}${n}`));
}

/** Names of places that no live run holds at this moment, in any order. */
export async function freeSlots(
  http: Pick<Http, "db" | "keyring">,
  workflow: { id: string; organization_id: string },
  concurrency: NonNullable<Envelope["concurrency"]>,
  args: Record<string, unknown>,
): Promise<string[]> {
  const slots = new Map(
    marks(http, workflow, concurrency, args).map((slot) => [claimStream(`run-slot:${slot}`), slot]),
  );
  const held = await http.db.query<{ stream: string }>(
    "select stream from log.streams where stream = any ($1) and state <> 'null'",
    [[...slots.keys()]],
  );
  for (const { stream } of held) slots.delete(stream);
  return [...slots.values()];
}
