import type { TurnNews } from "#events/turnNews.ts";
import type { Reservations } from "./reservations.ts";
import type { StartedTurn, TurnCounts } from "./turnCounts.ts";

/** Turns that began or ended after these times are sent. */
interface Since {
  begun: number;
  ended: number;
}

const describeOpen = ({ turn_id, subjects, tokens, streamed, attempt }: StartedTurn): TurnNews =>
  attempt > 1
    ? { kind: "resumed", turn_id, subjects, streamed, attempt }
    : { kind: "began", turn_id, subjects, tokens, streamed };

/** Lists turns that count for limits per minute or on concurrency. */
function listCounted(counts: TurnCounts, reservations: Reservations, since: Since): TurnNews[] {
  const isCounted = ({ turn_id }: { turn_id: string }) => !reservations.has(turn_id);
  const open = counts.openSince(since.begun).filter(isCounted);
  const ended = counts.endedSince(since.ended).filter(isCounted);
  return [
    ...open.map(describeOpen),
    ...ended.flatMap((turn): TurnNews[] => [
      describeOpen({ ...turn, tokens: 0 }),
      { kind: "ended", turn_id: turn.turn_id, tokens: turn.took },
    ]),
  ];
}

/** Lists turns whose money the read models may not include. */
function listReserved(counts: TurnCounts, reservations: Reservations, since: Since): TurnNews[] {
  const running = new Map(counts.openSince(since.begun).map((turn) => [turn.turn_id, turn]));
  const took = new Map(counts.endedSince(since.ended).map((turn) => [turn.turn_id, turn.took]));
  return reservations.unsettled().flatMap(({ turn_id, subjects, attempt, spent, cost, end_position, ...held }) => {
    const open = running.get(turn_id);
    const { tokens, streamed } = open ?? { tokens: 0, streamed: false };
    const reserved = String(held.reserved);
    const news: TurnNews[] = [];
    // a later attempt belongs to a turn that began earlier, and may wait for a person
    if (open && open.attempt > 1) news.push(describeOpen(open));
    if (attempt === 1) news.push({ kind: "began", turn_id, subjects, tokens, streamed, reserved });
    if (attempt > 1 || spent > 0n)
      news.push({ kind: "grew", turn_id, subjects, attempt, reserved, spent: String(spent) });
    if (cost !== undefined)
      news.push({
        kind: "ended",
        turn_id,
        tokens: took.get(turn_id) ?? 0,
        cost: String(cost),
        ...(end_position !== undefined && { position: end_position }),
      });
    return news;
  });
}

/**
 * The turns that another process may not know. A new process knows only what the read models had, which lag a moment behind. A
 * process that was silent has received nothing since this one stopped sending to it.
 */
export const listNewsForPeer = (counts: TurnCounts, reservations: Reservations, since: Since): TurnNews[] => [
  ...listCounted(counts, reservations, since),
  ...listReserved(counts, reservations, since),
];
