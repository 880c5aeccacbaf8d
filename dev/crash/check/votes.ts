import type { RecordedEvent } from "#events/envelope.ts";
import type { Operation } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";

interface Vote {
  by: { type: string; id: string };
  /** The person whose substitute voted. */
  in_place_of?: string;
  decision: "approve" | "reject";
}

/** An approval that takes several votes, from the log. */
interface Ballot {
  id: string;
  required: number;
  votes: Vote[];
  /** Creators of its links, by link. */
  links: Map<string, string>;
  delegations: { by: string; to: string }[];
  findings: Finding[];
}

const countOf = (votes: Vote[], decision: string): number => votes.filter((vote) => vote.decision === decision).length;

/**
 * I10: a person and their links have one vote in total; the vote that completes the number decides in the same commit; somebody who
 * delegated the approval has no vote.
 */
function addEvent(ballot: Ballot, { type, data }: RecordedEvent<any>, next: RecordedEvent<any> | undefined): void {
  const { id, votes, links, delegations, required, findings } = ballot;
  const name = `approval ${id}`;
  const votersOf = ({ by, in_place_of }: Vote): string[] => [
    links.get(by.id) ?? by.id,
    ...(in_place_of ? [in_place_of] : []),
  ];
  if (type === "ApprovalLinkCreated") links.set(data.link_id, data.created_by.id);
  if (type === "ApprovalDelegated") delegations.push({ by: data.by.id, to: data.to });
  if (type === "ApprovalDecided" && countOf(votes, data.decision) < required)
    findings.push(different("I10", name, `was decided by ${countOf(votes, data.decision)} votes of ${required}`));
  if (type !== "ApprovalVoted") return;
  const vote: Vote = data;
  const voters = votersOf(vote);
  const again = votes.flatMap(votersOf).find((voter) => voters.includes(voter));
  if (again) findings.push(doubled("I10", name, `has two votes of ${again}`));
  const decider = voters.at(-1)!;
  if (delegations.findLast(({ by, to }) => by === decider || to === decider)?.by === decider)
    findings.push(different("I10", name, `has a vote of ${decider}, who had delegated it`));
  votes.push(vote);
  if (countOf(votes, vote.decision) === required && next?.type !== "ApprovalDecided")
    findings.push(lost("I10", name, `has ${required} equal votes, and nothing decides it`));
}

function ballotsOf(events: RecordedEvent<any>[]): Map<string, Ballot> {
  const ofApproval = grouped(
    events.filter(({ type, data }) => type.startsWith("Approval") && data.approval_id),
    ({ data }) => data.approval_id,
  );
  const ballots = new Map<string, Ballot>();
  for (const [id, own] of ofApproval) {
    const required = own[0]!.data.votes?.required;
    if (required === undefined) continue;
    const ballot: Ballot = { id, required, votes: [], links: new Map(), delegations: [], findings: [] };
    for (const [n, event] of own.entries()) addEvent(ballot, event, own[n + 1]);
    ballots.set(id, ballot);
  }
  return ballots;
}

/** I1: an acknowledged vote is in the log. */
function checkCast({ what, id, asked, outcome }: Operation, ballots: Map<string, Ballot>): Finding[] {
  const ballot = ballots.get(asked["approval_id"]);
  if (outcome !== "done" || !ballot) return [];
  const { by, decision } = asked as { by: Partial<Vote["by"]>; decision: string };
  const isCast = ballot.votes.some(
    (vote) => vote.decision === decision && vote.by.type === by.type && (by.id === undefined || vote.by.id === by.id),
  );
  return isCast ? [] : [lost("I1", `${what} ${id}`, `the vote to ${decision} ${ballot.id} is not in the log`)];
}

/** A link decides once: of two uses, at most one is acknowledged. */
const checkLinks = (uses: Operation[]): Finding[] =>
  [...grouped(uses, ({ asked }) => asked["by"].id)]
    .filter(([, own]) => own.filter(({ outcome, attempts }) => outcome === "done" && attempts === 1).length > 1)
    .map(([link]) => doubled("I10", `link ${link}`, "was used twice"));

/** I16: when all is quiet, the shown votes are those of the log. */
const checkShown = (reads: Operation[], ballots: Map<string, Ballot>): Finding[] =>
  reads
    .filter(({ id, outcome }) => /-end-\d+$/.test(id) && outcome === "done")
    .flatMap((read) =>
      (read.got["approvals"] as { id: string; votes: number }[]).flatMap(({ id, votes }) => {
        const inLog = ballots.get(id)?.votes.length ?? votes;
        return votes === inLog ? [] : [different("I16", `${read.what} ${read.id}`, `shows ${votes} votes of ${inLog}`)];
      }),
    );

/** Approvals that take several votes, and links that decide. */
export function checkVotes({ operations, events }: Evidence): Finding[] {
  const ballots = ballotsOf(events);
  const of = (...kinds: Operation["what"][]) => operations.filter(({ what }) => kinds.includes(what));
  return [
    ...[...ballots.values()].flatMap(({ findings }) => findings),
    ...of("run.vote", "link.use").flatMap((operation) => checkCast(operation, ballots)),
    ...checkLinks(of("link.use")),
    ...checkShown(of("run.approvals"), ballots),
  ];
}
