import type { Sums } from "./limits.ts";
import { NOTHING_UNSETTLED, type EarlierSums, type UnsettledAmounts } from "./status.ts";
import { subjectsOf, type Spender } from "./subjects.ts";

/** A turn that a read model does not have which contains the log until so long after it was admitted never began. */
const UNRECORDED_MS = 30_000;
/** How long ended turns are remembered, so that late news does not open them again. */
const REMEMBERED_MS = 60_000;

/** What a turn holds back for its requests, since one of its attempts. One that was parked holds nothing since the next attempt. */
export interface Hold {
  attempt: number;
  reserved: bigint;
}

/** A turn that has begun and not ended, in the read model. */
export interface OpenTurn extends Omit<Spender, "organization_id">, Hold {
  turn_id: string;
  /** What its rounds cost that the sums contain, of today or of earlier days. */
  counted: bigint;
  /** Those of today alone. */
  counted_today: bigint;
}

/** What an organization spent and holds back, in one snapshot of the read model. Amounts are picodollars. */
export interface Spending extends EarlierSums {
  /** When it was read: `today` is the day of that moment. */
  at: number;
  /** Of the log, up to which the read model has followed. */
  position: number;
  /** The moment until which it contains every event. */
  followed_until: number;
  today: Sums;
  open: OpenTurn[];
  /** Those of the turns asked for that have ended: the sums contain them. */
  settled: string[];
}

/** A turn that the sums do not contain, or of which they contain some rounds. */
interface Entry extends Hold {
  subjects: string[];
  at: number;
  counted: bigint;
  counted_today: bigint;
  /** What its rounds have cost, as far as it has reported: the sums contain them a moment later. */
  spent: bigint;
  /** What it cost; undefined until it ends. */
  cost: bigint | undefined;
  /** Of the event in the log that ended it: a snapshot of this position contains it. Undefined if no process announced it. */
  end_position: number | undefined;
  /** Whether a snapshot had it as open: when one no longer has it, it has ended. */
  isRecorded: boolean;
}

export const NO_HOLD: Hold = { attempt: 0, reserved: 0n };
const nonNegative = (amount: bigint): bigint => (amount > 0n ? amount : 0n);

export const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** News and snapshots may be old: a later attempt replaces what those before it held, and the hold of an attempt only grows. */
export function newestHold(a: Hold, b: Hold): Hold {
  const [older, newer] = a.attempt < b.attempt ? [a, b] : [b, a];
  const { attempt, reserved } = newer;
  return { attempt, reserved: older.attempt === attempt ? larger(older.reserved, reserved) : reserved };
}

/**
 * While a turn runs, one request of it is under way or may follow: its hold counts beside the rounds it has spent. When it
 * ends, all of its cost becomes today's: its rounds of earlier days count twice in longer periods until a snapshot has followed, so that
 * they are not missing in the day.
 */
const pendingOf = ({ cost, spent, counted, counted_today, reserved }: Entry): UnsettledAmounts =>
  cost === undefined
    ? { ended: nonNegative(spent - counted), reserved }
    : { ended: nonNegative(cost - counted_today), reserved: 0n };

/**
 * The money of an organization's turns that the read model's sums do not contain. Each turn is in the sums or in here, never in
 * both: a snapshot says which turns it contains. News of a turn may come twice, late, or not at all.
 */
export class Reservations {
  readonly #entries = new Map<string, Entry>();
  readonly #totals = new Map<string, UnsettledAmounts>();
  /** The moments at which turns were forgotten, in their order. */
  readonly #forgotten = new Map<string, number>();
  /** The newest snapshot. */
  #spending: Spending | undefined;

  get spending(): Spending | undefined {
    return this.#spending;
  }
  of(subject: string): Readonly<UnsettledAmounts> {
    return this.#totals.get(subject) ?? NOTHING_UNSETTLED;
  }
  /** Turns that only a snapshot can settle, because no process announced where in the log they ended. */
  askedTurns(): string[] {
    return [...this.#entries].flatMap(([turn_id, { end_position }]) => (end_position === undefined ? [turn_id] : []));
  }
  has(turn_id: string): boolean {
    return this.#entries.has(turn_id);
  }
  /** Turns that a process which begins to count may not find in its snapshot. */
  unsettled(): (Pick<Entry, "subjects" | keyof Hold | "spent" | "cost" | "end_position"> & { turn_id: string })[] {
    return [...this.#entries].map(([turn_id, { subjects, attempt, reserved, spent, cost, end_position }]) => ({
      turn_id,
      subjects,
      attempt,
      reserved,
      spent,
      cost,
      end_position,
    }));
  }

  begin(turn_id: string, { subjects, reserved, at }: Pick<Entry, "subjects" | "reserved" | "at">): void {
    if (this.#entries.has(turn_id) || this.#forgotten.has(turn_id)) return;
    const open = { cost: undefined, end_position: undefined, isRecorded: false };
    this.#put(turn_id, { subjects, attempt: 1, reserved, at, counted: 0n, counted_today: 0n, spent: 0n, ...open });
  }
  /** A turn under way needs more than was held back for it, has ended a round, or is parked and holds nothing for its next attempt. */
  grow(turn_id: string, { spent, ...hold }: Hold & Pick<Entry, "spent">): void {
    const entry = this.#entries.get(turn_id);
    if (!entry || entry.cost !== undefined) return;
    this.#add(entry, -1n);
    Object.assign(entry, newestHold(entry, hold), { spent: larger(entry.spent, spent) });
    this.#add(entry, 1n);
  }
  /** What is held back for a turn under way; nothing where it is not known. */
  heldBack(turn_id: string): Hold {
    const entry = this.#entries.get(turn_id);
    return entry && entry.cost === undefined ? entry : NO_HOLD;
  }
  /** `position`: of the event that ended it, where it is known. */
  end(turn_id: string, { cost, position, at }: { cost: bigint; position?: number | undefined; at: number }): void {
    const entry = this.#entries.get(turn_id);
    if (!entry || entry.cost !== undefined) return;
    if (this.#contains(position)) {
      this.forget(turn_id, at);
      return;
    }
    this.#add(entry, -1n);
    entry.cost = cost;
    entry.end_position = position;
    this.#add(entry, 1n);
  }
  /** Whether the newest snapshot has followed the log so far. */
  #contains(position: number | undefined): boolean {
    return position !== undefined && this.#spending !== undefined && this.#spending.position >= position;
  }
  /** The turn did not begin, or the sums contain it. */
  forget(turn_id: string, at: number): void {
    this.#remove(turn_id);
    this.#forgotten.set(turn_id, at);
  }

  /** Takes over a snapshot, unless a newer one was. */
  apply(spending: Spending, now: number): void {
    if (spending === this.#spending || (this.#spending && spending.position < this.#spending.position)) return;
    this.#spending = spending;
    for (const turn_id of spending.settled) this.forget(turn_id, now);
    const open = new Set<string>();
    for (const turn of spending.open) {
      open.add(turn.turn_id);
      this.#record(turn, now);
    }
    for (const [turn_id, entry] of this.#entries)
      if (!open.has(turn_id) && (entry.isRecorded || this.#isOver(entry, spending))) this.forget(turn_id, now);
    for (const [turn_id, at] of this.#forgotten) {
      if (now - at <= REMEMBERED_MS) break;
      this.#forgotten.delete(turn_id);
    }
  }
  /**
   * Whether a snapshot without the turn tells that it has ended or never began. A read model may be minutes behind, so time that has passed
   * says nothing; the position of an end does, and else how far the log is followed, which in an idle log is until now.
   */
  #isOver({ end_position, at }: Entry, { followed_until }: Spending): boolean {
    return end_position === undefined ? followed_until - at > UNRECORDED_MS : this.#contains(end_position);
  }
  #record({ turn_id, attempt, reserved, counted, counted_today, ...spender }: OpenTurn, now: number): void {
    if (this.#forgotten.has(turn_id)) return;
    const known = this.#entries.get(turn_id);
    this.#remove(turn_id);
    const begun = { subjects: subjectsOf(spender), at: now, spent: 0n, cost: undefined, end_position: undefined };
    const { subjects, at, spent, cost, end_position } = known ?? begun;
    const held = { ...newestHold({ attempt, reserved }, known ?? NO_HOLD), counted, counted_today };
    this.#put(turn_id, { subjects, at, spent, cost, end_position, ...held, isRecorded: true });
  }

  #put(turn_id: string, entry: Entry): void {
    this.#entries.set(turn_id, entry);
    this.#add(entry, 1n);
  }
  #remove(turn_id: string): void {
    const entry = this.#entries.get(turn_id);
    if (!entry) return;
    this.#entries.delete(turn_id);
    this.#add(entry, -1n);
  }
  #add(entry: Entry, sign: bigint): void {
    const { ended, reserved } = pendingOf(entry);
    for (const subject of entry.subjects) {
      const total = this.#totals.get(subject);
      if (!total) {
        this.#totals.set(subject, { ended: sign * ended, reserved: sign * reserved });
        continue;
      }
      total.ended += sign * ended;
      total.reserved += sign * reserved;
      if (total.ended === 0n && total.reserved === 0n) this.#totals.delete(subject);
    }
  }
}
