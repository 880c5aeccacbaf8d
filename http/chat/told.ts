import { streamOf } from "#events/ids.ts";
import type { Speaking, TurnEnd } from "#events/ports.ts";
import { listRounds, type RoundRow, type TurnRow } from "#projections/turns/query.ts";
import type { Http } from "../deps.ts";
import { endOf } from "./turn.ts";

type Needs = Pick<Http, "db" | "blobs" | "keyring">;

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** Opens a blob of a turn; undefined when the bytes or their key are gone. */
export async function opened({ blobs, keyring }: Needs, row: TurnRow, blob: string): Promise<Buffer | undefined> {
  const sealed = await blobs.get(blob);
  const { wrapped_key: wrapped } = row;
  return sealed && wrapped ? keyring.open(streamOf("turn", row.id), wrapped, sealed) : undefined;
}

/** What was said after the rounds: the stored answer is the text of all of them, set apart by blank lines. */
function lastWords(whole: string, before: string[]): string {
  let at = 0;
  for (const text of before) {
    if (!whole.startsWith(text, at)) at += 2;
    at += text.length;
  }
  return whole.slice(at);
}

/** A turn as the read model tells it, in as few frames as can be. */
function framesOf({ said }: TurnRow, rounds: RoundRow[]): Speaking[] {
  const speak = ({ reasoning, text }: { reasoning: string; text: string }): Speaking[] => [
    ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
  ];
  const before = rounds.flatMap((round): Speaking[] => [
    ...speak(round.said),
    { type: "calls", calls: round.calls },
    ...round.statuses.flatMap((status, call) => (status ? [{ type: "called" as const, call, status }] : [])),
  ]);
  if (!said) return before;
  const last = (type: "text" | "reasoning") =>
    lastWords(
      said[type],
      rounds.map((round) => round.said[type]).filter((text) => text !== ""),
    );
  return [...before, ...speak({ reasoning: last("reasoning"), text: last("text") })];
}

/** Everything that the stream of a turn told: exactly, where that is kept. */
export async function toldBy(http: Needs, row: TurnRow): Promise<Speaking[]> {
  const kept = row.frames === null ? undefined : await opened(http, row, row.frames);
  if (kept) return JSON.parse(kept.toString()) as Speaking[];
  return framesOf(row, await listRounds(http.db, row.id));
}

/** How it ended, with when; undefined while it runs. */
export function endedAt(row: TurnRow): { end: TurnEnd; completed_at: number } | undefined {
  const end = endOf(row);
  return end && { end, completed_at: seconds(row.ended_at ?? row.started_at) };
}
