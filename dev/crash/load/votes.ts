import { randomFrom, type Random } from "../random.ts";
import { PERSONAL } from "../topology.ts";
import type { Voter } from "./makeLinked.ts";
import { readApprovals } from "./runs.ts";
import { onceOnly, perform, type Action } from "./session.ts";

/**
 * Who votes: the API key, one of two people, the substitute of the second, or the holder of a link created by the first. `handOn`:
 * the first delegates the approval to the substitute.
 */
const WAYS = ["key", "first", "second", "standIn", "link", "handOn"] as const;
type Way = (typeof WAYS)[number];

interface Ballot {
  run_id: string;
  approval_id: string;
}

const decisionOf = (random: Random): "approve" | "reject" => (random.chance(0.7) ? "approve" : "reject");

async function voteAs(action: Action, ballot: Ballot, voter: Voter | undefined): Promise<void> {
  const { session, random, id } = action;
  const decision = decisionOf(random);
  const files = voter && random.chance(0.5) ? { files: [voter.file] } : {};
  await perform(action, {
    what: "run.vote",
    asked: { ...ballot, decision, by: voter ? { type: "person", id: voter.id } : { type: "api_key" } },
    wanted: {
      method: "POST",
      path: `/api/workflows/approvals/${ballot.approval_id}/decision`,
      token: voter?.token ?? session.api_key,
      body: { decision, comment: `${id} ${PERSONAL}`, ...files },
    },
    read: ({ body }) => ({ status: body.status }),
  });
}

/** Creates a link and decides by it, twice: the second time it has ended. */
async function voteByLink(action: Action, ballot: Ballot): Promise<void> {
  const { session, random, id } = action;
  const created = await perform(action, {
    what: "link.create",
    asked: ballot,
    wanted: {
      method: "POST",
      path: `/api/workflows/approvals/${ballot.approval_id}/links`,
      token: session.linked.voters[0].token,
      body: { for: { name: PERSONAL } },
    },
    read: ({ body }) => ({ link_id: body.id, secret: String(body.url).split("#")[1] }),
  });
  const { link_id, secret } = created.got;
  if (link_id === undefined) return;
  const decision = decisionOf(random);
  for (const part of ["use", "again"])
    await perform(
      { ...action, id: `${id}-${part}` },
      {
        what: "link.use",
        asked: { ...ballot, decision, by: { type: "link", id: link_id } },
        wanted: {
          method: "POST",
          path: `/api/workflows/approval-links/${link_id}/decision`,
          token: secret,
          body: { decision },
        },
      },
    );
}

/** Delegates the approval; afterwards both people try to vote. */
async function handOn(action: Action, ballot: Ballot): Promise<void> {
  const { id, session } = action;
  const [first] = session.linked.voters;
  const { standIn } = session.linked;
  await perform(action, {
    what: "approval.delegate",
    keyed: true,
    asked: { ...ballot, by: first.id, to: standIn.id },
    wanted: {
      method: "POST",
      path: `/api/workflows/approvals/${ballot.approval_id}/delegate`,
      token: first.token,
      headers: onceOnly(id),
      body: { to: standIn.id, reason: PERSONAL },
    },
  });
  await voteAs({ ...action, id: `${id}-first` }, ballot, first);
  await voteAs({ ...action, id: `${id}-other` }, ballot, standIn);
}

/** Votes on the pending approvals of a run in several ways, at the same time or one after the other. */
export async function vote(action: Action, { id: run_id }: { id: string }): Promise<void> {
  const { random, session } = action;
  const { voters, standIn } = session.linked;
  const people = { key: undefined, first: voters[0], second: voters[1], standIn };
  for (const { id: approval_id, status } of await readApprovals(action, run_id)) {
    if (status !== "pending") continue;
    const cast = (way: Way): Promise<void> => {
      const id = `${action.id}-${way}`;
      const own = { ...action, id, random: randomFrom("vote", id) };
      const ballot = { run_id, approval_id };
      if (way === "link") return voteByLink(own, ballot);
      if (way === "handOn") return handOn(own, ballot);
      return voteAs(own, ballot, people[way]);
    };
    const ways = random.some(WAYS, random.int(1, 4));
    if (random.chance(0.4)) await Promise.all(ways.map(cast));
    else for (const way of ways) await cast(way);
  }
}
