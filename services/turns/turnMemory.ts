import { MIB } from "#events/units.ts";
import { createCapacity, type CapacityLimits } from "../sharing/capacity.ts";
import { createFairSemaphore } from "../sharing/fairSemaphore.ts";
import { UNCOUNTED_SIZE, ModelError, type AnswerMemory } from "./model.ts";

/* Limits the memory that turns hold while they wait for providers: a thousand may run, each with megabytes, for ten minutes (ADR 77). */

/** Limits of a process's turns: in total, and per organization. */
interface TurnLimits {
  /** Prompts and the history before them, in UTF-16 units. A turn waits for room. */
  conversations: CapacityLimits;
  /** Output of models and tools, in UTF-16 units. An answer without room is cut off: waiting would keep the provider's connection open. */
  answers: CapacityLimits;
  /** Incomplete pieces of answers, in bytes. */
  pieces: CapacityLimits;
}
const LIMITS: TurnLimits = {
  conversations: { total: 64_000_000, perTenant: 32_000_000 },
  answers: { total: 64_000_000, perTenant: 32_000_000 },
  pieces: { total: 128 * MIB, perTenant: 48 * MIB },
};

const NO_ROOM = "The running turns of this organization hold too much text at once.";

const openShares = ({ conversations, answers, pieces }: TurnLimits) => ({
  /** Number of running turns. */
  turns: 0,
  maxConversation: conversations.perTenant,
  conversations: createFairSemaphore(conversations),
  answers: createCapacity(answers),
  pieces: createCapacity(pieces),
});
type Shares = ReturnType<typeof openShares>;

/** The memory held by one turn. A small turn only adds up numbers here: no promise is created, and nothing is taken from the limits. */
export class TurnMemoryShare implements AnswerMemory {
  readonly #shares: Shares;
  readonly #organization: string;
  #reserved = 0;
  #answered = 0;
  #countedAnswer = 0;
  #countedPiece = 0;
  #isClosed = false;

  constructor(shares: Shares, organization: string) {
    this.#shares = shares;
    this.#organization = organization;
    shares.turns += 1;
  }

  /** Whether the turn has room for a conversation of this size. */
  hasRoom(size: number): boolean {
    return size <= UNCOUNTED_SIZE || this.#reserved > 0;
  }

  /**
   * Resolves when there is room for a conversation of this size. Call it once per turn: turns that hold room while waiting for more
   * could deadlock.
   */
  async reserve(size: number, signal: AbortSignal): Promise<void> {
    const { conversations, maxConversation } = this.#shares;
    const wanted = Math.min(size, maxConversation);
    await conversations.acquire(this.#organization, signal, wanted);
    // the turn may have failed meanwhile
    if (this.#isClosed) conversations.release(this.#organization, wanted);
    else this.#reserved = wanted;
  }

  /** Reduces the reservation to the actual size of the conversation. */
  keep(size: number): void {
    if (this.#reserved === 0) return;
    const kept = size <= UNCOUNTED_SIZE ? 0 : Math.min(size, this.#reserved);
    if (kept < this.#reserved) this.#shares.conversations.release(this.#organization, this.#reserved - kept);
    this.#reserved = kept;
  }

  add(size: number): void {
    const answered = this.#answered + size;
    if (answered > UNCOUNTED_SIZE) {
      const { answers } = this.#shares;
      const more = answered - UNCOUNTED_SIZE - this.#countedAnswer;
      if (!answers.hasRoom(this.#organization, more)) throw new ModelError("cut", NO_ROOM);
      answers.take(this.#organization, more);
      this.#countedAnswer += more;
    }
    this.#answered = answered;
  }

  holdPiece(bytes: number): void {
    const { pieces } = this.#shares;
    const counted = Math.max(0, bytes - UNCOUNTED_SIZE);
    const more = counted - this.#countedPiece;
    if (more < 0) pieces.release(this.#organization, -more);
    else if (!pieces.hasRoom(this.#organization, more)) throw new ModelError("cut", NO_ROOM);
    else pieces.take(this.#organization, more);
    this.#countedPiece = counted;
  }

  close(): void {
    if (!this.#isClosed) this.#shares.turns -= 1;
    this.#isClosed = true;
    this.keep(0);
    if (this.#countedAnswer > 0) this.#shares.answers.release(this.#organization, this.#countedAnswer);
    this.#countedAnswer = 0;
    if (this.#countedPiece > 0) this.holdPiece(0);
  }
}

/** Limits the memory of a process's running turns. */
export function createTurnMemory(limits: TurnLimits = LIMITS) {
  const shares = openShares(limits);
  return {
    open: (organization: string): TurnMemoryShare => new TurnMemoryShare(shares, organization),
    countTurns: () => shares.turns,
  };
}
export type TurnMemory = ReturnType<typeof createTurnMemory>;
