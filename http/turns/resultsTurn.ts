import type { FastifyRequest } from "fastify";
import { createPause } from "#events/slices.ts";
import { findStatusStartedAt } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { nextCommand } from "../base/idempotency.ts";
import { isReadableInTime } from "../base/send.ts";
import { findPreviousTurn, type PreviousTurn, type TurnIdentity } from "./previousTurn.ts";

type Needs = Pick<Http, "db" | "outcomes" | "abandonedTurns" | "waitForProjections">;

interface ResultsTurn {
  identity: TurnIdentity;
  previous: PreviousTurn | undefined;
}
/** An identity that the request may have, and whether its turn failed. */
interface Candidate extends ResultsTurn {
  hasFailed: boolean;
}

/** Also true if the turn was deleted. */
async function hasFailed({ db }: Needs, { organization_id, thread_id, position }: PreviousTurn): Promise<boolean> {
  const status = await findStatusStartedAt(db, organization_id, thread_id, position);
  return status !== "running" && status !== "completed";
}

/** The identities of a request and of its repetitions after failed turns. Each derives from the one before. */
function createIdentities(first: TurnIdentity): (n: number) => Promise<TurnIdentity> {
  const known = [first];
  const pause = createPause();
  return async (n) => {
    while (known.length <= n) {
      const last = known.at(-1)!;
      known.push({ ...last, ...nextCommand(last, "again") });
      const turn = pause();
      if (turn) await turn;
    }
    return known[n]!;
  };
}

/**
 * Looks for the first identity without a failed turn. All identities before it have one. Doubles the distance, and then halves
 * it, because a client may have repeated its request thousands of times while the provider failed.
 */
async function findFirst(candidateAt: (n: number) => Promise<Candidate>): Promise<Candidate> {
  let [failed, next] = [-1, 0];
  let found = await candidateAt(next);
  while (found.hasFailed) {
    failed = next;
    next = 2 * next + 1;
    found = await candidateAt(next);
  }
  while (next - failed > 1) {
    const middle = Math.floor((failed + next) / 2);
    const candidate = await candidateAt(middle);
    if (candidate.hasFailed) failed = middle;
    else [next, found] = [middle, candidate];
  }
  return found;
}

/**
 * Finds the turn that an equal request with tool results has started. Each call takes one result, so such a request is a
 * repetition even without an Idempotency-Key. Returns undefined after a failed turn: the request then starts another one.
 */
export async function findResultsTurn(http: Needs, request: FastifyRequest, sent: TurnIdentity): Promise<ResultsTurn> {
  if (sent.hasKey) return { identity: sent, previous: await findPreviousTurn(http, request, sent) };
  // without a key, the fingerprint identifies the request
  const asResults = { ...sent, id: sent.fingerprint, hasKey: true };
  const identityAt = createIdentities({ ...sent, ...nextCommand(asResults, "results") });
  const { identity, previous } = await findFirst(async (n) => {
    const identity = await identityAt(n);
    const previous = await findPreviousTurn(http, request, identity);
    const isFailed =
      previous !== undefined &&
      (await isReadableInTime(http, ["turns"], previous.position)) &&
      (await hasFailed(http, previous));
    return { identity, previous, hasFailed: isFailed };
  });
  return { identity, previous };
}
