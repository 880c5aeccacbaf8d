import { approvalId } from "#events/ids.ts";
import { approvalAnswer, voteAnswer, type VoteAnswer } from "#events/inheritedCalls.ts";
import { ApprovalDecided, ApprovalExpired, ApprovalVoted } from "#events/run.ts";
import type { ApprovalAnswer, GivenVote } from "./answers.ts";
import type { ApprovalCall } from "./localCalls.ts";

interface GivenApproval extends ApprovalCall {
  given: ApprovalAnswer & { decision: "approve" | "reject" | "expire" };
  now: number;
  run_id: string;
}

/** The equal votes that decide an approval, each by another person. The last one is the answer itself. */
function equalVotes(options: ApprovalCall["options"], { decision, by, ...more }: GivenVote): GivenVote[] {
  const { required, one_rejection_ends } = options.votes!;
  const count = decision === "reject" && one_rejection_ends ? 1 : required;
  return Array.from({ length: count }, (_, n) => ({ ...more, decision, by: n + 1 === count ? by : `${by}-${n + 1}` }));
}

/** JSON of what `awaitApproval` returns, as a service would make it from these answers. */
export function approvalResult({ key, options, given, now, run_id }: GivenApproval): string {
  const { decision, data, comment, files, by, votes: listed } = given;
  const at = new Date(now).toISOString();
  const about = { run_id, approval_id: approvalId(run_id, key), key, at };
  const event = (vote: GivenVote) => ({
    data: { ...about, decision: vote.decision, by: { type: "person" as const, id: vote.by }, files: vote.files },
    personal: { data: JSON.stringify(vote.data), comment: vote.comment },
  });
  const soFar = (votes: GivenVote[]) => ({
    on_expiry: options.on_expiry,
    votes:
      options.votes &&
      votes.map((vote): VoteAnswer => {
        const { data: fields, personal } = event(vote);
        return voteAnswer(ApprovalVoted.of(fields, personal));
      }),
  });
  if (decision === "expire") return approvalAnswer(ApprovalExpired.of(about), soFar(listed ?? []));
  const only = { decision, data, comment, files, by };
  const votes = options.votes ? (listed ?? equalVotes(options, only)) : [only];
  const { data: fields, personal } = event(votes.at(-1)!);
  return approvalAnswer(ApprovalDecided.of({ ...fields, epoch: 1, worker: null }, personal), soFar(votes));
}
